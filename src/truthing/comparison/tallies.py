"""From answer keys to the counts behind every metric, for all models at once."""

from __future__ import annotations

import math

import numba
import numpy as np

from truthing.coding import Array


def count(truth: Array, predicted: Array, n_classes: int, target: str, seed: int) -> tuple[Array, Array, Array]:
    """Right (draws × models × classes), truth (draws × classes) and predicted (draws × models × classes)."""
    n_draws, n_models = len(truth), len(predicted)
    right = np.zeros((n_draws, n_models, n_classes))
    shares, said = np.zeros((n_draws, n_classes)), np.zeros((n_draws, n_models, n_classes))
    _count(truth, predicted.astype(np.int64), target == "population", seed, right, shares, said)
    return right, shares, said


@numba.njit(cache=True, parallel=True)
def _count(truth, predicted, redrawn, seed, right, shares, said):  # type: ignore[no-untyped-def]
    n_draws, n_items = truth.shape
    for d in numba.prange(n_draws):
        np.random.seed(seed + d)
        for i in range(n_items):
            weight = -math.log(1 - np.random.random()) if redrawn else 1.0
            shares[d, truth[d, i]] += weight
            for j in range(len(predicted)):
                said[d, j, predicted[j, i]] += weight
                if predicted[j, i] == truth[d, i]:
                    right[d, j, truth[d, i]] += weight
