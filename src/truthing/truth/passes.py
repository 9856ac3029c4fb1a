"""One pass over the labels of a shard: the E step of each item, and its share of the M step while
its labels are at hand.

Tables have one row for each key (labeler · classes + label) and one column for each true class, so
that a label reads and writes one run of numbers. Dawid-Skene and one coin are the same pass over
different tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.engine.base import Shard


class Tables(NamedTuple):
    """What a label adds to the log chance of each class, keys × classes, and the log prior."""

    logs: Array
    log_prior: Array


@dataclass(eq=False)
class PassSums:
    """Labels by key and true class, items by true class, and how far items moved since an earlier
    step (in all, and at most)."""

    counts: Array
    totals: Array
    moved: float = 0.0
    farthest: float = 0.0
    n_items: int = 0
    compared: bool = False

    def __iadd__(self, other: PassSums) -> PassSums:
        self.counts += other.counts
        self.totals += other.totals
        self.moved += other.moved
        self.farthest = max(self.farthest, other.farthest)
        self.n_items += other.n_items
        self.compared |= other.compared
        return self


def count_keys(shard: Shard) -> Array:
    """How often each key occurs, votes counted, the classifier's last."""
    given = np.zeros(shard.n_rows)
    _count_keys(*shard.arrays, shard.n_labelers * shard.n_classes, given)
    return given


def majority_pass(shard: Shard, frequency: Array) -> PassSums:
    """The M step of a soft majority vote; ``frequency`` are the shares of the classes."""
    sums = _nothing(shard)
    first_key = shard.n_labelers * shard.n_classes
    _majority_pass(*shard.arrays, first_key, frequency, sums.counts, sums.totals)
    return sums


def expectation_pass(shard: Shard, now: Tables, before: Tables | None = None) -> PassSums:
    """E step at ``now`` and the sums of the M step; beside ``before``, how far items moved."""
    sums = _nothing(shard)
    sums.compared = before is not None
    old = before or now
    first_key = shard.n_labelers * shard.n_classes
    added = sums.compared, sums.counts, sums.totals
    if shard.n_classes == 2 and not len(shard.votes):
        start_of, key, _, gold, predicted = shard.arrays
        odds = [table[..., 1] - table[..., 0] for table in (*now, *old)]
        found = _two_class_pass(start_of, key, gold, predicted, first_key, *odds, *added)
    else:
        found = _expectation_pass(*shard.arrays, first_key, *now, *old, *added)
    sums.moved, sums.farthest = found
    return sums


def coin_pass(shard: Shard, now: Tables, before: Tables | None = None) -> PassSums:
    """The same for one coin; sums of both models are kept apart by the names of their passes."""
    return expectation_pass(shard, now, before)


def posterior_pass(shard: Shard, now: Tables) -> tuple[Array]:
    """Each item's posterior, items × classes."""
    posterior = np.empty((shard.n_items, shard.n_classes))
    _posterior_pass(*shard.arrays, shard.n_labelers * shard.n_classes, *now, posterior)
    return (posterior,)


def _nothing(shard: Shard) -> PassSums:
    n = shard.n_classes
    return PassSums(np.zeros((shard.n_rows, n)), np.zeros(n), n_items=shard.n_items)


@numba.njit(cache=True, nogil=True)
def _count_keys(start_of, key, votes, gold, predicted, first_key, given):  # type: ignore[no-untyped-def]
    for n in range(start_of[0], start_of[-1]):
        given[key[n]] += votes[n] if len(votes) else 1.0
    for i in range(len(predicted)):
        given[first_key + predicted[i]] += 1.0


@numba.njit(cache=True, nogil=True)
def _majority_pass(  # type: ignore[no-untyped-def]
    start_of, key, votes, gold, predicted, first_key, frequency, counts, totals
):
    n_classes = len(totals)
    share = np.empty(n_classes)
    for i in range(len(start_of) - 1):
        share[:] = frequency
        total = 1.0
        for n in range(start_of[i], start_of[i + 1]):
            vote = votes[n] if len(votes) else 1.0
            share[key[n] % n_classes] += vote
            total += vote
        if len(predicted):
            share[predicted[i]] += 1.0
            total += 1.0
        share /= total
        if gold[i] >= 0:
            share[:] = 0.0
            share[gold[i]] = 1.0
        totals += share
        for n in range(start_of[i], start_of[i + 1]):
            vote = votes[n] if len(votes) else 1.0
            for c in range(n_classes):
                counts[key[n], c] += vote * share[c]
        if len(predicted):
            for c in range(n_classes):
                counts[first_key + predicted[i], c] += share[c]


@numba.njit(cache=True, nogil=True, inline="always")
def _softmax(score):  # type: ignore[no-untyped-def]
    top, total = score[0], 0.0
    for c in range(1, len(score)):
        top = max(top, score[c])
    for c in range(len(score)):
        below = score[c] - top
        score[c] = 1.0 if below == 0.0 else np.exp(below)
        total += score[c]
    for c in range(len(score)):
        score[c] /= total


@numba.njit(cache=True, nogil=True, inline="always")
def _item(start, stop, key, votes, gold, guess, logs, log_prior, score):  # type: ignore[no-untyped-def]
    """The posterior of one item, left in ``score``; ``guess`` is the classifier's key or -1."""
    n_classes = len(score)
    if gold >= 0:
        score[:] = 0.0
        score[gold] = 1.0
        return
    for c in range(n_classes):
        score[c] = log_prior[c]
    if len(votes):
        for n in range(start, stop):
            for c in range(n_classes):
                score[c] += votes[n] * logs[key[n], c]
    else:
        for n in range(start, stop):
            for c in range(n_classes):
                score[c] += logs[key[n], c]
    if guess >= 0:
        for c in range(n_classes):
            score[c] += logs[guess, c]
    _softmax(score)


