"""Coverage of accuracies and differences when models share mistakes, in small; the long version is
studies/compare.py."""

from __future__ import annotations

import numpy as np
from compare import areas, models
from scipy.stats import binom

import truthing as tr
from truthing.metrics.estimate import credible_interval

TRIALS = 40


def test_intervals_hold_when_models_share_mistakes() -> None:
    """Five models at correlation .9, where a latent-class model of the predictions held .49 of the
    accuracies. False alarm below 1e-6 each."""
    accuracy, difference = [], []
    for seed in range(TRIALS):
        truth, predicted, labels = models(300, 5, 0.9, seed)
        result = tr.compare(
            {f"m{j}": p for j, p in enumerate(predicted)},
            labels,
            noise=0.25,
            panel_error=0,
            draws=400,
            seed=seed,
        )
        draws, actual = result.draws(), (predicted == truth).mean(axis=1)
        for values, value, held in (
            (draws[:, 0], actual[0], accuracy),
            (draws[:, 4] - draws[:, 0], actual[4] - actual[0], difference),
        ):
            low, high = credible_interval(values)
            held.append(low - 1e-9 <= value <= high + 1e-9)
            assert high - low < 0.3
    least = binom.ppf(1e-6, TRIALS, 0.95) / TRIALS
    assert np.mean(accuracy) >= least
    assert np.mean(difference) >= least


def test_differences_of_areas_hold_and_are_paired() -> None:
    """Scores correlated by .9 given the truth: a narrower prior of the curves held .88. False alarm
    below 1e-6."""
    held = areas({"noise": 0.25, "panel_error": 0}, 2, 0.9, TRIALS, 200)
    assert np.mean(held["auc difference"]) >= binom.ppf(1e-6, TRIALS, 0.95) / TRIALS
    assert np.mean(held["auc width"]) < 0.6 * np.mean(held["auc unpaired width"])


def test_differences_with_gold_hold_beside_a_panel_that_shares_mistakes() -> None:
    """A quarter of the items misleads labelers and models alike; 20 gold items. False alarm below
    1e-4; intervals that hold .70 are noticed with probability .89."""
    held = []
    for seed in range(48):
        rng = np.random.default_rng([14, seed])
        truth = rng.integers(0, 2, 160)
        tricky = rng.random(160) < 0.25
        chances = [np.where(tricky, e + 0.3, e) for e in (0.1, 0.2, 0.15, 0.2, 0.25)]
        said = [np.where(rng.random(160) < e, 1 - truth, truth) for e in chances]
        labels = tr.Labels.from_matrix(np.stack(said[2:], axis=1))
        gold = {int(i): int(truth[i]) for i in rng.permutation(160)[:20]}
        both = {"a": said[0], "b": said[1]}
        found = tr.compare(both, labels, gold=gold, draws=250, seed=seed, panel="people")
        low, high = found.difference("accuracy").interval(0.95)
        actual = (said[0] == truth).mean() - (said[1] == truth).mean()
        held.append(low - 1e-9 <= actual <= high + 1e-9)
    assert np.sum(held) >= binom.ppf(1e-4, len(held), 0.95)
