"""Gibbs sampling with everything unknown: truths, labelers' rows, the classifier's rows, the class prior and the pool of labelers.

States are classes, or (class, stratum) pairs where labelers are independent only given both. Rows of labeler t ~ Dirichlet(κ M_s), the pool
M and κ learned; other kinds of row are fixed, one coin, a shared rate in a range, or Dirichlet around given matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba
import numpy as np

from truthing.coding import Array
from truthing.progress import Progress, silent, stretches
from truthing.truth.consensus import CONCENTRATIONS, Entries
from truthing.truth.gibbs import CHAINS, _dirichlet

FIXED, POOLED, COIN, SHARED, OWN = range(5)
POOL_WEIGHT = 10.0
GRID = 33
MOST_ROWS, MOST_ROW_CELLS = 400, 4_000_000  # draws of the labelers' tables that are kept, and their cells together


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
    def learned(cls, n_labelers: int, n_classes: int, *, kind: int = POOLED, n_strata: int = 1) -> RowModel:
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
    log_likelihood: Array
    agreement: Array
    n_chains: int
    rows: Array | None = None
    rows_prior: Array | None = None


@numba.njit(cache=True)
def _update_rows(tally, kind, table, pool, concentration, coin_mean, coin_weight, low, high, n_strata, rows):  # type: ignore[no-untyped-def]
    n_labelers, n_states, n_classes = tally.shape
    alpha = np.empty(n_classes)
    shared_right, shared_wrong = 0.0, 0.0
    for t in range(n_labelers):
        if kind[t] == POOLED or kind[t] == OWN:
            for s in range(n_states):
                for k in range(n_classes):
                    alpha[k] = tally[t, s, k] + (concentration * pool[s, k] if kind[t] == POOLED else table[t, s, k])
                _dirichlet(alpha, rows[t, s])
        elif kind[t] == COIN or kind[t] == SHARED:
            right, wrong = 0.0, 0.0
            for s in range(n_states):
                for k in range(n_classes):
                    if k == s // n_strata:
                        right += tally[t, s, k]
                    else:
                        wrong += tally[t, s, k]
            if kind[t] == SHARED:
                shared_right += right
                shared_wrong += wrong
            else:
                p = np.random.beta(coin_weight * coin_mean + right, coin_weight * (1 - coin_mean) + wrong)
                _set_coin(rows[t], p, n_strata)
    if shared_right + shared_wrong > 0:
        score = np.empty(GRID)
        for g in range(GRID):
            rate = min(max(low + (high - low) * (g + 0.5) / GRID, 1e-6), 1 - 1e-6)
            score[g] = shared_wrong * math.log(rate) + shared_right * math.log(1 - rate)
        weight = np.cumsum(np.exp(score - score.max()))
        g = min(np.searchsorted(weight, np.random.random() * weight[-1]), GRID - 1)
        rate = low + (high - low) * (g + np.random.random()) / GRID
        for t in range(n_labelers):
            if kind[t] == SHARED:
                _set_coin(rows[t], 1 - rate, n_strata)


@numba.njit(cache=True)
def _set_coin(row, right, n_strata):  # type: ignore[no-untyped-def]
    n_states, n_classes = row.shape
    for s in range(n_states):
        for k in range(n_classes):
            row[s, k] = right if k == s // n_strata else (1 - right) / max(n_classes - 1, 1)


@numba.njit(cache=True)
def _update_pool(tally, kind, base, pool, concentration):  # type: ignore[no-untyped-def]
    """The pool given the counts: table counts of a Chinese restaurant, then a Dirichlet; κ from a grid."""
    n_labelers, n_states, n_classes = tally.shape
    alpha = np.empty(n_classes)
    for s in range(n_states):
        for k in range(n_classes):
            alpha[k] = base[s, k]
            weight = concentration * pool[s, k]
            for t in range(n_labelers):
                if kind[t] == POOLED:
                    for n in range(int(tally[t, s, k])):
                        if np.random.random() * (weight + n) < weight:
                            alpha[k] += 1
        _dirichlet(alpha, pool[s])
        for k in range(n_classes):
            pool[s, k] = max(pool[s, k], 1e-9)
    score = np.empty(len(CONCENTRATIONS))
    for j in range(len(CONCENTRATIONS)):
        value = CONCENTRATIONS[j]
        score[j] = -0.5 * math.log(value / 8) ** 2
        for t in range(n_labelers):
            if kind[t] != POOLED:
                continue
            for s in range(n_states):
                total = 0.0
                for k in range(n_classes):
                    x = tally[t, s, k]
                    total += x
                    if x > 0:
                        score[j] += math.lgamma(value * pool[s, k] + x) - math.lgamma(value * pool[s, k])
                if total > 0:
                    score[j] += math.lgamma(value) - math.lgamma(value + total)
    weight = np.cumsum(np.exp(score - score.max()))
    return CONCENTRATIONS[min(np.searchsorted(weight, np.random.random() * weight[-1]), len(CONCENTRATIONS) - 1)]


@numba.njit(cache=True)
def _coin_pool(tally, kind, n_strata, mean, weight):  # type: ignore[no-untyped-def]
    """Pool of one-coin accuracies: mean and weight by a few Metropolis steps on the beta-binomial likelihood."""
    n_labelers, n_states, n_classes = tally.shape
    right, wrong = np.zeros(n_labelers), np.zeros(n_labelers)
    for t in range(n_labelers):
        if kind[t] == COIN:
            for s in range(n_states):
                for k in range(n_classes):
                    if k == s // n_strata:
                        right[t] += tally[t, s, k]
                    else:
                        wrong[t] += tally[t, s, k]
    for _ in range(3):
        odds = math.log(mean / (1 - mean)) + 0.5 * np.random.standard_normal()
        new_mean = 1 / (1 + math.exp(-odds))
        new_weight = weight * math.exp(0.7 * np.random.standard_normal())
        change = _coin_score(right, wrong, new_mean, new_weight) - _coin_score(right, wrong, mean, weight)
        if math.log(np.random.random()) < change:
            mean, weight = new_mean, new_weight
    return mean, weight


@numba.njit(cache=True)
def _coin_score(right, wrong, mean, weight):  # type: ignore[no-untyped-def]
    a, b = weight * mean, weight * (1 - mean)
    # Beta(7, 3) on the mean (with the Jacobian of the logit walk) and a lognormal around 8 on the weight
    score = 7 * math.log(mean) + 3 * math.log(1 - mean) - 0.5 * math.log(weight / 8) ** 2
    for t in range(len(right)):
        if right[t] + wrong[t] > 0:
            score += math.lgamma(a + right[t]) - math.lgamma(a) + math.lgamma(b + wrong[t]) - math.lgamma(b)
            score += math.lgamma(a + b) - math.lgamma(a + b + right[t] + wrong[t])
    return score


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
def _chain(  # type: ignore[no-untyped-def]
    start_of, rater, label, votes, outcome, n_outcomes, gold, kind, table, base, low, high, n_strata, row_weight, prior_fixed, state, pool, pooled,
    first, last, burn, seed, counts, classifier, prior_out, row_sum, row_square, row_draws, every, error, truth, log_likelihood, agreement,
):  # fmt: skip
    """Sweeps first to last; ``state``, ``pool`` and ``pooled`` are all that the next stretch has to know."""
    np.random.seed(seed)
    n_items, n_labelers = len(outcome), len(kind)
    n_states, n_classes = base.shape
    rows = table.copy()
    concentration, coin_mean, coin_weight = pooled
    tally = np.zeros((n_labelers, n_states, n_classes))
    answers = np.zeros((n_states, n_outcomes))
    own = np.empty((n_states, n_outcomes))
    prior = np.full(n_states, 1.0 / n_states)
    p, logs = np.empty(n_states), np.empty((n_labelers, n_states, n_classes))
    for sweep in range(first, last):
        tally[:] = 0.0
        answers[:] = 0.0
        for i in range(n_items):
            answers[state[i], outcome[i]] += 1
            for n in range(start_of[i], start_of[i + 1]):
                tally[rater[n], state[i], label[n]] += votes[n]
        _update_rows(tally, kind, table, pool, concentration, coin_mean, coin_weight, low, high, n_strata, rows)
        concentration = _update_pool(tally, kind, base, pool, concentration)
        coin_mean, coin_weight = _coin_pool(tally, kind, n_strata, coin_mean, coin_weight)
        for s in range(n_states):
            _dirichlet(row_weight + answers[s], own[s])
        if prior_fixed[0] < 0:
            _dirichlet(1.0 / n_strata + answers.sum(axis=1), prior)
        else:
            weight = np.empty(n_strata)
            for c in range(n_classes):
                _dirichlet(1.0 / n_strata + answers[c * n_strata : (c + 1) * n_strata].sum(axis=1), weight)
                for j in range(n_strata):
                    prior[c * n_strata + j] = prior_fixed[c] * weight[j]
        for t in range(n_labelers):
            for s in range(n_states):
                for k in range(n_classes):
                    logs[t, s, k] = math.log(max(rows[t, s, k], 1e-300))
        total_log = 0.0
        kept = sweep - burn
        for i in range(n_items):
            top = -1e300
            for s in range(n_states):
                p[s] = -1e300
                if (gold[i] < 0 or gold[i] == s // n_strata) and prior[s] > 0:
                    p[s] = math.log(prior[s]) + math.log(max(own[s, outcome[i]], 1e-300))
                    for n in range(start_of[i], start_of[i + 1]):
                        p[s] += votes[n] * logs[rater[n], s, label[n]]
                top = max(top, p[s])
            total = 0.0
            for s in range(n_states):
                p[s] = math.exp(p[s] - top)
                total += p[s]
            total_log += top + math.log(total)
            u, s = np.random.random() * total, 0
            while s < n_states - 1 and u >= p[s]:
                u -= p[s]
                s += 1
            state[i] = s
            if kept >= 0:
                counts[kept, s // n_strata, outcome[i]] += 1
                for j in range(n_states):
                    truth[i, j // n_strata] += p[j] / total
        if kept >= 0:
            log_likelihood[kept] = total_log
            agreement[kept] = concentration
            # a table that is not kept is overwritten by the next draw
            _record(
                prior, own, rows, n_strata, prior_out[kept], classifier[kept], error[kept], row_sum, row_square, row_draws[kept // every]
            )  # fmt: skip
    pooled[0], pooled[1], pooled[2] = concentration, coin_mean, coin_weight


@numba.njit(parallel=True, cache=True)
def _chains(  # type: ignore[no-untyped-def]
    start_of, rater, label, votes, outcome, n_outcomes, gold, kind, table, base, low, high, n_strata, row_weight, prior_fixed, states, pools,
    pooled, first, last, burn, seeds, counts, classifier, prior_out, row_sum, row_square, row_draws, every, error, truth, log_likelihood, agreement,
):  # fmt: skip
    for m in numba.prange(len(seeds)):
        _chain(
            start_of, rater, label, votes, outcome, n_outcomes, gold, kind, table, base, low, high, n_strata, row_weight, prior_fixed, states[m],
            pools[m], pooled[m], first, last, burn, seeds[m], counts[m], classifier[m], prior_out[m], row_sum[m], row_square[m], row_draws[m], every, error[m], truth[m],
            log_likelihood[m], agreement[m],
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
    log_likelihood, concentration = np.zeros(shape), np.zeros(shape)
    fixed = np.array([-1.0]) if prior is None else np.asarray(prior, dtype=float)
    work = n_chains * (len(entries.item) + n_items + n_labelers * n_classes) * n_classes * n_strata
    for first, last in stretches(burn + keep, work):
        progress(first / (burn + keep), "drawing truths and labelers")
        _chains(
            start_of, entries.rater.astype(np.int64), entries.label.astype(np.int64), entries.votes, outcome.astype(np.int64), n_outcomes,
            gold.astype(np.int64), rows.kind.astype(np.int64), rows.table.astype(float), rows.base, rows.low, rows.high, n_strata, row_weight, fixed,
            states, pools, pooled, first, last, burn, rng.integers(0, 2**31, n_chains), counts, classifier, prior_out, row_sum, row_square, row_draws, every,
            error, truth, log_likelihood, concentration,
        )  # fmt: skip
    n = n_chains * keep
    mean = row_sum.sum(axis=0) / n
    sd = np.sqrt(np.maximum(row_square.sum(axis=0) / n - mean**2, 0))
    low, high = beta_limits(mean, sd)
    return CrowdSamples(
        counts.reshape(n, n_classes, n_outcomes), classifier.reshape(n, n_classes, n_outcomes), prior_out.reshape(n, n_classes), mean, low, high,
        error.reshape(n, n_labelers), truth.sum(axis=0) / n, log_likelihood.reshape(n), concentration.reshape(n), n_chains,
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


def _start(entries: Entries, outcome: Array, gold: Array, n_strata: int, rng: np.random.Generator) -> Array:
    votes = entries.counts() + rng.random((entries.n_items, entries.n_classes))
    truth = np.where(gold >= 0, gold, votes.argmax(axis=1))
    if n_strata == 1:
        return truth.astype(np.int64)
    agree = entries.counts()[np.arange(len(truth)), truth] / np.maximum(entries.counts().sum(axis=1), 1)
    rank = np.argsort(np.argsort(-agree + 1e-6 * rng.random(len(agree))))
    return truth * n_strata + np.minimum(rank * n_strata // len(rank), n_strata - 1)
