"""What may be asked of a plan: refused in words before anything is simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truthing.errors import InputError
from truthing.metrics.estimate import check_level
from truthing.panel_kind import panel_of
from truthing.planning.design import MOST_ITEMS, Costs, Stock
from truthing.planning.surface import FEWEST


def check_wishes(
    width: float | None,
    budget: float | None,
    level: float,
    most_labels: int,
    sets: int,
    items: int | None,
) -> None:
    if width is None and budget is None:
        raise InputError(
            "say what is wanted: width=0.06 (an interval of ±0.03), budget=500, or both (the "
            "budget is the limit)."
        )
    if width is not None and not 0 < width < 1:
        raise InputError(
            f"width {width:g} is outside (0, 1): it is the whole interval, high minus low; ±0.03 "
            "is width 0.06."
        )
    most = max(items or 0, MOST_ITEMS)
    if width is not None and width * most < 1:
        raise InputError(
            f"width {width:g} is less than one item in {most:,}, and plans end at so many: no "
            f"number of labels reaches it. Ask for more, such as width=0.02 (±0.01)."
        )
    if budget is not None and not (np.isfinite(budget) and budget > 0):
        raise InputError(f"budget {budget:g}: give an amount above 0, in the unit of the costs.")
    check_level(level)
    if most_labels < 1 or sets < 2:
        raise InputError(
            f"most_labels {most_labels} and sets {sets}: at least one label per item and two "
            f"simulated sets."
        )
    if items is not None and items < FEWEST:
        raise InputError(f"{items} items: plans start at {FEWEST}; below, buy gold on all of them.")


def chosen_target(target: str | None, items: int | None, costs: Any, pilot: Any) -> str:
    """Fixed items can be asked about themselves; items to be bought only stand for new data."""
    selling = isinstance(costs, dict) and costs.get("item") is not None
    fixed = items is not None or (pilot is not None and not selling)
    if target is None:
        return "sample" if fixed else "population"
    if target not in ("sample", "population"):
        raise InputError(
            f"target {target!r} is not known: choose sample (these items) or population (new data "
            "like them)."
        )
    if target == "sample" and not fixed:
        raise InputError(
            "`target='sample'` asks about the very items you label, and the fewer they are the "
            "less there is to know: fix them with `items=500`, or plan for `target='population'` "
            "(new data like them)."
        )
    return target


def refuse_beside_pilot(**given: Any) -> None:
    """What a pilot shows must not be said as well."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"`{name}=` is learned from the pilot: leave it out.")


def wished_panel(
    panel: str | None, known: bool, labelers: Sequence[Any], assumptions: list[str]
) -> str | None:
    """What the panel is made of, by the user's word or the labelers' names."""
    if known and panel is not None:
        raise InputError(
            "`panel=` says how far panels may be wrong together, and known noise is planned "
            "without that: leave it out."
        )
    return None if known else panel_of(panel, labelers, assumptions)


def wished_panel_error(value: Any, known: bool) -> Any:
    """With known noise there is none to plan for."""
    if known:
        return None
    if value == 0:
        raise InputError(
            "`panel_error=0` with learned noise is not planned for: plan with `noise='known'`, "
            "whose widths it approaches with many items."
        )
    return value


def items_with_pilot(items: int | None, stock: Stock, costs: Costs) -> int | None:
    if items is None:
        return stock.items if costs.item is None else None
    if items < stock.items:
        raise InputError(
            f"items {items:,}: your data already have {stock.items:,}; give more, or leave it out."
        )
    if items > stock.items and costs.item is None:
        raise InputError(
            "more items than you have need a price: give `costs={'item': 0.1}` as well."
        )
    return items
