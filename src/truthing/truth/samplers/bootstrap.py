"""Uncertainty at large sizes: items reweighted at random (exponential weights), a few warm EM steps each, then the truths drawn.

The weighted-likelihood bootstrap of Newton & Raftery: its draws of labelers' and classifier's rows have the posterior's spread to first order, at
the cost of a few passes over the labels each, with no matrix of second derivatives.
"""

from __future__ import annotations

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.progress import Progress, silent
from truthing.truth.consensus import DawidSkeneFit, Entries, _softmax_rows
from truthing.truth.samplers.labelers import CrowdSamples, beta_limits

REPLICATES, STEPS = 40, 4


def bootstrap_crowd(
    entries: Entries,
    predicted: Array,
    gold: Array,
    fit: DawidSkeneFit,
    *,
    n_draws: int,
    seed: int,
    replicates: int = REPLICATES,
    progress: Progress = silent,
) -> CrowdSamples:
    """Draws of counts, rows and prior around a variational fit with the classifier as its last rater."""
    rng = np.random.default_rng(seed)
    together = entries.with_classifier(predicted)
    order = np.argsort(together.item, kind="stable")
    item, rater, label, votes = (
        together.item[order],
        together.rater[order],
        together.label[order],
        together.votes[order],
    )
    start_of = np.searchsorted(item, np.arange(entries.n_items + 1))
    n_classes, n_raters = entries.n_classes, together.n_raters
    each = max(1, n_draws // replicates)
    prior_counts = fit.concentration * fit.pool
    counts, classifier, priors, errors = [], [], [], []
    rows_sum, rows_square = (
        np.zeros((n_raters - 1, n_classes, n_classes)),
        np.zeros((n_raters - 1, n_classes, n_classes)),
    )
    truth = np.zeros((entries.n_items, n_classes))
    for replicate in range(replicates):
        progress(replicate / replicates, "reweighting the items")
        weight = rng.exponential(size=entries.n_items)
        alpha, share = prior_counts + fit.counts, np.exp(fit.log_prior)
        for _ in range(STEPS):
            posterior = _posterior(
                start_of,
                rater,
                label,
                votes,
                np.log(alpha / alpha.sum(axis=2, keepdims=True)),
                np.log(share),
                gold,
            )
            expected = _weighted_counts(start_of, rater, label, votes, posterior, weight, n_raters)
            alpha = prior_counts + expected
            share = (weight @ posterior + 1) / (weight.sum() + n_classes)
        rows = alpha / alpha.sum(axis=2, keepdims=True)
        posterior = _posterior(start_of, rater, label, votes, np.log(rows), np.log(share), gold)
        mean, spread = _moments(posterior, predicted)
        drawn = rng.normal(mean, np.sqrt(spread), size=(each, n_classes, n_classes))
        counts.append(
            _fit_columns(np.maximum(drawn, 0), np.bincount(predicted, minlength=n_classes))
        )
        classifier.append(np.repeat(rows[-1:], each, axis=0))
        priors.append(np.repeat(share[None], each, axis=0))
        error = 1 - (share[:, None] * rows[:-1].diagonal(axis1=1, axis2=2).T).sum(axis=0)
        errors.append(np.repeat(error[None], each, axis=0))
        rows_sum += rows[:-1]
        rows_square += rows[:-1] ** 2
        truth += posterior
    mean = rows_sum / replicates
    low, high = beta_limits(mean, np.sqrt(np.maximum(rows_square / replicates - mean**2, 0)))
    return CrowdSamples(
        np.concatenate(counts), np.concatenate(classifier), np.concatenate(priors), mean, low, high, np.concatenate(errors), truth / replicates, 1
    )  # fmt: skip


def variational_crowd(
    predicted: Array, fit: DawidSkeneFit, *, n_draws: int, seed: int
) -> CrowdSamples:
    """Labelers' rows and the class prior as the variational fit has them: enough where the link, not the noise model, sets the interval."""
    rng = np.random.default_rng(seed)
    n_classes = fit.posterior.shape[1]
    alpha = fit.concentration * fit.pool + fit.counts
    total = alpha.sum(axis=2, keepdims=True)
    mean = alpha / total
    sd = np.sqrt(mean * (1 - mean) / (total + 1))
    low, high = beta_limits(mean[:-1], sd[:-1])
    share = fit.posterior.sum(axis=0) + 1
    prior = rng.dirichlet(share, n_draws)
    centre = share / share.sum()
    right = (centre * mean[:-1].diagonal(axis1=1, axis2=2)).sum(axis=1)
    spread = np.sqrt((centre**2 * sd[:-1].diagonal(axis1=1, axis2=2) ** 2).sum(axis=1))
    error = np.clip(rng.normal(1 - right, spread, size=(min(n_draws, 500), len(right))), 0, 1)
    counts, variance = _moments(fit.posterior, predicted)
    drawn = _fit_columns(
        np.maximum(rng.normal(counts, np.sqrt(variance), size=(n_draws, n_classes, n_classes)), 0),
        np.bincount(predicted, minlength=n_classes),
    )
    classifier = np.repeat(mean[-1:], n_draws, axis=0)
    return CrowdSamples(
        drawn,
        classifier,
        prior,
        mean[:-1],
        low,
        high,
        error,
        fit.posterior,
        1,
    )


def _moments(posterior: Array, predicted: Array) -> tuple[Array, Array]:
    """Means and variances of the confusion counts given the rows (sums of Bernoullis)."""
    n_classes = posterior.shape[1]
    mean = np.stack(
        [
            np.bincount(predicted, weights=posterior[:, c], minlength=n_classes)
            for c in range(n_classes)
        ]
    )
    spread = np.stack(
        [
            np.bincount(
                predicted, weights=posterior[:, c] * (1 - posterior[:, c]), minlength=n_classes
            )
            for c in range(n_classes)
        ]
    )
    return mean, spread


def _fit_columns(drawn: Array, total: Array) -> Array:
    """Counts of each predicted class add up to how often it was predicted."""
    return drawn * (total / np.maximum(drawn.sum(axis=1), 1e-12))[:, None, :]


@numba.njit(parallel=True, cache=True)
def _posterior(start_of, rater, label, votes, log_rows, log_prior, gold):  # type: ignore[no-untyped-def]
    n_items, n_classes = len(start_of) - 1, len(log_prior)
    out = np.empty((n_items, n_classes))
    for i in numba.prange(n_items):
        if gold[i] >= 0:
            out[i] = -1e9
            out[i, gold[i]] = 0.0
        else:
            for c in range(n_classes):
                score = log_prior[c]
                for n in range(start_of[i], start_of[i + 1]):
                    score += votes[n] * log_rows[rater[n], c, label[n]]
                out[i, c] = score
    _softmax_rows(out)
    return out


@numba.njit(cache=True)
def _weighted_counts(start_of, rater, label, votes, posterior, weight, n_raters):  # type: ignore[no-untyped-def]
    n_classes = posterior.shape[1]
    counts = np.zeros((n_raters, n_classes, n_classes))
    for i in range(len(start_of) - 1):
        for n in range(start_of[i], start_of[i + 1]):
            for c in range(n_classes):
                counts[rater[n], c, label[n]] += weight[i] * votes[n] * posterior[i, c]
    return counts
