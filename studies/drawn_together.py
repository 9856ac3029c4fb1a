"""Ways of drawing a test set that meet: a calibration set with clusters, weights or slices, areas
under curves with weights or clusters, labelers with clusters, experts who err with weights or
clusters.

Each figure is the share of 95% intervals that hold the truth, its Monte Carlo error, and the mean
width; "ignored" leaves the argument out. ``python studies/drawn_together.py [DATA SETS] [NAME]``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit, ndtr
from survey import Held, coverage, held

import truthing as tr

DRAWS, JUDGES = 1000, ("a", "b", "c")
STRATA = np.repeat(np.arange(3), 160)
WEIGHT = np.array([10.0, 3.0, 1.0])[STRATA]


def mean_chance(level: float, spread: float) -> float:
    """E expit(level + spread z): what all clusters there could be have."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ expit(level + spread * nodes) / weights.sum())


class Items:
    """Items in parts: classes' log-odds ``share`` of each part, and how good everybody is there."""

    def __init__(
        self, rng: np.random.Generator, part: np.ndarray, share: np.ndarray, ability: np.ndarray
    ) -> None:
        self.rng, self.part, self.ability = rng, part, ability
        self.truth = (rng.random(len(part)) < expit(share)[part]).astype(int)

    def answers(self, level: float, shared: float) -> np.ndarray:
        right = self.rng.random(len(self.part)) < expit(level + shared * self.ability[self.part])
        return np.where(right, self.truth, 1 - self.truth)

    def labels(self, first: str, levels: np.ndarray, shared: float) -> tr.Labels:
        votes = np.stack([self.answers(level, shared) for level in levels], axis=1)
        names = [f"{first}{i}" for i in range(len(votes))]
        return tr.Labels.from_matrix(votes, items=names, labelers=list(JUDGES))


def asked(graded: Items, other: Items, levels: np.ndarray, shared: float) -> tuple[Any, ...]:
    """Predictions, labels and calibration set, as `grade` takes them."""
    mine, theirs = graded.labels("g", levels, shared), other.labels("c", levels, shared)
    predicted = dict(zip(mine.items, map(int, graded.answers(1.5, 1.0))))
    predicted |= dict(zip(theirs.items, map(int, other.answers(1.5, 1.0))))
    known = dict(zip(theirs.items, map(int, other.truth)))
    return predicted, mine, (theirs, known)


def calibration_in_clusters(seed: int, target: str, use: bool) -> Held:
    """60 clusters of 8 are graded by 16 other whole clusters; pass rate and accuracy."""
    rng = np.random.default_rng([seed, 21])
    levels = rng.normal(1.2, 0.3, 3)
    graded, other = (
        Items(rng, np.repeat(np.arange(k), 8), 1.2 + rng.normal(0, 0.8, k), rng.normal(0, 1, k))
        for k in (60, 16)
    )
    predicted, labels, calibration = asked(graded, other, levels, 0.6)
    about: dict[str, Any] = {"calibration_set": calibration, "target": target, "draws": DRAWS}
    if use:
        about["cluster"] = dict(zip(labels.items, graded.part.tolist()))
        about["cluster"] |= dict(zip(calibration[0].items, (1000 + other.part).tolist()))
    about |= {"calibration_chosen": "truth", "panel": "models"}
    rate = tr.prevalence(labels, **about)
    report = tr.grade(predicted, labels, **about)
    right = np.array([predicted[i] for i in labels.items]) == graded.truth
    truth = [float(graded.truth.mean()), float(right.mean())]
    if target == "population":
        truth = [mean_chance(1.2, 0.8), mean_chance(1.5, 1.0)]
    return [held(rate[1], truth[0]), held(report["accuracy"], truth[1])]


def calibration_by_stratum(seed: int, how: str) -> Held:
    """Three strata with other class shares; weighted pass rate and accuracy, or each slice's."""
    rng = np.random.default_rng([seed, 22])
    levels = rng.normal(1.2, 0.3, 3)
    graded = Items(rng, STRATA, np.array([0.0, 1.0, 2.2]), np.zeros(3))
    other = Items(rng, np.arange(100) % 2, np.array([-9.0, 9.0]), np.zeros(2))
    predicted, labels, calibration = asked(graded, other, levels, 0.0)
    about: dict[str, Any] = {"calibration_set": calibration, "draws": DRAWS, "panel": "models"}
    said = np.array([predicted[i] for i in labels.items])
    right = (said == graded.truth).astype(float)
    if how == "slices":
        about["by"] = [f"part {p}" for p in STRATA]
        found = tr.prevalence(labels, **about).by_slice(1)
        return [
            held(each.estimate, float(graded.truth[graded.part == k].mean()))
            for k, each in enumerate(found)
        ]
    if how == "weights":
        about["weights"] = WEIGHT
    rate, report = tr.prevalence(labels, **about), tr.grade(predicted, labels, **about)
    shares = [float(np.average(x, weights=WEIGHT)) for x in (graded.truth, right)]
    return [held(rate[1], shares[0]), held(report["accuracy"], shares[1])]


