"""What the panel as a whole says: two consensus models with the classifier as one more rater, learned by variational EM.

A, pooled Dawid-Skene: row c of rater t ~ Dirichlet(κ M_c); M is shrunk towards one coin and κ is learned, so that hundreds of labelers with a
handful of labels each work. B, one coin: rater t is right with probability ~ Beta(κ m, κ (1 - m)), wrong labels uniform, class prior flat.
Real crowds need both: where they differ, the noise model is in doubt (docs/theory.md, the link).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.progress import Progress, silent

CONCENTRATIONS = 2.0 ** np.arange(7)
MOST_ITERATIONS, TOLERANCE = 60, 1e-4


@dataclass(frozen=True, eq=False)
class Entries:
    """Labels as three aligned columns, ``votes`` how often each counts; raters are labelers, then perhaps the classifier."""

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

    def counts(self) -> Array:
        """Votes for each class, items × classes."""
        flat = self.item.astype(np.int64) * self.n_classes + self.label
        return np.bincount(
            flat, weights=self.votes, minlength=self.n_items * self.n_classes
        ).reshape(self.n_items, -1)


@dataclass(frozen=True, eq=False)
class DawidSkeneFit:
    """Model A: item posteriors, expected log rows (raters × truth × label), expected log prior, and the learned pool."""

    posterior: Array
    log_rows: Array
    log_prior: Array
    counts: Array
    pool: Array
    concentration: float

    def labelers_only(self, entries: Entries, discount: Array) -> Array:
        """Item posteriors from these entries alone, rows as learned, votes discounted for dependence."""
        posterior = np.empty((entries.n_items, entries.n_classes))
        _full_step(
            entries.item,
            entries.rater,
            entries.label,
            entries.votes,
            discount,
            self.log_rows,
            self.log_prior,
            posterior,
        )
        return posterior

    def rows(self) -> Array:
        """Posterior mean of each rater's confusion matrix."""
        alpha = self.concentration * self.pool + self.counts
        return alpha / alpha.sum(axis=2, keepdims=True)


@dataclass(frozen=True, eq=False)
class OneCoinFit:
    """Model B: item posteriors, and what a label of each rater adds to the log score of its class."""

    posterior: Array
    log_odds: Array

    def labelers_only(self, entries: Entries, discount: Array) -> Array:
        posterior = np.empty((entries.n_items, entries.n_classes))
        _coin_step(
            entries.item,
            entries.rater,
            entries.label,
            entries.votes,
            discount,
            self.log_odds,
            posterior,
        )
        return posterior


def fit_dawid_skene(
    entries: Entries, gold: Array | None = None, *, progress: Progress = silent
) -> DawidSkeneFit:
    """Pooled Dawid-Skene from a soft majority vote; items with gold are certain."""
    n_classes = entries.n_classes
    posterior = _start(entries, gold)
    whole = np.ones(entries.n_items)
    concentration = 8.0
    for iteration in range(MOST_ITERATIONS):
        progress(iteration / MOST_ITERATIONS, "looking for the consensus")
        counts = _expected_counts(
            entries.item, entries.rater, entries.label, entries.votes, posterior, entries.n_raters
        )
        total = counts.sum(axis=0)
        right = max((np.trace(total) + 7) / (total.sum() + 10), 1 / n_classes + 0.05)
        coin = np.full((n_classes, n_classes), (1 - right) / max(n_classes - 1, 1))
        np.fill_diagonal(coin, right)
        pool = (total + 10 * coin) / (total.sum(axis=1, keepdims=True) + 10)
        if iteration % 5 == 4:
            concentration = _best_concentration(
                [_pooled_likelihood(counts, pool, k) for k in CONCENTRATIONS]
            )
        log_rows = _expected_log(counts, pool, concentration)
        log_prior = _expected_log_prior(posterior)
        before = posterior.copy()
        _full_step(
            entries.item,
            entries.rater,
            entries.label,
            entries.votes,
            whole,
            log_rows,
            log_prior,
            posterior,
        )
        _fix_gold(posterior, gold)
        if iteration > 10 and _settled(posterior, before):
            break
    return DawidSkeneFit(posterior, log_rows, log_prior, counts, pool, concentration)


def fit_one_coin(
    entries: Entries, gold: Array | None = None, *, progress: Progress = silent
) -> OneCoinFit:
    """One accuracy for each rater; a learned class prior made this markedly worse on real crowds, so it stays flat."""
    from scipy.special import betaln, psi

    posterior = _start(entries, gold)
    whole = np.ones(entries.n_items)
    given = np.bincount(entries.rater, weights=entries.votes, minlength=entries.n_raters)
    concentration = 8.0
    for iteration in range(MOST_ITERATIONS):
        progress(iteration / MOST_ITERATIONS, "looking for the consensus")
        right = _expected_right(
            entries.item, entries.rater, entries.label, entries.votes, posterior, entries.n_raters
        )
        mean = (right.sum() + 7) / (given.sum() + 10)
        if iteration == 0 or iteration % 5 == 4:
            scores = [
                float(
                    (
                        betaln(k * mean + right, k * (1 - mean) + given - right)
                        - betaln(k * mean, k * (1 - mean))
                    ).sum()
                )
                for k in CONCENTRATIONS
            ]
            concentration = _best_concentration(scores)
        log_odds = psi(concentration * mean + right) - psi(
            concentration * (1 - mean) + given - right
        )
        log_odds += math.log(max(entries.n_classes - 1, 1))
        before = posterior.copy()
        _coin_step(
            entries.item, entries.rater, entries.label, entries.votes, whole, log_odds, posterior
        )
        _fix_gold(posterior, gold)
        if iteration > 10 and _settled(posterior, before):
            break
    return OneCoinFit(posterior, log_odds)


