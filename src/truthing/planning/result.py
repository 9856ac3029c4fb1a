"""Plan: the best design, its rivals, and what was assumed, as data and in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from truthing.errors import InputError
from truthing.planning.design import CostCurve, Design, Stock, pick
from truthing.planning.sequential import NextItems, PilotState
from truthing.planning.widths import Goal
from truthing.planning.world import World
from truthing.version import __version__


@dataclass(frozen=True, eq=False)
class Plan:
    """What to buy. ``best`` is the answer, ``table`` the best design for each way to mix labelers, ``frontier`` the best for each cost.

    ``feasible`` is False when the goal is out of reach; ``best`` is then the nearest design within reach. ``floor`` is the width that no number of
    labels gets below without gold; ``now`` what a pilot already gives.
    """

    best: Design
    table: list[Design]
    frontier: list[Design]
    feasible: bool
    goal: Goal
    wanted_width: float | None
    budget: float | None
    world: World
    floor: float | None
    now: Design | None = None
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    seed: int = 0
    sentence: str = ""
    curves: list[CostCurve] = field(default_factory=list, repr=False)
    pilot: PilotState | None = field(default=None, repr=False)

    def next_items(self, n: int = 50, **options: Any) -> NextItems:
        """Which items of the pilot should get a label or gold next: see `truthing.planning.sequential.next_items`."""
        if self.pilot is None:
            raise InputError(
                "which items come next is a question about data in hand: give pilot= (--pilot)."
            )
        from truthing.planning.sequential import next_items

        return next_items(self.pilot, n, **{"seed": self.seed, **options})

    def to_dict(self) -> dict[str, Any]:
        return {
            "best": self.best.to_dict(), "feasible": self.feasible, "sentence": self.sentence,
            "now": None if self.now is None else self.now.to_dict(), "floor_without_gold": self.floor,
            "table": [design.to_dict() for design in self.table],
            "frontier": [design.to_dict() for design in self.frontier],
            "metric": self.goal.metric, "target": self.goal.target, "level": self.goal.level,
            "noise": "known" if self.goal.known else "learned", "width": self.wanted_width, "budget": self.budget,
            "assumptions": self.assumptions, "warnings": self.warnings, "seed": self.seed, "version": __version__,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [self.sentence, ""]
        lines += [
            f"{d.cost:>10,.2f}  ±{d.width / 2:.3f}  {d}{'   ← best' if d == self.best else ''}"
            for d in self.table
        ]
        lines += [
            "",
            *(f"Assumed: {a}" for a in self.assumptions),
            *(f"Warning: {w}" for w in self.warnings),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Plan: {self.best}; cost {self.best.cost:,.2f}, ±{self.best.width / 2:.3f}>"


def answer_sentence(
    best: Design, goal: Goal, curves: list[CostCurve], *, feasible: bool, width: float | None, budget: float | None,
    floor: float | None, now: Design | None,
) -> str:  # fmt: skip
    """The answer; out of reach is answered with the nearest within reach."""
    what = f"{goal.level:.0%} interval of {goal.metric} {'on these items' if goal.target == 'sample' else 'on new data'}"
    reach = f"±{best.width / 2:.3f}"
    if feasible and best.cost == 0:
        text = f"Nothing has to be bought: {best} give {reach} ({what})."
    elif feasible and width is not None:
        text = f"For ±{width / 2:.3g} ({what}) buy {best}: cost {best.cost:,.2f}, expected {reach}."
    elif feasible:
        text = f"With {budget:,.2f} the best is {reach} ({what}): {best}; cost {best.cost:,.2f}."
    elif budget is not None and best.cost > budget * (1 + 1e-12):
        text = f"{budget:,.2f} buys no design: the cheapest is {best}, cost {best.cost:,.2f}, and gives {reach} ({what})."
    elif budget is not None and width is not None:
        text = f"±{width / 2:.3g} is out of reach: with this budget the best is {reach} ({what}), {best}; cost {best.cost:,.2f}."
        enough = pick(curves, lambda c: c.reaching(width), by_cost=True)
        text += (
            f" ±{width / 2:.3g} costs about {enough.cost:,.0f}: {enough}."
            if enough
            else " No budget buys it."
        )
    else:
        text = f"±{(width or 0) / 2:.3g} is out of reach: the best of all designs is {reach} ({what}), {best}; cost {best.cost:,.2f}."
    if floor is not None:
        text += f" Without gold no number of labels gets below about ±{floor / 2:.2f}: labelers may be wrong together, and only gold shows how far."
    if now is not None and best.cost > 0:
        text += f" What you have now gives ±{now.width / 2:.3f}."
    return text


def what_is_assumed(goal: Goal, world: World, sets: int) -> list[str]:
    """What the widths rest on."""
    if goal.known:
        noise = "Labelers err independently of each other and of the classifier, at rates that grade will be told (noise=): no panel error."
    elif goal.panel_error is None:
        noise = "Grade will learn the noise and allow for a panel that is wrong together as public crowds of people were."
    else:
        noise = f"Grade will learn the noise and be told panel_error={goal.panel_error}."
    if world.panel is not None and not goal.known:
        drawn = (
            f"labelers err independently with chance {world.panel.independent:.0%}, by what gold the pilot has, and else "
            "the panel is wrong together as far as the link believes after the pilot"
        )
    elif world.shared:
        drawn = f"{world.shared:.0%} of labels hang on the item, not the labeler"
    else:
        drawn = "labelers err independently"
    if not (goal.known or world.panel or world.shared):
        drawn += ". Real crowds do not: their intervals with gold come out wider, and a pilot shows by how much"
    return [
        noise,
        f"Widths are means over {sets} made-up data sets at each anchor of the grid, graded by the default posterior; in them {drawn}.",
        "Gold is on random items.",
    ]


def doubts(curves: list[CostCurve], stock: Stock, now: Design | None) -> list[str]:
    """Where the plan should be doubted."""
    if now is None:
        return []
    held = [
        c for c in curves if all(abs(a - b) < 1e-9 for a, b in zip(c.composition, stock.per_item))
    ]
    expected = float(held[0].surface.width(stock.items, stock.gold)) if held else now.width
    if abs(expected / max(now.width, 1e-9) - 1) <= 0.25:
        return []
    return [
        f"Data made up after the pilot give ±{expected / 2:.3f} where the pilot itself gives ±{now.width / 2:.3f}: its labelers or items are "
        "unlike the noise model; take the plan as rough."
    ]
