"""Slices: the same question for each group of items, partially pooled, so that small groups do not
mislead.

What is asked of a slice is always about new data like it (its items are a sample). The slices'
values are normal around a common mean with a spread τ that is learned with them (a grid, flat on
τ), so a slice moves towards the others as far as its own data are thin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate
from truthing.randomness import generator

GRID = 200


@dataclass(frozen=True, eq=False)
class Slice:
    """One model (or the difference of two, named "a - b") in one group of items: alone, and pooled
    with the other groups.
    """

    name: str
    model: str
    metric: str
    items: int
    alone: Estimate
    pooled: Estimate

    def to_dict(self, level: float) -> dict[str, Any]:
        low, high = self.pooled.interval(level)
        return {
            "slice": self.name,
            "model": self.model,
            "metric": self.metric,
            "items": self.items,
            "mean": self.pooled.mean,
            "low": low,
            "high": high,
            "level": level,
            "alone": self.alone.mean,
        }


def by_slice(
    metric: str, draws: Array, models: Sequence[str], sizes: Mapping[str, int], seed: int
) -> list[Slice]:
    """Each model in each slice and, of two models, their difference; ``draws`` is slices × draws ×
    models, ``sizes`` counts items.
    """
    columns = [(model, draws[:, :, j], (0.0, 1.0)) for j, model in enumerate(models)]
    if len(models) == 2:
        first, second = models
        columns.append((f"{first} - {second}", draws[:, :, 0] - draws[:, :, 1], (-1.0, 1.0)))
    out = []
    for model, values, support in columns:
        together = pool(values, seed)
        for k, (name, items) in enumerate(sizes.items()):
            alone = Estimate.from_draws(values[k], support=support)
            pooled = Estimate.from_draws(np.clip(together[k], *support), support=support)
            out.append(Slice(name, model, metric, items, alone, pooled))
    return out


def pool(values: Array, seed: int) -> Array:
    """Draws (slices × draws) shrunk towards each other; a slice where the metric is undefined
    learns from the others alone.

    With means m_k and variances v_k of the slices and θ_k ~ N(μ, τ²): p(τ | data) ∝ V^½ Π N(m_k;
    μ̂, v_k + τ²), V the variance of μ̂.
    """
    known = np.asarray(~np.isnan(values).all(axis=1))
    n_slices, n_draws = values.shape
    if known.sum() < 2:
        return values
    mean = np.array([np.nanmean(v) if k else 0.0 for v, k in zip(values, known)])
    variance = np.array([max(np.nanvar(v), 1e-10) if k else np.inf for v, k in zip(values, known)])
    largest = 2 * max(float(mean[known].std()), float(np.sqrt(variance[known].min())), 1e-6)
    spread = (np.arange(GRID) + 0.5) / GRID * largest
    weight = np.where(known, 1 / (variance + spread[:, None] ** 2), 0.0)
    centre = weight @ mean / weight.sum(axis=1)
    score = -0.5 * np.log(weight.sum(axis=1)) + 0.5 * (
        np.log(np.where(weight > 0, weight, 1.0)) - weight * (mean - centre[:, None]) ** 2
    ).sum(axis=1)
    chance = np.exp(score - score.max())
    rng = generator(seed, "pooled slices")
    at = rng.choice(GRID, size=n_draws, p=chance / chance.sum())
    middle = centre[at] + rng.standard_normal(n_draws) / np.sqrt(weight[at].sum(axis=1))
    tau = spread[at][:, None] ** 2
    trust = np.where(known, tau / (tau + variance), 0.0)
    pooled = trust * mean + (1 - trust) * middle[:, None]
    return np.asarray(
        pooled + rng.standard_normal((n_draws, n_slices)) * np.sqrt((1 - trust) * tau)
    ).T
