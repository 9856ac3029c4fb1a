"""A judge's agreement with gold, version by version: has the judge changed?

Where rows have both a truth and a label, each row says whether the judge was right. Versions (or
batches) have exact limits, corrected for their number. One test asks whether all versions agree
equally often with gold: the χ² statistic against random exchanges of rows between versions, whose
p-value is valid at any sample size (Phipson & Smyth 2010: p is never below 1 / (exchanges + 1)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from truthing.class_codes import Array
from truthing.randomness import generator

EXCHANGES = 1999


@dataclass(frozen=True)
class Rate:
    """A share of rows with limits; ``name`` is the version, ``hits`` rows of ``items``."""

    name: str
    items: int
    hits: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        return self.hits / self.items


@dataclass(frozen=True)
class Change:
    """From one version to the next: the later minus the earlier, with limits."""

    earlier: str
    later: str
    difference: float
    low: float
    high: float


def exact_rates(hits: Array, names: Sequence[str], level: float) -> list[Rate]:
    """The share of each name, in the order of appearance; Clopper–Pearson limits that hold for all
    names together (Bonferroni).
    """
    order = list(dict.fromkeys(names))
    where, found = np.array(names), []
    for name in order:
        mine = hits[where == name]
        n, k = len(mine), int(mine.sum())
        found.append(Rate(name, n, k, *exact_limits(k, n, (1 - level) / len(order))))
    return found


def exact_limits(k: int, n: int, miss: float) -> tuple[float, float]:
    """Clopper–Pearson limits of k hits in n that miss with probability ``miss`` at most.

    >>> tuple(round(limit, 4) for limit in exact_limits(0, 20, 0.05))
    (0.0, 0.1684)
    """
    from scipy.stats import beta

    low = float(beta.ppf(miss / 2, k, n - k + 1)) if k else 0.0
    high = float(beta.ppf(1 - miss / 2, k + 1, n - k)) if k < n else 1.0
    return low, high


def changes(hits: Array, names: Sequence[str], level: float) -> list[Change]:
    """Each version against the one before, by the square of distances to exact limits (Newcombe's
    hybrid), corrected for the number of changes.
    """
    order = list(dict.fromkeys(names))
    where, found = np.array(names), []
    for earlier, later in pairwise(order):
        miss = (1 - level) / (len(order) - 1)
        rates, limits = [], []
        for name in (earlier, later):
            mine = hits[where == name]
            rates.append(float(mine.mean()))
            limits.append(exact_limits(int(mine.sum()), len(mine), miss))
        gap = rates[1] - rates[0]
        down = np.hypot(rates[1] - limits[1][0], limits[0][1] - rates[0])
        up = np.hypot(limits[1][1] - rates[1], rates[0] - limits[0][0])
        found.append(Change(earlier, later, gap, max(gap - down, -1.0), min(gap + up, 1.0)))
    return found


def change_p_value(hits: Array, names: Sequence[str], seed: int = 0) -> float:
    """P of differences between versions this large, if all versions agree equally often with gold
    and rows could be exchanged; 1 where there is one version or no difference.

    >>> change_p_value(np.array([1] * 40 + [0] * 40), ["a"] * 40 + ["b"] * 40) < 0.001
    True
    """
    codes = np.unique(np.array(names), return_inverse=True)[1]
    size = np.bincount(codes)
    total, n = int(np.sum(hits)), len(hits)
    if len(size) < 2 or total in (0, n):
        return 1.0
    rng = generator(seed, "exchanged versions")
    # hits of each version when rows are exchanged: a multivariate hypergeometric draw
    drawn = rng.multivariate_hypergeometric(size, total, size=EXCHANGES)
    seen = np.bincount(codes, weights=hits).astype(np.int64)
    expected = size * total / n

    def distance(found: Array) -> Array:
        return np.asarray(((found - expected) ** 2 / size).sum(axis=-1))

    far = distance(drawn) >= distance(seen) - 1e-9
    return float((1 + far.sum()) / (EXCHANGES + 1))
