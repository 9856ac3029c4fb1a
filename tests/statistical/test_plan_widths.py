"""A small seeded version of studies/plan_widths.py: predicted widths against widths that grade then
gives.
"""

from __future__ import annotations

import pytest
from plan_widths import PILOT_WORLDS, after_pilot, compare, ratio_of_means


@pytest.mark.parametrize(
    ("target", "known", "design"),
    [
        ("population", False, (450, 3, 0)),
        ("population", False, (450, 3, 100)),
        ("sample", False, (300, 3, 40)),
        ("population", True, (450, 2, 0)),
        ("sample", True, (450, 2, 60)),
    ],
)
def test_predicted_widths_are_obtained(
    target: str, known: bool, design: tuple[int, int, int]
) -> None:
    """Within 10% and three standard errors of the eight data sets graded."""
    said, mean, error = compare(
        "two classes, error .15",
        "accuracy",
        target=target,
        known=known,
        design=design,
        sets=6,
        trials=8,
    )
    assert abs(said - mean) <= 0.1 * mean + 3 * error
    assert 3 * error < 0.2 * mean  # the check could fail


@pytest.mark.parametrize(
    ("world", "pilot", "design", "most"),
    [
        ("two classes, error .15", (200, 3, 0), (600, 4, 100), 1.15),
        ("shared mistakes, error .2", (200, 3, 25), (600, 4, 100), 1.1),
    ],
)
def test_widths_predicted_from_pilots_are_obtained(
    world: str, pilot: tuple[int, int, int], design: tuple[int, int, int], most: float
) -> None:
    """The mean over twelve pilots, each topped up, within 10% and two standard errors. Without gold
    nothing tells independent labelers from real ones, and up to 23% too much was foretold
    (docs/plan.md): 15% and two standard errors.
    """
    pairs = [
        after_pilot(PILOT_WORLDS[world], pilot=pilot, design=design, seed=s, sets=2)
        for s in range(12)
    ]
    ratio, error = ratio_of_means(pairs)
    assert 0.9 - 2 * error <= ratio <= most + 2 * error
    assert 2 * error < 0.1  # the check could fail
