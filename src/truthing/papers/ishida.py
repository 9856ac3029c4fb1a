"""Ishida et al. (2023): the Bayes error, the least error any classifier can reach, straight from
soft labels.

Notation of docs/ceiling.md: c the probability of the positive class, u a noisy version of it, r the
same for items of the positive class only, β = E[min(c, 1 - c)] the Bayes error (Eq. 3). The bounds
are half widths: the estimate is within them with the given level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.estimate import check_level


def uncertainty(soft: Any) -> Array:
    """How unsure each item is: ``min(c, 1 - c)``, or ``1 - max p`` for a row of class
    probabilities. Its mean is Eq. 4.

    >>> uncertainty([0.9, 0.5, 0.2]).round(1).tolist()
    [0.1, 0.5, 0.2]
    """
    soft = np.asarray(soft, dtype=float)
    return 1 - soft.max(axis=1) if soft.ndim == 2 else np.minimum(soft, 1 - soft)


def signed_uncertainty(noisy: Any, positive: Any) -> Array:
    """Terms of Eq. 6: ``1 - u`` where the sign label is positive, ``u`` where it is negative. Noise
    in u averages out.

    >>> signed_uncertainty([0.4, 0.4], [True, False]).tolist()
    [0.6, 0.4]
    """
    noisy = np.asarray(noisy, dtype=float)
    return np.where(positive, 1 - noisy, noisy)


def confidence_uncertainty(confidence: Any) -> Array:
    """Terms of Eq. 8 before the class prior: ``1 - max(0, 2 - 1/r)``; r = 0 is legal and
    contributes 1.

    >>> confidence_uncertainty([1.0, 0.5, 0.0]).tolist()
    [0.0, 1.0, 1.0]
    """
    confidence = np.asarray(confidence, dtype=float)
    return 1 - np.maximum(0, 2 - 1 / np.maximum(confidence, 0.5))


def confidence_risk(confidence: Any, positive: Any) -> Array:
    """Terms of a classifier's error from positive items only, before the class prior (Eq. 2 with
    the zero-one loss).

    ``1`` where it says negative, ``(1 - r)/r`` where it says positive. Diverges for r = 0, and then
    refuses.

    >>> confidence_risk([0.8, 0.5], [True, False]).round(2).tolist()
    [0.25, 1.0]
    """
    confidence = np.asarray(confidence, dtype=float)
    if (confidence == 0).any():
        raise InputError(
            f"item {int(np.argmin(confidence))} has positive confidence 0, where the "
            "classifier's risk diverges: "
            "leave such items out of the comparison, or give soft labels of both classes."
        )
    return np.where(positive, (1 - confidence) / confidence, 1.0)


def bound_clean(n: int, level: float = 0.95) -> float:
    """Prop. 3.2, for clean soft labels and uncertainty labels: ``sqrt(log(2/δ) / 8n)``."""
    return float(np.sqrt(_log(level) / (8 * n)))


def bound_signed(n: int, level: float = 0.95) -> float:
    """Prop. 3.5, for noisy soft or hard labels with sign labels: ``sqrt(log(2/δ) / 2n)``."""
    return float(np.sqrt(_log(level) / (2 * n)))


def bound_confidence(n: int, prior: float, level: float = 0.95) -> float:
    """Prop. 4.3, for positive-confidence data: ``sqrt(π² log(2/δ) / 2n)``."""
    return prior * bound_signed(n, level)


def bias_hard_labels(n: int, m: int) -> float:
    """Prop. 3.6: the most that Eq. 5 can be off on average with m hard labels per item.

    >>> round(bias_hard_labels(1000, 3), 2)
    1.45
    """
    return float(1 / (2 * np.sqrt(m)) + np.sqrt(np.log(2 * n * np.sqrt(m)) / (2 * m)))


def _log(level: float) -> float:
    check_level(level)
    return float(np.log(2 / (1 - level)))
