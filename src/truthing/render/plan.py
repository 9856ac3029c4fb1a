"""A plan for people: the answer, the rivals in a table, and cost against width as a picture."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing.errors import InputError
from truthing.planning.design import Design
from truthing.planning.result import Plan
from truthing.render.console import safe

MOST_ROWS, MOST_CURVES = 12, 8
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def show(plan: Plan, console: Console, notes: Console) -> None:
    """Sentence, table, assumptions; what has to be checked goes to ``notes``."""
    console.print(Text(safe(plan.sentence, 2000), style="bold"))
    console.print()
    console.print(table(plan), soft_wrap=False)
    console.print()
    for title, lines, to in (
        ("Assumed", plan.assumptions, console),
        ("Check", plan.warnings, notes),
    ):
        for n, line in enumerate(lines):
            to.print(Text.assemble((f"{title if n == 0 else '':<9} ", "bold"), safe(line, 1000)))


def table(plan: Plan) -> Table:
    """The best design for each way to mix labelers."""
    kinds = list(plan.best.labels_per_item)
    rows = Table(box=None, pad_edge=False, header_style="")
    rows.add_column("")
    for name in (
        "items",
        *(f"{'labels' if kind == 'label' else kind} an item" for kind in kinds),
        "gold",
        "cost",
        "interval",
    ):
        rows.add_column(safe(name, 30), justify="right")
    shown = plan.table[:MOST_ROWS]
    if plan.best not in shown:
        shown = [plan.best, *shown]
    if plan.now is not None:
        rows.add_row("now", *_cells(plan.now, kinds))
    for design in shown:
        best = design == plan.best
        rows.add_row("→" if best else "", *_cells(design, kinds), style="bold" if best else "")
    return rows


def _cells(design: Design, kinds: list[str]) -> list[str]:
    labels = [f"{design.labels_per_item.get(kind, 0):.3g}" for kind in kinds]
    return [
        f"{design.items:,}",
        *labels,
        f"{design.gold:,}",
        f"{design.cost:,.2f}",
        f"±{design.width / 2:.3f}",
    ]


def draw(ax: Any, plan: Plan) -> None:
    """Half-width against cost, one line for each way to mix labelers; the best design marked, the goal as lines."""
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
            f"{m:.3g} {'label' if kind == 'label' else kind}{'s' if kind == 'label' and m != 1 else ''}"
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
        label=f"best: {plan.best}",
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
    ax.set_ylabel(f"± of the {plan.goal.level:.0%} interval of {plan.goal.metric}")
    ax.legend(frameon=False, fontsize=7)


def save(plan: Plan, path: str) -> None:
    """The picture as a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("figures need matplotlib: pip install 'truthing[plot]'.") from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    draw(figure.subplots(), plan)
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{path} cannot be written ({problem}): give a file that ends in .png, .svg or .pdf."
        ) from None
