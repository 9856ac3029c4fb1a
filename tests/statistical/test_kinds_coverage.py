"""Small seeded versions of studies/gold_error.py, labeler_groups.py, grades.py and missing_votes.py."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

import truthing as tr
from truthing.noise.ordinal import ordinal_tables

TRIALS = 24
FEWER = 12


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


def test_intervals_hold_where_judges_copy_and_groups_are_said() -> None:
    held = {"without": 0, "groups": 0}
    groups = {f"copy{k}": "copies" for k in range(6)}
    for seed in range(FEWER):
        rng = np.random.default_rng(seed)
        truth = (rng.random(400) < 0.4).astype(int)
        heard = [np.where(rng.random(400) < e, 1 - truth, truth) for e in [0.15] * 3 + [0.3] * 7]
        copies = [np.where(rng.random(400) < 0.8, heard[3], own) for own in heard[4:]]
        labels = tr.Labels.from_matrix(
            np.stack([*heard[:3], *copies, copies[0]][:9], axis=1),
            labelers=["a", "b", "c", *groups],
        )
        model = np.where(rng.random(400) < 0.12, 1 - truth, truth)
        right = float((model == truth).mean())
        for way, said in (("without", None), ("groups", groups)):
            report = tr.grade(model, labels, groups=said, panel="people", draws=400)
            low, high = report["accuracy"].interval(0.95)
            held[way] += int(low <= right <= high)
    assert held["groups"] >= binom.ppf(1e-4, FEWER, 0.93)
    assert held["without"] < 0.5 * FEWER


def test_metrics_of_a_scale_hold_with_some_gold() -> None:
    held = dict.fromkeys(("weighted_kappa", "mean_absolute_error", "mean_score"), 0)
    for seed in range(FEWER):
        rng = np.random.default_rng(seed)
        truth = rng.choice(5, 300, p=[0.1, 0.2, 0.3, 0.25, 0.15])
        tables = ordinal_tables(
            np.arange(4) + 0.5, rng.normal(0, 0.4, 6), np.exp(rng.normal(1.1, 0.3, 6))
        )
        said = (rng.random((6, 300, 1)) > np.cumsum(tables[:, truth], axis=2)).sum(axis=2)
        gold = {int(i): int(truth[i]) for i in rng.permutation(300)[:40]}
        labels = tr.Labels.from_matrix(said[:-1].T.astype(object))
        report = tr.grade(said[-1], labels, gold=gold, scale="ordinal", panel="people", draws=400)
        apart = said[-1] - truth
        spread = truth.var() + said[-1].var() + apart.mean() ** 2
        true = {
            "weighted_kappa": 1 - (apart**2).mean() / spread,
            "mean_absolute_error": np.abs(apart).mean(),
            "mean_score": truth.mean(),
        }
        for name, value in true.items():
            low, high = report[name].interval(0.95)
            held[name] += int(low <= value <= high)
    assert min(held.values()) >= binom.ppf(1e-4, FEWER, 0.93)


def test_intervals_hold_where_labelers_are_unsure_of_what_is_hard() -> None:
    held = {"dropped": 0, "unsure": 0}
    words = np.array(["no", "yes"], dtype=object)
    for seed in range(FEWER):
        rng = np.random.default_rng(seed)
        truth = (rng.random(400) < 0.4).astype(int)
        hard = rng.random(400) < 0.4
        error = np.where(hard, 0.55, 0.08)
        grid = words[np.where(rng.random((4, 400)) < error, 1 - truth, truth).T]
        model = words[np.where(rng.random(400) < error, 1 - truth, truth)]
        grid[rng.random(grid.shape) < np.where(hard, 0.8, 0.02)[:, None]] = "?"
        right = float((model == words[truth]).mean())
        empty = tr.Labels.from_matrix(np.where(grid == "?", None, grid))
        said = dict(enumerate(model))
        common = {"panel": "people", "draws": 400}
        dropped = tr.grade(said, empty, skips="random", **common)
        marked = tr.grade(said, tr.Labels.from_matrix(grid), unsure="?", **common)
        for way, report in (("dropped", dropped), ("unsure", marked)):
            low, high = report["accuracy"].interval(0.95)
            held[way] += int(low <= right <= high)
    assert held["unsure"] >= binom.ppf(1e-4, FEWER, 0.93)
    assert held["unsure"] >= held["dropped"]
