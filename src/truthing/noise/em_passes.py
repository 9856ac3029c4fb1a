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


class Coded(NamedTuple):
    """Labels sorted by item as codes: ``key`` is labeler · C + label, ``votes`` are empty where
    each counts once.
    """

    start_of: Array
    key: Array
    votes: Array
    gold: Array


def one_pass(
    labels: Coded, rows: Array, prior: Array, n_strata: int, posterior: Array, threads: int
) -> tuple[Array, Array, float]:
    """E step at (rows, prior) and the counts of the M step; ``rows`` and counts are (labeler ·
    C + label) × states.

    ``posterior`` is filled, unless it is empty.
    """
    parts = shares(len(labels.start_of) - 1, threads)
    weighted = len(labels.votes) > 0
    given = (np.log(rows), np.log(prior)) if weighted else (rows, prior)
    tables = [np.ascontiguousarray(table) for table in given]
    jobs = [(labels, *tables, n_strata, posterior, *part) for part in parts]
    alone = _pass_of_two if len(prior) == 2 and n_strata == 1 else _pass
    counts, totals, likelihoods = zip(*in_threads(_pass_of_votes if weighted else alone, jobs))
    return np.sum(counts, axis=0), np.sum(totals, axis=0), float(np.sum(likelihoods))


@njit(nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _pass(labels, rows, prior, n_strata, posterior, first, last):  # type: ignore[no-untyped-def]
    """The same for items first to last. Chances are multiplied, which takes no logarithms; where
    that leaves next to nothing, an item's logarithms are added."""
    start_of, key, _, gold = labels
    n_states, keep = len(prior), len(posterior) > 0
    counts, totals, likelihood = np.zeros((len(rows), n_states)), np.zeros(n_states), 0.0
    score = np.empty(n_states)
    for i in range(first, last):
        for s in range(n_states):
            score[s] = 0.0 if gold[i] >= 0 and s // n_strata != gold[i] else prior[s]
        for n in range(start_of[i], start_of[i + 1]):
            for s in range(n_states):
                score[s] *= rows[key[n], s]
        total, top = 0.0, 0.0
        for s in range(n_states):
            total += score[s]
        if total < VANISHED:
            for s in range(n_states):
                score[s] = -np.inf if gold[i] >= 0 and s // n_strata != gold[i] else 0.0
                score[s] += np.log(prior[s])
            for n in range(start_of[i], start_of[i + 1]):
                for s in range(n_states):
                    score[s] += np.log(rows[key[n], s])
            top, total = score.max(), 0.0
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
                counts[key[n], s] += score[s]
        if keep:
            posterior[i] = score
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


@njit
def first_counts(labels, n_rows, n_classes):  # type: ignore[no-untyped-def]
    """The M step of a soft majority vote."""
    start_of, key, votes, gold = labels
    counts, totals = np.zeros((n_rows, n_classes)), np.zeros(n_classes)
    share = np.empty(n_classes)
    for i in range(len(start_of) - 1):
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