def area(truth: np.ndarray, score: np.ndarray, weight: np.ndarray) -> float:
    """The weighted share of pairs in the right order (Mann-Whitney)."""
    up, down = truth == 1, truth == 0
    pairs = weight[up][:, None] * weight[down]
    return float((pairs * (score[up][:, None] > score[down])).sum() / pairs.sum())


def area_by_weight(seed: int, use: bool) -> Held:
    """Strata of weights 10, 3 and 1 in which scores separate ever better; 60 random gold items."""
    rng = np.random.default_rng([seed, 23])
    items = Items(rng, STRATA, np.array([0.5, 0.0, -0.5]), np.zeros(3))
    score = np.array([0.7, 1.4, 2.4])[STRATA] * (items.truth - 0.5) + rng.normal(size=480)
    labels = items.labels("g", rng.normal(1.3, 0.3, 3), 0.0)
    gold = {labels.items[i]: int(items.truth[i]) for i in rng.choice(480, 60, replace=False)}
    more = {"weights": WEIGHT, "stratum": STRATA.tolist()} if use else {}
    report = tr.grade(
        None, labels, scores=score, threshold=0.0, gold=gold, panel="people", draws=DRAWS, **more
    )
    return [held(report["auc"], area(items.truth, score, WEIGHT))]


def area_in_clusters(seed: int, whole: bool, use: bool) -> Held:
    """60 clusters of 8 with scores and shares of their own, new data; 64 gold items, in 8 whole
    clusters or one by one."""
    rng = np.random.default_rng([seed, 24])
    part = np.repeat(np.arange(60), 8)
    items = Items(rng, part, rng.normal(-0.2, 0.6, 60), rng.normal(0, 1, 60))
    noise = 0.6 * rng.normal(size=60)[part] + 0.8 * rng.normal(size=480)
    score = 1.5 * (items.truth - 0.5) + noise
    labels = items.labels("g", rng.normal(1.3, 0.3, 3), 0.3)
    chosen = np.flatnonzero(np.isin(part, rng.choice(60, 8, replace=False)))
    if not whole:
        chosen = rng.choice(480, 64, replace=False)
    gold = {labels.items[i]: int(items.truth[i]) for i in chosen}
    report = tr.grade(
        None,
        labels,
        scores=score,
        threshold=0.0,
        gold=gold,
        target="population",
        cluster=part if use else None,
        panel="people",
        draws=DRAWS,
    )
    return [held(report["auc"], float(ndtr(1.5 / np.sqrt(2))))]


def area_by_calibration(seed: int) -> Held:
    """480 items with scores, and 100 calibration items, 50 of each class; everybody finds the same
    items hard."""
    rng = np.random.default_rng([seed, 26])
    levels, graded = rng.normal(1.2, 0.3, 3), np.arange(480)
    items = Items(rng, graded, np.full(480, 0.8), rng.normal(0, 0.6, 480))
    other = Items(rng, np.arange(100), np.resize([-9.0, 9.0], 100), rng.normal(0, 0.6, 100))
    score = (items.truth - 0.5) * (1.8 + items.ability) + rng.normal(size=480)
    theirs = (other.truth - 0.5) * (1.8 + other.ability) + rng.normal(size=100)
    labels, calibration = items.labels("g", levels, 1.0), other.labels("c", levels, 1.0)
    names = [*labels.items, *calibration.items]
    table = pl.DataFrame({"item": names, "score": np.concatenate([score, theirs])})
    report = tr.grade(
        table,
        labels,
        threshold=0.0,
        calibration_set=(calibration, dict(zip(calibration.items, map(int, other.truth)))),
        calibration_chosen="truth",
        panel="models",
        draws=DRAWS,
    )
    return [held(report["auc"], area(items.truth, score, np.ones(480)))]


