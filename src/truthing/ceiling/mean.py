"""Confidence limits for the mean of numbers that are known to lie between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array

BINS = 1 << 12


def mean_limits(values: Any, low: float, high: float, level: float = 0.95) -> tuple[float, float]:
    """Limits of the mean of a population from independent draws of it, all between ``low`` and
    ``high``.

    Gaffke's limits: the upper one is the quantile of ``Σ wᵢ xᵢ + w₀ high`` under uniform Dirichlet
    weights, the lower one its mirror. For numbers that are only 0 or 1 these are the exact limits
    of Clopper and Pearson, also when every number is 0; for many numbers they approach those of the
    central limit theorem. No draw of random numbers: the tail is Lugannani and Rice's.

    >>> low, high = mean_limits([0] * 50, 0, 1)
    >>> low, round(high, 3)
    (0.0, 0.071)
    """
    tail = (1 - level) / 2
    return lower_limit(values, low, high, tail), upper_limit(values, low, high, tail)


def lower_limit(values: Any, low: float, high: float, tail: float) -> float:
    """The lower limit alone: the chance that the mean lies below it is at most ``tail``."""
    return 0.0 - upper_limit(-np.asarray(values, dtype=float), -high, -low, tail)


def upper_limit(values: Any, low: float, high: float, tail: float) -> float:
    """The upper limit alone: the chance that the mean lies above it is at most ``tail``."""
    unit = (np.asarray(values, dtype=float) - low) / (high - low)
    return float(low + (high - low) * _unit_limit(np.clip(unit, 0, 1), tail))


def _unit_limit(unit: Array, tail: float) -> float:
    from scipy.optimize import brentq

    atoms, times = _compress(unit)
    atoms, times = np.append(atoms, 1.0), np.append(times, 1.0)
    if atoms[0] > 1 - 1e-9:
        return 1.0
    centre = float(atoms @ times / times.sum())
    if _tail(atoms, times, 1 - 1e-12) > tail:
        return 1.0
    start = max(centre, float(atoms[0]) + 1e-15)
    if _tail(atoms, times, start) <= tail:
        return start
    return float(
        brentq(lambda t: _tail(atoms, times, t) - tail, start, 1 - 1e-12, xtol=1e-12, rtol=1e-10)
    )


def _compress(unit: Array) -> tuple[Array, Array]:
    """Distinct numbers and how often each occurs; of very many, a grid on which each is shared
    between its neighbours: the mean stays.
    """
    if len(unit) <= BINS:
        atoms, times = np.unique(unit, return_counts=True)
        return atoms, times.astype(float)
    place = unit * BINS
    below = np.minimum(place.astype(np.int64), BINS - 1)
    times = np.bincount(below, weights=1 - (place - below), minlength=BINS + 1)
    times[1:] += np.bincount(below, weights=place - below, minlength=BINS)
    held = times > 0
    return np.flatnonzero(held) / BINS, times[held]


def _tail(atoms: Array, times: Array, t: float) -> float:
    """P(Σ wᵢ xᵢ > t) for Dirichlet weights, that is P(Σ Eᵢ (xᵢ - t) > 0) for exponential Eᵢ, by the
    saddlepoint.
    """
    from scipy.special import ndtr

    a = atoms - t
    # K(s) = -Σ n log(1 - s a), convex between the poles; its slope's root is the saddlepoint
    s = _saddle(a, times)
    room = 1 - s * a
    fall = 2 * float(times @ np.log(room))
    curve = float(times @ (a / room) ** 2)
    w, v = np.sign(s) * np.sqrt(max(fall, 0.0)), s * np.sqrt(curve)
    if abs(w) < 1e-4:
        return 0.5
    return float(ndtr(-(w + np.log(v / w) / w)))


def _saddle(a: Array, times: Array) -> float:
    from scipy.optimize import brentq

    low, high = (1 - 1e-13) / a.min(), (1 - 1e-13) / a.max()
    return float(
        brentq(
            lambda s: float(times @ (a / (1 - s * a))),
            low,
            high,
            xtol=1e-300,
            rtol=1e-14,
            maxiter=1000,
        )
    )
