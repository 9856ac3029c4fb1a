"""From answer keys to the counts behind every metric and the areas under curves, for all models
at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.randomness import Seed, compiled_seeds
from truthing.survey.deployment import class_factors
from truthing.threads import in_threads, n_threads
from truthing.threads import shares as parts_of
from truthing.truth.scores import areas_of, in_parts, run_ends


@dataclass(frozen=True, eq=False)
class Redraw:
    """What each item counts in each draw: its weight, times that of a Bayesian bootstrap of
    clusters (of items where there are none) where the question is about new data."""

    target: str
    seed: Seed
    weight: Array | None = None
    cluster: Array | None = None

    def arrays(self, n_draws: int, n_items: int) -> tuple[Array, Array, Array]:
        """A seed for each draw (-1: nothing is redrawn), weights and clusters of the items."""
        weight = np.ones(n_items) if self.weight is None else self.weight.astype(float)
        cluster = np.arange(n_items) if self.cluster is None else self.cluster.astype(np.int64)
        return _seeds(n_draws, self.target, self.seed), weight, cluster

    def weighed(self, table: Array) -> Iterator[tuple[slice, Array]]:
        """Some draws of a table of draws × items at a time, and what each item counts in them."""
        seeds, base, cluster = self.arrays(*table.shape)
        for part in in_parts(table):
            weight = np.empty((part.stop - part.start, table.shape[1]))
            for row, of_draw in zip(weight, seeds[part]):
                _weights(of_draw, base, cluster, row)
            yield part, weight


def count(
    truth: Array, predicted: Array, n_classes: int, how: Redraw, factor: Array | None = None
) -> tuple[Array, Array, Array]:
    """Right (draws × models × classes), truth (draws × classes) and predicted (draws × models ×
    classes); ``factor`` (draws × classes) is what an item of each true class counts.
    """
    (n_draws, n_items), n_models = truth.shape, len(predicted)
    right = np.zeros((n_draws, n_models, n_classes))
    known, given = np.zeros((n_draws, n_classes)), np.zeros((n_draws, n_models, n_classes))
    codes, (seeds, weight, cluster) = predicted.astype(np.int64), how.arrays(n_draws, n_items)
    if factor is None:
        factor = np.ones((n_draws, n_classes))
    in_threads(
        _count,
        [
            (
                *(truth[a:b], codes, seeds[a:b], weight, cluster, factor[a:b]),
                *(right[a:b], known[a:b], given[a:b]),
            )
            for a, b in parts_of(n_draws, n_threads())
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


@njit
def _weights(seed, base, cluster, out):  # type: ignore[no-untyped-def]
    """Those of a Bayesian bootstrap of clusters, or ones, times the items' own."""
    mass = np.ones(cluster.max() + 1)
    if seed >= 0:
        np.random.seed(seed)
        for c in range(len(mass)):
            mass[c] = -math.log(1 - np.random.random())
    for i in range(len(out)):
        out[i] = base[i] * mass[cluster[i]]


@njit(nogil=True)
def _count(truth, predicted, seeds, base, cluster, factor, right, known, given):  # type: ignore[no-untyped-def]
    n_draws, n_items = truth.shape
    weight = np.empty(n_items)
    for d in range(n_draws):
        _weights(seeds[d], base, cluster, weight)
        for i in range(n_items):
            mass = weight[i] * factor[d, truth[d, i]]
            known[d, truth[d, i]] += mass
            for j in range(len(predicted)):
                given[d, j, predicted[j, i]] += mass
                if predicted[j, i] == truth[d, i]:
                    right[d, j, truth[d, i]] += mass


def areas(positive: Array, scores: Array, how: Redraw, shares: Array | None = None) -> Array:
    """AUC and average precision of every model, 2 × draws × models; ``positive`` is draws ×
    items, the share of each item that is positive; ``shares`` (draws × 2) those of negatives and
    positives at deployment.
    """
    found = np.empty((2, len(positive), len(scores)))
    orders = [np.argsort(-row, kind="stable") for row in scores]
    for part, weight in how.weighed(positive):
        hits = weight * positive[part]
        factors = np.ones((len(hits), 2))
        if shares is not None:
            known = hits.sum(axis=1)
            factors = class_factors(
                np.stack([weight.sum(axis=1) - known, known], axis=1), shares[part]
            )
        for j, order in enumerate(orders):
            about = weight[:, order], run_ends(scores[j][order]), factors
            found[:, part, j] = areas_of(hits[:, order], *about)
    return found
