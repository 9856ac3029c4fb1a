"""Evidence that the pass rate has fallen: an e-process, valid at every look.

One gambler starts at every time s and bets on failures: her capital is Π_{i ≥ s} (1 + λ (c - x_i)),
x_i = 1 for a pass. While every conditional chance of a pass is at least c she cannot expect to win.
The mean capital over starts (weights 1/(s (s + 1)), the rest still unspent) and over a grid of λ
is a supermartingale that starts at 1, so by Ville's inequality it ever reaches 1/a with probability
at most a, however often one looks and wherever one stops.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array

STAKES = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)  # shares of the largest bet that cannot go broke

MOST = 1e300  # a capital that large rings any alarm; less only makes it smaller


def evidence_of_fall(passed: Array, floor: float) -> Array:
    """The e-value after each item, against "the chance of a pass was never below ``floor``".

    >>> bool(evidence_of_fall(np.ones(50), 0.9).max() <= 1)
    True
    """
    x = np.asarray(passed, dtype=float)
    largest = 1 / max(1 - floor, 1e-9)  # 1 + λ (c - 1) stays above 0
    stakes = np.array(STAKES) * largest
    playing, unspent = np.zeros(len(stakes)), 1.0
    found = np.empty(len(x))
    for t, value in enumerate(x, start=1):
        start = 1 / (t * (t + 1))
        unspent -= start
        playing = np.minimum((playing + start) * (1 + stakes * (floor - value)), MOST)
        found[t - 1] = unspent + playing.mean()
    return found


def first_alarm(evidence: Array, chance: float) -> int | None:
    """The first look at which the evidence reaches 1/chance, or None."""
    reached = np.flatnonzero(np.asarray(evidence) >= 1 / chance)
    return int(reached[0]) if len(reached) else None


def running_mean(passed: Array, level: float, best_at: int = 200) -> tuple[Array, Array]:
    """A confidence sequence for the mean chance of a pass so far, valid at all times together.

    Robbins' normal mixture with the variance 1/4 that no share exceeds; narrowest near ``best_at``.
    """
    x = np.asarray(passed, dtype=float)
    t = np.arange(1, len(x) + 1)
    miss = 1 - level
    tuning = np.sqrt((2 * np.log(1 / miss) + np.log(2 * np.log(1 / miss) + 1)) / best_at)
    grown = t * tuning**2 + 1
    radius = 0.5 * np.sqrt(2 * grown / (t * tuning) ** 2 * np.log(np.sqrt(grown) / (miss / 2)))
    mean = np.cumsum(x) / t
    return np.clip(mean - radius, 0, 1), np.clip(mean + radius, 0, 1)
