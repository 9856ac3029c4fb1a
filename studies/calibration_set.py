"""A calibration set apart from the graded items: coverage and width of the pass rate and of a
classifier's accuracy and recall, beside Rogan–Gladen, Lee et al. 2025, PPI++ and gold of the same
size.

Three judges label 500 items (80% pass) and 100 other items with known truth: 50 of each true class
(design truth), 50 of each verdict (verdict), at random, or by true class in the numbers that Lee et
al. advise after a pilot of 10 each (adaptive). Judges and classifier share hard items. PPI++ needs
`ppi-python`. ``python studies/calibration_set.py [DATA SETS] [--rivals]``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.special import expit

import truthing as tr

N, CALIBRATION, DRAWS, PASS, PILOT = 500, 100, 1000, 0.8, 10
DESIGNS = ("truth", "adaptive", "verdict", "random")
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
    graded = items(rng, N, PASS, levels)
    by_class = design in ("truth", "adaptive")
    truth, said, labels = items(rng, 4000, 0.5 if by_class else PASS, levels)
    verdict = (labels.mean(axis=1) > 0.5).astype(int)
    chosen = np.arange(CALIBRATION)
    if design != "random":
        by, sizes = truth if by_class else verdict, (CALIBRATION // 2, CALIBRATION // 2)
        if design == "adaptive":
            sizes = allocated(truth, verdict, float((graded[2].mean(axis=1) > 0.5).mean()))
        parts = [
            rng.choice(np.flatnonzero(by == k), size, replace=False)
            for k, size in zip((0, 1), sizes)
        ]
        chosen = np.concatenate(parts)
    return graded, (truth[chosen], said[chosen], labels[chosen]), rng


def allocated(truth: np.ndarray, verdict: np.ndarray, apparent: float) -> tuple[int, int]:
    """How many fails and passes Lee et al. would label, from a pilot of each: in proportion to how
    much each class's mistakes weigh in the corrected rate."""
    wrong = [int((verdict[truth == k][:PILOT] != k).sum()) + 1 for k in (0, 1)]
    share = 1 / (1 + (1 / max(apparent, 1e-6) - 1) * np.sqrt(wrong[0] / wrong[1]))
    passes = int(np.clip(round(CALIBRATION * share), PILOT, CALIBRATION - PILOT))
    return CALIBRATION - passes, passes


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


