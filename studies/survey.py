"""Test sets that were not drawn item by item: coverage with the argument that says so, and without.

Simulated worlds: clusters that share mistakes, weights, slices, gold chosen by what was seen,
another prevalence, two systems before one panel. Each figure is the share of 95% intervals that
hold the truth, its Monte Carlo error, and the mean width. ``python studies/survey.py [DATA SETS]``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

import truthing as tr
from truthing.metrics.counts import Tally, evaluate

DRAWS = 1000
Held = list[tuple[bool, float]]


@dataclass(frozen=True)
class World:
    """Items with truth, predictions and labels; ``part`` is their cluster, slice or stratum."""

    truth: np.ndarray
    predicted: np.ndarray
    labels: tr.Labels
    part: np.ndarray
    rng: np.random.Generator

    @property
    def right(self) -> np.ndarray:
        return self.predicted == self.truth

    def gold(self, chosen: np.ndarray) -> dict[int, int]:
        return {int(i): int(self.truth[i]) for i in chosen}

    def random(self, n: int, chance: np.ndarray | None = None) -> dict[int, int]:
        share = None if chance is None else chance / chance.sum()
        return self.gold(self.rng.choice(len(self.truth), n, replace=False, p=share))


def world(
    seed: int,
    parts: int = 5,
    size: int = 100,
    effect: float = 0.7,
    shared: float = 0.3,
    by_part: float = 0.0,
) -> World:
    """``effect``: how much parts differ in the classifier's log-odds of being right; labelers share
    the portion ``shared`` of it; ``by_part`` is how much parts differ in prevalence."""
    rng = np.random.default_rng([seed, parts, size])
    part = np.repeat(np.arange(parts), size)
    ability = rng.normal(0, effect, parts)
    truth = (rng.random(len(part)) < expit(-0.6 + rng.normal(0, by_part, parts))[part]).astype(int)

    def answers(level: float, ability: np.ndarray) -> np.ndarray:
        right = rng.random(len(part)) < expit(level + ability[part])
        return np.where(right, truth, 1 - truth)

    predicted = answers(1.6, ability)
    votes = [answers(rng.normal(1.3, 0.3), shared * ability) for _ in range(4)]
    return World(truth, predicted, tr.Labels.from_matrix(np.stack(votes, axis=1)), part, rng)


def grade(drawn: World, gold: dict[int, int] | None, **said: Any) -> tr.Report:
    return tr.grade(drawn.predicted, drawn.labels, gold=gold, panel="people", draws=DRAWS, **said)


def held(estimate: Any, truth: float) -> tuple[bool, float]:
    low, high = estimate.interval(0.95)
    return bool(low - 1e-9 <= truth <= high + 1e-9), float(high - low)


def clusters(seed: int, target: str, by_cluster: bool, use: bool) -> Held:
    """60 clusters of 8; gold on 64 items, in 8 whole clusters or one by one."""
    drawn = world(seed, 60, 8, effect=1.0, by_part=0.8)
    whole = drawn.rng.choice(60, 8, replace=False)
    gold = drawn.gold(np.flatnonzero(np.isin(drawn.part, whole)))
    if not by_cluster:
        gold = drawn.random(64)
    report = grade(drawn, gold, target=target, cluster=drawn.part if use else None)
    truth = float(drawn.right.mean())
    if target == "population":  # the mean over all clusters there could be
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        truth = float(weights @ expit(1.6 + nodes) / weights.sum())
    return [held(report["accuracy"], truth)]


def slices(seed: int, gold: int) -> Held:
    """Five slices of 100; each slice's accuracy."""
    drawn = world(seed)
    report = grade(drawn, drawn.random(gold), by=[f"part {p}" for p in drawn.part])
    truth = [float(drawn.right[drawn.part == p].mean()) for p in range(5)]
    return [held(each.estimate, t) for each, t in zip(report.by_slice(), truth)]


def weights(seed: int, use: bool) -> Held:
    """Three strata with weights 1, 3 and 10; the weighted accuracy."""
    drawn = world(seed, 3, 160, effect=1.0)
    weight = np.array([1.0, 3.0, 10.0])[drawn.part]
    said = {"weights": weight, "stratum": [str(p) for p in drawn.part]} if use else {}
    report = grade(drawn, drawn.random(60), **said)
    return [held(report["accuracy"], float(np.average(drawn.right, weights=weight)))]


