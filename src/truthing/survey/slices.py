"""What is found for each slice of the items, and which slice is worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.difference import less_is_better
from truthing.metrics.estimate import Estimate


@dataclass(frozen=True, eq=False)
class SliceEstimate:
    """One metric in one slice; ``probability_worst`` is P(no slice has a worse value)."""

    name: str
    metric: str
    items: int
    gold: int
    estimate: Estimate
    probability_worst: float

    def to_dict(self, level: float) -> dict[str, Any]:
        low, high = self.estimate.interval(level)
        return {
            "slice": self.name,
            "metric": self.metric,
            "items": self.items,
            "gold": self.gold,
            "mean": self.estimate.mean,
            "low": low,
            "high": high,
            "level": level,
            "probability_worst": self.probability_worst,
        }


def slice_estimates(
    metric: str, found: Mapping[str, Estimate], sizes: Mapping[str, tuple[int, int]]
) -> list[SliceEstimate]:
    """The slices in their order, with the probability of each to be the worst."""
    worst = _worst([found[name].draws for name in sizes], less_is_better(metric))
    return [
        SliceEstimate(name, metric, *sizes[name], found[name], float(share))
        for name, share in zip(sizes, worst)
    ]


def _worst(draws: Sequence[Array], less_is_better: bool) -> Array:
    """P(worst) of each; ties are shared."""
    n = min(map(len, draws))
    table = np.stack([values[:n] for values in draws])
    bad = table if less_is_better else -table
    bad = np.where(np.isnan(bad), -np.inf, bad)
    top = bad == bad.max(axis=0)
    return np.asarray((top / top.sum(axis=0)).mean(axis=1))
