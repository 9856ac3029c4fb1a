"""What the panel as a whole says: two consensus models with the classifier as one more rater,
learned by variational EM.

A, pooled Dawid-Skene: row c of rater t ~ Dirichlet(κ M_c); M is shrunk towards one coin and κ is
learned, so that hundreds of labelers with a handful of labels each work. B, one coin: rater t is
right with probability ~ Beta(κ m, κ (1 - m)), wrong labels uniform, class prior flat. Real crowds
need both: where they differ, the noise model is in doubt (docs/theory.md, the link).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.engine.base import NO_VOTES, NOTHING, Engine, Shard
from truthing.engine.memory import Memory, joined
from truthing.labels import Labels
from truthing.noise.steps import expected_counts, fix_gold, item_posteriors, softmax_rows
from truthing.progress import Progress, silent
from truthing.truth.passes import (
    PassSums,
    Tables,
    coin_pass,
    count_keys,
    expectation_pass,
    expected_log,
    majority_pass,
    posterior_pass,
)

CONCENTRATIONS = 2.0 ** np.arange(7)
MOST_ITERATIONS, TOLERANCE = 60, 1e-4
MANY_ITEMS = 50_000  # beyond, the average item settles the fit


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
        ones = np.broadcast_to(1.0, len(labels.label))  # takes no room
        votes = ones if labels.votes is None else labels.votes.astype(np.float64)
        return cls(
            labels.item,
            labels.labeler,
            labels.label,
            votes,
            labels.n_items,
            labels.n_labelers,
            labels.n_classes,
        )

    def engine(
        self,
        predicted: Array | None = None,
        gold: Array | None = None,
        known: Array | None = None,
    ) -> Memory:
        """These entries for a pass over them; ``predicted`` makes the classifier a rater, ``gold``
        shapes the consensus, ``known`` (numbers in a list of gold) does not."""
        item, votes = self.item, self.votes
        key = self.rater.astype(np.int32)  # a copy, which becomes the key in place
        key *= np.int32(self.n_classes)
        key += self.label.astype(np.int32, copy=False)
        if (item[1:] < item[:-1]).any():
            order = np.argsort(item, kind="stable")
            item, key, votes = item[order], key[order], votes[order]
        shard = Shard(
            np.searchsorted(item, np.arange(self.n_items + 1, dtype=item.dtype)).astype(np.int64),
            key,
            NO_VOTES if _all_one(votes) else votes,
            np.full(self.n_items, -1, np.int32) if gold is None else gold.astype(np.int32),
            NOTHING if predicted is None else predicted.astype(np.int32),
            self.n_raters,
            self.n_classes,
            NOTHING if known is None else known.astype(np.int32),
        )
        return Memory(shard)

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
        votes = np.ascontiguousarray(votes)
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
        votes = np.ascontiguousarray(votes)
        start = np.tile(log_prior, (self.n_items, 1))
        found = item_posteriors(self.item, self.rater, self.label, votes, log_rows, start)
        fix_gold(found, gold)
        return found


def _all_one(votes: Array) -> bool:
    """Whether each entry counts once; one number that stands for all is looked at once."""
    return bool((votes[:1] == 1).all() if votes.strides == (0,) else (votes == 1).all())


@dataclass(frozen=True, eq=False)
class DawidSkeneFit:
    """Model A: expected log rows (raters × truth × label), expected log prior, the learned pool,
    and each item's posterior where labels are given.

    ``totals`` are the items expected in each class.
    """

    posterior: Array
    log_rows: Array
    log_prior: Array
    counts: Array
    pool: Array
    concentration: float
    totals: Array = field(default_factory=lambda: NO_VOTES)
    shared: bool = False  # do some raters share a table, because one for each would not fit?

    @property
    def tables(self) -> Tables:
        """As a pass over the labels reads them."""
        n_classes = len(self.log_prior)
        logs = np.ascontiguousarray(self.log_rows.transpose(0, 2, 1)).reshape(-1, n_classes)
        return Tables(logs, self.log_prior)

    def labelers_only(self, entries: Entries, discount: Array) -> Array:
        """Item posteriors from these entries alone, rows as learned, votes discounted for
        dependence.
        """
        return entries.posteriors(self.log_rows, self.log_prior, discount=discount)

    def rows(self, which: Any = slice(None)) -> Array:
        """Posterior mean of each rater's confusion matrix, or of those of some raters."""
        alpha = self.concentration * self.pool + self.counts[which]
        return alpha / alpha.sum(axis=2, keepdims=True)