@numba.njit(cache=True, nogil=True)
def _expectation_pass(  # type: ignore[no-untyped-def]
    start_of,
    key,
    votes,
    gold,
    predicted,
    first_key,
    logs,
    log_prior,
    old_logs,
    old_prior,
    compare,
    counts,
    totals,
):
    n_classes = len(log_prior)
    score, old = np.empty(n_classes), np.empty(n_classes)
    moved, farthest = 0.0, 0.0
    for i in range(len(start_of) - 1):
        start, stop = start_of[i], start_of[i + 1]
        guess = first_key + predicted[i] if len(predicted) else -1
        _item(start, stop, key, votes, gold[i], guess, logs, log_prior, score)
        if compare:
            _item(start, stop, key, votes, gold[i], guess, old_logs, old_prior, old)
            for c in range(n_classes):
                step = abs(score[c] - old[c])
                moved += step
                farthest = max(farthest, step)
        for c in range(n_classes):
            totals[c] += score[c]
        if len(votes):
            for n in range(start, stop):
                for c in range(n_classes):
                    counts[key[n], c] += votes[n] * score[c]
        else:
            for n in range(start, stop):
                for c in range(n_classes):
                    counts[key[n], c] += score[c]
        if guess >= 0:
            for c in range(n_classes):
                counts[guess, c] += score[c]
    return moved, farthest


@numba.njit(cache=True, nogil=True, inline="always")
def _chance(start, stop, key, gold, guess, odds, prior):  # type: ignore[no-untyped-def]
    """The chance that an item is of the second of two classes."""
    if gold >= 0:
        return float(gold)
    score = prior
    for n in range(start, stop):
        score += odds[key[n]]
    if guess >= 0:
        score += odds[guess]
    return 1.0 / (1.0 + np.exp(-score))


@numba.njit(cache=True, nogil=True)
def _two_class_pass(  # type: ignore[no-untyped-def]
    start_of,
    key,
    gold,
    predicted,
    first_key,
    odds,
    prior,
    old_odds,
    old_prior,
    compare,
    counts,
    totals,
):
    """The same for two classes, where one number per label says as much as two."""
    moved, farthest = 0.0, 0.0
    for i in range(len(start_of) - 1):
        start, stop = start_of[i], start_of[i + 1]
        guess = first_key + predicted[i] if len(predicted) else -1
        second = _chance(start, stop, key, gold[i], guess, odds, prior)
        if compare:
            step = abs(second - _chance(start, stop, key, gold[i], guess, old_odds, old_prior))
            moved += 2 * step
            farthest = max(farthest, step)
        first = 1.0 - second
        totals[0] += first
        totals[1] += second
        for n in range(start, stop):
            counts[key[n], 0] += first
            counts[key[n], 1] += second
        if guess >= 0:
            counts[guess, 0] += first
            counts[guess, 1] += second
    return moved, farthest


@numba.njit(cache=True, nogil=True)
def _posterior_pass(  # type: ignore[no-untyped-def]
    start_of, key, votes, gold, predicted, first_key, logs, log_prior, posterior
):
    for i in range(len(start_of) - 1):
        guess = first_key + predicted[i] if len(predicted) else -1
        start, stop = start_of[i], start_of[i + 1]
        _item(start, stop, key, votes, gold[i], guess, logs, log_prior, posterior[i])


def votes_pass(shard: Shard) -> Array:
    """Votes for each class, items × classes."""
    votes = np.zeros((shard.n_items, shard.n_classes))
    _votes_pass(*shard.arrays, votes)
    return votes


def together_and_alone(shard: Shard, now: Tables, discount: Array) -> tuple[Array, Array]:
    """Each item's posterior with the classifier as a rater (if it is one), and from the labelers
    alone, what one vote on each item counts given by ``discount``."""
    together = np.empty((shard.n_items, shard.n_classes))
    alone = np.empty((shard.n_items, shard.n_classes))
    first_key = shard.n_labelers * shard.n_classes
    _together_and_alone(*shard.arrays, first_key, *now, discount, together, alone)
    return together, alone


@numba.njit(cache=True, nogil=True)
def _votes_pass(start_of, key, votes, gold, predicted, table):  # type: ignore[no-untyped-def]
    for i in range(len(start_of) - 1):
        for n in range(start_of[i], start_of[i + 1]):
            table[i, key[n] % table.shape[1]] += votes[n] if len(votes) else 1.0


@numba.njit(cache=True, nogil=True)
def _together_and_alone(  # type: ignore[no-untyped-def]
    start_of,
    key,
    votes,
    gold,
    predicted,
    first_key,
    logs,
    log_prior,
    discount,
    together,
    alone,
):
    n_classes = len(log_prior)
    said = np.empty(n_classes)
    for i in range(len(start_of) - 1):
        said[:] = 0.0
        for n in range(start_of[i], start_of[i + 1]):
            vote = votes[n] if len(votes) else 1.0
            for c in range(n_classes):
                said[c] += vote * logs[key[n], c]
        for c in range(n_classes):
            together[i, c] = log_prior[c] + said[c]
            alone[i, c] = log_prior[c] + discount[i] * said[c]
            if len(predicted):
                together[i, c] += logs[first_key + predicted[i], c]
        _softmax(together[i])
        _softmax(alone[i])
