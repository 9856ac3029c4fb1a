"""Panels that mislead: does gold rescue the interval, and how much wider is it than gold alone's?

500 items, labelers with errors of their own around a shared answer that differs from the truth.
1. The shared answer is wrong on 20% of the items, and the classifier repeats it.
2. The classifier is better than its panel.
3. The panel is blind to 40% of the positives, and so is the classifier.

    python studies/hostile.py 300            the kind of panel not known
    python studies/hostile.py 300 people     told
    python studies/hostile.py 300 people mean    told, and how many of the labels are wrong

Differences between that classifier and one which is right on 95% (94% in world 3) come last.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np

import truthing as tr
from truthing.truth.gold_alone import difference_draws

GOLD = (10, 25, 50, 100)
METRICS = ("accuracy", "recall", "precision", "f1")
Held = dict[tuple[int, int, str], list[tuple[bool, float, bool]]]


def world(number: int, rng: np.random.Generator, n: int = 500) -> tuple[np.ndarray, ...]:
    """Truth, predictions and labels (items × labelers)."""

    truth = (rng.random(n) < (0.2 if number == 3 else 0.4)).astype(int)
    if number == 3:
        shared = np.where((truth == 1) & (rng.random(n) < 0.4), 0, truth)
        return truth, flipped(rng, shared, 0.04), _panel(rng, shared, 4, 0.05)
    shared = flipped(rng, truth, 0.2 if number == 1 else 0.1)
    predicted = flipped(rng, shared, 0.05) if number == 1 else flipped(rng, truth, 0.03)
    return truth, predicted, _panel(rng, shared, 5, 0.12)


def flipped(rng: np.random.Generator, answer: np.ndarray, chance: float) -> np.ndarray:
    return np.where(rng.random(answer.shape) < chance, 1 - answer, answer)


def _panel(rng: np.random.Generator, shared: np.ndarray, size: int, error: float) -> np.ndarray:
    return flipped(rng, np.repeat(shared[:, None], size, axis=1), error)


def run(
    trials: int,
    golds: tuple[int, ...] = GOLD,
    draws: int = 2000,
    panel: str | None = None,
    mean: bool = False,
) -> Held:
    """For each world, number of gold items and metric: held, width beside gold alone's, gold
    held. ``mean``: `noise=` is the true share of wrong labels.
    """
    found: Held = defaultdict(list)
    for number in (1, 2, 3):
        for seed in range(trials):
            rng = np.random.default_rng([number, seed])
            truth, predicted, labels = world(number, rng)
            order, noise = rng.permutation(len(truth)), given_noise(labels, truth, mean)
            actual = {name: metric(name, truth, predicted) for name in METRICS}
            for n_gold in golds:
                gold = {int(i): int(truth[i]) for i in order[:n_gold]}
                told = {"gold": gold, "panel": panel, "noise": noise, "draws": draws, "seed": seed}
                report = tr.grade(predicted, labels, **told)
                for name in METRICS:
                    low, high = report[name].interval(0.95)
                    least, most = report.gold_alone[name].interval(0.95)
                    held = low - 1e-9 <= actual[name] <= high + 1e-9
                    alone = least - 1e-9 <= actual[name] <= most + 1e-9
                    ratio = (high - low) / max(most - least, 1e-9)
                    found[number, n_gold, name].append((held, ratio, alone))
    return found


def run_pairs(
    trials: int,
    golds: tuple[int, ...] = GOLD,
    draws: int = 400,
    panel: str | None = None,
    mean: bool = False,
) -> dict[tuple[int, int], list[tuple[bool, float, bool, bool]]]:
    """For each world and number of gold items, of the difference of two accuracies: held, width
    beside gold alone's, whether the verdict is sure (P of .9 and more), and sure and right.
    """
    found = defaultdict(list)
    for number in (1, 2, 3):
        for seed in range(trials):
            rng = np.random.default_rng([number, seed])
            truth, first, labels = world(number, rng)
            second = flipped(rng, truth, 0.06 if number == 3 else 0.05)
            order, both = rng.permutation(len(truth)), {"a": first, "b": second}
            actual = float((first == truth).mean() - (second == truth).mean())
            noise = given_noise(labels, truth, mean)
            for n_gold in golds:
                known = np.full(len(truth), -1)
                known[order[:n_gold]] = truth[order[:n_gold]]
                gold = {int(i): int(truth[i]) for i in order[:n_gold]}
                told = {"gold": gold, "panel": panel, "noise": noise, "draws": draws, "seed": seed}
                gap = tr.compare(both, labels, **told).difference("accuracy")
                alone = tr.Estimate.from_draws(
                    difference_draws((first, second), known, "sample", draws, rng),
                    support=(-1.0, 1.0),
                )
                low, high = gap.interval(0.95)
                least, most = alone.interval(0.95)
                sure = max(gap.probability_better, 1 - gap.probability_better) >= 0.9
                right = sure and (gap.probability_better > 0.5) == (actual > 0)
                held, ratio = low <= actual <= high, (high - low) / max(most - least, 1e-9)
                found[number, n_gold].append((held, ratio, sure, right))
    return found


def given_noise(labels: np.ndarray, truth: np.ndarray, mean: bool) -> float | None:
    """What a user says who knows how many of the labels are wrong."""
    return float((labels != truth[:, None]).mean()) if mean else None


def metric(name: str, truth: np.ndarray, predicted: np.ndarray) -> float:
    both = float(((truth == 1) & (predicted == 1)).sum())
    said, true = float((predicted == 1).sum()), float((truth == 1).sum())
    return {
        "accuracy": float((truth == predicted).mean()),
        "recall": both / true,
        "precision": both / said,
        "f1": 2 * both / (said + true),
    }[name]


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    panel = sys.argv[2] if len(sys.argv) > 2 else None
    mean = "mean" in sys.argv[3:]
    error = np.sqrt(0.95 * 0.05 / trials)
    print(
        f"{trials} data sets per world (± {error:.3f}): held / width beside gold alone's (gold "
        "held)"
    )
    for (number, n_gold, name), rows in run(trials, panel=panel, mean=mean).items():
        held, ratio, alone = np.mean(rows, axis=0)
        largest = max(row[1] for row in rows)
        print(
            f"world {number}  {n_gold:>3} gold  {name:<10}{held:.3f} / {ratio:.2f} ({alone:.3f}), "
            f"widest {largest:.2f}"
        )
    for (number, n_gold), pairs in run_pairs(trials, panel=panel, mean=mean).items():
        held, ratio, sure, right = np.mean(pairs, axis=0)
        print(
            f"world {number}  {n_gold:>3} gold  difference {held:.3f} / {ratio:.2f}, "
            f"sure {sure:.2f}, of these right {right / max(sure, 1e-9):.2f}"
        )


if __name__ == "__main__":
    main()