@dataclass(frozen=True, eq=False)
class OneCoinFit:
    """Model B: what a label of each rater adds to the log score of its class, and each item's
    posterior where labels are given.
    """

    posterior: Array
    log_odds: Array
    n_classes: int

    @property
    def tables(self) -> Tables:
        """As a pass over the labels reads them."""
        logs = self.log_odds[:, None, None] * np.eye(self.n_classes)
        return Tables(logs.reshape(-1, self.n_classes), np.zeros(self.n_classes))

    @property
    def accuracy(self) -> Array:
        """How often each rater is right."""
        from scipy.special import expit

        return np.asarray(expit(self.log_odds - math.log(max(self.n_classes - 1, 1))))

    def labelers_only(self, entries: Entries, discount: Array) -> Array:
        """Item posteriors from these entries alone, votes discounted for dependence."""
        votes = discount[entries.item] * entries.votes
        posterior = entries.counts(votes * self.log_odds[entries.rater])
        softmax_rows(posterior)
        return posterior


def fit_dawid_skene(
    labels: Entries | Engine,
    gold: Array | None = None,
    *,
    predicted: Array | None = None,
    progress: Progress = silent,
) -> DawidSkeneFit:
    """Pooled Dawid-Skene from a soft majority vote; items with gold are certain.

    ``predicted`` makes the classifier one more rater, put last. An engine holds gold and
    predictions itself, and no posterior is made of each of its items.
    """
    engine = labels if isinstance(labels, Engine) else labels.engine(predicted, gold)
    sums = _majority(engine)
    n_classes, concentration = len(sums.totals), 8.0
    fit: DawidSkeneFit | None = None
    for n in range(MOST_ITERATIONS):
        progress(n / MOST_ITERATIONS, "looking for the consensus")
        before = None if fit is None else fit.tables
        counts = sums.counts.reshape(-1, n_classes, n_classes).transpose(0, 2, 1)
        pool = _pool(counts)
        if n % 5 == 4:
            concentration = _best_concentration(
                [_pooled_likelihood(counts, pool, k) for k in CONCENTRATIONS]
            )
        log_rows = expected_log(counts, pool, concentration)
        log_prior = _expected_log_prior(sums.totals)
        fit = DawidSkeneFit(NO_VOTES, log_rows, log_prior, counts, pool, concentration)
        sums = _step(engine, n, sums, fit, before)
        if _settled(sums):
            break
    assert fit is not None
    kept = _posteriors(labels, engine, fit.tables)
    return replace(fit, totals=sums.totals, posterior=kept)


