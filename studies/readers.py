"""Do the intervals of `readers` hold? Roe and Metz's simulation: readers and cases random.

X = μ_t + R_jt + C_kt + (τR)_ijt + (τC)_ikt + (RC)_jkt + E_ijkt, t the truth; the variances of the
last five's case part add up to 1 (Roe & Metz 1997). The population's AUC is Φ(μ / √(2 (1 + v_R +
v_τR))). Beside it: the interval of these readers only (cases random), which is what one has who
takes readers as fixed. Nothing was tuned.

Run: python studies/readers.py [data sets]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from truthing.mrmc.analysis import difference, merit, one_modality


@dataclass(frozen=True)
class Structure:
    """Variances of Roe and Metz: of readers (and readers × modalities), of cases, and the rest."""

    reader: float
    case: float
    modality_case: float
    reader_case: float
    rest: float


HIGH_LOW = Structure(0.0055, 0.3, 0.3, 0.2, 0.2)
HIGH_HIGH = Structure(0.03, 0.3, 0.3, 0.2, 0.2)
LOW_LOW = Structure(0.0055, 0.1, 0.1, 0.2, 0.6)
LOW_HIGH = Structure(0.03, 0.1, 0.1, 0.2, 0.6)
STRUCTURES = {"HL": HIGH_LOW, "HH": HIGH_HIGH, "LL": LOW_LOW, "LH": LOW_HIGH}


def simulate(
    kind: Structure, mu: tuple[float, float], n_readers: int, n_cases: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (2 × readers × cases) and the truth of the cases, half of them diseased."""
    parts = []
    for sick in (False, True):
        n = n_cases // 2
        shape = (2, n_readers, n)
        x = np.zeros(shape)
        if sick:
            x += np.array(mu)[:, None, None]
        for size, variance in (
            ((1, n_readers, 1), kind.reader),
            ((2, n_readers, 1), kind.reader),
            ((1, 1, n), kind.case),
            ((2, 1, n), kind.modality_case),
            ((1, n_readers, n), kind.reader_case),
            (shape, kind.rest),
        ):
            x = x + rng.normal(0, np.sqrt(variance), size)
        parts.append(x)
    return np.concatenate(parts, axis=2), np.repeat([False, True], n_cases // 2)


def true_auc(kind: Structure, mu: float) -> float:
    return float(norm.cdf(mu / np.sqrt(2 * (1 + 2 * kind.reader))))


def coverage(
    kind: Structure,
    mu: tuple[float, float],
    n_readers: int,
    n_cases: int,
    count: int,
    seed: int = 0,
) -> dict[str, list[bool]]:
    held: dict[str, list[bool]] = {"average": [], "difference": [], "readers fixed": []}
    aim = [true_auc(kind, m) for m in mu]
    for n in range(count):
        scores, truth = simulate(kind, mu, n_readers, n_cases, np.random.default_rng([seed, n]))
        value, spread = merit(scores, truth, "auc", None)
        first = spread[:n_readers, :n_readers]
        low, high = one_modality(value[0], first).interval()
        held["average"].append(low <= aim[0] <= high)
        low, high = difference(value, spread).interval()
        held["difference"].append(low <= aim[1] - aim[0] <= high)
        reach = 1.96 * np.sqrt(first.mean())
        held["readers fixed"].append(abs(value[0].mean() - aim[0]) <= reach)
    return held


def main(count: int) -> None:
    print(f"Roe and Metz, {count} data sets each; coverage of nominal .95 intervals")
    for name, kind in STRUCTURES.items():
        for mu in ((0.75, 0.75), (1.5, 1.8)):
            for n_readers, n_cases in ((3, 50), (5, 100), (10, 200)):
                held = coverage(kind, mu, n_readers, n_cases, count)
                told = ", ".join(
                    f"{what} {np.mean(h):.3f} ± {np.std(h) / np.sqrt(len(h)):.3f}"
                    for what, h in held.items()
                )
                about = f"AUC {true_auc(kind, mu[0]):.2f}, {n_readers} readers, {n_cases} cases"
                print(f"{name} {about}: {told}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
