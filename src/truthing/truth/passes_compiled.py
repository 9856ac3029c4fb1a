"""Passes over the labels of a shard, compiled: worth the seconds that compiling takes where labels
are many. passes_plain.py has the same functions in plain numpy; a test compares them.
"""

from __future__ import annotations

import math

import numpy as np

from truthing.compiled import njit
from truthing.engine.base import NO_VOTES
from truthing.noise.em_passes import VANISHED


@njit(nogil=True)
def count_keys(start_of, key, votes, gold, predicted, first_key, given):  # type: ignore[no-untyped-def]
    for n in range(start_of[0], start_of[-1]):
        given[key[n]] += votes[n] if len(votes) else 1.0
    for i in range(len(predicted)):
        given[first_key + predicted[i]] += 1.0


@njit(nogil=True)
def majority(  # type: ignore[no-untyped-def]
    start_of, key, votes, gold, predicted, first_key, frequency, counts, totals
):
    n_classes = len(totals)
    share = np.empty(n_classes)
    for i in range(len(start_of) - 1):
        # class by class: numba takes seconds to compile what may fail to broadcast
        for c in range(n_classes):
            share[c] = frequency[c]
        total = 1.0
        for n in range(start_of[i], start_of[i + 1]):
            vote = votes[n] if len(votes) else 1.0
            share[key[n] % n_classes] += vote
            total += vote
        if len(predicted):
            share[predicted[i]] += 1.0
            total += 1.0
        for c in range(n_classes):
            share[c] = share[c] / total if gold[i] < 0 else 1.0 * (c == gold[i])
            totals[c] += share[c]
        for n in range(start_of[i], start_of[i + 1]):
            vote = votes[n] if len(votes) else 1.0
            for c in range(n_classes):
                counts[key[n], c] += vote * share[c]
        if len(predicted):
            for c in range(n_classes):
                counts[first_key + predicted[i], c] += share[c]


@njit(nogil=True, inline="always")
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


@njit(nogil=True, inline="always")
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


@njit(nogil=True, inline="always")
def _likely(start, stop, key, gold, guess, logs, log_prior, chances, prior, score):  # type: ignore[no-untyped-def]
    """`_item` where each label is one vote: chances are multiplied, which takes no exponentials.
    Where that leaves next to nothing, logarithms are added."""
    total = 0.0
    for c in range(len(score)):
        score[c] = prior[c]
    for n in range(start, stop):
        for c in range(len(score)):
            score[c] *= chances[key[n], c]
    if guess >= 0:
        for c in range(len(score)):
            score[c] *= chances[guess, c]
    for c in range(len(score)):
        total += score[c]
    if gold >= 0 or total < VANISHED:
        _item(start, stop, key, NO_VOTES, gold, guess, logs, log_prior, score)
        return
    scale = 1.0 / total
    for c in range(len(score)):
        score[c] *= scale


@njit(nogil=True)
def expectation(  # type: ignore[no-untyped-def]
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
    chances,
    prior,
    old_chances,
    before,
):
    """``chances`` and ``prior`` are those of ``logs``, ``old_chances`` and ``before`` those of
    ``old_logs``; empty where labels have votes, or tables are very large."""
    n_classes, weighted, multiplied = len(log_prior), len(votes) > 0, len(chances) > 0
    score, old = np.empty(n_classes), np.empty(n_classes)
    moved, farthest = 0.0, 0.0
    for i in range(len(start_of) - 1):
        start, stop = start_of[i], start_of[i + 1]
        guess = first_key + predicted[i] if len(predicted) else -1
        if multiplied:
            _likely(start, stop, key, gold[i], guess, logs, log_prior, chances, prior, score)
        else:
            _item(start, stop, key, votes, gold[i], guess, logs, log_prior, score)
        if compare:
            known = gold[i]
            if multiplied:
                _likely(
                    start, stop, key, known, guess, old_logs, old_prior, old_chances, before, old
                )
            else:
                _item(start, stop, key, votes, known, guess, old_logs, old_prior, old)
            for c in range(n_classes):
                step = abs(score[c] - old[c])
                moved += step
                farthest = max(farthest, step)
        for c in range(n_classes):
            totals[c] += score[c]
        if weighted:
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


@njit(nogil=True, inline="always")
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


