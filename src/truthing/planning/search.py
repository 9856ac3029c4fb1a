"""Designs on a fixed lattice of round numbers, and the best of them: a larger budget chooses from more designs, so it is never worse."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.planning.design import Composition, Costs, Design, Stock
from truthing.planning.surface import ANCHORS, FEWEST, KNOWN_ANCHORS, Surface
from truthing.planning.widths import Goal
from truthing.planning.world import World

MOST_ITEMS, MOST_GOLD, FEWEST_GOLD = 100_000, 6_000, 10
POINTS = 200  # designs kept of each composition's frontier


def round_numbers(most: int) -> Array:
    """10, 11, … 100, 105, … 1000, 1050, …: steps of at most a twentieth from 100 on, so that little of a budget is left over."""
    ends = [np.arange(10, 100), np.arange(100, 1000, 5)]
    while ends[-1][-1] < most:
        ends.append(ends[-1][-180:] * 10)
    return np.concatenate(ends)[np.concatenate(ends) <= most]


@dataclass(frozen=True, eq=False)
class Curve:
    """Designs of one composition that no other of its designs beats in both cost and width, cheapest first."""

    composition: Composition
    items: Array
    gold: Array
    cost: Array
    width: Array
    surface: Surface
    kinds: tuple[str, ...]

    def design(self, place: int) -> Design:
        n, gold, width = int(self.items[place]), int(self.gold[place]), float(self.width[place])
        labels = dict(zip(self.kinds, self.composition))
        return Design(
            n, labels, gold, float(self.cost[place]), width, self.surface.error(n, gold, width)
        )

    @property
    def without_gold(self) -> float:
        """The least width that items and labels alone can reach."""
        return float(self.surface.width(max(self.items.max(), self.surface.items[-1]), 0.0))

    def within(self, budget: float) -> Design | None:
        """The narrowest design that the budget pays for."""
        place = int(np.searchsorted(self.cost, budget * (1 + 1e-12), side="right")) - 1
        return self.design(place) if place >= 0 else None

    def reaching(self, width: float) -> Design | None:
        """The cheapest design that is narrow enough."""
        enough = np.flatnonzero(self.width <= width)
        return self.design(int(enough[0])) if len(enough) else None

    @property
    def cheapest(self) -> Design:
        return self.design(0)

    @property
    def narrowest(self) -> Design:
        return self.design(len(self.cost) - 1)


def compositions(
    world: World, goal: Goal, costs: Costs, stock: Stock, most_labels: int, free_items: bool
) -> list[Composition]:
    """Labels an item from each kind, worth looking at: nothing that is already there is given back."""
    held = stock.per_item if stock.labels else (0.0,) * len(world.kinds)
    ranges = [
        sorted({have, *(float(m) for m in range(int(have) + 1, most_labels + 1) if m <= kind.most)})
        for have, kind in zip(held, world.kinds)
    ]
    top = max(most_labels, sum(held))
    found = [c for c in itertools.product(*ranges) if 0 < sum(c) <= top + 1e-9]
    if not goal.known and costs.gold is None and stock.gold == 0:
        found = [c for c in found if sum(c) >= 2]
    if costs.gold is not None and not any(held) and goal.target == "population" and free_items:
        found.append((0.0,) * len(held))
    return found


def anchors_for(goal: Goal, composition: Composition, items: int | None) -> tuple[int, ...]:
    """Numbers of items at which to simulate: the same whatever the budget, so that a design's width does not depend on it."""
    usual = KNOWN_ANCHORS if goal.known or not any(composition) else ANCHORS
    if items is None:
        return usual
    return (items,) if items <= usual[-1] else usual[-2:]


def trace(
    surface: Surface,
    composition: Composition,
    costs: Costs,
    stock: Stock,
    *,
    items: int | None,
    kinds: tuple[str, ...],
) -> Curve:
    """Cost and width of every lattice design, reduced to those that nothing beats."""
    lattice = round_numbers(MOST_ITEMS)
    start = max(FEWEST, stock.items)
    n = np.array([items]) if items is not None else np.unique([start, *lattice[lattice > start]])
    if not any(composition):
        items_, gold = n, n
    else:
        steps = round_numbers(MOST_GOLD)
        gold_ = (
            np.unique([stock.gold, *steps[steps > stock.gold]])
            if costs.gold is not None
            else np.array([stock.gold])
        )
        items_, gold = (part.ravel() for part in np.meshgrid(n, gold_, indexing="ij"))
        fits = (gold <= items_ * (0.9 if surface.sample else 1.0)) | (gold == stock.gold)
        items_, gold = items_[fits], gold[fits]
    cost = costs.of_design(items_, composition, gold, stock)
    width = surface.width(items_, gold)
    order = np.lexsort((width, cost))
    items_, gold, cost, width = items_[order], gold[order], cost[order], width[order]
    best = np.minimum.accumulate(width)
    better = np.flatnonzero(np.concatenate([[True], width[1:] < best[:-1]]))
    return Curve(
        composition, items_[better], gold[better], cost[better], width[better], surface, kinds
    )


def pick(
    curves: list[Curve], ask: Callable[[Curve], Design | None], *, by_cost: bool
) -> Design | None:
    """The best answer over all compositions."""
    found = [design for design in map(ask, curves) if design is not None]
    if not found:
        return None
    return min(found, key=lambda d: (d.cost, d.width) if by_cost else (d.width, d.cost))


def frontier(curves: list[Curve]) -> list[Design]:
    """Designs that no design of any composition beats in both cost and width."""
    rows = [(c.cost[k], c.width[k], n, k) for n, c in enumerate(curves) for k in _thin(len(c.cost))]
    kept, best = [], np.inf
    for _, width, n, k in sorted(rows):
        if width < best:
            kept.append(curves[n].design(k))
            best = width
    return [kept[k] for k in _thin(len(kept))]


def _thin(count: int) -> list[int]:
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).astype(int)).tolist()
