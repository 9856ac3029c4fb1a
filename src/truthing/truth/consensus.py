"""What the panel as a whole says: two consensus models with the classifier as one more rater,
learned by variational EM.

A, pooled Dawid-Skene: row c of rater t ~ Dirichlet(κ M_c); M is shrunk towards one coin and κ is
learned, so that hundreds of labelers with a handful of labels each work. B, one coin: rater t is
right with probability ~ Beta(κ m, κ (1 - m)), wrong labels uniform, class prior flat. Real crowds
need both: where they differ, the noise model is in doubt (docs/theory.md, the link).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.noise.steps import expected_counts, fix_gold, item_posteriors, repeat, softmax_rows
from truthing.progress import Progress, silent

CONCENTRATIONS = 2.0 ** np.arange(7)
MOST_ITERATIONS, TOLERANCE = 60, 1e-4
MOST_ROW_CELLS = 4_000_000  # raters × classes × classes of the pooled fit


@dataclass(frozen=True, eq=False)
class Entries:
    """Labels as three aligned columns, ``votes`` how often each counts; raters are labelers, then
    perhaps the classifier.
    """

    item: Array
    rater: Array
    label: Array
    votes: Array
    n_items: int
    n_raters: int
    n_classes: int

    @classmethod
    def of(cls, labels: Labels) -> Entries:
        votes = labels.weight.astype(np.float64)
        return cls(
            labels.item,
            labels.labeler,
            labels.label,
            votes,
            labels.n_items,
            labels.n_labelers,
            labels.n_classes,
        )

    def log_likelihood(self, rows: Array) -> Array:
        """log p(labels | truth), items × classes, for raters with these rows."""
        logs = np.log(np.maximum(rows, 1e-12))
        columns = [
            np.bincount(
                self.item,
                weights=self.votes * logs[self.rater, c, self.label],
                minlength=self.n_items,
            )
            for c in range(self.n_classes)
        ]
        return np.stack(columns, axis=1)

    def with_classifier(self, predicted: Array) -> Entries:
        """The classifier as one more rater, put last."""
        n = self.n_items
        return Entries(
            np.concatenate([self.item, np.arange(n, dtype=self.item.dtype)]),
            np.concatenate([self.rater, np.full(n, self.n_raters, dtype=self.rater.dtype)]),
            np.concatenate([self.label, predicted.astype(self.label.dtype)]),
            np.concatenate([self.votes, np.ones(n)]),
            n,
            self.n_raters + 1,
            self.n_classes,
        )

    def counts(self, weights: Array | None = None) -> Array:
        """Votes for each class, items × classes; ``weights`` are what each label counts instead of
        its votes.
        """
        flat = self.item.astype(np.int64) * self.n_classes + self.label
        votes = self.votes if weights is None else weights
        size = self.n_items * self.n_classes
        return np.bincount(flat, weights=votes, minlength=size).reshape(self.n_items, -1)

    def expected_counts(self, posterior: Array, weight: Array | None = None) -> Array:
        """Labels of each rater by truth and label, where items have these posteriors (and, perhaps,
        weights).
        """
        votes = self.votes if weight is None else weight[self.item] * self.votes
        return np.asarray(
            expected_counts(self.item, self.rater, self.label, votes, posterior, self.n_raters)
        )

    def posteriors(
        self,
        log_rows: Array,
        log_prior: Array,
        gold: Array | None = None,
        discount: Array | None = None,
    ) -> Array:
        """Items × classes; items with gold are certain, ``discount`` is what one vote on each item
        counts.
        """
        votes = self.votes if discount is None else discount[self.item] * self.votes
        start = np.tile(log_prior, (self.n_items, 1))
        found = item_posteriors(self.item, self.rater, self.label, votes, log_rows, start)
        fix_gold(found, gold)
        return found


@dataclass(frozen=True, eq=False)
class DawidSkeneFit:
    """Model A: item posteriors, expected log rows (raters × truth × label), expected log prior, and
    the learned pool.
    """

    posterior: Array
    log_rows: Array
    log_prior: Array
    counts: Array
    pool: Array
    concentration: float
    table: Array | None = None  # which table each rater has, where some share one

    @property
    def shared(self) -> bool:
        """Do some raters share a table, because one for each would not fit?"""
        return self.table is not None

    def of_rater(self, rater: int) -> int:
        """The place of a rater's table in ``log_rows``, ``counts`` and `rows`."""
        return rater if self.table is None else int(self.table[rater])

    def labelers_only(self, entries: Entries, discount: Array) -> Array:
        """Item posteriors from these entries alone, rows as learned, votes discounted for
        dependence.
        """
        if self.table is not None:
            entries = replace(entries, rater=self.table[entries.rater])
        return entries.posteriors(self.log_rows, self.log_prior, discount=discount)

    def rows(self) -> Array:
        """Posterior mean of each rater's confusion matrix."""
        alpha = self.concentration * self.pool + self.counts
        return alpha / alpha.sum(axis=2, keepdims=True)


