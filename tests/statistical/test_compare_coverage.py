"""Coverage of accuracies and differences when models share mistakes, in small; the long version is studies/compare.py."""

from __future__ import annotations

import numpy as np
from compare import areas, models
from scipy.stats import binom

import truthing as tr
from truthing.metrics.estimate import shortest_interval

TRIALS = 40


def test_intervals_hold_when_models_share_mistakes() -> None:
    """Five models at correlation .9, where a latent-class model of the predictions held .49 of the accuracies. False alarm below 1e-6 each."""
    accuracy, difference = [], []
    for seed in range(TRIALS):
        truth, predicted, labels = models(300, 5, 0.9, seed)
        result = tr.compare(
            {f"m{j}": p for j, p in enumerate(predicted)}, labels, noise=0.25, draws=400, seed=seed
        )
        draws, actual = result.draws(), (predicted == truth).mean(axis=1)
        for values, value, held in (
            (draws[:, 0], actual[0], accuracy),
            (draws[:, 4] - draws[:, 0], actual[4] - actual[0], difference),
        ):
            low, high = shortest_interval(values)
            held.append(low - 1e-9 <= value <= high + 1e-9)
            assert high - low < 0.3
    least = binom.ppf(1e-6, TRIALS, 0.95) / TRIALS
    assert np.mean(accuracy) >= least
    assert np.mean(difference) >= least


def test_differences_of_areas_hold_and_are_paired() -> None:
    """Scores correlated by .9 given the truth: a narrower prior of the curves held .88. False alarm below 1e-6."""
    held = areas({"noise": 0.25}, 2, 0.9, TRIALS, 200)
    assert np.mean(held["auc difference"]) >= binom.ppf(1e-6, TRIALS, 0.95) / TRIALS
    assert np.mean(held["auc width"]) < 0.6 * np.mean(held["auc unpaired width"])
