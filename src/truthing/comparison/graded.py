"""Metrics of grades on a scale for several models, from answer keys."""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.comparison.tallies import Redraw
from truthing.metrics.ordinal import weighted_kappa
from truthing.survey.deployment import class_factors

CELLS = 4_000_000


def graded_draws(
    metric: str,
    truth: Array,
    predicted: Array,
    values: Array,
    how: Redraw,
    shares: Array | None = None,
) -> Array:
    """One of `metrics.ordinal.ORDINAL`, draws × models; items count the same for every model.
    ``shares`` (draws × classes) are the classes' shares of deployment.
    """
    n_draws, n_items = truth.shape
    found = np.empty((n_draws, len(predicted)))
    rng = np.random.default_rng(how.seed)
    step = max(1, CELLS // max(n_items, 1))
    for start in range(0, n_draws, step):
        here = slice(start, start + step)
        grade, weight = values[truth[here]], _weights(truth[here], how, rng)
        if shares is not None:
            weight = weight * _factors(truth[here], weight, shares[here])
        weight = weight / weight.sum(axis=1, keepdims=True)
        mean, spread = _moments(grade, weight)
        for j, row in enumerate(predicted):
            predicted_grade = np.broadcast_to(values[row], grade.shape)
            if metric == "mean_score":
                drawn = mean
            elif metric == "mean_absolute_error":
                drawn = (weight * np.abs(grade - predicted_grade)).sum(axis=1)
            else:
                squared = (weight * (grade - predicted_grade) ** 2).sum(axis=1)
                drawn = weighted_kappa(squared, mean, spread, *_moments(predicted_grade, weight))
            found[here, j] = drawn
    return found


def _weights(truth: Array, how: Redraw, rng: np.random.Generator) -> Array:
    """What each item counts, draws × items."""
    weight = np.ones(truth.shape[1]) if how.weight is None else how.weight
    if how.target != "population":
        return np.broadcast_to(weight, truth.shape)
    if how.cluster is None:
        return np.asarray(weight * rng.standard_exponential(truth.shape))
    mass = rng.standard_exponential((len(truth), int(how.cluster.max()) + 1))
    return np.asarray(weight * mass[:, how.cluster])


def _factors(truth: Array, weight: Array, shares: Array) -> Array:
    """What an item of its true class counts at the shares of deployment, draws × items."""
    held = [(weight * (truth == c)).sum(axis=1) for c in range(shares.shape[1])]
    factor = class_factors(np.stack(held, axis=1), shares)
    return np.asarray(np.take_along_axis(factor, truth.astype(np.int64), axis=1))


def _moments(grade: Array, weight: Array) -> tuple[Array, Array]:
    mean = (weight * grade).sum(axis=1)
    return mean, (weight * grade**2).sum(axis=1) - mean**2
