"""Design: one way to spend money; Stock: what is already in hand; Costs: what is for sale; and the
best designs.

Designs lie on a fixed lattice of round numbers: a larger budget chooses from more of them, so it is
never worse.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean, listing
from truthing.planning.drawn import PLAIN, Sampling
from truthing.planning.surface import ANCHORS, FEWEST, KNOWN_ANCHORS, Surface
from truthing.planning.widths import Goal
from truthing.planning.world import Composition, World

MOST_ITEMS, MOST_GOLD, FEWEST_GOLD = 100_000, 6_000, 10
POINTS = 200  # designs kept of each composition's frontier
WIDEST = 2.0  # an interval of any metric


@dataclass(frozen=True)
class Design:
    """One way to spend money, and the interval that the default posterior is expected to give for
    it.

    ``width`` is the whole width, high minus low; ``width_error`` the standard error of its
    simulation.
    """

    items: int
    labels_per_item: Mapping[str, float]
    gold: int
    cost: float
    width: float
    width_error: float = 0.0

    @property
    def labels(self) -> int:
        """Labels altogether."""
        return round(self.items * sum(self.labels_per_item.values()))

    def to_dict(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "labels_per_item": dict(self.labels_per_item),
            "gold": self.gold,
            "cost": self.cost,
            "width": self.width,
            "width_error": self.width_error,
        }

    def __str__(self) -> str:
        """
        >>> print(Design(400, {"crowd": 3.0}, 50, 120.0, 0.08))
        400 items, 3 labels each, gold on 50
        """
        given = {kind: count for kind, count in self.labels_per_item.items() if count}
        if not given:
            return f"{self.items:,} items, no labels, gold on all of them"
        if len(self.labels_per_item) == 1:
            count = sum(given.values())
            labels = f"{count:.3g} label{'' if count == 1 else 's'} each"
        else:
            labels = " + ".join(f"{count:.3g} {kind}" for kind, count in given.items()) + " each"
        return f"{self.items:,} items, {labels}, " + (
            f"gold on {self.gold:,}" if self.gold else "no gold"
        )


@dataclass(frozen=True)
class Basket:
    """What has to be bought to come from the data in hand to a design; ``owned`` items are there
    already.
    """

    items: int
    labels: Mapping[str, int]
    gold: int
    owned: int = 0
    has_gold: bool = False

    @classmethod
    def of(cls, design: Design, now: Design | None) -> Basket:
        owned = 0 if now is None else now.items
        labels = {
            kind: max(
                round(
                    design.items * count - (now.labels_per_item.get(kind, 0) * owned if now else 0)
                ),
                0,
            )
            for kind, count in design.labels_per_item.items()
        }
        gold = design.gold - (now.gold if now else 0)
        return cls(
            max(design.items - owned, 0), labels, max(gold, 0), owned, bool(now and now.gold)
        )

    def to_dict(self) -> dict[str, Any]:
        return {"items": self.items, "labels": dict(self.labels), "gold": self.gold}

    def __str__(self) -> str:
        """
        >>> print(Basket(0, {"label": 297}, 105, owned=99))
        297 more labels (3 per item) and gold on 105 of your items
        >>> print(Basket(400, {"label": 1200}, 50))
        400 items, 1,200 labels (3 per item) and gold on 50 of them
        """
        more = "more " if self.owned else ""
        parts = [f"{self.items:,} {more}item{'' if self.items == 1 else 's'}"] if self.items else []
        for kind, count in self.labels.items():
            if count:
                what = "label" if kind == "label" else f"{kind} label"
                ratio = f"{count / max(self.items + self.owned, 1):.3g} per item"
                parts.append(f"{count:,} {more}{what}{'' if count == 1 else 's'} ({ratio})")
        if self.gold:
            whose = (
                "items"
                if self.items and self.owned
                else "of your items"
                if self.owned
                else "of them"
                if parts
                else "items"
            )
            parts.append(f"gold on {self.gold:,} {'more ' if self.has_gold else ''}{whose}")
        if len(parts) < 2:
            return parts[0] if parts else "nothing"
        return f"{', '.join(parts[:-1])} and {parts[-1]}"


@dataclass(frozen=True)
class Stock:
    """What the data in hand have already cost."""

    items: int = 0
    labels: Composition = ()
    gold: int = 0

    @property
    def per_item(self) -> Composition:
        return tuple(n / max(self.items, 1) for n in self.labels)


@dataclass(frozen=True)
class Costs:
    """Prices; None is not for sale."""

    labels: Mapping[str, float] = field(default_factory=dict)
    item: float | None = None
    gold: float | None = None

    @classmethod
    def of(cls, costs: Any, kinds: tuple[str, ...]) -> Costs:
        """From ``{"item": 0.1, "label": 0.05, "gold": 2}``; ``label`` may be a mapping from
        kind of labeler to price.
        """
        if isinstance(costs, Costs):
            return costs
        if not isinstance(costs, Mapping) or not costs:
            raise InputError(
                "prices are missing: give that of an item, a label or a gold label with "
                "`costs={'item': 0.1, 'label': 0.05, 'gold': 2}`. What has no price is not for "
                "sale."
            )
        known = ("item", "label", "gold")
        for name in costs:
            if name not in known:
                raise InputError(
                    f"costs name {name!r}; prices are of "
                    f"{', '.join(known)}.{did_you_mean(name, known)}"
                )
        label = costs.get("label")
        if label is None:
            raise InputError("the price of a label is missing: give `costs={'label': 0.05}`.")
        each = dict(label) if isinstance(label, Mapping) else dict.fromkeys(kinds, label)
        strange = [kind for kind in each if kind not in kinds]
        absent = [kind for kind in kinds if kind not in each]
        if strange or absent:
            raise InputError(
                f"prices of labels are given for {listing(each)}, the kinds of labelers are "
                f"{listing(kinds)}: give one price for each."
            )
        return cls(
            {kind: price(value, f"a label from {kind!r}") for kind, value in each.items()},
            None if costs.get("item") is None else price(costs["item"], "an item"),
            None if costs.get("gold") is None else price(costs["gold"], "a gold label"),
        )

    def of_design(self, items: Array, composition: Composition, gold: Array, stock: Stock) -> Array:
        """What is still to be paid, the stock counted as paid."""
        total = (self.item or 0.0) * np.maximum(items - stock.items, 0.0)
        for n, (count, each) in enumerate(zip(composition, self.labels.values())):
            have = stock.labels[n] if stock.labels else 0.0
            total = total + each * np.maximum(items * count - have, 0.0)
        return np.asarray(total + (self.gold or 0.0) * np.maximum(gold - stock.gold, 0.0))


def price(value: Any, what: str) -> float:
    """A price above zero, or a sentence."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"the cost of {what} is {value!r}: give a number above 0.") from None
    if not np.isfinite(number) or number <= 0:
        raise InputError(
            f"the cost of {what} is {number:g}: costs are above 0; leave out what is not for "
            "sale or already there."
        )
    return number


