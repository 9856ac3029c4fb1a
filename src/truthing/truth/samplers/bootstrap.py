"""Uncertainty at large sizes: items reweighted at random (exponential weights), a few warm EM steps
each, then the truths drawn.

The weighted-likelihood bootstrap of Newton & Raftery: its draws of labelers' and classifier's rows
have the posterior's spread to first order, at the cost of a few passes over the labels each, with
no matrix of second derivatives.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.noise.steps import repeat
from truthing.progress import Progress, silent
from truthing.randomness import Seed, generator
from truthing.truth.consensus import DawidSkeneFit, Entries
from truthing.truth.samplers.labelers import CrowdSamples, beta_limits

REPLICATES, STEPS = 40, 4

MOST_TABLE_CELLS = 1_000_000  # labelers × classes × classes, beyond which only error rates are told
MOST_COUNTS = 40_000_000  # draws × classes × classes
FEW_DRAWS, MOST_ROW_CELLS = 200, 4_000_000  # of labelers' tables, where they fit
MOST_ERROR_CELLS = 4_000_000  # of drawn error rates: 20,000 labelers get 200 draws, more fewer


def bootstrap_crowd(
    entries: Entries,
    predicted: Array,
    gold: Array,
    fit: DawidSkeneFit,
    *,
    n_draws: int,
    seed: Seed,
    replicates: int = REPLICATES,
    progress: Progress = silent,
) -> CrowdSamples:
    """Draws of counts, rows and prior around a variational fit with the classifier as its last
    rater.
    """
    rng = generator(seed, "bootstrap")
    together, each = entries.with_classifier(predicted), max(1, n_draws // replicates)
    often = np.bincount(predicted, minlength=entries.n_classes)
    prior_counts = fit.concentration * fit.pool
    start = _rows(prior_counts + fit.counts), np.exp(fit.log_prior)

    def expect(rows: Array, prior: Array) -> Array:
        return together.posteriors(np.log(rows), np.log(prior), gold)

    def step(at: tuple[Array, Array], weight: Array) -> tuple[Array, Array]:
        posterior = expect(*at)
        alpha = prior_counts + together.expected_counts(posterior, weight)
        return _rows(alpha), (weight @ posterior + 1) / (weight.sum() + posterior.shape[1])

    draws: list[tuple[Array, ...]] = []
    total: Any = 0.0
    square: Any = 0.0
    truth: Any = 0.0
    for replicate in range(replicates):
        progress(replicate / replicates, "reweighting the items")
        weight = rng.exponential(size=entries.n_items)
        rows, share = repeat(partial(step, weight=weight), start, most=STEPS)
        posterior = expect(rows, share)
        mean, spread = _moments(posterior, predicted)
        drawn = rng.normal(mean, np.sqrt(spread), size=(each, *mean.shape))
        error = 1 - rows[:-1].diagonal(axis1=1, axis2=2) @ share
        draws.append((_fit_columns(np.maximum(drawn, 0), often), rows[-1], share, error))
        total, square, truth = total + rows[:-1], square + rows[:-1] ** 2, truth + posterior
    mean = total / replicates
    low, high = beta_limits(mean, np.sqrt(np.maximum(square / replicates - mean**2, 0)))
    counts, classifier, prior, errors = (np.array(column) for column in zip(*draws))
    return CrowdSamples(
        counts=np.concatenate(counts),
        classifier=np.repeat(classifier, each, axis=0),
        prior=np.repeat(prior, each, axis=0),
        row_mean=mean,
        row_low=low,
        row_high=high,
        error=np.repeat(errors, each, axis=0),
        truth=truth / replicates,
        n_chains=1,
    )


def _rows(alpha: Array) -> Array:
    return np.asarray(alpha / alpha.sum(axis=2, keepdims=True))


class BootstrapMoments(NamedTuple):
    """Means and variances of the confusion counts, truth × prediction, and how often each class is
    predicted."""

    mean: Array
    variance: Array
    predicted: Array

    @classmethod
    def of(cls, posterior: Array, predicted: Array) -> BootstrapMoments:
        often = np.bincount(predicted, minlength=posterior.shape[1])
        return cls(*_moments(posterior, predicted), often)


def variational_crowd(
    moments: BootstrapMoments, fit: DawidSkeneFit, *, n_labelers: int, n_draws: int, seed: Seed
) -> CrowdSamples:
    """Labelers' rows and the class prior as the variational fit has them: enough where the
    link, not the noise model, sets the interval.
    """
    rng = generator(seed, "variational fit")
    n_classes = len(fit.log_prior)
    alpha = fit.concentration * fit.pool + fit.counts
    total = alpha.sum(axis=2, keepdims=True)
    mean = alpha / total
    sd = np.sqrt(mean * (1 - mean) / (total + 1))
    low, high = beta_limits(mean[:n_labelers], sd[:n_labelers])
    share = fit.totals + 1
    prior = rng.dirichlet(share, n_draws)
    centre = share / share.sum()
    right = (centre * mean[:n_labelers].diagonal(axis1=1, axis2=2)).sum(axis=1)
    spread = np.sqrt((centre**2 * sd[:n_labelers].diagonal(axis1=1, axis2=2) ** 2).sum(axis=1))
    few = int(np.clip(MOST_ERROR_CELLS // len(right), 40, min(n_draws, 500)))
    error = rng.normal(1 - right, spread, size=(few, len(right)))
    np.clip(error, 0, 1, out=error)
    size = n_draws, n_classes, n_classes
    drawn = np.maximum(rng.normal(moments.mean, np.sqrt(moments.variance), size=size), 0)
    drawn = _fit_columns(drawn, moments.predicted)
    classifier = np.repeat(mean[-1:], n_draws, axis=0)
    rows = None
    if n_draws >= FEW_DRAWS and FEW_DRAWS * mean[:n_labelers].size <= MOST_ROW_CELLS:
        rows = rng.standard_gamma(alpha[:n_labelers], (FEW_DRAWS, *alpha[:n_labelers].shape))
        rows /= np.maximum(rows.sum(axis=3, keepdims=True), 1e-300)
    return CrowdSamples(
        drawn,
        classifier,
        prior,
        mean[:n_labelers],
        low,
        high,
        error,
        fit.posterior,
        1,
        rows,
        prior[:FEW_DRAWS] if rows is not None else None,
    )


def tables_fit(fit: DawidSkeneFit, n_labelers: int, n_draws: int) -> bool:
    """Is there room for a confusion matrix of each labeler, and of the classifier in each draw?"""
    cells = len(fit.log_prior) ** 2
    large = n_labelers * cells > MOST_TABLE_CELLS or n_draws * cells > MOST_COUNTS
    return not (fit.shared or large)


def error_rates(
    right: Array, given: Array, fit: DawidSkeneFit, n_draws: int, seed: Seed
) -> CrowdSamples:
    """Only how often each labeler errs, where tables of classes × classes for each would not
    fit; of the labels ``given`` so many are expected to be ``right``."""
    rng = generator(seed, "variational fit")
    mean = (right.sum() + 1) / (given.sum() + 2)
    few = int(np.clip(MOST_ERROR_CELLS // len(given), 40, min(n_draws, 500)))
    wrong = np.maximum(given - right, 0) + fit.concentration * (1 - mean)
    error = np.empty((few, len(given)), dtype=np.float32)
    for draw in error:
        draw[:] = rng.beta(wrong, right + fit.concentration * mean)
    prior = rng.dirichlet(fit.totals + 1, n_draws)
    none = np.zeros((few, 0, 0))
    return CrowdSamples(none, none, prior, None, None, None, error, fit.posterior, 1)


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