@dataclass(frozen=True, eq=False)
class OneCoinFit:
    """Model B: item posteriors, and what a label of each rater adds to the log score of its
    class.
    """

    posterior: Array
    log_odds: Array

    @property
    def accuracy(self) -> Array:
        """How often each rater is right."""
        from scipy.special import expit

        return np.asarray(expit(self.log_odds - math.log(max(self.posterior.shape[1] - 1, 1))))

    def labelers_only(self, entries: Entries, discount: Array) -> Array:
        """Item posteriors from these entries alone, votes discounted for dependence."""
        return _coin_posteriors(entries, self.log_odds, discount[entries.item] * entries.votes)


def fit_dawid_skene(
    entries: Entries, gold: Array | None = None, *, progress: Progress = silent
) -> DawidSkeneFit:
    """Pooled Dawid-Skene from a soft majority vote; items with gold are certain.

    Where a table for each rater would not fit (a thousand classes), the busiest have their own and
    all others share one.
    """
    table = shared_tables(entries)
    if table is not None:
        alone = replace(entries, rater=table[entries.rater], n_raters=int(table.max()) + 1)
        return replace(fit_dawid_skene(alone, gold, progress=progress), table=table)
    iteration = count()

    def step(fit: DawidSkeneFit) -> DawidSkeneFit:
        n = next(iteration)
        progress(n / MOST_ITERATIONS, "looking for the consensus")
        counts = entries.expected_counts(fit.posterior)
        pool, concentration = _pool(counts), fit.concentration
        if n % 5 == 4:
            concentration = _best_concentration(
                [_pooled_likelihood(counts, pool, k) for k in CONCENTRATIONS]
            )
        log_rows = _expected_log(counts, pool, concentration)
        log_prior = _expected_log_prior(fit.posterior)
        posterior = entries.posteriors(log_rows, log_prior, gold)
        return DawidSkeneFit(posterior, log_rows, log_prior, counts, pool, concentration)

    nothing = np.zeros(0)
    start = DawidSkeneFit(_start(entries, gold), nothing, nothing, nothing, nothing, 8.0)
    return repeat(step, start, most=MOST_ITERATIONS, least=11, settled=_settled)


