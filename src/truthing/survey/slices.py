"""What is found for each slice of the items, and which slice is worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.difference import less_is_better
from truthing.metrics.estimate import Estimate

FEW_GOLD = 8  # gold items of a slice
SURE = 0.01


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


def kinder_to(
    votes: Array, gold: Array, slices: Array, names: Sequence[str], place: int, name: Any
) -> str | None:
    """A sentence where gold shows that the panel is kinder to one slice than to another: how often
    most labels say a class that is not true, and how often they miss it."""
    from scipy.special import chdtrc

    known = np.flatnonzero(gold >= 0)
    positive, true = votes[known].argmax(axis=1) == place, gold[known] == place
    kind = np.where(positive & ~true, 0, np.where(true & ~positive, 1, 2))
    table = np.zeros((len(names), 3))
    np.add.at(table, (slices[known], kind), 1)
    size = table.sum(axis=1)
    if (size >= FEW_GOLD).sum() < 2:
        return None
    used = size >= FEW_GOLD
    seen = table[used][:, table[used].sum(axis=0) > 0]
    expected = seen.sum(axis=1, keepdims=True) * seen.sum(axis=0) / seen.sum()
    freedom = (seen.shape[0] - 1) * (seen.shape[1] - 1)
    if freedom == 0 or expected.min() < 1:
        return None
    p = float(chdtrc(freedom, ((seen - expected) ** 2 / expected).sum()))
    if p > SURE:
        return None
    net = np.where(used, (table[:, 0] - table[:, 1]) / np.maximum(size, 1), np.nan)
    most, least = int(np.nanargmax(net)), int(np.nanargmin(net))
    return (
        f"On gold the labelers are kinder to {names[most]!r} than to {names[least]!r} (p = "
        f"{p:.1g}): "
        f"they say {name} on {100 * net[most]:+.0f} points of its items too many, and "
        f"{100 * net[least]:+.0f} points of the other's. The answer allows for it as far as gold "
        "shows it; more gold in each slice helps."
    )
