"""What one label tells about the truth, in bits (Su Section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array


def entropy(shares: Any) -> Array:
    """Bits along the last axis.

    >>> float(entropy([0.5, 0.5]))
    1.0
    """
    p = np.asarray(shares, dtype=float)
    return -(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=-1)


def label_bits(tables: Array, prior: Array) -> Array:
    """Bits in one label of each table (…, truth, label): ``H(Z) - Σ π(y) H(Z | y)``.

    For two classes and symmetric errors this is Su's ``H_b(π₁(1-ε) + π₀ε) - H_b(ε)``.

    >>> from truthing.noise.base import symmetric_table
    >>> round(float(label_bits(symmetric_table(0.1, 2), np.array([0.6, 0.4]))), 3)
    0.512
    """
    chance = (prior[..., :, None] * tables).sum(axis=-2)
    # rounding may leave a worthless label a hair below nothing
    return np.maximum(entropy(chance) - (prior * entropy(tables)).sum(axis=-1), 0.0)