def _settled(posterior: Array, before: Array) -> bool:
    """No item moves any more; of very many items the average one."""
    largest, total = _moved(posterior.ravel(), before.ravel())
    return bool(
        largest < TOLERANCE or (len(posterior) > 50_000 and total / posterior.size < TOLERANCE / 5)
    )


@numba.njit(cache=True)
def _moved(now: Array, before: Array) -> tuple[float, float]:
    """Largest and total change."""
    largest, total = 0.0, 0.0
    for k in range(len(now)):
        change = abs(now[k] - before[k])
        total += change
        largest = max(largest, change)
    return largest, total


def _best_concentration(log_likelihoods: list[float]) -> float:
    penalty = 0.5 * np.log(CONCENTRATIONS / 8) ** 2  # lognormal prior around 8 pseudo-labels a row
    return float(CONCENTRATIONS[int(np.argmax(np.array(log_likelihoods) - penalty))])


def _start(entries: Entries, gold: Array | None) -> Array:
    votes = entries.counts()
    frequency = votes.sum(axis=0) + 1
    posterior = (votes + frequency / frequency.sum()) / (votes.sum(axis=1, keepdims=True) + 1)
    _fix_gold(posterior, gold)
    return posterior


def _fix_gold(posterior: Array, gold: Array | None) -> None:
    if gold is not None:
        known = np.flatnonzero(gold >= 0)
        posterior[known] = 0.0
        posterior[known, gold[known]] = 1.0


def _expected_log_prior(posterior: Array) -> Array:
    from scipy.special import psi

    alpha = posterior.sum(axis=0) + 1
    return np.asarray(psi(alpha) - psi(alpha.sum()))


@numba.njit(cache=True)
def _digamma(x: float) -> float:
    shift = 0.0
    while x < 6:
        shift -= 1 / x
        x += 1
    f = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - f * (1 / 12.0 - f * (1 / 120.0 - f / 252.0))


@numba.njit(parallel=True, cache=True)
def _softmax_rows(scores: Array) -> None:
    for i in numba.prange(len(scores)):
        top, total = scores[i, 0], 0.0
        for c in range(1, scores.shape[1]):
            top = max(top, scores[i, c])
        for c in range(scores.shape[1]):
            below = scores[i, c] - top
            scores[i, c] = 1.0 if below == 0.0 else math.exp(below)
            total += scores[i, c]
        for c in range(scores.shape[1]):
            scores[i, c] /= total


@numba.njit(cache=True)
def _full_step(item, rater, label, votes, discount, log_rows, log_prior, posterior):  # type: ignore[no-untyped-def]
    n_classes = posterior.shape[1]
    posterior[:] = log_prior
    for n in range(len(item)):
        i = item[n]
        weight = discount[i] * votes[n]
        for c in range(n_classes):
            posterior[i, c] += weight * log_rows[rater[n], c, label[n]]
    _softmax_rows(posterior)


@numba.njit(cache=True)
def _coin_step(item, rater, label, votes, discount, log_odds, posterior):  # type: ignore[no-untyped-def]
    posterior[:] = 0.0
    for n in range(len(item)):
        posterior[item[n], label[n]] += discount[item[n]] * votes[n] * log_odds[rater[n]]
    _softmax_rows(posterior)


@numba.njit(cache=True)
def _expected_counts(item, rater, label, votes, posterior, n_raters):  # type: ignore[no-untyped-def]
    n_classes = posterior.shape[1]
    counts = np.zeros((n_raters, n_classes, n_classes))
    for n in range(len(item)):
        for c in range(n_classes):
            counts[rater[n], c, label[n]] += votes[n] * posterior[item[n], c]
    return counts


@numba.njit(cache=True)
def _expected_right(item, rater, label, votes, posterior, n_raters):  # type: ignore[no-untyped-def]
    right = np.zeros(n_raters)
    for n in range(len(item)):
        right[rater[n]] += votes[n] * posterior[item[n], label[n]]
    return right


@numba.njit(cache=True)
def _pooled_likelihood(counts, pool, concentration):  # type: ignore[no-untyped-def]
    """Dirichlet-multinomial log likelihood of the expected counts."""
    total = 0.0
    for t in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            row = 0.0
            for k in range(counts.shape[2]):
                x = counts[t, c, k]
                row += x
                if x > 1e-9:
                    alpha = concentration * pool[c, k]
                    total += math.lgamma(alpha + x) - math.lgamma(alpha)
            if row > 1e-9:
                total += math.lgamma(concentration) - math.lgamma(concentration + row)
    return total


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
