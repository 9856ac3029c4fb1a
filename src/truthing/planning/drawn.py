"""What a plan's items are worth where they come in clusters or count by weights.

N items in clusters of m with correlation ρ tell of new data what N / (1 + (m − 1) ρ) items, drawn
one by one, would; weights leave the share (Σw)² / (n Σw²). Gold drawn at random loses only as
far as gold items meet in one cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.arguments import as_number
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.planning.surface import Surface

USUAL = 0.2  # correlation of being right within a cluster, where nobody says
FEWEST = 10.0  # items: simulated widths start at 50, and lines go on a little below
LIMIT = 3.92  # width of a 95% interval in standard deviations


@dataclass(frozen=True)
class Sampling:
    """Items in clusters of ``size`` whose mistakes have this ``correlation``; ``share`` of the
    items are left by unequal weights; ``right`` is how often the classifier is right."""

    size: float = 1.0
    correlation: float = 0.0
    share: float = 1.0
    right: float = 0.5

    @property
    def design_effect(self) -> float:
        return 1 + (self.size - 1) * self.correlation

    @property
    def plain(self) -> bool:
        return self.design_effect == 1.0 and self.share == 1.0

    def width(self, surface: Surface, items: Any, gold: Any) -> Array:
        """The interval's width with so many items and random gold items."""
        if self.plain:
            return surface.width(items, gold)
        items, gold = np.broadcast_arrays(np.asarray(items, float), np.asarray(gold, float))
        if surface.sample:
            # gold drawn one by one is a random sample of these items whatever the clusters are:
            # only how many of the others are right varies more
            free = (1 - gold / items) * self.right * (1 - self.right) / (items * self.share)
            more = LIMIT**2 * (self.design_effect - 1) * free
            return np.sqrt(surface.width(items * self.share, gold) ** 2 + more)
        meet = 1 + (gold - 1).clip(0) * (self.size - 1) / np.maximum(items - 1, 1)
        worth = 1 / (1 + (np.minimum(meet, self.size) - 1) * self.correlation)
        left = np.maximum(items * self.share / self.design_effect, FEWEST)
        return surface.width(left, np.minimum(gold * worth, left))

    def words(self, items: int) -> list[str]:
        """What was taken for granted; of a design with so many items."""
        told = []
        if self.size > 1:
            clusters = max(round(items / self.size), 1)
            told.append(
                f"Items come in clusters of {self.size:g} with correlation "
                f"{self.correlation:.2g}: {items:,} items are {clusters:,} clusters and worth "
                f"about {items / self.design_effect:,.0f} for new data. Gold is drawn item by "
                "item: on whole clusters it is worth less."
            )
        if self.share < 1:
            told.append(
                f"Weights leave {self.share:.0%} of the items (effective sample size); gold "
                "counts in full, as it does in grade."
            )
        if not self.plain:
            told.append(
                "Clusters and weights enter by these factors, not by simulation: grade's widths on "
                "simulated clusters were within a tenth of it on average (docs/plan.md)."
            )
        return told


PLAIN = Sampling()


def by_word(cluster: Any, weights: Any, right: float) -> Sampling:
    """From numbers: ``cluster`` items of one, or (items, correlation); ``weights`` the share that
    they leave, or the weights themselves."""
    size, correlation = 1.0, 0.0
    if cluster is not None:
        pair = cluster if isinstance(cluster, tuple | list) else (cluster, USUAL)
        if isinstance(cluster, str | Mapping) or len(pair) != 2:
            raise InputError(
                "`cluster=` without data in hand is how many items a cluster has, or that and "
                "their correlation: 8 or (8, 0.3). A column needs `pilot=...`."
            )
        size, correlation = as_number(pair[0]), as_number(pair[1])
        if not (1 <= size < np.inf and 0 <= correlation <= 1):
            raise InputError(
                f"`cluster=({size:g}, {correlation:g})`: give at least 1 item per cluster and a "
                "correlation from 0 to 1."
            )
    return Sampling(size, correlation, _share(weights), right)


def _share(weights: Any) -> float:
    if weights is None:
        return 1.0
    if isinstance(weights, str | Mapping):
        raise InputError(
            "`weights=` without data in hand are numbers: the weights that items will have, or the "
            "share of items that they leave, 0.6. A column needs `pilot=...`."
        )
    if np.ndim(weights) == 0:
        share = as_number(weights)
        if not 0 < share <= 1:
            raise InputError(f"`weights={share:g}`: the share of items that weights leave, 0 to 1.")
        return share
    given = np.array([as_number(w) for w in weights])
    if not len(given) or not (np.isfinite(given) & (given >= 0)).all() or given.sum() == 0:
        raise InputError("`weights=` are numbers from 0 on, and not all 0.")
    return float(given.sum() ** 2 / (len(given) * (given**2).sum()))
