"""Metrics of grades on a scale for several models, from answer keys."""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.ordinal import weighted_kappa
from truthing.randomness import Seed

CELLS = 4_000_000


def graded_draws(
    metric: str, truth: Array, predicted: Array, values: Array, target: str, seed: Seed
) -> Array:
    """One of `metrics.ordinal.ORDINAL`, draws × models; for new data items are redrawn, the same
    for every model.
    """
    n_draws, n_items = truth.shape
    found = np.empty((n_draws, len(predicted)))
    rng = np.random.default_rng(seed)
    step = max(1, CELLS // max(n_items, 1))
    for start in range(0, n_draws, step):
        grade = values[truth[start : start + step]]
        weight = np.full(grade.shape, 1 / n_items)
        if target == "population":
            weight = rng.standard_exponential(grade.shape)
            weight /= weight.sum(axis=1, keepdims=True)
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
            found[start : start + step, j] = drawn
    return found


def _moments(grade: Array, weight: Array) -> tuple[Array, Array]:
    mean = (weight * grade).sum(axis=1)
    return mean, (weight * grade**2).sum(axis=1) - mean**2
