"""Gibbs sampling with everything unknown: truths, labelers' rows, the classifier's rows, the class prior and the pool of labelers.

States are classes, or (class, stratum) pairs where labelers are independent only given both. Rows of labeler t ~ Dirichlet(κ M_s), the pool
M and κ learned; other kinds of row are fixed, one coin, a shared rate in a range, or Dirichlet around given matrices. An item's state is drawn with
the Dirichlet rows and the prior summed out: given rows that were themselves drawn it would move far more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.progress import Progress, silent, stretches
from truthing.truth.consensus import Entries
from truthing.truth.samplers.known import CHAINS, _dirichlet, draw_index
from truthing.truth.samplers.labeler_tables import (
    LEAST,
    POOLED,
    coin_pool,
    predictive,
    update_pool,
    update_rows,
)

POOL_WEIGHT = 10.0
STATE_WEIGHT = 2.0  # pseudo-items in a (class, stratum): without them an empty stratum stays empty
MOST_ROWS, MOST_ROW_CELLS = (
    400,
    4_000_000,
)  # draws of the labelers' tables that are kept, and their cells together


@dataclass(frozen=True, eq=False)
class RowModel:
    """What is known about each labeler's rows: a kind for each, fixed tables or Dirichlet weights, and the base of the pool."""

    kind: Array
    table: Array
    base: Array
    low: float = 0.0
    high: float = 1.0
    n_strata: int = 1

    @classmethod
    def learned(
        cls, n_labelers: int, n_classes: int, *, kind: int = POOLED, n_strata: int = 1
    ) -> RowModel:
        n_states = n_classes * n_strata
        return cls(
            np.full(n_labelers, kind),
            np.zeros((n_labelers, n_states, n_classes)),
            pool_base(n_classes, n_strata),
            n_strata=n_strata,
        )


def pool_base(n_classes: int, n_strata: int = 1) -> Array:
    """Prior of the pooled rows, in pseudo-labels: better than chance on average; harder strata less so."""
    right = [0.7] if n_strata == 1 else list(np.linspace(0.9, 0.55, n_strata))
    base = np.empty((n_classes * n_strata, n_classes))
    for c in range(n_classes):
        for s in range(n_strata):
            base[c * n_strata + s] = POOL_WEIGHT * (1 - right[s]) / max(n_classes - 1, 1)
            base[c * n_strata + s, c] = POOL_WEIGHT * right[s]
    return base


@dataclass(frozen=True, eq=False)
class CrowdSamples:
    """Draws in chain order; ``counts`` is truth class × outcome on these items.

    ``rows`` are some of the draws of the labelers' tables (all would not fit), ``rows_prior`` the class prior of the same draws.
    """

    counts: Array
    classifier: Array
    prior: Array
    row_mean: Array
    row_low: Array
    row_high: Array
    error: Array
    truth: Array
    n_chains: int
    rows: Array | None = None
    rows_prior: Array | None = None


