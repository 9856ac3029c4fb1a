"""Maximum likelihood of Dawid & Skene's model, of one coin a labeler and of strata by accelerated EM: one fused pass over the labels an iteration.

The E step of an item and its share of the M step are done while its labels are at hand; tables are laid out so that a label reads and writes one
run of C numbers. SQUAREM (Varadhan & Roland 2008) extrapolates two steps into a longer one and falls back where that would not climb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from truthing.coding import Array
from truthing.labels import Labels

TINY = 1e-10


@dataclass(frozen=True, eq=False)
class EMFit:
    """Point estimates and the climb of the log-likelihood. States are classes, or (class, stratum) pairs, strata of a class side by side.

    ``rows`` is labelers × state × label; ``confusion``, ``prior`` and ``posterior`` merge strata into classes.
    """

    rows: Array
    state_prior: Array
    state_posterior: Array
    n_strata: int
    log_likelihood: float
    passes: int
    path: list[float]

    @property
    def confusion(self) -> Array:
        """Labelers × truth × label."""
        weight = self.state_prior.reshape(-1, self.n_strata)
        weight = weight / weight.sum(axis=1, keepdims=True)
        parts = self.rows.reshape(len(self.rows), len(weight), self.n_strata, -1)
        return np.asarray((parts * weight[None, :, :, None]).sum(axis=2))

    @property
    def prior(self) -> Array:
        return np.asarray(self.state_prior.reshape(-1, self.n_strata).sum(axis=1))

    @property
    def posterior(self) -> Array:
        """Items × classes."""
        states = self.state_posterior
        return np.asarray(states.reshape(len(states), -1, self.n_strata).sum(axis=2))


@numba.njit(parallel=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _pass(start_of, key, votes, logs, log_prior, gold, n_strata, posterior, keep, n_threads):  # type: ignore[no-untyped-def]
    """E step at (logs, log_prior) and the counts of the M step; ``logs`` and counts are (labeler · C + label) × states."""
    n_items, n_states, weighted = len(start_of) - 1, len(log_prior), len(votes) > 0
    counts = np.zeros((n_threads, logs.shape[0], n_states))
    totals = np.zeros((n_threads, n_states))
    likelihood = np.zeros(n_threads)
    for thread in numba.prange(n_threads):
        score = np.empty(n_states)
        for i in range(n_items * thread // n_threads, n_items * (thread + 1) // n_threads):
            for s in range(n_states):
                score[s] = log_prior[s] if gold[i] < 0 or gold[i] == s // n_strata else -np.inf
            for n in range(start_of[i], start_of[i + 1]):
                row = key[n]
                if weighted:
                    for s in range(n_states):
                        score[s] += votes[n] * logs[row, s]
                else:
                    for s in range(n_states):
                        score[s] += logs[row, s]
            top = score[0]
            for s in range(1, n_states):
                top = max(top, score[s])
            total = 0.0
            for s in range(n_states):
                score[s] = np.exp(score[s] - top)
                total += score[s]
            likelihood[thread] += top + np.log(total)
            for s in range(n_states):
                score[s] /= total
                totals[thread, s] += score[s]
            for n in range(start_of[i], start_of[i + 1]):
                row = key[n]
                vote = votes[n] if weighted else 1.0
                for s in range(n_states):
                    counts[thread, row, s] += vote * score[s]
            if keep:
                for s in range(n_states):
                    posterior[i, s] = score[s]
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


def fit_em(labels: Labels, gold: Array | None = None, **options: Any) -> EMFit:
    """Maximum likelihood from labels; options are those of `fit_codes`."""
    votes = labels.votes
    return fit_codes(
        labels.indptr, labels.labeler, labels.label, votes, labels.n_labelers, labels.n_classes, gold=gold, **options
    )


def fit_codes(
    start_of: Array, labeler: Array, label: Array, weights: Array | None, n_labelers: int, n_classes: int, *, gold: Array | None = None,
    tolerance: float = 1e-6, most: int = 200, threads: int | None = None, stop: Callable[[float], bool] | None = None,
    keep_posterior: bool = True, coin: bool = False, n_strata: int = 1,
) -> EMFit:  # fmt: skip
    """Maximum likelihood until the log-likelihood per label climbs by less than ``tolerance``; ``threads`` never changes the model, only the time.

    Labels are codes sorted by item, item i's from ``start_of[i]`` on. ``coin`` gives a labeler one error rate instead of a matrix, ``n_strata``
    splits each class into strata of difficulty.
    """
    n_items, n_labels = len(start_of) - 1, len(label)
    key = labeler * np.int32(n_classes) + label
    votes = np.empty(0, dtype=np.float32) if weights is None else weights.astype(np.float32)
    known = np.full(n_items, -1) if gold is None else gold
    threads = threads or numba.get_num_threads()
    counts, totals = _first_counts(start_of, key, votes, n_labelers * n_classes, n_classes, known)
    model = Shape(n_labelers, n_classes, coin)
    theta = _strata(_normalise(counts, totals, model), model, n_strata)
    nothing = np.empty((0, n_classes * n_strata))
    path: list[float] = []

    def step(at: tuple[Array, Array]) -> tuple[tuple[Array, Array], float]:
        new, share, likelihood = _pass(
            start_of, key, votes, np.log(at[0]), np.log(at[1]), known, n_strata, nothing, False, threads
        )
        path.append(float(likelihood))
        return _normalise(new, share, model), float(likelihood)

    best, reached = -np.inf, None
    while reached is None and len(path) < most:
        first, likelihood = step(theta)
        if (likelihood - best < tolerance * n_labels and np.isfinite(best)) or (stop is not None and stop(likelihood)):
            reached = likelihood
            break
        best = likelihood
        second, middle = step(first)
        if stop is not None and stop(middle):
            theta, reached = first, middle
            break
        leap = _extrapolate(theta, first, second, model)
        after, far = step(leap)
        # a leap that does not climb past the plain steps is thrown away
        theta = after if far >= middle else second
    posterior = np.empty((n_items, n_classes * n_strata)) if keep_posterior else nothing
    if keep_posterior or reached is None:
        logs = np.log(theta[0]), np.log(theta[1])
        reached = _pass(start_of, key, votes, *logs, known, n_strata, posterior, keep_posterior, threads)[2]
    rows = theta[0].reshape(n_labelers, n_classes, -1).transpose(0, 2, 1)
    return EMFit(rows, theta[1], posterior, n_strata, float(reached), len(path), path)


@dataclass(frozen=True)
class Shape:
    """How many labelers and classes, and whether a labeler has one coin."""

    n_labelers: int
    n_classes: int
    coin: bool


def _normalise(counts: Array, totals: Array, model: Shape) -> tuple[Array, Array]:
    """Rows of each labeler sum to one over labels; truths that a labeler never met stay uniform."""
    n_states = len(totals)
    table = counts.reshape(model.n_labelers, model.n_classes, n_states) + TINY
    if model.coin:
        said_right = np.arange(model.n_classes)[:, None] == np.arange(n_states) * model.n_classes // n_states
        right = (table * said_right).sum(axis=(1, 2)) / table.sum(axis=(1, 2))
        wrong = (1 - right) / max(model.n_classes - 1, 1)
        table = np.where(said_right, right[:, None, None], wrong[:, None, None])
    else:
        table = table / table.sum(axis=1, keepdims=True)
    share = totals + TINY
    return table.reshape(-1, n_states), share / share.sum()


def _strata(theta: tuple[Array, Array], model: Shape, n_strata: int) -> tuple[Array, Array]:
    """A start for strata: each class from as easy as it seems to much harder."""
    if n_strata == 1:
        return theta
    harder = np.tile(np.linspace(0.0, 0.7, n_strata), model.n_classes)
    table = np.repeat(theta[0], n_strata, axis=1)
    return (1 - harder) * table + harder / model.n_classes, np.repeat(theta[1], n_strata) / n_strata


def _extrapolate(
    start: tuple[Array, Array], first: tuple[Array, Array], second: tuple[Array, Array], model: Shape
) -> tuple[Array, Array]:
    change = [b - a for a, b in zip(start, first)]
    bend = [c - b - d for b, c, d in zip(first, second, change)]
    size, turn = np.sqrt(sum((d**2).sum() for d in change)), np.sqrt(sum((d**2).sum() for d in bend))
    length = -max(1.0, size / turn) if turn > 0 else -1.0
    rows, share = (np.maximum(a - 2 * length * d + length**2 * v, TINY) for a, d, v in zip(start, change, bend))
    return _normalise(rows, share, model)
