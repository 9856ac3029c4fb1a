"""What a plan says in words."""

from __future__ import annotations

from truthing.metrics.words import percent
from truthing.planning.design import Basket, CostCurve, Design, Stock, pick
from truthing.planning.widths import Goal
from truthing.planning.world import World


def answer_sentence(
    best: Design,
    goal: Goal,
    curves: list[CostCurve],
    *,
    feasible: bool,
    width: float | None,
    budget: float | None,
    floor: float | None,
    now: Design | None,
) -> str:
    """The answer; out of reach is answered with the nearest within reach."""
    what = (
        f"{percent(goal.level)} interval of {goal.metric} "
        f"{'on these items' if goal.target == 'sample' else 'on new data'}"
    )
    reach, buy = f"±{best.width / 2:.3f}", Basket.of(best, now)
    held = f"±{(best if now is None else now).width / 2:.3f}"
    if feasible and best.cost == 0 and width is None:
        text = f"{budget:,.2f} buys nothing that helps: what you have gives {held} ({what})."
    elif feasible and best.cost == 0:
        text = f"Nothing has to be bought: what you have gives {held} ({what})."
    elif feasible and width is not None:
        text = f"For ±{width / 2:.3g} ({what}) buy {buy}: cost {best.cost:,.2f}, expected {reach}."
    elif feasible:
        text = f"With {budget:,.2f} buy {buy}: that gives {reach} ({what}); cost {best.cost:,.2f}."
    elif budget is not None and best.cost > budget * (1 + 1e-12):
        text = (
            f"{budget:,.2f} is too little: the cheapest is {buy}, cost {best.cost:,.2f}, and "
            f"gives {reach} ({what})."
        )
    elif budget is not None and width is not None:
        text = (
            f"±{width / 2:.3g} is out of reach: with this budget buy {buy}, which gives {reach} "
            f"({what}); cost {best.cost:,.2f}."
        )
        enough = pick(curves, lambda c: c.reaching(width), by_cost=True)
        text += (
            f" ±{width / 2:.3g} costs about {enough.cost:,.0f}: {Basket.of(enough, now)}."
            if enough
            else " No budget buys it."
        )
    else:
        text = (
            f"±{(width or 0) / 2:.3g} is out of reach: the best is {reach} ({what}) with {buy}; "
            f"cost {best.cost:,.2f}."
        )
    if floor is not None:
        text += (
            f" Without gold no number of labels gets below about ±{floor / 2:.2f}: labelers may "
            "be wrong together, and only gold shows how far."
        )
    if now is not None and best.cost > 0:
        text += f" What you have now gives ±{now.width / 2:.3f}."
    return text


def what_is_assumed(goal: Goal, world: World, sets: int) -> list[str]:
    """What the widths rest on."""
    if goal.known:
        noise = (
            "Labelers err independently of each other and of the classifier, at rates that grade "
            "will be told (noise=, panel_error=0)."
        )
    elif goal.panel_error is None:
        noise = (
            "Grade will learn the noise and allow for a panel that is wrong together as public "
            "panels were."
        )
    else:
        noise = f"Grade will learn the noise and be told panel_error={goal.panel_error}."
    if world.panel is not None and not goal.known:
        drawn = (
            f"labelers err independently with chance {world.panel.independent:.0%}, judged by the "
            f"gold in hand, and else "
            "the panel is wrong together as far as the data in hand allow"
        )
    elif world.shared:
        drawn = f"{world.shared:.0%} of labels hang on the item, not the labeler"
    else:
        drawn = "labelers err independently"
    if not (goal.known or world.panel or world.shared):
        drawn += (
            ". Real crowds do not: their intervals with gold come out wider, and some labels "
            "with gold in hand (--pilot) show by how much"
        )
    return [
        noise,
        f"Widths are means over {sets} simulated data sets of each size that was tried, graded as "
        f"grade does by default; in them {drawn}.",
        "Gold is on random items.",
    ]


def doubts(curves: list[CostCurve], stock: Stock, now: Design | None) -> list[str]:
    """Where the plan should be doubted."""
    if now is None:
        return []
    held = [
        c for c in curves if all(abs(a - b) < 1e-9 for a, b in zip(c.composition, stock.per_item))
    ]
    expected = held[0].expected(stock.items, stock.gold) if held else now.width
    if abs(expected / max(now.width, 1e-9) - 1) <= 0.25:
        return []
    return [
        f"Data simulated after yours give ±{expected / 2:.3f} where yours give "
        f"±{now.width / 2:.3f}: your labelers or items are "
        "unlike the model of them; take the plan as rough."
    ]