@numba.njit(cache=True)
def _record(prior, own, rows, n_strata, prior_out, classifier, error, row_sum, row_square, row_out):  # type: ignore[no-untyped-def]
    """One draw's prior, classifier rows and labeler rows, strata merged into classes."""
    n_labelers, n_states, n_classes = rows.shape
    for s in range(n_states):
        prior_out[s // n_strata] += prior[s]
    for s in range(n_states):
        c = s // n_strata
        share = prior[s] / max(prior_out[c], 1e-300)
        for b in range(own.shape[1]):
            classifier[c, b] += share * own[s, b]
    for t in range(n_labelers):
        for c in range(n_classes):
            for k in range(n_classes):
                value = 0.0
                for s in range(c * n_strata, (c + 1) * n_strata):
                    value += prior[s] / max(prior_out[c], 1e-300) * rows[t, s, k]
                row_sum[t, c, k] += value
                row_square[t, c, k] += value * value
                row_out[t, c, k] = value
                if k == c:
                    error[t] += prior_out[c] * (1 - value)


@numba.njit(cache=True)
def _count(start_of, rater, label, votes, outcome, i, s, sign, tally, given, answers, size):  # type: ignore[no-untyped-def]
    """Put item i into state s, or take it out."""
    answers[s, outcome[i]] += sign
    size[s] += sign
    for n in range(start_of[i], start_of[i + 1]):
        tally[rater[n], s, label[n]] += sign * votes[n]
        given[rater[n], s] += sign * votes[n]


@numba.njit(cache=True)
def _evidence(first, last, rater, label, votes, learns, alpha, weight, tally, given, p):  # type: ignore[no-untyped-def]
    """Multiply p by the chance of labels first to last in each state, given all other labels of the same labelers there."""
    before = 0.0
    for n in range(first, last):
        t, k = rater[n], label[n]
        # labels of one labeler on one item stand together: the later ones know of the earlier
        before = before + votes[n - 1] if n > first and rater[n - 1] == t else 0.0
        for v in range(int(votes[n])):
            top = 0.0
            for s in range(len(p)):
                chance = alpha[t, s, k] + learns[t] * (tally[t, s, k] + v)
                p[s] *= chance / (weight[t, s] + learns[t] * (given[t, s] + before + v))
                top = max(top, p[s])
            if top < 1e-200:
                for s in range(len(p)):
                    p[s] /= top


@numba.njit(cache=True)
def _update_prior(size, n_strata, state_weight, prior_fixed, prior):  # type: ignore[no-untyped-def]
    if prior_fixed[0] < 0:
        _dirichlet(state_weight + size, prior)
        return
    for c in range(len(prior_fixed)):
        own = slice(c * n_strata, (c + 1) * n_strata)
        _dirichlet(state_weight + size[own], prior[own])
        prior[own] *= prior_fixed[c]


@numba.njit(cache=True)
def _chain(  # type: ignore[no-untyped-def]
    start_of, rater, label, votes, outcome, n_outcomes, gold, kind, table, base, low, high, n_strata, row_weight, prior_fixed, state, pool, pooled,
    first, last, burn, seed, counts, classifier, prior_out, row_sum, row_square, row_draws, every, error, truth,
):  # fmt: skip
    """Sweeps first to last; ``state``, ``pool`` and ``pooled`` are all that the next stretch has to know."""
    np.random.seed(seed)
    n_items, n_labelers = len(outcome), len(kind)
    n_states, n_classes = base.shape
    state_weight = STATE_WEIGHT if n_strata > 1 else 1.0
    rows, alpha = table.copy(), table.copy()
    learns, weight = np.empty(n_labelers), np.empty((n_labelers, n_states))
    concentration, coin_mean, coin_weight = pooled
    tally, given = np.zeros((n_labelers, n_states, n_classes)), np.zeros((n_labelers, n_states))
    answers, size = np.zeros((n_states, n_outcomes)), np.zeros(n_states)
    own, prior, p = np.empty((n_states, n_outcomes)), np.empty(n_states), np.empty(n_states)
    for i in range(n_items):
        _count(
            start_of, rater, label, votes, outcome, i, state[i], 1.0, tally, given, answers, size
        )
    for sweep in range(first, last):
        update_rows(
            tally,
            kind,
            table,
            pool,
            concentration,
            coin_mean,
            coin_weight,
            low,
            high,
            n_strata,
            rows,
        )
        for s in range(n_states):
            _dirichlet(row_weight + answers[s], own[s])
        _update_prior(size, n_strata, state_weight, prior_fixed, prior)
        concentration = update_pool(tally, kind, base, pool, concentration)
        coin_mean, coin_weight = coin_pool(tally, kind, n_strata, coin_mean, coin_weight)
        predictive(kind, table, pool, concentration, rows, learns, alpha, weight)
        kept = sweep - burn
        for i in range(n_items):
            _count(
                start_of,
                rater,
                label,
                votes,
                outcome,
                i,
                state[i],
                -1.0,
                tally,
                given,
                answers,
                size,
            )
            for s in range(n_states):
                p[s] = (row_weight + answers[s, outcome[i]]) / (row_weight * n_outcomes + size[s])
                if prior_fixed[0] < 0:
                    p[s] *= state_weight + size[s]
                else:
                    mine = size[s - s % n_strata : s - s % n_strata + n_strata].sum()
                    share = (state_weight + size[s]) / (state_weight * n_strata + mine)
                    p[s] *= share * max(prior_fixed[s // n_strata], LEAST)
                if gold[i] >= 0 and gold[i] != s // n_strata:
                    p[s] = 0.0
            _evidence(
                start_of[i],
                start_of[i + 1],
                rater,
                label,
                votes,
                learns,
                alpha,
                weight,
                tally,
                given,
                p,
            )
            total = p.sum()
            state[i] = draw_index(p, total)
            _count(
                start_of,
                rater,
                label,
                votes,
                outcome,
                i,
                state[i],
                1.0,
                tally,
                given,
                answers,
                size,
            )
            if kept >= 0:
                counts[kept, state[i] // n_strata, outcome[i]] += 1
                for s in range(n_states):
                    truth[i, s // n_strata] += p[s] / total
        if kept >= 0:
            # a table that is not kept is overwritten by the next draw
            _record(
                prior, own, rows, n_strata, prior_out[kept], classifier[kept], error[kept], row_sum, row_square, row_draws[kept // every]
            )  # fmt: skip
    pooled[0], pooled[1], pooled[2] = concentration, coin_mean, coin_weight


@numba.njit(parallel=True, cache=True)
def _chains(  # type: ignore[no-untyped-def]
    start_of, rater, label, votes, outcome, n_outcomes, gold, kind, table, base, low, high, n_strata, row_weight, prior_fixed, states, pools,
    pooled, first, last, burn, seeds, counts, classifier, prior_out, row_sum, row_square, row_draws, every, error, truth,
):  # fmt: skip
    for m in numba.prange(len(seeds)):
        _chain(
            start_of, rater, label, votes, outcome, n_outcomes, gold, kind, table, base, low, high, n_strata, row_weight, prior_fixed, states[m],
            pools[m], pooled[m], first, last, burn, seeds[m], counts[m], classifier[m], prior_out[m], row_sum[m], row_square[m], row_draws[m], every, error[m], truth[m],
        )  # fmt: skip


def sample_crowd(
    entries: Entries,
    outcome: Array,
    n_outcomes: int,
    gold: Array,
    rows: RowModel,
    *,
    prior: Array | None,
    row_weight: float,
    n_draws: int,
    burn: int,
    seed: int,
    n_chains: int = CHAINS,
    progress: Progress = silent,
) -> CrowdSamples:
    """Posterior draws from chains that start at soft majority votes; same seed, same answer on any number of threads."""
    n_classes, n_strata = entries.n_classes, rows.n_strata
    n_items, n_labelers = entries.n_items, entries.n_raters
    keep = -(-n_draws // n_chains)
    start_of = np.searchsorted(entries.item, np.arange(n_items + 1)).astype(np.int64)
    rng = np.random.default_rng(seed)
    states = np.stack([_start(entries, outcome, gold, n_strata, rng) for _ in range(n_chains)])
    pools = np.repeat(rows.base[None] / POOL_WEIGHT, n_chains, axis=0)
    pooled = np.repeat([[8.0, 0.7, 8.0]], n_chains, axis=0)
    shape = (n_chains, keep)
    counts = np.zeros((*shape, n_classes, n_outcomes))
    classifier = np.zeros((*shape, n_classes, n_outcomes))
    prior_out = np.zeros((*shape, n_classes))
    row_sum, row_square = (np.zeros((n_chains, n_labelers, n_classes, n_classes)) for _ in range(2))
    cells = n_chains * keep * n_labelers * n_classes**2
    every = max(1, -(-n_chains * keep // MOST_ROWS), -(-cells // MOST_ROW_CELLS))
    row_draws = np.zeros((n_chains, -(-keep // every), n_labelers, n_classes, n_classes))
    error, truth = np.zeros((*shape, n_labelers)), np.zeros((n_chains, n_items, n_classes))
    fixed = np.array([-1.0]) if prior is None else np.asarray(prior, dtype=float)
    work = n_chains * (len(entries.item) + n_items + n_labelers * n_classes) * n_classes * n_strata
    for first, last in stretches(burn + keep, work):
        progress(first / (burn + keep), "drawing truths and labelers")
        _chains(
            start_of, entries.rater.astype(np.int64), entries.label.astype(np.int64), entries.votes, outcome.astype(np.int64), n_outcomes,
            gold.astype(np.int64), rows.kind.astype(np.int64), rows.table.astype(float), rows.base, rows.low, rows.high, n_strata, row_weight, fixed,
            states, pools, pooled, first, last, burn, rng.integers(0, 2**31, n_chains), counts, classifier, prior_out, row_sum, row_square, row_draws, every,
            error, truth,
        )  # fmt: skip
    n = n_chains * keep
    mean = row_sum.sum(axis=0) / n
    sd = np.sqrt(np.maximum(row_square.sum(axis=0) / n - mean**2, 0))
    low, high = beta_limits(mean, sd)
    return CrowdSamples(
        counts.reshape(n, n_classes, n_outcomes), classifier.reshape(n, n_classes, n_outcomes), prior_out.reshape(n, n_classes), mean, low, high,
        error.reshape(n, n_labelers), truth.sum(axis=0) / n, n_chains,
        row_draws.reshape(-1, *mean.shape), prior_out[:, _last_of_each(keep, every)].reshape(-1, n_classes),
    )  # fmt: skip


def _last_of_each(keep: int, every: int) -> Array:
    """Draws whose tables were the last to be written to their place."""
    return np.minimum(np.arange(every - 1, keep + every - 1, every), keep - 1)


def beta_limits(mean: Array, sd: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Limits of a probability from its posterior mean and standard deviation, by the Beta distribution that has them."""
    from scipy.special import betaincinv

    centre = np.clip(mean, 1e-9, 1 - 1e-9)
    weight = np.maximum(centre * (1 - centre) / np.maximum(sd, 1e-9) ** 2 - 1, 1e-3)
    a, b = centre * weight, (1 - centre) * weight
    return betaincinv(a, b, (1 - level) / 2), betaincinv(a, b, (1 + level) / 2)


def _start(
    entries: Entries, outcome: Array, gold: Array, n_strata: int, rng: np.random.Generator
) -> Array:
    votes = entries.counts() + rng.random((entries.n_items, entries.n_classes))
    truth = np.where(gold >= 0, gold, votes.argmax(axis=1))
    if n_strata == 1:
        return truth.astype(np.int64)
    agree = entries.counts()[np.arange(len(truth)), truth] / np.maximum(
        entries.counts().sum(axis=1), 1
    )
    rank = np.argsort(np.argsort(-agree + 1e-6 * rng.random(len(agree))))
    return truth * n_strata + np.minimum(rank * n_strata // len(rank), n_strata - 1)
