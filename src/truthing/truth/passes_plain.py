"""Passes over the labels of a small shard in plain numpy: the functions of passes_compiled.py, by
the same names and with the same answers to rounding, without the seconds that compiling takes.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array


def count_keys(
    start_of: Array,
    key: Array,
    votes: Array,
    gold: Array,
    predicted: Array,
    first: int,
    given: Array,
) -> None:
    _, keys, weight = _labels(start_of, key, votes, predicted, first)
    given += np.bincount(keys, weights=weight, minlength=len(given))


def majority(
    start_of: Array,
    key: Array,
    votes: Array,
    gold: Array,
    predicted: Array,
    first: int,
    frequency: Array,
    counts: Array,
    totals: Array,
) -> None:
    item, keys, weight = labels = _labels(start_of, key, votes, predicted, first)
    n_items, n_classes = len(gold), len(totals)
    share = np.empty((n_items, n_classes))
    for c in range(n_classes):
        share[:, c] = _sums(item, (keys % n_classes == c) * weight, n_items)
    share += frequency
    share /= share.sum(axis=1, keepdims=True)
    _fix(share, gold)
    _add(labels, share, counts, totals)


def expectation(
    start_of: Array,
    key: Array,
    votes: Array,
    gold: Array,
    predicted: Array,
    first: int,
    logs: Array,
    log_prior: Array,
    old_logs: Array,
    old_prior: Array,
    compare: bool,
    counts: Array,
    totals: Array,
    *_: Array,
) -> tuple[float, float]:
    labels = _labels(start_of, key, votes, predicted, first)
    posterior = _posteriors(labels, gold, logs, log_prior)
    _add(labels, posterior, counts, totals)
    if not compare:
        return 0.0, 0.0
    step = np.abs(posterior - _posteriors(labels, gold, old_logs, old_prior))
    return float(step.sum()), float(step.max(initial=0.0))


def posteriors(
    start_of: Array,
    key: Array,
    votes: Array,
    gold: Array,
    predicted: Array,
    first: int,
    logs: Array,
    log_prior: Array,
    posterior: Array,
) -> None:
    labels = _labels(start_of, key, votes, predicted, first)
    posterior[:] = _posteriors(labels, gold, logs, log_prior)


def votes_by_class(
    start_of: Array, key: Array, votes: Array, gold: Array, predicted: Array, table: Array
) -> None:
    item, keys, weight = _labels(start_of, key, votes, predicted[:0], 0)
    n_items, n_classes = table.shape
    place = item * n_classes + keys % n_classes
    table += _sums(place, weight, n_items * n_classes).reshape(table.shape)


def together_and_alone(
    start_of: Array,
    key: Array,
    votes: Array,
    gold: Array,
    predicted: Array,
    first: int,
    logs: Array,
    log_prior: Array,
    discount: Array,
    together: Array,
    alone: Array,
) -> None:
    evidence = _said(_labels(start_of, key, votes, predicted[:0], first), len(gold), logs)
    together[:] = log_prior + evidence
    alone[:] = log_prior + discount[:, None] * evidence
    if len(predicted):
        together += logs[first + predicted]
    _softmax(together)
    _softmax(alone)


def count_pairs(
    start_of: Array,
    key: Array,
    votes: Array,
    gold: Array,
    predicted: Array,
    first: int,
    n_classes: int,
    place: Array,
    shared: Array,
) -> None:
    item, keys, _ = _labels(start_of, key, votes, predicted, first)
    there = (_first_keys(item, keys, n_classes, place, len(gold)) >= 0).astype(float)
    shared += there.T @ there
    np.fill_diagonal(shared, 0.0)


def add_pairs(
    start_of: Array,
    key: Array,
    votes: Array,
    gold: Array,
    predicted: Array,
    first: int,
    logs: Array,
    posterior: Array,
    place: Array,
    number: Array,
    alike: Array,
    highest: Array,
    sums: Array,
) -> None:
    n_classes = posterior.shape[1]
    item, keys, _ = _labels(start_of, key, votes, predicted, first)
    answers = _first_keys(item, keys, n_classes, place, len(gold))
    log_q = np.log(np.maximum(posterior, 1e-300))
    for a, b in np.argwhere(number >= 0):
        both = np.flatnonzero((answers[:, a] >= 0) & (answers[:, b] >= 0))
        one, other, pair = answers[both, a], answers[both, b], number[a, b]
        others = log_q[both] - logs[one] - logs[other]
        best = others.argmax(axis=1)
        _softmax(others)
        expected = np.minimum(others @ alike[pair], highest[pair])
        right = one % n_classes == best, other % n_classes == best
        same = one % n_classes == other % n_classes
        spread = expected * (1 - expected)
        columns = np.ones(len(both)), same, expected, spread, *right
        sums[pair] += [column.sum() for column in columns]


def expected_log(counts: Array, pool: Array, concentration: float, log: Array) -> None:
    total = concentration + counts.sum(axis=2, keepdims=True)
    log[:] = _digamma(concentration * pool + counts) - _digamma(total)


def _digamma(x: Array) -> Array:
    """By the same series as the compiled one, so that answers stay the same."""
    x, shift = x.copy(), np.zeros_like(x)
    while (low := x < 6).any():
        shift[low] -= 1 / x[low]
        x[low] += 1
    f = 1 / (x * x)
    return shift + np.log(x) - 0.5 / x - f * (1 / 12.0 - f * (1 / 120.0 - f / 252.0))


Labelled = tuple[Array, Array, Array]


def _labels(start_of: Array, key: Array, votes: Array, predicted: Array, first: int) -> Labelled:
    """Item, key and votes of each label, the classifier's last."""
    n_items, chosen = len(start_of) - 1, slice(start_of[0], start_of[-1])
    item, keys = np.repeat(np.arange(n_items), np.diff(start_of)), key[chosen]
    weight = votes[chosen] if len(votes) else np.ones(len(keys))
    if len(predicted):
        item = np.concatenate([item, np.arange(n_items)])
        keys = np.concatenate([keys, first + predicted])
        weight = np.concatenate([weight, np.ones(n_items)])
    return item, keys, weight


