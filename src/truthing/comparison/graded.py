"""Metrics of grades on a scale for several models, from answer keys."""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.comparison.tallies import Redraw
from truthing.metrics.ordinal import weighted_kappa
from truthing.survey.deployment import class_factors


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
    found = np.empty((len(truth), len(predicted)))
    for here, weight in how.weighed(truth):
        grade = values[truth[here]]
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


def _factors(truth: Array, weight: Array, shares: Array) -> Array:
    """What an item of its true class counts at the shares of deployment, draws × items."""
    held = [(weight * (truth == c)).sum(axis=1) for c in range(shares.shape[1])]
    factor = class_factors(np.stack(held, axis=1), shares)
    return np.asarray(np.take_along_axis(factor, truth.astype(np.int64), axis=1))


def _moments(grade: Array, weight: Array) -> tuple[Array, Array]:
    mean = (weight * grade).sum(axis=1)
    return mean, (weight * grade**2).sum(axis=1) - mean**2