def round_numbers(most: int) -> Array:
    """10, 11, … 100, 105, … 1000, 1050, …: steps of at most a twentieth from 100 on, so that
    little of a budget is left over.
    """
    ends = [np.arange(10, 100), np.arange(100, 1000, 5)]
    while ends[-1][-1] < most:
        ends.append(ends[-1][-180:] * 10)
    return np.concatenate(ends)[np.concatenate(ends) <= most]


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Designs of one composition that no other of its designs beats in both cost and width,
    cheapest first.
    """

    composition: Composition
    items: Array
    gold: Array
    cost: Array
    width: Array
    surface: Surface
    kinds: tuple[str, ...]
    sampling: Sampling = PLAIN

    def expected(self, items: float, gold: float) -> float:
        """The width with so many items and gold items."""
        return float(self.sampling.width(self.surface, items, gold))

    def design(self, place: int) -> Design:
        n, gold, width = int(self.items[place]), int(self.gold[place]), float(self.width[place])
        labels = dict(zip(self.kinds, self.composition))
        return Design(
            n, labels, gold, float(self.cost[place]), width, self.surface.error(n, gold, width)
        )

    @property
    def without_gold(self) -> float:
        """The least width that items and labels alone can reach."""
        return self.expected(max(self.items.max(), self.surface.items[-1]), 0.0)

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
    """Labels per item from each kind, worth looking at: nothing that is already there is given
    back.
    """
    held = stock.per_item if stock.labels else (0.0,) * len(world.kinds)
    ranges = [
        sorted({have, *(float(m) for m in range(int(have) + 1, most_labels + 1) if m <= kind.most)})
        for have, kind in zip(held, world.kinds)
    ]
    top = max(most_labels, sum(held))
    found = [c for c in itertools.product(*ranges) if 0 < sum(c) <= top + 1e-9]
    if not goal.known and costs.gold is None and stock.gold == 0:
        found = [c for c in found if sum(c) >= 2]
    # gold on every item needs no labels
    if costs.gold is not None and not any(held) and free_items == (goal.target == "population"):
        found.append((0.0,) * len(held))
    return found


def anchors_for(goal: Goal, composition: Composition, items: int | None) -> tuple[int, ...]:
    """Numbers of items at which to simulate: the same whatever the budget, so that a design's
    width does not depend on it.
    """
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
    sampling: Sampling = PLAIN,
) -> CostCurve:
    """Cost and width of every lattice design, reduced to those that nothing beats."""
    lattice = round_numbers(MOST_ITEMS)
    start = max(FEWEST, stock.items)
    n = np.array([items]) if items is not None else np.unique([start, *lattice[lattice > start]])
    if not any(composition):
        items_, gold = n, n
    else:
        steps = round_numbers(MOST_GOLD)
        gold_ = np.array([stock.gold])
        if costs.gold is not None:
            every = [] if items is None else [items]
            gold_ = np.unique([stock.gold, *steps[steps > stock.gold], *every])
        items_, gold = (part.ravel() for part in np.meshgrid(n, gold_, indexing="ij"))
        fits = (gold <= items_ * (0.9 if surface.sample else 1.0)) | (gold == stock.gold)
        fits |= gold == items_
        items_, gold = items_[fits], gold[fits]
    cost = costs.of_design(items_, composition, gold, stock)
    width = sampling.width(surface, items_, gold)
    known = width <= WIDEST  # beyond, the labels alone say nothing
    if known.any():
        items_, gold, cost, width = (part[known] for part in (items_, gold, cost, width))
    order = np.lexsort((width, cost))
    items_, gold, cost, width = items_[order], gold[order], cost[order], width[order]
    best = np.minimum.accumulate(width)
    better = np.flatnonzero(np.concatenate([[True], width[1:] < best[:-1]]))
    chosen = items_[better], gold[better], cost[better], width[better]
    return CostCurve(composition, *chosen, surface, kinds, sampling)


def pick(
    curves: list[CostCurve], ask: Callable[[CostCurve], Design | None], *, by_cost: bool
) -> Design | None:
    """The best answer over all compositions."""
    found = [design for design in map(ask, curves) if design is not None]
    if not found:
        return None
    return min(found, key=lambda d: (d.cost, d.width) if by_cost else (d.width, d.cost))


def frontier(curves: list[CostCurve]) -> list[Design]:
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
