"""One pass of EM over the labels: the E step of an item and its share of the M step are done while
its labels are at hand; tables are laid out so that a label reads and writes one run of C numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.threads import in_threads, shares

VANISHED = 1e-250  # a product of chances below this has lost digits
MANY = 2_000_000  # labels times classes
LONGEST_SUM = 8192  # labels of one kind by one labeler: four bytes keep six digits of their sum
PARTS = 8


class Coded(NamedTuple):
    """Labels sorted by item as codes: ``key`` is labeler · C + label, ``votes`` are empty where
    each counts once.
    """

    start_of: Array
    key: Array
    votes: Array
    gold: Array


def numbers_of(labels: Coded, n_classes: int) -> type[np.floating]:
    """Four bytes per number where tables are read very often and no sum is long enough to lose
    digits by it: twice as fast, because more of the tables stays in the cache."""
    many = n_classes > 2 and len(labels.key) * n_classes > MANY and not len(labels.votes)
    if not many or int(np.bincount(labels.key).max()) > LONGEST_SUM:
        return np.float64
    return np.float32


def one_pass(
    labels: Coded,
    rows: Array,
    prior: Array,
    n_strata: int,
    posterior: Array,
    parts: int,
    numbers: type[np.floating] = np.float64,
) -> tuple[Array, Array, float]:
    """E step at (rows, prior) and the counts of the M step; ``rows`` and counts are (labeler ·
    C + label) × states.

    ``posterior`` is filled, unless it is empty. Items are cut into so many ``parts``; ``numbers``
    are those of `numbers_of`.
    """
    n_items, n_states = len(labels.start_of) - 1, len(prior)
    tables: tuple[Array, ...] = rows, prior
    if len(labels.votes):
        work, tables = _pass_of_votes, (np.log(rows), np.log(prior))
    elif n_states == 2 and n_strata == 1:
        work = _pass_of_two
    else:
        work, tables = _pass, (_in_fours(rows, numbers), _in_fours(prior, np.float64))
    tables = tuple(np.ascontiguousarray(table) for table in tables)
    jobs = [(labels, *tables, n_strata, posterior, *part) for part in shares(n_items, parts)]
    found = in_threads(work, jobs)
    counts, totals = _added(found)
    return counts[:, :n_states], totals[:n_states], float(sum(part[2] for part in found))


def _added(found: list[tuple[Array, ...]]) -> tuple[Array, Array]:
    """Counts and totals of all parts, in their order."""
    counts, totals = found[0][0].astype(np.float64, copy=False), found[0][1]
    for more, others, *_ in found[1:]:
        counts += more
        totals += others
    return counts, totals


def _in_fours(table: Array, numbers: type[np.floating]) -> Array:
    """With columns of zeros behind, so that a row is a multiple of four numbers."""
    width = table.shape[-1]
    padded = np.zeros((*table.shape[:-1], -(-width // 4) * 4), dtype=numbers)
    padded[..., :width] = table
    return padded


@njit(nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _pass(labels, rows, prior, n_strata, posterior, first, last):  # type: ignore[no-untyped-def]
    """The same for items first to last, states four at a time. Chances are multiplied, which takes
    no logarithms; where that leaves next to nothing, an item's logarithms are added."""
    start_of, key, _, gold = labels
    n_states, keep = len(prior), len(posterior) > 0
    counts, totals, likelihood = np.zeros_like(rows), np.zeros(n_states), 0.0
    score, share = np.empty(n_states), np.empty(4, rows.dtype)
    for i in range(first, last):
        start, stop, total, top = start_of[i], start_of[i + 1], 0.0, 0.0
        for s in range(0, n_states, 4):
            a, b, c, d = prior[s], prior[s + 1], prior[s + 2], prior[s + 3]
            for n in range(start, stop):
                k = key[n]
                a, b = a * rows[k, s], b * rows[k, s + 1]
                c, d = c * rows[k, s + 2], d * rows[k, s + 3]
            score[s], score[s + 1], score[s + 2], score[s + 3] = a, b, c, d
            total += a + b + c + d
        if gold[i] >= 0 or total < VANISHED:
            for s in range(n_states):
                score[s] = -np.inf if gold[i] >= 0 and s // n_strata != gold[i] else 0.0
                score[s] += np.log(prior[s])
            for n in range(start, stop):
                for s in range(n_states):
                    score[s] += np.log(rows[key[n], s])
            top, total = score.max(), 0.0
            for s in range(n_states):
                score[s] = np.exp(score[s] - top)
                total += score[s]
        likelihood += top + np.log(total)
        scale = 1 / total
        for s in range(0, n_states, 4):
            a, b, c, d = score[s], score[s + 1], score[s + 2], score[s + 3]
            a, b, c, d = a * scale, b * scale, c * scale, d * scale
            totals[s] += a
            totals[s + 1] += b
            totals[s + 2] += c
            totals[s + 3] += d
            share[0], share[1], share[2], share[3] = a, b, c, d  # as long as a count
            a, b, c, d = share[0], share[1], share[2], share[3]
            for n in range(start, stop):
                k = key[n]
                counts[k, s] += a
                counts[k, s + 1] += b
                counts[k, s + 2] += c
                counts[k, s + 3] += d
        if keep:
            for s in range(posterior.shape[1]):
                posterior[i, s] = score[s] * scale
    return counts, totals, likelihood


