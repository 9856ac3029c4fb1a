"""Dawid & Skene's maximum likelihood by accelerated EM: one fused pass over the labels for each iteration.

The E step of an item and its share of the M step are done while its labels are at hand; tables are laid out so that a label reads and writes one
run of C numbers. SQUAREM (Varadhan & Roland 2008) extrapolates two steps into a longer one and falls back where that would not climb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np

from truthing.coding import Array
from truthing.labels import Labels

TINY = 1e-10


@dataclass(frozen=True, eq=False)
class EMFit:
    """Point estimates: confusion (labelers × truth × label), prior, items' posterior, and the climb of the log-likelihood."""

    confusion: Array
    prior: Array
    posterior: Array
    log_likelihood: float
    passes: int
    path: list[float]


@numba.njit(parallel=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _pass(start_of, key, votes, logs, log_prior, gold, posterior, keep, n_threads):  # type: ignore[no-untyped-def]
    """E step at (logs, log_prior) and the counts of the M step; ``logs`` and counts are (labeler · C + label) × C."""
    n_items, n_classes, weighted = len(start_of) - 1, len(log_prior), len(votes) > 0
    counts = np.zeros((n_threads, logs.shape[0], n_classes))
    totals = np.zeros((n_threads, n_classes))
    likelihood = np.zeros(n_threads)
    for thread in numba.prange(n_threads):
        score = np.empty(n_classes)
        for i in range(n_items * thread // n_threads, n_items * (thread + 1) // n_threads):
            if gold[i] >= 0:
                score[:] = 0.0
                score[gold[i]] = 1.0
            else:
                for c in range(n_classes):
                    score[c] = log_prior[c]
                for n in range(start_of[i], start_of[i + 1]):
                    row = key[n]
                    if weighted:
                        for c in range(n_classes):
                            score[c] += votes[n] * logs[row, c]
                    else:
                        for c in range(n_classes):
                            score[c] += logs[row, c]
                top = score[0]
                for c in range(1, n_classes):
                    top = max(top, score[c])
                total = 0.0
                for c in range(n_classes):
                    score[c] = np.exp(score[c] - top)
                    total += score[c]
                likelihood[thread] += top + np.log(total)
                for c in range(n_classes):
                    score[c] /= total
            for c in range(n_classes):
                totals[thread, c] += score[c]
            for n in range(start_of[i], start_of[i + 1]):
                row = key[n]
                vote = votes[n] if weighted else 1.0
                for c in range(n_classes):
                    counts[thread, row, c] += vote * score[c]
            if keep:
                for c in range(n_classes):
                    posterior[i, c] = score[c]
    return counts.sum(axis=0), totals.sum(axis=0), likelihood.sum()


@numba.njit(cache=True)
def _first_counts(start_of, key, votes, n_rows, n_classes, gold):  # type: ignore[no-untyped-def]
    """The M step of a soft majority vote."""
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


def fit_em(
    labels: Labels, gold: Array | None = None, *, tolerance: float = 1e-6, most: int = 200, threads: int | None = None,
    stop: Callable[[float], bool] | None = None, keep_posterior: bool = True,
) -> EMFit:  # fmt: skip
    """Maximum likelihood until the log-likelihood per label climbs by less than ``tolerance``; ``threads`` never changes the model, only the time."""
    n_classes, n_labelers = labels.n_classes, labels.n_labelers
    key = labels.labeler * np.int32(n_classes) + labels.label
    votes = np.empty(0, dtype=np.float32) if labels.votes is None else labels.votes.astype(np.float32)
    start_of, known = labels.indptr, np.full(labels.n_items, -1) if gold is None else gold
    threads = threads or numba.get_num_threads()
    counts, totals = _first_counts(start_of, key, votes, n_labelers * n_classes, n_classes, known)
    theta = _normalise(counts, totals, n_labelers)
    nothing = np.empty((0, n_classes))
    path: list[float] = []

    def step(at: tuple[Array, Array]) -> tuple[tuple[Array, Array], float]:
        new, share, likelihood = _pass(
            start_of, key, votes, np.log(at[0]), np.log(at[1]), known, nothing, False, threads
        )
        path.append(float(likelihood))
        return _normalise(new, share, n_labelers), float(likelihood)

    best, reached = -np.inf, None
    while reached is None and len(path) < most:
        first, likelihood = step(theta)
        if (likelihood - best < tolerance * labels.n_labels and np.isfinite(best)) or (
            stop is not None and stop(likelihood)
        ):
            reached = likelihood
            break
        best = likelihood
        second, middle = step(first)
        if stop is not None and stop(middle):
            theta, reached = first, middle
            break
        leap = _extrapolate(theta, first, second, n_labelers)
        after, far = step(leap)
        # a leap that does not climb past the plain steps is thrown away
        theta = after if far >= middle else second
    posterior = np.empty((labels.n_items, n_classes)) if keep_posterior else nothing
    if keep_posterior or reached is None:
        logs = np.log(theta[0]), np.log(theta[1])
        reached = _pass(start_of, key, votes, *logs, known, posterior, keep_posterior, threads)[2]
    table = theta[0].reshape(n_labelers, n_classes, n_classes).transpose(0, 2, 1)
    return EMFit(table, theta[1], posterior, float(reached), len(path), path)


def _normalise(counts: Array, totals: Array, n_labelers: int) -> tuple[Array, Array]:
    """Rows of each labeler sum to one over labels; truths that a labeler never met stay uniform."""
    n_classes = len(totals)
    table = counts.reshape(n_labelers, n_classes, n_classes) + TINY
    table = table / table.sum(axis=1, keepdims=True)
    share = totals + TINY
    return table.reshape(-1, n_classes), share / share.sum()


def _extrapolate(
    start: tuple[Array, Array], first: tuple[Array, Array], second: tuple[Array, Array], n_labelers: int
) -> tuple[Array, Array]:
    change = [b - a for a, b in zip(start, first)]
    bend = [c - b - d for b, c, d in zip(first, second, change)]
    size, turn = np.sqrt(sum((d**2).sum() for d in change)), np.sqrt(sum((d**2).sum() for d in bend))
    length = -max(1.0, size / turn) if turn > 0 else -1.0
    rows, share = (np.maximum(a - 2 * length * d + length**2 * v, TINY) for a, d, v in zip(start, change, bend))
    return _normalise(rows, share, n_labelers)
