"""Plan: the best design, its rivals, and what was assumed, as data and in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from truthing.errors import InputError
from truthing.planning.design import Basket, CostCurve, Design
from truthing.planning.sequential import NextItems, PilotState
from truthing.planning.widths import Goal
from truthing.planning.world import World
from truthing.results import Result


@dataclass(frozen=True, eq=False)
class Plan(Result):
    """What to buy. ``best`` is the answer, ``table`` the best design for each way to mix labelers,
    ``frontier`` the best for each cost.

    ``feasible`` is False when the goal is out of reach; ``best`` is then the nearest design within
    reach. ``floor`` is the width that no number of labels gets below without gold; ``now`` what the
    data in hand already give, and `purchase` what to add to them.
    """

    kind = "plan"
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
        """Which items of the pilot should get a label or gold next: see
        `truthing.planning.sequential.next_items`.
        """
        if self.pilot is None:
            raise InputError(
                "which items come next is a question about data in hand: give `pilot=...`."
            )
        from truthing.planning.sequential import next_items

        return next_items(self.pilot, n, **{"seed": self.seed, **options})

    @property
    def purchase(self) -> Basket:
        """What to buy, beyond what is there."""
        return Basket.of(self.best, self.now)

    def to_frame(self) -> Any:
        """One row for each way to mix labelers, best first: what to buy, its cost and the interval;
        a polars table.
        """
        import polars as pl

        designs = self.table if self.best in self.table else [self.best, *self.table]
        rows = []
        for design in designs:
            buy = Basket.of(design, self.now)
            rows.append(
                {
                    "best": design == self.best,
                    "buy_items": buy.items,
                    **{
                        f"buy_{kind}s" if kind == "label" else f"buy_{kind}_labels": n
                        for kind, n in buy.labels.items()
                    },
                    "buy_gold": buy.gold,
                    "cost": design.cost,
                    "width": design.width,
                    "items": design.items,
                    **{f"{kind}s_per_item": n for kind, n in design.labels_per_item.items()},
                    "gold": design.gold,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "best": self.best.to_dict(),
            "buy": self.purchase.to_dict(),
            "feasible": self.feasible,
            "sentence": self.sentence,
            "now": None if self.now is None else self.now.to_dict(),
            "floor_without_gold": self.floor,
            "table": [design.to_dict() for design in self.table],
            "frontier": [design.to_dict() for design in self.frontier],
            "metric": self.goal.metric,
            "target": self.goal.target,
            "level": self.goal.level,
            "noise": "known" if self.goal.known else "learned",
            "width": self.wanted_width,
            "budget": self.budget,
            "assumptions": self.assumptions,
            "warnings": self.warnings,
            "seed": self.seed,
        }

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