def fit_one_coin(
    labels: Entries | Engine,
    gold: Array | None = None,
    *,
    predicted: Array | None = None,
    progress: Progress = silent,
) -> OneCoinFit:
    """One accuracy for each rater; a learned class prior made this markedly worse on real crowds,
    so it stays flat. Arguments as for `fit_dawid_skene`.
    """
    from scipy.special import betaln, psi

    engine = labels if isinstance(labels, Engine) else labels.engine(predicted, gold)
    sums = _majority(engine)
    n_classes, concentration = len(sums.totals), 8.0
    given = sums.counts.reshape(-1, n_classes, n_classes).sum(axis=(1, 2))
    fit: OneCoinFit | None = None
    for n in range(MOST_ITERATIONS):
        progress(n / MOST_ITERATIONS, "looking for the consensus")
        before = None if fit is None else fit.tables
        right = np.trace(sums.counts.reshape(-1, n_classes, n_classes), axis1=1, axis2=2)
        wrong = given - right
        mean = (right.sum() + 7) / (given.sum() + 10)
        if n == 0 or n % 5 == 4:
            a, b = CONCENTRATIONS[:, None] * mean, CONCENTRATIONS[:, None] * (1 - mean)
            scores = (betaln(a + right, b + wrong) - betaln(a, b)).sum(axis=1)
            concentration = _best_concentration(scores)
        log_odds = psi(concentration * mean + right) - psi(concentration * (1 - mean) + wrong)
        log_odds += math.log(max(n_classes - 1, 1))
        fit = OneCoinFit(NO_VOTES, log_odds, n_classes)
        sums = _step(engine, n, sums, fit, before)
        if _settled(sums):
            break
    assert fit is not None
    return replace(fit, posterior=_posteriors(labels, engine, fit.tables))


def _majority(engine: Engine) -> PassSums:
    """The sums of a soft majority vote."""
    given = engine.add(count_keys)
    n_classes = engine.n_classes
    frequency = given.reshape(-1, n_classes).sum(axis=0) + 1
    return engine.add(majority_pass, frequency / frequency.sum())


def _step(
    engine: Engine,
    n: int,
    sums: PassSums,
    now: DawidSkeneFit | OneCoinFit,
    before: Tables | None,
) -> Any:
    """The pass after step ``n``; where steps may end, items are compared with the step before.

    That doubles the work, so with many items it is done at every fifth step.
    """
    due = n > 10 and (sums.n_items <= MANY_ITEMS or n % 5 == 0)
    kernel = coin_pass if isinstance(now, OneCoinFit) else expectation_pass
    return engine.add(kernel, now.tables, before if due else None)


def _settled(sums: PassSums) -> bool:
    """No item moves any more; of very many items the average one."""
    if not sums.compared:
        return False
    average = sums.moved / max(sums.n_items * len(sums.totals), 1)
    few = sums.n_items <= MANY_ITEMS
    return sums.farthest < TOLERANCE or (not few and average < TOLERANCE / 5)


def _posteriors(labels: Entries | Engine, engine: Engine, tables: Tables) -> Array:
    """Each item's posterior; whoever brings an engine asks for what it wants."""
    if labels is engine:
        return NO_VOTES
    (posterior,) = joined(engine.map(posterior_pass, tables))
    return np.asarray(posterior)


def _pool(counts: Array) -> Array:
    """The rows of the average rater, shrunk towards one coin."""
    n_classes, total = counts.shape[1], counts.sum(axis=0)
    right = max((np.trace(total) + 7) / (total.sum() + 10), 1 / n_classes + 0.05)
    coin = np.full((n_classes, n_classes), (1 - right) / max(n_classes - 1, 1))
    np.fill_diagonal(coin, right)
    return np.asarray((total + 10 * coin) / (total.sum(axis=1, keepdims=True) + 10))


def _best_concentration(log_likelihoods: Any) -> float:
    penalty = 0.5 * np.log(CONCENTRATIONS / 8) ** 2  # lognormal prior around 8 pseudo-labels a row
    return float(CONCENTRATIONS[int(np.argmax(np.array(log_likelihoods) - penalty))])


def _expected_log_prior(totals: Array) -> Array:
    from scipy.special import psi

    alpha = totals + 1
    return np.asarray(psi(alpha) - psi(alpha.sum()))


def _pooled_likelihood(counts: Array, pool: Array, concentration: float) -> float:
    """Dirichlet-multinomial log likelihood of the expected counts."""
    from scipy.special import gammaln

    alpha = np.broadcast_to(concentration * pool, counts.shape)
    some, total = counts > 1e-9, counts.sum(axis=2)
    cells = gammaln(alpha[some] + counts[some]) - gammaln(alpha[some])
    rows = gammaln(concentration) - gammaln(concentration + total[total > 1e-9])
    return float(cells.sum() + rows.sum())