def shared_tables(entries: Entries) -> Array | None:
    """Which table each rater has, the last one shared; None where each may have its own."""
    fitting = max(MOST_ROW_CELLS // entries.n_classes**2, 2)
    if entries.n_raters <= fitting:
        return None
    given = np.bincount(entries.rater, minlength=entries.n_raters)
    # of equally busy raters the last: that is the classifier, where there is one
    busiest = np.lexsort((-np.arange(entries.n_raters), -given))[: fitting - 1]
    table = np.full(entries.n_raters, fitting - 1)
    table[busiest] = np.arange(fitting - 1)
    return table


def fit_one_coin(
    entries: Entries, gold: Array | None = None, *, progress: Progress = silent
) -> OneCoinFit:
    """One accuracy for each rater; a learned class prior made this markedly worse on real crowds,
    so it stays flat.
    """
    from scipy.special import betaln, psi

    given = np.bincount(entries.rater, weights=entries.votes, minlength=entries.n_raters)
    iteration, concentration = count(), 8.0

    def step(fit: OneCoinFit) -> OneCoinFit:
        nonlocal concentration
        n = next(iteration)
        progress(n / MOST_ITERATIONS, "looking for the consensus")
        sure = entries.votes * fit.posterior[entries.item, entries.label]
        right = np.bincount(entries.rater, weights=sure, minlength=entries.n_raters)
        wrong = given - right
        mean = (right.sum() + 7) / (given.sum() + 10)
        if n == 0 or n % 5 == 4:
            a, b = CONCENTRATIONS[:, None] * mean, CONCENTRATIONS[:, None] * (1 - mean)
            scores = (betaln(a + right, b + wrong) - betaln(a, b)).sum(axis=1)
            concentration = _best_concentration(scores)
        log_odds = psi(concentration * mean + right) - psi(concentration * (1 - mean) + wrong)
        log_odds += math.log(max(entries.n_classes - 1, 1))
        posterior = _coin_posteriors(entries, log_odds, entries.votes)
        fix_gold(posterior, gold)
        return OneCoinFit(posterior, log_odds)

    start = OneCoinFit(_start(entries, gold), np.zeros(0))
    return repeat(step, start, most=MOST_ITERATIONS, least=11, settled=_settled)


def _coin_posteriors(entries: Entries, log_odds: Array, votes: Array) -> Array:
    posterior = entries.counts(votes * log_odds[entries.rater])
    softmax_rows(posterior)
    return posterior


def _pool(counts: Array) -> Array:
    """The rows of the average rater, shrunk towards one coin."""
    n_classes, total = counts.shape[1], counts.sum(axis=0)
    right = max((np.trace(total) + 7) / (total.sum() + 10), 1 / n_classes + 0.05)
    coin = np.full((n_classes, n_classes), (1 - right) / max(n_classes - 1, 1))
    np.fill_diagonal(coin, right)
    return np.asarray((total + 10 * coin) / (total.sum(axis=1, keepdims=True) + 10))


def _settled(before: DawidSkeneFit | OneCoinFit, after: DawidSkeneFit | OneCoinFit) -> bool:
    """No item moves any more; of very many items the average one."""
    moved = np.abs(after.posterior - before.posterior)
    small = moved.max() < TOLERANCE
    return bool(small or (len(moved) > 50_000 and moved.mean() < TOLERANCE / 5))


def _best_concentration(log_likelihoods: Any) -> float:
    penalty = 0.5 * np.log(CONCENTRATIONS / 8) ** 2  # lognormal prior around 8 pseudo-labels a row
    return float(CONCENTRATIONS[int(np.argmax(np.array(log_likelihoods) - penalty))])


def _start(entries: Entries, gold: Array | None) -> Array:
    """A soft majority vote."""
    votes = entries.counts()
    frequency = votes.sum(axis=0) + 1
    posterior = (votes + frequency / frequency.sum()) / (votes.sum(axis=1, keepdims=True) + 1)
    fix_gold(posterior, gold)
    return posterior


def _expected_log_prior(posterior: Array) -> Array:
    from scipy.special import psi

    alpha = posterior.sum(axis=0) + 1
    return np.asarray(psi(alpha) - psi(alpha.sum()))


def _pooled_likelihood(counts: Array, pool: Array, concentration: float) -> float:
    """Dirichlet-multinomial log likelihood of the expected counts."""
    from scipy.special import gammaln

    alpha = np.broadcast_to(concentration * pool, counts.shape)
    some, total = counts > 1e-9, counts.sum(axis=2)
    cells = gammaln(alpha[some] + counts[some]) - gammaln(alpha[some])
    rows = gammaln(concentration) - gammaln(concentration + total[total > 1e-9])
    return float(cells.sum() + rows.sum())


@numba.njit(cache=True)
def _digamma(x: float) -> float:
    shift = 0.0
    while x < 6:
        shift -= 1 / x
        x += 1
    f = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - f * (1 / 12.0 - f * (1 / 120.0 - f / 252.0))


@numba.njit(cache=True)
def _expected_log(counts, pool, concentration):  # type: ignore[no-untyped-def]
    out = np.empty_like(counts)
    for t in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            total = concentration
            for k in range(counts.shape[2]):
                total += counts[t, c, k]
            below = _digamma(total)
            for k in range(counts.shape[2]):
                out[t, c, k] = _digamma(concentration * pool[c, k] + counts[t, c, k]) - below
    return out