@njit(nogil=True)
def two_classes(  # type: ignore[no-untyped-def]
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


@njit(nogil=True)
def posteriors(  # type: ignore[no-untyped-def]
    start_of, key, votes, gold, predicted, first_key, logs, log_prior, posterior
):
    for i in range(len(start_of) - 1):
        guess = first_key + predicted[i] if len(predicted) else -1
        start, stop = start_of[i], start_of[i + 1]
        _item(start, stop, key, votes, gold[i], guess, logs, log_prior, posterior[i])


@njit(nogil=True)
def votes_by_class(start_of, key, votes, gold, predicted, table):  # type: ignore[no-untyped-def]
    for i in range(len(start_of) - 1):
        for n in range(start_of[i], start_of[i + 1]):
            table[i, key[n] % table.shape[1]] += votes[n] if len(votes) else 1.0


@njit(nogil=True)
def together_and_alone(  # type: ignore[no-untyped-def]
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
    evidence = np.empty(n_classes)
    for i in range(len(start_of) - 1):
        evidence[:] = 0.0
        for n in range(start_of[i], start_of[i + 1]):
            vote = votes[n] if len(votes) else 1.0
            for c in range(n_classes):
                evidence[c] += vote * logs[key[n], c]
        for c in range(n_classes):
            together[i, c] = log_prior[c] + evidence[c]
            alone[i, c] = log_prior[c] + discount[i] * evidence[c]
            if len(predicted):
                together[i, c] += logs[first_key + predicted[i], c]
        _softmax(together[i])
        _softmax(alone[i])


@njit(nogil=True)
def _busy(start, stop, key, guess, n_classes, place, who, answers):  # type: ignore[no-untyped-def]
    """The busy raters of an item and their first keys; ``guess`` is the classifier's or -1."""
    found = 0
    for n in range(start, stop + (guess >= 0)):
        label = key[n] if n < stop else guess
        at = place[label // n_classes]
        if at < 0:
            continue
        again = False
        for k in range(found):
            again |= who[k] == at
        if not again:
            who[found], answers[found] = at, label
            found += 1
    return found


@njit(nogil=True)
def count_pairs(  # type: ignore[no-untyped-def]
    start_of, key, votes, gold, predicted, first_key, n_classes, place, shared
):
    who, answers = np.empty(len(shared), np.int64), np.empty(len(shared), np.int64)
    for i in range(len(start_of) - 1):
        guess = first_key + predicted[i] if len(predicted) else -1
        found = _busy(start_of[i], start_of[i + 1], key, guess, n_classes, place, who, answers)
        for j in range(found):
            for k in range(j):
                shared[who[j], who[k]] += 1
                shared[who[k], who[j]] += 1


@njit(nogil=True)
def add_pairs(  # type: ignore[no-untyped-def]
    start_of,
    key,
    votes,
    gold,
    predicted,
    first_key,
    logs,
    posterior,
    place,
    number,
    alike,
    highest,
    sums,
):
    n_classes = posterior.shape[1]
    who, answers = np.empty(len(number), np.int64), np.empty(len(number), np.int64)
    others = np.empty(n_classes)
    for i in range(len(start_of) - 1):
        guess = first_key + predicted[i] if len(predicted) else -1
        found = _busy(start_of[i], start_of[i + 1], key, guess, n_classes, place, who, answers)
        for j in range(found):
            for k in range(found):
                pair = number[who[j], who[k]]
                if pair < 0:
                    continue
                best, total, expected = 0, 0.0, 0.0
                for c in range(n_classes):
                    log_q = math.log(max(posterior[i, c], 1e-300))
                    others[c] = log_q - logs[answers[j], c] - logs[answers[k], c]
                    if others[c] > others[best]:
                        best = c
                top = others[best]
                for c in range(n_classes):
                    chance = math.exp(others[c] - top)
                    total += chance
                    expected += chance * alike[pair, c]
                expected = min(expected / total, highest[pair])
                first, second = answers[j] % n_classes, answers[k] % n_classes
                sums[pair, 0] += 1
                sums[pair, 1] += first == second
                sums[pair, 2] += expected
                sums[pair, 3] += expected * (1 - expected)
                sums[pair, 4] += first == best
                sums[pair, 5] += second == best


@njit(nogil=True)
def _digamma(x):  # type: ignore[no-untyped-def]
    shift = 0.0
    while x < 6:
        shift -= 1 / x
        x += 1
    f = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - f * (1 / 12.0 - f * (1 / 120.0 - f / 252.0))


@njit(nogil=True)
def expected_log(counts, pool, concentration, log):  # type: ignore[no-untyped-def]
    for t in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            total = concentration
            for k in range(counts.shape[2]):
                total += counts[t, c, k]
            below = _digamma(total)
            for k in range(counts.shape[2]):
                log[t, c, k] = _digamma(concentration * pool[c, k] + counts[t, c, k]) - below