def seen(drawn: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The majority's verdict on the graded items and on the calibration items, and their truth."""
    (_, _, labels), (known, _, other), _ = drawn
    return labels.mean(axis=1) > 0.5, other.mean(axis=1) > 0.5, known == 1


def rogan_gladen(drawn: tuple[Any, ...]) -> tuple[float, float]:
    """The verdicts' rate corrected by their sensitivity and specificity, limits from a bootstrap of
    both sets (as the package judgy has it)."""
    (verdict, theirs, known), rng = seen(drawn), np.random.default_rng(1)
    apparent = rng.binomial(N, verdict.mean(), 2000) / N
    again = rng.integers(len(known), size=(2000, len(known)))
    truth, said = known[again], theirs[again]
    with np.errstate(invalid="ignore"):
        hits = (said & truth).sum(axis=1) / truth.sum(axis=1)
        calm = (~said & ~truth).sum(axis=1) / (~truth).sum(axis=1)
    rate = (apparent + calm - 1)[hits + calm > 1] / (hits + calm - 1)[hits + calm > 1]
    low, high = np.quantile(np.clip(rate, 0, 1), [0.025, 0.975])
    return float(low), float(high)


def lee(drawn: tuple[Any, ...]) -> tuple[float, float]:
    """The interval of Lee et al. 2025 (arXiv 2511.21140): Rogan-Gladen with one item added to each
    cell of the calibration set, z²/2 to each verdict, and a centre that is moved; written from the
    paper's formula."""
    verdict, theirs, known = seen(drawn)
    z2 = 1.96**2
    p, n = (verdict.sum() + z2 / 2) / (N + z2), N + z2
    sizes = [(~known).sum() + 2, known.sum() + 2]
    calm, hits = ((~theirs & ~known).sum() + 1) / sizes[0], ((theirs & known).sum() + 1) / sizes[1]
    slope = max(calm + hits - 1, 0.05)
    rate = (p + calm - 1) / slope
    own = [calm * (1 - calm) / sizes[0], hits * (1 - hits) / sizes[1]]
    centre = rate + 2 * z2 * (rate * own[1] - (1 - rate) * own[0])
    variance = p * (1 - p) / n + (1 - rate) ** 2 * own[0] + rate**2 * own[1]
    half = 1.96 * np.sqrt(variance) / slope
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def ppi(drawn: tuple[Any, ...]) -> tuple[float, float]:
    """PPI++: the mean of the judges' share of passes, corrected on the calibration items."""
    from ppi_py import ppi_mean_ci

    (_, _, labels), (known, _, other), _ = drawn
    low, high = ppi_mean_ci(
        known.astype(float), other.mean(axis=1), labels.mean(axis=1), alpha=0.05
    )
    return float(np.ravel(low)[0]), float(np.ravel(high)[0])


def truthing_rate(drawn: tuple[Any, ...], design: str) -> tuple[float, float]:
    (_, _, labels), (known, _, other), _ = drawn
    graded, calibration = named(labels, "g"), named(other, "c")
    found = tr.prevalence(
        graded,
        calibration_set=(calibration, dict(zip(calibration.items, map(int, known)))),
        calibration_chosen="verdict" if design == "verdict" else "truth",
        target="population",
        panel="models",
        draws=DRAWS,
    )
    low, high = found[1].interval(0.95)
    return low, high


def wilson(drawn: tuple[Any, ...]) -> tuple[float, float]:
    """Plain gold: as many gold items at random among the graded ones, and nothing else."""
    (truth, _, _), _, rng = drawn
    share, z2 = truth[rng.choice(N, CALIBRATION, replace=False)].mean(), 1.96**2
    centre = (share + z2 / (2 * CALIBRATION)) / (1 + z2 / CALIBRATION)
    spread = share * (1 - share) / CALIBRATION + z2 / (4 * CALIBRATION**2)
    half = 1.96 * np.sqrt(spread) / (1 + z2 / CALIBRATION)
    return float(centre - half), float(centre + half)


def gold_and_labels(drawn: tuple[Any, ...]) -> tuple[float, float]:
    """The same number of gold items among the graded ones, with the judges' labels."""
    (truth, _, labels), _, rng = drawn
    graded = named(labels, "g")
    chosen = rng.choice(N, CALIBRATION, replace=False)
    gold = {graded.items[i]: int(truth[i]) for i in chosen}
    about: dict[str, Any] = {"panel": "models", "draws": DRAWS, "target": "population"}
    low, high = tr.prevalence(graded, gold=gold, **about)[1].interval(0.95)
    return low, high


def rivals(seed: int) -> dict[str, Held]:
    """Every method on one data set, for the pass rate of new data (80%)."""
    found = {}
    for design in DESIGNS:
        drawn = world(seed, design)
        ways = {"truthing": truthing_rate(drawn, design), "Rogan-Gladen": rogan_gladen(drawn)}
        ways |= {"Lee et al.": lee(drawn), "PPI++": ppi(drawn)}
        if design == "random":
            ways |= {"gold alone": wilson(drawn), "gold and labels": gold_and_labels(drawn)}
        found |= {f"{name}, {design}": held(*limits, PASS) for name, limits in ways.items()}
    return found


STUDIES: dict[str, Any] = {
    **{
        f"chosen by {design}, {'with' if preds else 'no'} predictions": (
            lambda s, design=design, preds=preds: ours(s, design, preds)
        )
        for design in ("truth", "verdict", "random")
        for preds in (True, False)
    },
}


def row(name: str, found: np.ndarray) -> None:
    share, width = found[:, :, 0].mean(axis=0), found[:, :, 1].mean(axis=0)
    error = np.sqrt(share * (1 - share) / len(found))
    cells = [f"{p:.3f} ± {e:.3f} / {w:.3f}" for p, e, w in zip(share, error, width)]
    print(f"{name:<36} {'   '.join(cells)}", flush=True)


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(f"pass rate on new data, coverage ± error / width, {n} data sets\n")
    each = [rivals(seed) for seed in range(n)]
    for name in each[0]:
        row(name, np.array([[found[name]] for found in each], dtype=float))
    if "--rivals" in sys.argv:
        return
    print(f"\nthese items: pass rate, accuracy, recall, {n} data sets\n")
    for name, study in STUDIES.items():
        row(name, np.array([study(seed) for seed in range(n)], dtype=float))


if __name__ == "__main__":
    main()
