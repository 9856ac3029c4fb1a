"""A small seeded version of studies/survey.py.

60 data sets each: a true coverage of .95 falls below .87 with probability below .01; one of .80
stays above it with probability below .1 (several intervals per data set make it smaller). What is
ignored must be seen to fail, or the study would show nothing.
"""

from __future__ import annotations

import pytest
from survey import STUDIES, coverage

N = 60


@pytest.mark.parametrize(
    "name",
    [
        "clusters, whole ones gold, new data",
        "slices, 60 gold",
        "weights and strata",
        "gold chosen by disagreement",
        "gold chosen by prediction",
        "deployment",
        "two systems, 60 gold",
    ],
)
def test_intervals_hold(name: str) -> None:
    held, _, width = coverage(STUDIES[name], N)
    assert held > 0.87
    assert 0.03 < width < 0.4


@pytest.mark.parametrize("name", ["  ignored   ", "  ignored    "])
def test_what_is_ignored_fails(name: str) -> None:
    assert coverage(STUDIES[name], N)[0] < 0.8
