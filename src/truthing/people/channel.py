"""Bits that labels carry about the truth (Su Section 4; docs/labelers.md, 1-6): exact where
patterns can be counted, simulated beyond.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.noise.base import symmetric_table
from truthing.noise.bits import entropy, label_bits
from truthing.randomness import Seed, generator

MOST_PATTERNS = 30_000  # different posteriors an exact count may have to tell apart
SIMULATED = 50_000
SAME = 1e12  # posteriors that agree to twelve digits are one pattern


def joint_bits(joint: Array) -> float:
    """Bits in a joint table p(pattern, truth), patterns in rows: ``H(Y) - H(Y | pattern)``."""
    weight = joint.sum(axis=1)
    kept = weight > 0
    inside = entropy(joint[kept] / weight[kept, None]) @ weight[kept]
    return max(0.0, float(entropy(joint.sum(axis=0)) - inside))


def growing(tables: Iterable[Array], prior: Array, seed: Seed = 0) -> Iterator[tuple[float, float]]:
    """Bits of the first 1, 2, … labelers, independent given the truth, each with its Monte Carlo
    standard error (0: exact).

    Patterns of labels that leave the same posterior are one pattern: merging them loses nothing,
    and turns T equal labelers into their counts. Past ``MOST_PATTERNS`` posteriors, ``SIMULATED``
    truths and their labels are drawn instead.
    """
    rng = generator(seed, "bits of a panel")
    n_classes = len(prior)
    joint, drawn = prior[None, :], None
    for table in tables:
        if drawn is None:
            joint = _merged((joint[:, None, :] * table.T).reshape(-1, n_classes))
            yield joint_bits(joint), 0.0
            if len(joint) > MOST_PATTERNS:
                drawn = _draw(joint, rng)
        else:
            truth, posterior = drawn
            posterior = posterior * table[:, sample_labels(table, truth, rng)].T
            posterior /= posterior.sum(axis=1, keepdims=True)
            drawn = truth, posterior
            left = entropy(posterior)
            yield float(entropy(prior) - left.mean()), float(left.std() / np.sqrt(len(left)))


def panel_bits(tables: Array, prior: Array, seed: Seed = 0) -> tuple[float, float]:
    """Bits of all these labelers together, and the Monte Carlo standard error (0: exact)."""
    return deque(growing(tables, prior, seed), maxlen=1).pop()


def equivalent_error(bits: Any, prior: Array) -> Array:
    """The error rate of one labeler, wrong labels uniform, whose label carries these bits
    (bisection; Su Section 4.2).

    >>> round(float(equivalent_error(0.512, np.array([0.6, 0.4]))), 2)
    0.1
    """
    wanted = np.asarray(bits, dtype=float)
    n_classes = prior.shape[-1]
    low, high = np.zeros_like(wanted), np.full_like(wanted, (n_classes - 1) / n_classes)
    for _ in range(60):
        middle = (low + high) / 2
        enough = label_bits(symmetric_table(middle, n_classes), prior) >= wanted
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return (low + high) / 2


def sample_labels(table: Array, truth: Array, rng: np.random.Generator) -> Array:
    """One label for each truth."""
    cumulative = np.cumsum(table, axis=1)[truth]
    return (rng.random(len(truth))[:, None] >= cumulative[:, :-1]).sum(axis=1)


def _merged(joint: Array) -> Array:
    weight = joint.sum(axis=1)
    joint, weight = joint[weight > 0], weight[weight > 0]
    # a fixed random projection tells posteriors apart; two different ones share a key with
    # probability zero
    direction = np.random.default_rng(12345).uniform(1, 2, joint.shape[1])
    key = np.round((joint / weight[:, None]) @ direction * SAME)
    _, place = np.unique(key, return_inverse=True)
    place = place.reshape(-1)
    return np.stack([np.bincount(place, weights=column) for column in joint.T], axis=1)


def _draw(joint: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Truths and the posteriors that their labels so far leave."""
    cell = rng.choice(joint.size, size=SIMULATED, p=joint.ravel() / joint.sum())
    pattern, truth = np.divmod(cell, joint.shape[1])
    return truth, joint[pattern] / joint[pattern].sum(axis=1, keepdims=True)