@njit(nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _pass_of_votes(labels, logs, log_prior, n_strata, posterior, first, last):  # type: ignore[no-untyped-def]
    """The same where a label counts for several votes: logarithms are added."""
    start_of, key, votes, gold = labels
    n_states, keep = len(log_prior), len(posterior) > 0
    counts, totals, likelihood = np.zeros((len(logs), n_states)), np.zeros(n_states), 0.0
    score = np.empty(n_states)
    for i in range(first, last):
        score[:] = log_prior
        if gold[i] >= 0:
            for s in range(n_states):
                if s // n_strata != gold[i]:
                    score[s] = -np.inf
        for n in range(start_of[i], start_of[i + 1]):
            for s in range(n_states):
                score[s] += votes[n] * logs[key[n], s]
        top = score.max()
        total = 0.0
        for s in range(n_states):
            score[s] = np.exp(score[s] - top)
            total += score[s]
        likelihood += top + np.log(total)
        scale = 1 / total
        for s in range(n_states):
            score[s] *= scale
            totals[s] += score[s]
        for n in range(start_of[i], start_of[i + 1]):
            for s in range(n_states):
                counts[key[n], s] += votes[n] * score[s]
        if keep:
            posterior[i] = score
    return counts, totals, likelihood


@njit(nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _pass_of_two(labels, rows, prior, n_strata, posterior, first, last):  # type: ignore[no-untyped-def]
    """`_pass` for two classes: nothing but two numbers per item."""
    start_of, key, _, gold = labels
    keep = len(posterior) > 0
    counts, totals, likelihood = np.zeros((len(rows), 2)), np.zeros(2), 0.0
    for i in range(first, last):
        zero = 0.0 if gold[i] == 1 else prior[0]
        one = 0.0 if gold[i] == 0 else prior[1]
        for n in range(start_of[i], start_of[i + 1]):
            zero *= rows[key[n], 0]
            one *= rows[key[n], 1]
        total, top = zero + one, 0.0
        if total < VANISHED:
            zero = -np.inf if gold[i] == 1 else np.log(prior[0])
            one = -np.inf if gold[i] == 0 else np.log(prior[1])
            for n in range(start_of[i], start_of[i + 1]):
                zero += np.log(rows[key[n], 0])
                one += np.log(rows[key[n], 1])
            top = max(zero, one)
            zero, one = np.exp(zero - top), np.exp(one - top)
            total = zero + one
        likelihood += top + np.log(total)
        zero /= total
        one /= total
        totals[0] += zero
        totals[1] += one
        for n in range(start_of[i], start_of[i + 1]):
            counts[key[n], 0] += zero
            counts[key[n], 1] += one
        if keep:
            posterior[i, 0], posterior[i, 1] = zero, one
    return counts, totals, likelihood


def first_counts(labels: Coded, n_rows: int, n_classes: int, parts: int) -> tuple[Array, Array]:
    """The M step of a soft majority vote."""
    cut = shares(len(labels.start_of) - 1, parts)
    return _added(in_threads(_first_counts, [(labels, n_rows, n_classes, *part) for part in cut]))


@njit(nogil=True)
def _first_counts(labels, n_rows, n_classes, first, last):  # type: ignore[no-untyped-def]
    start_of, key, votes, gold = labels
    counts, totals = np.zeros((n_rows, n_classes)), np.zeros(n_classes)
    share = np.empty(n_classes)
    for i in range(first, last):
        share[:] = 0.0
        for n in range(start_of[i], start_of[i + 1]):
            share[key[n] % n_classes] += votes[n] if len(votes) else 1.0
        if gold[i] >= 0:
            share[:] = 0.0
            share[gold[i]] = 1.0
        total = share.sum()
        if total == 0:
            share[:] = 1.0 / n_classes
            total = 1.0
        for c in range(n_classes):
            share[c] /= total
            totals[c] += share[c]
        for n in range(start_of[i], start_of[i + 1]):
            for c in range(n_classes):
                counts[key[n], c] += (votes[n] if len(votes) else 1.0) * share[c]
    return counts, totals