def chosen(seed: int, how: str | None, biopsy: bool) -> Held:
    """Gold eight times as often where most labels contradict the prediction, or where the
    prediction is positive (``biopsy``); accuracy and recall."""
    drawn = world(seed, 1, 480, effect=0.0)
    votes = drawn.labels.counts()
    disputed = votes[np.arange(480), drawn.predicted] <= 2
    chance = np.where((drawn.predicted == 1) if biopsy else disputed, 8.0, 1.0)
    report = grade(drawn, drawn.random(60, chance), gold_choice=how)
    positive = drawn.truth == 1
    return [
        held(report["accuracy"], float(drawn.right.mean())),
        held(report["recall"], float(drawn.right[positive].mean())),
    ]


def deployment(seed: int, use: bool) -> Held:
    """A third of the items positive, 5% at deployment; accuracy, precision and F1 there."""
    drawn = world(seed, 1, 480, effect=0.0)
    report = grade(drawn, drawn.random(60), deployment=0.05 if use else None)
    both = np.array(
        [[((drawn.truth == t) & (drawn.predicted == k)).sum() for k in (0, 1)] for t in (0, 1)]
    )
    there = both / both.sum(axis=1, keepdims=True) * np.array([[0.95], [0.05]])
    tally = Tally.from_confusion(there)
    return [
        held(report[name], float(evaluate(name, tally, classes=(0, 1), positive=1)))
        for name in ("accuracy", "precision", "f1")
    ]


def systems(seed: int, gold: int) -> Held:
    """Two systems on the same 250 prompts, judges a little kinder to the first: the difference of
    their pass rates, and each rate."""
    rng = np.random.default_rng([seed, 2])
    hard = rng.normal(0, 1, 250)
    first, second = (rng.random(250) < expit(level + hard) for level in (1.0, 0.3))
    truth = np.concatenate([first, second]).astype(int)
    kind = np.repeat([0.3, 0.0], 250) * np.where(truth == 1, 1, -1)
    votes = [
        np.where(rng.random(500) < expit(rng.normal(1.2, 0.3) + kind), truth, 1 - truth)
        for _ in range(3)
    ]
    known = {int(i): int(truth[i]) for i in rng.choice(500, gold, replace=False)}
    result = tr.prevalence(
        tr.Labels.from_matrix(np.stack(votes, axis=1)),
        gold=known or None,
        by=["A"] * 250 + ["B"] * 250,
        cluster=list(range(250)) * 2,
        panel="models",
        draws=DRAWS,
    )
    rates = [float(first.mean()), float(second.mean())]
    found = [held(each.estimate, rate) for each, rate in zip(result.by_slice(1), rates)]
    return [held(result.difference(1), rates[0] - rates[1]), *found]


STUDIES: dict[str, Callable[[int], Held]] = {
    "clusters, whole ones gold, these items": lambda s: clusters(s, "sample", True, True),
    "  ignored": lambda s: clusters(s, "sample", True, False),
    "clusters, whole ones gold, new data": lambda s: clusters(s, "population", True, True),
    "  ignored ": lambda s: clusters(s, "population", True, False),
    "clusters, gold one by one, new data": lambda s: clusters(s, "population", False, True),
    "  ignored  ": lambda s: clusters(s, "population", False, False),
    "slices, 60 gold": lambda s: slices(s, 60),
    "slices, 200 gold": lambda s: slices(s, 200),
    "weights and strata": lambda s: weights(s, True),
    "  ignored   ": lambda s: weights(s, False),
    "gold chosen by disagreement": lambda s: chosen(s, None, False),
    "  taken as random": lambda s: chosen(s, "random", False),
    "gold chosen by prediction": lambda s: chosen(s, None, True),
    "  taken as random ": lambda s: chosen(s, "random", True),
    "deployment": lambda s: deployment(s, True),
    "  ignored    ": lambda s: deployment(s, False),
    "two systems, 60 gold": lambda s: systems(s, 60),
    "two systems, 150 gold": lambda s: systems(s, 150),
    "two systems, no gold": lambda s: systems(s, 0),
}


def coverage(study: Callable[[int], Held], n: int) -> tuple[float, float, float]:
    """Share of intervals that hold, its standard error (data sets are independent), mean width."""
    found = [study(seed) for seed in range(n)]
    share = np.array([np.mean([h for h, _ in each]) for each in found])
    width = float(np.mean([w for each in found for _, w in each]))
    return float(share.mean()), float(share.std() / np.sqrt(n)), width


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(f"coverage of 95% intervals over {n} data sets\n")
    for name, study in STUDIES.items():
        held, error, width = coverage(study, n)
        print(f"{name:<42} {held:.3f} ± {error:.3f}  width {width:.3f}", flush=True)


if __name__ == "__main__":
    main()
