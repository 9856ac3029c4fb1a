"""The E and the M step of models with one confusion matrix for each rater, and the loop that takes
them in turn.

Under the pooled fit, the fits of pairs, the estimate of the class prior and the bootstrap; `em` has
an accelerated loop for maximum likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.threads import in_threads, n_threads, shares

State = TypeVar("State")
FEW = 100_000  # numbers that one thread handles before others have started


def never(before: object, after: object) -> bool:
    return False


def repeat(
    step: Callable[[State], State],
    state: State,
    *,
    most: int,
    least: int = 0,
    settled: Callable[[State, State], bool] = never,
) -> State:
    """``state`` after ``most`` steps, or after the first beyond ``least`` that leaves it settled.

    >>> repeat(lambda x: (x + 2 / x) / 2, 1.0, most=50, settled=lambda a, b: abs(a - b) < 1e-12)
    1.414213562373095
    """
    for n in range(most):
        before, state = state, step(state)
        if n >= least and settled(before, state):
            break
    return state


def mixing_weights(likelihood: Array, *, most: int = 500, tolerance: float = 1e-9) -> Array:
    """Class prior by maximum likelihood, from p(labels | truth) of each item alone.

    >>> mixing_weights(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])).round(3).tolist()
    [0.333, 0.667]
    """

    def step(prior: Array) -> Array:
        post = likelihood * prior
        return np.asarray((post / post.sum(axis=1, keepdims=True)).mean(axis=0))

    n_classes = likelihood.shape[1]
    return repeat(
        step,
        np.full(n_classes, 1 / n_classes),
        most=most,
        settled=lambda before, after: bool(np.abs(after - before).max() < tolerance),
    )


def item_posteriors(
    item: Array, rater: Array, label: Array, votes: Array, log_rows: Array, start: Array
) -> Array:
    """E step: exp of ``start`` (items × classes) plus the logs of what the labels say, scaled to
    one; start is overwritten.
    """
    _add_logs(item, rater, label, votes, log_rows, start)
    softmax_rows(start)
    return start


def fix_gold(posterior: Array, gold: Array | None, *, logs: bool = False) -> None:
    """Items with gold are certain, in place: of a table of chances, or of their logarithms."""
    if gold is not None:
        known = np.flatnonzero(gold >= 0)
        posterior[known] = -np.inf if logs else 0.0
        posterior[known, gold[known]] = 0.0 if logs else 1.0


def softmax_rows(scores: Array) -> None:
    """Each row's exponentials, scaled to sum to one, in place."""
    parts = n_threads() if scores.size > FEW else 1
    in_threads(_softmax_rows, [(scores, *part) for part in shares(len(scores), parts)])


@njit(nogil=True)
def _softmax_rows(scores, first, last):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        top, total = scores[i, 0], 0.0
        for c in range(1, scores.shape[1]):
            top = max(top, scores[i, c])
        for c in range(scores.shape[1]):
            below = scores[i, c] - top
            scores[i, c] = 1.0 if below == 0.0 else math.exp(below)
            total += scores[i, c]
        for c in range(scores.shape[1]):
            scores[i, c] /= total


@njit
def _add_logs(item, rater, label, votes, log_rows, scores):  # type: ignore[no-untyped-def]
    for n in range(len(item)):
        for c in range(scores.shape[1]):
            scores[item[n], c] += votes[n] * log_rows[rater[n], c, label[n]]


@njit
def expected_counts(item, rater, label, votes, posterior, n_raters):  # type: ignore[no-untyped-def]
    """M step: labels of each rater by truth and label, raters × truth × label."""
    n_classes = posterior.shape[1]
    counts = np.zeros((n_raters, n_classes, n_classes))
    for n in range(len(item)):
        for c in range(n_classes):
            counts[rater[n], c, label[n]] += votes[n] * posterior[item[n], c]
    return counts
