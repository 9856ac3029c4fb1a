"""Gibbs sampling with everything unknown: truths, labelers' rows, the classifier's rows, the class
prior and the pool of labelers.

States are classes, or (class, stratum) pairs where labelers are independent only given both. Rows
of labeler t ~ Dirichlet(κ M_s), the pool M and κ learned; other kinds of row are fixed, one coin, a
shared rate in a range, or Dirichlet around given matrices. An item's state is drawn with the
Dirichlet rows and the prior summed out: given rows that were themselves drawn it would move far
more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.progress import Progress, silent, stretches
from truthing.randomness import Seed, compiled_seeds, generator
from truthing.threads import in_threads
from truthing.truth.consensus import Entries
from truthing.truth.samplers.draws import CHAINS, ByItem, dirichlet, draw_index, start_states
from truthing.truth.samplers.labeler_tables import (
    LEAST,
    Pool,
    Predictive,
    update_pool,
    update_predictive,
    update_rows,
)
from truthing.truth.samplers.labeler_tables import POOL_WEIGHT as POOL_WEIGHT
from truthing.truth.samplers.labeler_tables import RowModel as RowModel
from truthing.truth.samplers.labeler_tables import pool_base as pool_base

STATE_WEIGHT = 2.0  # pseudo-items in a (class, stratum): without them an empty stratum stays empty
# draws of the labelers' tables that are kept, and their cells together
MOST_ROWS, MOST_ROW_CELLS = 400, 4_000_000


@dataclass(frozen=True, eq=False)
class CrowdSamples:
    """Draws in chain order; ``counts`` is truth class × outcome on these items.

    ``rows`` are some of the draws of the labelers' tables (all would not fit), ``rows_prior`` the
    class prior of the same draws.
    """

    counts: Array
    classifier: Array
    prior: Array
    row_mean: Array | None  # None: tables of classes × classes for each labeler would not fit
    row_low: Array | None
    row_high: Array | None
    error: Array
    truth: Array
    n_chains: int
    rows: Array | None = None
    rows_prior: Array | None = None


class _Given(NamedTuple):
    """What all chains are given; ``prior`` is that of the classes, or one negative number where it
    is learned.
    """

    labels: ByItem
    outcome: Array
    n_outcomes: int
    gold: Array
    prior: Array
    row_weight: float
    state_weight: float


class _Tally(NamedTuple):
    """Counts in each state: labels of each labeler (by label, and together), outcomes of the
    classifier, items.
    """

    labels: Array
    given: Array
    answers: Array
    size: Array


class _Chain(NamedTuple):
    """Where one chain is (``state``, ``pool``), and what it has drawn; one table of ``every`` is
    kept.
    """

    state: Array
    pool: Pool
    counts: Array
    classifier: Array
    prior: Array
    error: Array
    truth: Array
    row_sum: Array
    row_square: Array
    row_draws: Array
    every: int


@njit
def _record(prior, own, rows, n_strata, kept, chain):  # type: ignore[no-untyped-def]
    """One draw's prior, classifier rows and labeler rows, strata merged into classes."""
    n_labelers, n_states, n_classes = rows.shape
    share, table = chain.prior[kept], chain.row_draws[kept // chain.every]
    for s in range(n_states):
        share[s // n_strata] += prior[s]
    for s in range(n_states):
        c = s // n_strata
        part = prior[s] / max(share[c], 1e-300)
        for b in range(own.shape[1]):
            chain.classifier[kept, c, b] += part * own[s, b]
    for t in range(n_labelers):
        for c in range(n_classes):
            for k in range(n_classes):
                value = 0.0
                for s in range(c * n_strata, (c + 1) * n_strata):
                    value += prior[s] / max(share[c], 1e-300) * rows[t, s, k]
                chain.row_sum[t, c, k] += value
                chain.row_square[t, c, k] += value * value
                table[t, c, k] = value  # one that is not kept is overwritten by the next draw
                if k == c:
                    chain.error[kept, t] += share[c] * (1 - value)


@njit
def _count(given, i, s, sign, tally):  # type: ignore[no-untyped-def]
    """Put item i into state s, or take it out."""
    start_of, rater, label, votes = given.labels
    labels, together, answers, size = tally
    answers[s, given.outcome[i]] += sign
    size[s] += sign
    for n in range(start_of[i], start_of[i + 1]):
        labels[rater[n], s, label[n]] += sign * votes[n]
        together[rater[n], s] += sign * votes[n]


@njit
def _before_labels(given, i, n_strata, tally, p):  # type: ignore[no-untyped-def]
    """The chance of each state of item i by its outcome, its gold and the other items, rows and
    prior summed out.
    """
    outcome, row_weight, state_weight = given.outcome[i], given.row_weight, given.state_weight
    gold, prior, learned = given.gold[i], given.prior, given.prior[0] < 0
    answers, size = tally.answers, tally.size
    for s in range(len(p)):
        p[s] = (row_weight + answers[s, outcome]) / (row_weight * given.n_outcomes + size[s])
        if learned:
            p[s] *= state_weight + size[s]
        else:
            mine, first = 0.0, s - s % n_strata
            for other in range(first, first + n_strata):
                mine += size[other]
            share = (state_weight + size[s]) / (state_weight * n_strata + mine)
            p[s] *= share * max(prior[s // n_strata], LEAST)
        if gold >= 0 and gold != s // n_strata:
            p[s] = 0.0


@njit
def _by_labels(given, i, predictive, tally, p):  # type: ignore[no-untyped-def]
    """Multiply p by the chance of item i's labels in each state, given all other labels of the same
    labelers there.
    """
    start_of, rater, label, votes = given.labels
    alpha, weight, learns = predictive
    labels, together, _, _ = tally
    first, before = start_of[i], 0.0
    for n in range(first, start_of[i + 1]):
        t, k = rater[n], label[n]
        # labels of one labeler on one item stand together: the later ones know of the earlier
        before = before + votes[n - 1] if n > first and rater[n - 1] == t else 0.0
        for v in range(int(votes[n])):
            top = 0.0
            for s in range(len(p)):
                chance = alpha[t, s, k] + learns[t] * (labels[t, s, k] + v)
                p[s] *= chance / (weight[t, s] + learns[t] * (together[t, s] + before + v))
                top = max(top, p[s])
            if top < 1e-200:
                for s in range(len(p)):
                    p[s] /= top


@njit
def _update_shares(given, n_strata, tally, own, prior):  # type: ignore[no-untyped-def]
    """The classifier's rows, and the prior of states: of all, or within each class where the
    classes' is given.
    """
    alpha = np.empty(own.shape[1])
    for s in range(len(prior)):
        for b in range(own.shape[1]):
            alpha[b] = given.row_weight + tally.answers[s, b]
        dirichlet(alpha, own[s])
    learned = given.prior[0] < 0
    width = len(prior) if learned else n_strata
    weights = np.empty(width)
    for c in range(len(prior) // width):
        for k in range(width):
            weights[k] = given.state_weight + tally.size[c * width + k]
        dirichlet(weights, prior[c * width : (c + 1) * width])
        if not learned:
            for k in range(width):
                prior[c * width + k] *= given.prior[c]


@njit(nogil=True)
def _sweeps(given, tables, chain, first, last, burn, seed):  # type: ignore[no-untyped-def]
    """Sweeps first to last; ``chain.state`` and ``chain.pool`` are all that the next stretch has to
    know.
    """
    np.random.seed(seed)
    n_items, n_labelers, n_strata = len(given.outcome), len(tables.kind), tables.n_strata
    n_states, n_classes = tables.base.shape
    state, pool, rows = chain.state, chain.pool, tables.table.copy()
    predictive = Predictive(
        tables.table.copy(), np.empty((n_labelers, n_states)), np.empty(n_labelers)
    )
    tally = _Tally(
        np.zeros((n_labelers, n_states, n_classes)),
        np.zeros((n_labelers, n_states)),
        np.zeros((n_states, given.n_outcomes)),
        np.zeros(n_states),
    )
    own, prior, p = np.empty((n_states, given.n_outcomes)), np.empty(n_states), np.empty(n_states)
    for i in range(n_items):
        _count(given, i, state[i], 1.0, tally)
    for sweep in range(first, last):
        update_rows(tally.labels, tables, pool, rows)
        _update_shares(given, n_strata, tally, own, prior)
        update_pool(tally.labels, tables, pool)
        update_predictive(tables, pool, rows, predictive)
        kept = sweep - burn
        for i in range(n_items):
            _count(given, i, state[i], -1.0, tally)
            _before_labels(given, i, n_strata, tally, p)
            _by_labels(given, i, predictive, tally, p)
            total = 0.0
            for s in range(n_states):
                total += p[s]
            state[i] = draw_index(p, total)
            _count(given, i, state[i], 1.0, tally)
            if kept >= 0:
                chain.counts[kept, state[i] // n_strata, given.outcome[i]] += 1
                for s in range(n_states):
                    chain.truth[i, s // n_strata] += p[s] / total
        if kept >= 0:
            _record(prior, own, rows, n_strata, kept, chain)


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
    seed: Seed,
    n_chains: int = CHAINS,
    progress: Progress = silent,
) -> CrowdSamples:
    """Posterior draws from chains that start at soft majority votes; same seed, same answer on any
    number of threads.
    """
    n_classes, n_items, n_labelers = entries.n_classes, entries.n_items, entries.n_raters
    keep = -(-n_draws // n_chains)
    cells = n_chains * keep * n_labelers * n_classes**2
    every = max(1, -(-n_chains * keep // MOST_ROWS), -(-cells // MOST_ROW_CELLS))
    rng = generator(seed, "where chains of labelers start")
    given = _Given(
        ByItem.of(entries),
        np.array(outcome, dtype=np.int64),
        int(n_outcomes),
        np.array(gold, dtype=np.int64),
        np.array([-1.0]) if prior is None else np.array(prior, dtype=float),
        float(row_weight),
        STATE_WEIGHT if rows.n_strata > 1 else 1.0,
    )
    chains = [
        _Chain(
            state=start_states(entries, gold, rows.n_strata, rng),
            pool=rows.pool(),
            counts=np.zeros((keep, n_classes, n_outcomes)),
            classifier=np.zeros((keep, n_classes, n_outcomes)),
            prior=np.zeros((keep, n_classes)),
            error=np.zeros((keep, n_labelers)),
            truth=np.zeros((n_items, n_classes)),
            row_sum=np.zeros((n_labelers, n_classes, n_classes)),
            row_square=np.zeros((n_labelers, n_classes, n_classes)),
            row_draws=np.zeros((-(-keep // every), n_labelers, n_classes, n_classes)),
            every=every,
        )
        for _ in range(n_chains)
    ]
    tables = rows.tables()
    work = n_chains * (len(entries.item) + n_items + n_labelers * n_classes) * len(tables.base)
    for first, last in stretches(burn + keep, work):
        progress(first / (burn + keep), "drawing truths and labelers")
        seeds = compiled_seeds(seed, n_chains, "labelers", first)
        in_threads(
            _sweeps, [(given, tables, c, first, last, burn, s) for c, s in zip(chains, seeds)]
        )
    return _gathered(chains, keep)


def _gathered(chains: list[_Chain], keep: int) -> CrowdSamples:
    """Draws of all chains, one after the other."""
    n = len(chains) * keep
    mean = np.sum([chain.row_sum for chain in chains], axis=0) / n
    square = np.sum([chain.row_square for chain in chains], axis=0) / n
    low, high = beta_limits(mean, np.sqrt(np.maximum(square - mean**2, 0)))
    with_table = _last_of_each(keep, chains[0].every)
    return CrowdSamples(
        counts=np.concatenate([chain.counts for chain in chains]),
        classifier=np.concatenate([chain.classifier for chain in chains]),
        prior=np.concatenate([chain.prior for chain in chains]),
        row_mean=mean,
        row_low=low,
        row_high=high,
        error=np.concatenate([chain.error for chain in chains]),
        truth=np.sum([chain.truth for chain in chains], axis=0) / n,
        n_chains=len(chains),
        rows=np.concatenate([chain.row_draws for chain in chains]),
        rows_prior=np.concatenate([chain.prior[with_table] for chain in chains]),
    )


def _last_of_each(keep: int, every: int) -> Array:
    """Draws whose tables were the last to be written to their place."""
    return np.minimum(np.arange(every - 1, keep + every - 1, every), keep - 1)


def beta_limits(mean: Array, sd: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Limits of a probability from its posterior mean and standard deviation, by the Beta
    distribution that has them.
    """
    from scipy.special import betaincinv

    centre = np.clip(mean, 1e-9, 1 - 1e-9)
    weight = np.maximum(centre * (1 - centre) / np.maximum(sd, 1e-9) ** 2 - 1, 1e-3)
    a, b = centre * weight, (1 - centre) * weight
    return betaincinv(a, b, (1 - level) / 2), betaincinv(a, b, (1 + level) / 2)
