"""From answer keys to the counts behind every metric and the areas under curves, for all models
at once.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.randomness import Seed, compiled_seeds
from truthing.threads import in_threads, n_threads, shares
from truthing.truth.scores import areas_of, run_ends


def count(
    truth: Array, predicted: Array, n_classes: int, target: str, seed: Seed
) -> tuple[Array, Array, Array]:
    """Right (draws × models × classes), truth (draws × classes) and predicted (draws × models ×
    classes).
    """
    n_draws, n_models = len(truth), len(predicted)
    right = np.zeros((n_draws, n_models, n_classes))
    known, given = np.zeros((n_draws, n_classes)), np.zeros((n_draws, n_models, n_classes))
    codes, seeds = predicted.astype(np.int64), _seeds(n_draws, target, seed)
    in_threads(
        _count,
        [
            (truth[a:b], codes, seeds[a:b], right[a:b], known[a:b], given[a:b])
            for a, b in shares(n_draws, n_threads())
        ],
    )
    return right, known, given


def _seeds(n_draws: int, target: str, seed: Seed) -> Array:
    """One for each draw, so that an item has the same weight for every model and metric; -1:
    every item counts once.
    """
    if target != "population":
        return np.full(n_draws, -1)
    return np.asarray(compiled_seeds(seed, n_draws, "weights of items"))


@numba.njit(cache=True)
def _weights(seed, out):  # type: ignore[no-untyped-def]
    """Those of a Bayesian bootstrap, or ones."""
    if seed >= 0:
        np.random.seed(seed)
    for i in range(len(out)):
        out[i] = -math.log(1 - np.random.random()) if seed >= 0 else 1.0


@numba.njit(cache=True, nogil=True)
def _count(truth, predicted, seeds, right, known, given):  # type: ignore[no-untyped-def]
    n_draws, n_items = truth.shape
    weight = np.empty(n_items)
    for d in range(n_draws):
        _weights(seeds[d], weight)
        for i in range(n_items):
            known[d, truth[d, i]] += weight[i]
            for j in range(len(predicted)):
                given[d, j, predicted[j, i]] += weight[i]
                if predicted[j, i] == truth[d, i]:
                    right[d, j, truth[d, i]] += weight[i]


def areas(positive: Array, scores: Array, target: str, seed: Seed) -> Array:
    """AUC and average precision of every model, 2 × draws × models; ``positive`` is draws ×
    items, the share of each item that is positive.
    """
    n_draws = len(positive)
    found = np.empty((len(scores), n_draws, 2))
    part, seeds = np.ascontiguousarray(positive), _seeds(n_draws, target, seed)
    for j, row in enumerate(scores):
        order = np.argsort(-row, kind="stable")
        ends = run_ends(row[order])
        in_threads(
            _areas,
            [
                (part[a:b], order, ends, seeds[a:b], found[j, a:b])
                for a, b in shares(n_draws, n_threads())
            ],
        )
    return found.transpose(2, 1, 0)


@numba.njit(cache=True, nogil=True)
def _areas(positive, order, ends, seeds, out):  # type: ignore[no-untyped-def]
    weight, hits, alarms = np.empty(len(order)), np.empty(len(order)), np.empty(len(order))
    for d in range(len(positive)):
        _weights(seeds[d], weight)
        for place in range(len(order)):
            i = order[place]
            hits[place] = weight[i] * positive[d, i]
            alarms[place] = weight[i] - hits[place]
        out[d, 0], out[d, 1] = areas_of(hits, alarms, ends)
