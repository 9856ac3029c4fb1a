"""Small seeded versions of studies/gold_error.py and its kin: coverage on simulated data."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

import truthing as tr

TRIALS = 24


def test_intervals_hold_the_truth_where_gold_errs_and_miss_it_where_that_is_ignored() -> None:
    """False alarm of the first check below 1e-4; the second fails if ignoring did not matter."""
    held = {"ignored": 0, "said": 0}
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        data = tr.simulate(
            300, 3, prior=[0.6, 0.4], operating_point=(0.95, 0.05), fallibility=0.4, seed=seed
        )
        gold = data.gold(100, seed)
        reads = {i: 1 - c if rng.random() < 0.12 else c for i, c in gold.items()}
        truth = float((data.predictions == data.truth).mean())
        for name, error in (("ignored", None), ("said", 0.12)):
            report = tr.grade(
                data.predictions, data.labels, gold=reads, gold_error=error, draws=500, seed=seed
            )
            low, high = report["accuracy"].interval(0.95)
            held[name] += int(low <= truth <= high)
    assert held["said"] >= binom.ppf(1e-4, TRIALS, 0.93)
    assert held["ignored"] < 0.7 * TRIALS
