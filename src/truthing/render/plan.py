"""A plan for people: the answer, the rivals in a table, and cost against width as a picture."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing.metrics.words import percent
from truthing.planning.design import Basket, Design
from truthing.planning.result import Plan
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.figures import Picture
from truthing.render.sheet import Sheet
from truthing.render.terminal import checks, doubts

MOST_ROWS, MOST_CURVES = 12, 8
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def show(plan: Plan, console: Console) -> None:
    """Sentence, doubts, table, assumptions."""
    console.print(Text(safe(plan.sentence, 2000), style="bold"))
    checks(console, plan.warnings)
    console.print()
    heads, rows = designs(plan)
    table = Table(box=None, pad_edge=False, header_style="")
    for n, name in enumerate(heads):
        table.add_column(safe(name, 30), justify="right" if n else "left")
    for row in rows:
        table.add_row(*row, style="bold" if row[0] == "→" else "")
    console.print(table, soft_wrap=False)
    doubts(console, plan.assumptions, following(plan))


def following(plan: Plan) -> str | None:
    """Where the data are in hand, which items come next."""
    if plan.now is None or plan.best.cost == 0:
        return None
    return "which items to buy for first, as a file: --next FILE, or plan.next_items()."


def designs(plan: Plan) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """What to buy for each way to mix labelers, best first: beyond what is there, never what is
    owned.
    """
    kinds = list(plan.best.labels_per_item)
    more = "" if plan.now is None else "more "
    names = (f"{more}{'' if kind == 'label' else f'{kind} '}labels" for kind in kinds)
    heads = ("", f"{more}items", *names, f"{more}gold", "cost", "interval")
    shown = plan.table[:MOST_ROWS]
    if plan.best not in shown:
        shown = [plan.best, *shown]
    rows = [] if plan.now is None else [("now", *_cells(plan.now, plan.now, kinds))]
    rows += [("→" if d == plan.best else "", *_cells(d, plan.now, kinds)) for d in shown]
    return heads, rows


def _cells(design: Design, now: Design | None, kinds: list[str]) -> tuple[str, ...]:
    buy = Basket.of(design, now)
    labels = (f"{buy.labels.get(kind, 0):,}" for kind in kinds)
    cost = "" if design == now else f"{design.cost:,.2f}"
    return f"{buy.items:,}", *labels, f"{buy.gold:,}", cost, f"±{design.width / 2:.3f}"


def sheet(plan: Plan, **more: Any) -> Sheet:
    heads, rows = designs(plan)
    named = tuple(("best" if row[0] == "→" else row[0], *row[1:]) for row in rows)
    return Sheet(
        title="What to buy?",
        headline=plan.sentence,
        level=plan.goal.level,
        blocks=(Block("The best of each way to mix labelers", heads, named),),
        warnings=tuple(plan.warnings),
        assumptions=tuple(plan.assumptions),
        following=following(plan) or "",
        **more,
    )


def pictures(plan: Plan) -> dict[str, Picture]:
    """Cost against width."""
    caption = (
        f"Half width of the {percent(plan.goal.level)} interval of {plan.goal.metric} that money "
        "buys, by how labelers are mixed."
    )
    return {"plan": Picture(lambda ax: draw(ax, plan), caption, 7, 4.5)}


def draw(ax: Any, plan: Plan) -> None:
    """Half-width against cost, one line for each way to mix labelers; the best design marked,
    the goal as lines.
    """
    kinds = list(plan.best.labels_per_item)
    best = sorted(
        plan.curves,
        key=lambda c: [d.labels_per_item for d in plan.table].index(
            dict(zip(kinds, c.composition))
        ),
    )
    for colour, curve in zip(COLOURS, best[:MOST_CURVES]):
        labels = dict(zip(kinds, curve.composition))
        names = [
            f"{m:.3g} "
            f"{'label' if kind == 'label' else kind}{'s' if kind == 'label' and m != 1 else ''}"
            for kind, m in labels.items()
            if m
        ]
        ax.plot(
            curve.cost,
            curve.width / 2,
            color=colour,
            label=" + ".join(names) or "gold alone",
            linewidth=1.5,
        )
    ax.plot(
        plan.best.cost,
        plan.best.width / 2,
        marker="*",
        markersize=15,
        color="#D55E00",
        markeredgecolor="black",
        linestyle="none",
        label=f"best: {plan.purchase}",
    )
    if plan.now is not None:
        ax.axhline(plan.now.width / 2, color="grey", linewidth=0.8, linestyle="-.", label="now")
    if plan.wanted_width is not None:
        ax.axhline(
            plan.wanted_width / 2, color="black", linewidth=0.8, linestyle="--", label="wanted"
        )
    if plan.budget is not None:
        ax.axvline(plan.budget, color="black", linewidth=0.8, linestyle=":", label="budget")
    if plan.floor is not None:
        ax.axhline(plan.floor / 2, color="#999999", linewidth=0.8, label="least without gold")
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis, digits in ((ax.xaxis, "{:,.4g}"), (ax.yaxis, "{:.2g}")):
        axis.set_major_formatter(lambda value, _, digits=digits: digits.format(value))
        axis.set_minor_formatter(
            lambda value, _, digits=digits: digits.format(value) if f"{value:e}"[0] in "235" else ""
        )
    middle = max(plan.best.cost, plan.budget or 0.0, 1e-9)
    ax.set_xlim(middle / 12, middle * 4)
    inside = [
        w / 2
        for c in plan.curves
        for x, w in zip(c.cost, c.width)
        if middle / 12 <= x <= middle * 4 and w < 2
    ]
    if inside:
        ax.set_ylim(
            min([*inside, plan.best.width / 2]) * 0.9, max([*inside, plan.best.width / 2]) * 1.1
        )
    ax.set_xlabel("cost")
    ax.set_ylabel(f"± of the {percent(plan.goal.level)} interval of {plan.goal.metric}")
    ax.legend(frameon=False, fontsize=7)
