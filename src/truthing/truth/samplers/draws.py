"""What every sampler shares: labels by item, draws of a class and of a Dirichlet row, softmax, and
where chains start.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.truth.consensus import Entries

CHAINS = 4


class ByItem(NamedTuple):
    """Labels sorted by item: those of item i are ``start_of[i]:start_of[i + 1]``; one memory
    layout, so that loops compile once.
    """

    start_of: Array
    rater: Array
    label: Array
    votes: Array

    @classmethod
    def of(cls, entries: Entries) -> ByItem:
        """Entries are sorted by item, as `Entries.of` gives them."""
        start_of = np.searchsorted(entries.item, np.arange(entries.n_items + 1))
        return cls(
            start_of.astype(np.int64),
            entries.rater.astype(np.int64),
            entries.label.astype(np.int64),
            entries.votes.astype(float),
        )

    @classmethod
    def nothing(cls, n_items: int) -> ByItem:
        """Items without labels."""
        nobody = np.zeros(0, dtype=np.int64)
        return cls(np.zeros(n_items + 1, dtype=np.int64), nobody, nobody, np.zeros(0))


@njit
def dirichlet(alpha, out):  # type: ignore[no-untyped-def]
    """One draw; classes with no weight stay impossible."""
    total = 0.0
    for k in range(len(alpha)):
        out[k] = np.random.gamma(alpha[k], 1.0) if alpha[k] > 0 else 0.0
        total += out[k]
    for k in range(len(alpha)):
        out[k] /= total


@njit
def draw_index(weights, total):  # type: ignore[no-untyped-def]
    """One index, drawn in proportion to the weights."""
    u, k = np.random.random() * total, 0
    while k < len(weights) - 1 and u >= weights[k]:
        u -= weights[k]
        k += 1
    return k


@njit
def draw_from_logs(scores):  # type: ignore[no-untyped-def]
    """One index, drawn in proportion to exp(scores), which are overwritten."""
    top, total = scores[0], 0.0
    for k in range(1, len(scores)):
        top = max(top, scores[k])
    for k in range(len(scores)):
        total += math.exp(scores[k] - top)
        scores[k] = total
    u, k = np.random.random() * total, 0
    while k < len(scores) - 1 and scores[k] < u:
        k += 1
    return k


@njit
def softmax(scores, out):  # type: ignore[no-untyped-def]
    """exp(scores) scaled to sum to one."""
    top, total = scores[0], 0.0
    for c in range(1, len(scores)):
        top = max(top, scores[c])
    for c in range(len(scores)):
        out[c] = math.exp(scores[c] - top)
        total += out[c]
    for c in range(len(scores)):
        out[c] /= total


def start_states(entries: Entries, gold: Array, n_strata: int, rng: np.random.Generator) -> Array:
    """Where a chain starts: majority votes, ties broken at random; items whose labels disagree most
    in the hardest stratum.
    """
    votes = entries.counts()
    truth = np.where(gold >= 0, gold, (votes + rng.random(votes.shape)).argmax(axis=1))
    if n_strata == 1:
        return truth.astype(np.int64)
    agree = votes[np.arange(len(truth)), truth] / np.maximum(votes.sum(axis=1), 1)
    rank = np.argsort(np.argsort(-agree + 1e-6 * rng.random(len(agree))))
    return truth * n_strata + np.minimum(rank * n_strata // len(rank), n_strata - 1)
