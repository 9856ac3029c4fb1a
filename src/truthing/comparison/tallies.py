"""From answer keys to the counts behind every metric and the areas under curves, for all models at once."""

from __future__ import annotations

import math

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.truth.scores import areas_of, run_ends


def count(
    truth: Array, predicted: Array, n_classes: int, target: str, seed: int
) -> tuple[Array, Array, Array]:
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


def areas(positive: Array, scores: Array, target: str, seed: int) -> Array:
    """AUC and average precision of every model, 2 × draws × models; ``positive`` is draws × items, the share of each item that is positive."""
    found = np.empty((len(scores), 2, len(positive)))
    positive = np.ascontiguousarray(positive)
    for row, out in zip(scores, found):
        order = np.argsort(-row, kind="stable")
        _areas(positive, order, run_ends(row[order]), target == "population", seed, out)
    return np.moveaxis(found, 0, 2)


@numba.njit(cache=True, parallel=True)
def _areas(positive, order, ends, redrawn, seed, out):  # type: ignore[no-untyped-def]
    for d in numba.prange(len(positive)):
        np.random.seed(seed + d)  # an item has the same weight for every model
        weight = np.ones(len(order))
        if redrawn:
            for i in range(len(order)):
                weight[i] = -math.log(1 - np.random.random())
        hits, alarms = np.empty(len(order)), np.empty(len(order))
        for place in range(len(order)):
            i = order[place]
            hits[place] = weight[i] * positive[d, i]
            alarms[place] = weight[i] - hits[place]
        out[0, d], out[1, d] = areas_of(hits, alarms, ends)