def _sums(place: Array, weight: Array, size: int) -> Array:
    return np.bincount(place, weights=weight, minlength=size)


def _said(labels: Labelled, n_items: int, logs: Array) -> Array:
    """What the labels of each item add to the log chance of each class."""
    item, keys, weight = labels
    columns = [_sums(item, weight * logs[keys, c], n_items) for c in range(logs.shape[1])]
    return np.stack(columns, axis=1)


def _posteriors(labels: Labelled, gold: Array, logs: Array, log_prior: Array) -> Array:
    posterior = _said(labels, len(gold), logs) + log_prior
    _softmax(posterior)
    _fix(posterior, gold)
    return posterior


def _softmax(scores: Array) -> None:
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)


def _fix(posterior: Array, gold: Array) -> None:
    known = np.flatnonzero(gold >= 0)
    posterior[known] = 0.0
    posterior[known, gold[known]] = 1.0


def _add(labels: Labelled, posterior: Array, counts: Array, totals: Array) -> None:
    """The sums of the M step."""
    item, keys, weight = labels
    totals += posterior.sum(axis=0)
    for c in range(len(totals)):
        counts[:, c] += _sums(keys, weight * posterior[item, c], len(counts))


def _first_keys(item: Array, keys: Array, n_classes: int, place: Array, n_items: int) -> Array:
    """The first key of each busy rater on each item, items × busy raters; -1: there is none."""
    at = place[keys // n_classes]
    answers = np.full((n_items, int(place.max()) + 1), -1, dtype=np.int64)
    busy = np.flatnonzero(at >= 0)[::-1]  # the first is written last, and stays
    answers[item[busy], at[busy]] = keys[busy]
    return answers
