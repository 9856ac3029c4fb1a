"""A calibration set apart from the graded items: coverage and width of the pass rate and of a
classifier's accuracy and recall, beside Rogan–Gladen and gold of the same size.

Three judges label 500 items (80% pass) and 100 other items with known truth: 50 of each true class
(design truth), 50 of each verdict (verdict), or at random. Judges and classifier share hard items.
``python studies/calibration_set.py [DATA SETS]``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.special import expit

import truthing as tr

N, CALIBRATION, DRAWS = 500, 100, 1000
Held = tuple[bool, float]


def items(rng: np.random.Generator, n: int, share: float, levels: np.ndarray) -> tuple[Any, ...]:
    """Truth, predictions and labels of items, hard ones hard for everybody."""
    truth = (rng.random(n) < share).astype(int)
    easy = 0.6 * rng.normal(size=n)

    def answers(level: float) -> np.ndarray:
        return np.where(rng.random(n) < expit(level + easy), truth, 1 - truth)

    return truth, answers(1.5), np.stack([answers(level) for level in levels], axis=1)


def world(seed: int, design: str) -> tuple[Any, ...]:
    rng = np.random.default_rng([seed, 7])
    levels = rng.normal(1.2, 0.3, 3)
    graded = items(rng, N, 0.8, levels)
    truth, said, labels = items(rng, 4000, 0.5 if design == "truth" else 0.8, levels)
    verdict = (labels.mean(axis=1) > 0.5).astype(int)
    chosen = np.arange(CALIBRATION)
    if design != "random":
        by = truth if design == "truth" else verdict
        half = CALIBRATION // 2
        parts = [rng.choice(np.flatnonzero(by == k), half, replace=False) for k in (0, 1)]
        chosen = np.concatenate(parts)
    return graded, (truth[chosen], said[chosen], labels[chosen]), rng


def held(low: float, high: float, truth: float) -> Held:
    return bool(low - 1e-9 <= truth <= high + 1e-9), float(high - low)


def named(labels: np.ndarray, first: str) -> tr.Labels:
    names = [f"{first}{i}" for i in range(len(labels))]
    return tr.Labels.from_matrix(labels, items=names, labelers=["a", "b", "c"])


def ours(seed: int, design: str, with_predictions: bool) -> list[Held]:
    """Pass rate, accuracy and recall."""
    (truth, said, labels), (known, theirs, other), _ = world(seed, design)
    graded, calibration = named(labels, "g"), named(other, "c")
    gold = dict(zip(calibration.items, map(int, known)))
    about: dict[str, Any] = {"calibration_set": (calibration, gold), "draws": DRAWS}
    about["calibration_chosen"] = "verdict" if design == "verdict" else "truth"
    predictions = dict(zip(graded.items, map(int, said)))
    if with_predictions:
        predictions |= dict(zip(calibration.items, map(int, theirs)))
    rate = tr.prevalence(graded, panel="models", **about)
    report = tr.grade(predictions, graded, panel="models", **about)
    right = said == truth
    return [
        held(*rate[1].interval(0.95), float(truth.mean())),
        held(*report["accuracy"].interval(0.95), float(right.mean())),
        held(*report["recall"].interval(0.95), float(right[truth == 1].mean())),
    ]


def rogan_gladen(seed: int, design: str) -> list[Held]:
    """The majority vote's rate corrected by its sensitivity and specificity (delta method)."""
    (truth, _, labels), (known, _, other), _ = world(seed, design)
    apparent = float((labels.mean(axis=1) > 0.5).mean())
    verdict = other.mean(axis=1) > 0.5
    hits, calm = verdict[known == 1], ~verdict[known == 0]
    slope = max(hits.mean() + calm.mean() - 1, 0.05)
    rate = (apparent + calm.mean() - 1) / slope
    spread = [p.mean() * (1 - p.mean()) / len(p) for p in (hits, calm)]
    variance = apparent * (1 - apparent) / N + rate**2 * spread[0] + (1 - rate) ** 2 * spread[1]
    half = 1.96 * np.sqrt(variance) / slope
    return [held(max(0.0, rate - half), min(1.0, rate + half), float(truth.mean()))]


def plain_gold(seed: int) -> list[Held]:
    """The same number of gold items among the graded ones, without any calibration set."""
    (truth, _, labels), _, rng = world(seed, "truth")
    graded = named(labels, "g")
    chosen = rng.choice(N, CALIBRATION, replace=False)
    gold = {graded.items[i]: int(truth[i]) for i in chosen}
    rate = tr.prevalence(graded, gold=gold, panel="models", draws=DRAWS)
    return [held(*rate[1].interval(0.95), float(truth.mean()))]


STUDIES: dict[str, Any] = {
    **{
        f"chosen by {design}, {'with' if preds else 'no'} predictions": (
            lambda s, design=design, preds=preds: ours(s, design, preds)
        )
        for design in ("truth", "verdict", "random")
        for preds in (True, False)
    },
    "Rogan-Gladen, chosen by truth": lambda s: rogan_gladen(s, "truth"),
    "Rogan-Gladen, chosen by verdict": lambda s: rogan_gladen(s, "verdict"),
    "gold of the same size": plain_gold,
}


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(f"pass rate, accuracy, recall: coverage ± error / width, {n} data sets\n")
    for name, study in STUDIES.items():
        found = np.array([study(seed) for seed in range(n)], dtype=float)
        share, width = found[:, :, 0].mean(axis=0), found[:, :, 1].mean(axis=0)
        cells = [
            f"{p:.3f} ± {np.sqrt(p * (1 - p) / n):.3f} / {w:.3f}" for p, w in zip(share, width)
        ]
        print(f"{name:<36} {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
