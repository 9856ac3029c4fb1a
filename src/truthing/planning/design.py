"""Design: one way to spend money; Stock: what is already in hand; Costs: what is for sale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean, listing

Composition = tuple[
    float, ...
]  # labels an item from each kind of labeler, in the order of the world's kinds


@dataclass(frozen=True)
class Design:
    """One way to spend money, and the interval that the default posterior is expected to give for it.

    ``width`` is the whole width, high minus low; ``width_error`` the standard error of its simulation.
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
            "items": self.items, "labels_per_item": dict(self.labels_per_item), "gold": self.gold, "cost": self.cost,
            "width": self.width, "width_error": self.width_error,
        }  # fmt: skip

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
            said = f"{count:.3g} label{'' if count == 1 else 's'} each"
        else:
            said = " + ".join(f"{count:.3g} {kind}" for kind, count in given.items()) + " each"
        return f"{self.items:,} items, {said}, " + (
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
        said = [f"{self.items:,} {more}item{'' if self.items == 1 else 's'}"] if self.items else []
        for kind, count in self.labels.items():
            if count:
                what = "label" if kind == "label" else f"{kind} label"
                ratio = f"{count / max(self.items + self.owned, 1):.3g} per item"
                said.append(f"{count:,} {more}{what}{'' if count == 1 else 's'} ({ratio})")
        if self.gold:
            whose = (
                "items"
                if self.items and self.owned
                else "of your items"
                if self.owned
                else "of them"
                if said
                else "items"
            )
            said.append(f"gold on {self.gold:,} {'more ' if self.has_gold else ''}{whose}")
        if len(said) < 2:
            return said[0] if said else "nothing"
        return f"{', '.join(said[:-1])} and {said[-1]}"


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
        """From ``{"item": 0.1, "label": 0.05, "gold": 2}``; ``label`` may be a mapping from kind of labeler to price."""
        if isinstance(costs, Costs):
            return costs
        if not isinstance(costs, Mapping) or not costs:
            raise InputError(
                "prices are missing: give that of an item, a label or a gold label (costs={'item': 0.1, 'label': 0.05, 'gold': 2}; --item-cost, --label-cost, "
                "--gold-cost). What has no price is not for sale."
            )
        known = ("item", "label", "gold")
        for name in costs:
            if name not in known:
                raise InputError(
                    f"costs name {name!r}; prices are of {', '.join(known)}.{did_you_mean(name, known)}"
                )
        label = costs.get("label")
        if label is None:
            raise InputError(
                "the price of a label is missing: give costs={'label': 0.05, …} (--label-cost 0.05)."
            )
        each = dict(label) if isinstance(label, Mapping) else dict.fromkeys(kinds, label)
        strange = [kind for kind in each if kind not in kinds]
        absent = [kind for kind in kinds if kind not in each]
        if strange or absent:
            raise InputError(
                f"prices of labels are given for {listing(each)}, the kinds of labelers are {listing(kinds)}: give one price for each."
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
            f"the cost of {what} is {number:g}: costs are above 0; leave out what is not for sale or already there."
        )
    return number
