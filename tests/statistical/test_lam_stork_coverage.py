"""The melded interval of the true error: exact coverage by summing over every pair of counts, and
its width.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import stats

import truthing as tr
from truthing.papers.melding import true_error_limits


@cache
def limits(x: int, n: int, k: int | None, n0: int | None, m: float | None) -> tuple[float, float]:
    checked = None if k is None or n0 is None else (k, n0)
    return true_error_limits(x, n, 0.95, mislabeling=m, checked=checked)


def likely(n: int, p: float, tail: float = 1e-5) -> np.ndarray:
    return np.arange(stats.binom.ppf(tail, n, p), stats.binom.ppf(1 - tail, n, p) + 1).astype(int)


@pytest.mark.parametrize("n0", [20, 200])
@pytest.mark.parametrize(
    ("e", "m"), [(0.0, 0.0), (0.0, 0.1), (0.05, 0.0), (0.05, 0.05), (0.3, 0.3), (0.1, 0.3)]
)
def test_coverage_with_counted_mislabeling(e: float, m: float, n0: int) -> None:
    """Summed, not simulated, so there is no Monte Carlo error; a mid-P variant of the interval
    fails (0.05, 0) with 0.922.
    """
    n = 50
    a = m + e * (1 - 2 * m)
    coverage = 0.0
    for x in likely(n, a):
        for k in likely(n0, m):
            low, high = limits(int(x), n, int(k), n0, None)
            coverage += (
                stats.binom.pmf(x, n, a)
                * stats.binom.pmf(k, n0, m)
                * (low - 1e-12 <= e <= high + 1e-12)
            )
    assert coverage >= 0.95 - 1e-4


@pytest.mark.parametrize("n", [50, 1000])
@pytest.mark.parametrize(("e", "m"), [(0.0, 0.05), (0.05, 0.0), (0.1, 0.1), (0.3, 0.3)])
def test_coverage_with_known_mislabeling(e: float, m: float, n: int) -> None:
    a = m + e * (1 - 2 * m)
    inside = [
        stats.binom.pmf(x, n, a)
        for x in likely(n, a)
        if limits(int(x), n, None, None, m)[0] - 1e-12
        <= e
        <= limits(int(x), n, None, None, m)[1] + 1e-12
    ]
    assert sum(inside) >= 0.95 - 1e-4


def test_large_samples_are_not_needlessly_wide() -> None:
    """At n = 10⁵ and n₀ = 1000 the width is that of the delta method, within 6%."""
    n, n0, e, m = 100_000, 1000, 0.1, 0.1
    a = m + e * (1 - 2 * m)
    low, high = tr.true_error(a, n=n, checked=(int(m * n0), n0)).interval(0.95)
    slope = (2 * a - 1) / (1 - 2 * m) ** 2
    delta = 2 * 1.96 * np.sqrt(a * (1 - a) / n / (1 - 2 * m) ** 2 + slope**2 * m * (1 - m) / n0)
    assert delta * 0.97 < high - low < delta * 1.06


def test_known_rate_and_symmetry() -> None:
    assert tr.true_error(0.0, 0.0, n=30).interval(0.95)[1] == pytest.approx(
        stats.beta.ppf(0.975, 1, 30)
    )
    low, high = tr.true_error(0.2, 0.1, n=100).interval()
    flipped = tr.true_error(0.8, 0.1, n=100).interval()
    assert flipped == pytest.approx((1 - high, 1 - low))
    inverted = tr.true_error(0.8, 0.9, n=100).interval()
    assert inverted == pytest.approx((low, high))
