"""Coverage of the interval of Lam & Stork's true error over the whole grid of rates and sample
sizes, and its width beside the delta method.

Coverage is a sum over all likely pairs of counts while n ≤ 1000 (no Monte Carlo error), and an
average over quantiles of the count beyond.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from truthing.papers.melding import _distribution, _mislabeling_nodes

RATES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3)
ITEMS, CHECKED = (50, 200, 1000, 100_000), (20, 50, 200, 1000)
TAIL = 0.025


def holds(x: int, n: int, k: int, n0: int, error: float) -> bool:
    """Does the 95% interval from x of n disagreements and k of n0 wrong labels hold ``error``? One
    look at each limit's distribution.
    """
    if 2 * x > n:
        return holds(n - x, n, k, n0, 1 - error)
    pessimist, optimist = _mislabeling_nodes(None, (k, n0))
    low = (
        error <= 0
        or error >= 1
        or _distribution(error, x, n - x + 1, pessimist, 1.0) >= TAIL - 1e-12
    )
    high = (
        error <= 0
        or error >= 1
        or _distribution(error, x + 1, n - x, optimist, 0.0) <= 1 - TAIL + 1e-12
    )
    return low and high


def likely(n: int, p: float, most: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Counts and their chances; a sample of quantiles where there are many."""
    counts = np.arange(binom.ppf(1e-6, n, p), binom.ppf(1 - 1e-6, n, p) + 1).astype(int)
    if len(counts) <= most:
        chance = binom.pmf(counts, n, p)
        return counts, chance / chance.sum()
    return binom.ppf((np.arange(most) + 0.5) / most, n, p).astype(int), np.full(most, 1 / most)


def coverage(n: int, n0: int, mislabeling: float, error: float) -> float:
    apparent = mislabeling + error * (1 - 2 * mislabeling)
    total = 0.0
    for x, px in zip(*likely(n, apparent)):
        for k, pk in zip(*likely(n0, mislabeling)):
            total += px * pk * holds(int(x), n, int(k), n0, error)
    return total


def main() -> None:
    print(f"{'n':>7}{'n0':>6}   least coverage over {len(RATES) ** 2} pairs of rates   mean")
    for n in ITEMS:
        for n0 in CHECKED:
            cells = [coverage(n, n0, m, e) for m in RATES for e in RATES]
            print(f"{n:>7}{n0:>6}   {min(cells):>32.4f}   {np.mean(cells):.4f}", flush=True)


if __name__ == "__main__":
    main()
