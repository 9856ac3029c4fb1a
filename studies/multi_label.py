"""Do averages over tags keep their promise, with tags whose mistakes go together? Simulated.

    python studies/multi_label.py [data sets] [draws]
    python studies/multi_label.py compare [data sets] [draws]   differences of two models

Four tags, correlated on items; five labelers; a classifier. Worlds: mistakes of the panel
independent between tags; items that are hard in all tags; a panel that is lenient in all tags alike
(all labelers together add a tag that is not there). Nominal coverage .95; Monte Carlo error beside
each figure. "apart" takes the doubts of tags for independent: what happens if dependence is
ignored.
"""

from __future__ import annotations

import sys

import numpy as np

import truthing as tr
from truthing.multi_label.joint import Coupling

TAGS = ["a", "b", "c", "d"]
WORLDS = ("independent", "hard items", "lenient panel")
METRICS = ("macro_f1", "micro_f1", "macro_recall", "hamming_accuracy", "subset_accuracy")
N_ITEMS, N_LABELERS = 250, 5


def world(kind: str, seed: int):
    """Truth, predictions and votes, items × tags."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(N_ITEMS, 1))
    level = np.array([0.2, -0.2, -0.5, -0.8])
    truth = 0.7 * base + 0.7 * rng.normal(size=(N_ITEMS, 4)) + level > 0
    error = np.full((N_ITEMS, 4), 0.12)
    if kind == "hard items":
        error = np.where(rng.random((N_ITEMS, 1)) < 0.25, 0.35, 0.06) * np.ones((1, 4))
    votes = np.where(rng.random((N_LABELERS, N_ITEMS, 4)) < error, ~truth, truth)
    if kind == "lenient panel":
        everybody = (rng.random((N_ITEMS, 1)) < 0.2) & (rng.random((N_ITEMS, 4)) < 0.6) & ~truth
        votes = votes | everybody
    guess = np.where(rng.random((N_ITEMS, 4)) < error, ~truth, truth)
    return truth, guess, votes


def sets(table) -> list[list[str]]:
    return [[tag for tag, tick in zip(TAGS, row) if tick] for row in table]


def true_value(metric: str, truth, guess) -> float:
    right, said, there = (truth & guess).sum(0), guess.sum(0), truth.sum(0)
    return float(
        {
            "macro_f1": (2 * right / (said + there)).mean(),
            "micro_f1": 2 * right.sum() / (said.sum() + there.sum()),
            "macro_recall": (right / there).mean(),
            "hamming_accuracy": (truth == guess).mean(),
            "subset_accuracy": (truth == guess).all(axis=1).mean(),
        }[metric]
    )


def holds(estimate, value: float) -> tuple[bool, float]:
    low, high = estimate.interval(0.95)
    return low - 1e-9 <= value <= high + 1e-9, high - low


def once(kind: str, n_gold: int, seed: int, draws: int):
    truth, guess, votes = world(kind, seed)
    labels = [list(row) for row in zip(*(sets(v) for v in votes))]
    chosen = np.random.default_rng(seed + 1).permutation(N_ITEMS)[:n_gold]
    named = sets(truth)
    gold = {int(i): named[i] for i in chosen} if n_gold else None
    report = tr.grade(sets(guess), labels, gold=gold, tags=TAGS, panel="people", draws=draws)
    found = [holds(report[m], true_value(m, truth, guess)) for m in METRICS]
    alone = Coupling.of(len(TAGS), 0.0, 0).mean([report.tags[t]["f1"] for t in TAGS])
    found.append(holds(alone, true_value("macro_f1", truth, guess)))
    face = report.at_face_value("macro_f1") - true_value("macro_f1", truth, guess)
    return np.array(found, dtype=float), report.joint.shared, face


def compared(kind: str, n_gold: int, seed: int, draws: int):
    """The difference of two models, of which one errs twice as often."""
    truth, guess, votes = world(kind, seed)
    rng = np.random.default_rng([seed, 2])
    worse = np.where(rng.random(truth.shape) < 0.12, ~guess, guess)
    labels = [list(row) for row in zip(*(sets(v) for v in votes))]
    named = sets(truth)
    gold = {int(i): named[i] for i in rng.permutation(N_ITEMS)[:n_gold]} if n_gold else None
    models = {"good": sets(guess), "worse": sets(worse)}
    found = tr.compare(models, labels, gold=gold, tags=TAGS, panel="people", draws=draws)
    names = ("macro_f1", "hamming_accuracy")
    true = [true_value(m, truth, guess) - true_value(m, truth, worse) for m in names]
    return [holds(found.difference(m, "good", "worse"), value) for m, value in zip(names, true)]


def compare(n_sets: int = 40, draws: int = 400) -> None:
    for kind in WORLDS:
        for n_gold in (0, 40):
            told = [compared(kind, n_gold, seed, draws) for seed in range(n_sets)]
            found = np.array(told, dtype=float)
            for name, (p, width) in zip(("macro_f1", "hamming"), found.mean(axis=0)):
                error = np.sqrt(max(p * (1 - p), 0.5 / n_sets) / n_sets)
                what = f"{kind}, {n_gold} gold, difference of {name}"
                print(f"{what:<52} {p:.3f} ± {error:.3f}   width {width:.3f}", flush=True)


def main(n_sets: int = 40, draws: int = 1000) -> None:
    names = [*METRICS, "macro_f1 apart"]
    for kind in WORLDS:
        for n_gold in (0, 40):
            told = [once(kind, n_gold, seed, draws) for seed in range(n_sets)]
            found = np.stack([each[0] for each in told])
            kept, wide = found[:, :, 0].mean(axis=0), np.median(found[:, :, 1], axis=0)
            shared, face = (np.mean([each[k] for each in told]) for k in (1, 2))
            print(f"{kind}, {n_gold} gold, shared {shared:.2f}, face value off by {face:+.3f}")
            for name, p, width in zip(names, kept, wide):
                error = np.sqrt(max(p * (1 - p), 0.5 / n_sets) / n_sets)
                print(f"  {name:<18} {p:.3f} ± {error:.3f}   width {width:.3f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["compare"]:
        compare(*map(int, sys.argv[2:]))
    else:
        main(*map(int, sys.argv[1:]))
