"""Coverage of the default posterior in small; the long version is studies/interval_coverage.py."""

from __future__ import annotations

import numpy as np
import pytest
from interval_coverage import DESIGNS, run
from scipy.stats import binom

TRIALS = 100


@pytest.mark.parametrize(
    "name",
    [
        "one labeler, error .1 known",
        "small: 70 items, 3 labelers, known",
        "3 labelers, 100 items, learned",
    ],
)
def test_posterior_intervals_hold_their_level(name: str) -> None:
    """At least what chance allows at .95 (false alarm 1e-6 a metric); a plug-in method's .80 fails
    this.
    """
    assert name in DESIGNS
    results = run(name, TRIALS, ("posterior",))
    lowest = binom.ppf(1e-6, TRIALS, 0.95) / TRIALS
    for (_, metric), values in results.items():
        known = np.array([v for v in values if v is not None], dtype=float)
        assert len(known) > 0.9 * TRIALS
        assert known[:, 0].mean() >= lowest, metric
        assert known[:, 1].mean() < 0.4, "an interval of everything would cover too"


def test_plug_in_intervals_do_not() -> None:
    """The papers' methods forget that the operating point was estimated: the test above would catch
    them.
    """
    results = run("one labeler, error .1 known", TRIALS, ("exact",))
    values = np.array([v for v in results["exact", "accuracy"] if v is not None], dtype=float)
    assert values[:, 0].mean() < 0.90