def labelers_in_clusters(seed: int, what: str, use: bool) -> Held:
    """50 clusters of 6, five labelers, each with good and bad clusters of its own: the error of
    each, among all clusters there could be."""
    rng = np.random.default_rng([seed, 25])
    part = np.repeat(np.arange(50), 6)
    truth = (rng.random(300) < expit(rng.normal(-0.3, 0.8, 50))[part]).astype(int)
    levels = rng.normal(1.8, 0.4, 5)
    votes = []
    for level in levels:
        right = rng.random(300) < expit(level + rng.normal(0, 1.2, 50)[part])
        votes.append(np.where(right, truth, 1 - truth))
    labels = tr.Labels.from_matrix(np.stack(votes, axis=1))
    gold = {int(i): int(truth[i]) for i in np.flatnonzero(part < 10)}
    found = tr.labelers(labels, gold=gold, cluster=part if use else None, panel="people", draws=500)
    return [
        held(found[name][what], 1 - mean_chance(level, 1.2))
        for name, level in zip(labels.labelers, levels)
    ]


def experts_who_err(seed: int, how: str, use: bool) -> Held:
    """Gold on 80 random items, wrong on one in ten; weights 10, 3 and 1 by stratum, or 60 clusters
    of 8 on new data. ``use``: is it said that gold errs?"""
    rng = np.random.default_rng([seed, 27])
    clusters = how == "clusters"
    part = np.repeat(np.arange(60), 8) if clusters else STRATA
    k = int(part.max()) + 1
    ability = rng.normal(0, 1, k) if clusters else np.array([-0.7, 0.0, 0.7])
    items = Items(rng, part, rng.normal(-0.2, 0.6, k), ability)
    labels = items.labels("g", rng.normal(1.3, 0.3, 3), 0.3)
    predicted = items.answers(1.6, 1.0)
    chosen = rng.choice(480, 80, replace=False)
    wrong = rng.random(80) < 0.1
    gold = {
        labels.items[i]: int(items.truth[i] ^ slip) for i, slip in zip(chosen, wrong.astype(int))
    }
    more: dict[str, Any] = {"cluster": part, "target": "population"}
    if not clusters:
        more = {"weights": WEIGHT, "stratum": STRATA.tolist()}
    report = tr.grade(
        predicted,
        labels,
        gold=gold,
        gold_error=(0.05, 0.15) if use else None,
        panel="people",
        draws=DRAWS,
        **more,
    )
    truth = mean_chance(1.6, 1.0)
    if not clusters:
        truth = float(np.average(predicted == items.truth, weights=WEIGHT))
    return [held(report["accuracy"], truth)]


STUDIES: dict[str, Callable[[int], Held]] = {
    "calibration, clusters, these items": lambda s: calibration_in_clusters(s, "sample", True),
    "calibration, clusters, these items: ignored": lambda s: calibration_in_clusters(
        s, "sample", False
    ),
    "calibration, clusters, new data": lambda s: calibration_in_clusters(s, "population", True),
    "calibration, clusters, new data: ignored": lambda s: calibration_in_clusters(
        s, "population", False
    ),
    "calibration, weights": lambda s: calibration_by_stratum(s, "weights"),
    "calibration, weights: ignored": lambda s: calibration_by_stratum(s, "ignored"),
    "calibration, slices": lambda s: calibration_by_stratum(s, "slices"),
    "auc, weights": lambda s: area_by_weight(s, True),
    "auc, weights: ignored": lambda s: area_by_weight(s, False),
    "auc, clusters, whole ones gold": lambda s: area_in_clusters(s, True, True),
    "auc, clusters, whole ones gold: ignored": lambda s: area_in_clusters(s, True, False),
    "auc, clusters, gold one by one": lambda s: area_in_clusters(s, False, True),
    "calibration, auc": area_by_calibration,
    "gold errs, weights": lambda s: experts_who_err(s, "weights", True),
    "gold errs, weights: error ignored": lambda s: experts_who_err(s, "weights", False),
    "gold errs, clusters": lambda s: experts_who_err(s, "clusters", True),
    "gold errs, clusters: error ignored": lambda s: experts_who_err(s, "clusters", False),
    "labelers, clusters: error": lambda s: labelers_in_clusters(s, "error", True),
    "labelers, clusters: error, ignored": lambda s: labelers_in_clusters(s, "error", False),
    "labelers, clusters: by the others": lambda s: labelers_in_clusters(s, "graded", True),
    "labelers, clusters: by the others, ignored": lambda s: labelers_in_clusters(
        s, "graded", False
    ),
}


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    asked_for = sys.argv[2] if len(sys.argv) > 2 else ""
    print(f"coverage of 95% intervals over {n} data sets\n")
    for name, study in STUDIES.items():
        if asked_for in name:
            share, error, width = coverage(study, n)
            print(f"{name:<46} {share:.3f} ± {error:.3f}  width {width:.3f}", flush=True)


if __name__ == "__main__":
    main()
