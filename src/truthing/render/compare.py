"""A comparison for people: a sentence, the models with bars, the differences, ranks, slices, and every doubt in words."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing.comparison.result import Comparison, name_of
from truthing.render.console import safe
from truthing.render.terminal import add_line, doubts, lines_table, plain_table
from truthing.render.words import one_line, percent

MOST_PAIRS = 20


def show(
    result: Comparison, metric: str, console: Console, level: float = 0.95, within: float = 0.01
) -> None:
    console.print(Text(safe(result.verdict(metric, level), 1000), style="bold"))
    console.print(Text(safe(result.order_sentence(metric), 1000)))
    console.print()
    console.print(models_table(result, metric, level, console), soft_wrap=False)
    console.print()
    console.print(pairs_table(result, metric, level, within), soft_wrap=False)
    if result.slices:
        console.print()
        console.print(slices_table(result, metric, level), soft_wrap=False)
    doubts(console, result.assumptions, result.warnings, None)


def ordered(result: Comparison, metric: str) -> list[str]:
    best = result.probability_best(metric)
    return sorted(result.models, key=lambda m: -best[m])


def models_table(result: Comparison, metric: str, level: float, console: Console) -> Table:
    table, draw = lines_table(level, console, safe(name_of(metric, result), 24))
    best = result.probability_best(metric)
    for name in ordered(result, metric):
        title = f"{one_line(name, 30)} (best: {best[name]:.0%})"
        add_line(
            table,
            title,
            result.estimate(name, metric),
            result.at_face_value(name, metric),
            level,
            draw,
        )
    return table


def _columns(table: Table, *columns: str) -> Table:
    for k, column in enumerate(columns):
        table.add_column(column, justify="left" if k == 0 else "right", no_wrap=k > 0)
    return table


def pairs_table(result: Comparison, metric: str, level: float, within: float) -> Table:
    names = ordered(result, metric)
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    table = _columns(
        plain_table("differences, paired"),
        "",
        "difference",
        f"{percent(level)} interval",
        "P(better)",
        f"P(within {within:g})",
    )
    for first, second in pairs[:MOST_PAIRS]:
        gap = result.difference(metric, first, second)
        low, high = gap.interval(level)
        table.add_row(
            Text(f"{one_line(first, 24)} - {one_line(second, 24)}"), f"{gap.mean:+.3f}", f"{low:+.3f} – {high:+.3f}",
            f"{gap.probability_better:.1%}", f"{gap.probability_equivalent(within):.0%}",
        )  # fmt: skip
    if len(pairs) > MOST_PAIRS:
        table.add_row(f"… {len(pairs) - MOST_PAIRS} more: --json shows all")
    return table


def slices_table(result: Comparison, metric: str, level: float) -> Table:
    title = plain_table("slices, pooled with each other; on new data like them")
    table = _columns(title, "", "items", "model", "estimate", f"{percent(level)} interval", "alone")
    for part in result.by_slice(metric):
        low, high = part.pooled.interval(level)
        table.add_row(
            Text(one_line(part.name, 24)), f"{part.items:,}", Text(one_line(part.model, 40)), f"{part.pooled.mean:.3f}",
            f"{low:.3f} – {high:.3f}", f"{part.alone.mean:.3f}",
        )  # fmt: skip
    return table


def figure(
    result: Comparison, metric: str = "accuracy", level: float = 0.95, ax: Any = None
) -> Any:
    """Intervals of the models, best first, with the value at face value beside each."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(6, 0.6 + 0.4 * len(result.models)), layout="constrained")
    best = result.probability_best(metric)
    for row, name in enumerate(reversed(ordered(result, metric))):
        estimate = result.estimate(name, metric)
        low, high = estimate.interval(level)
        ax.plot([low, high], [row, row], color="#0072B2", linewidth=3, solid_capstyle="round")
        ax.plot(estimate.mean, row, "o", color="#0072B2")
        ax.plot(
            result.at_face_value(name, metric),
            row,
            "D",
            color="#D55E00",
            markersize=5,
            markerfacecolor="none",
        )
        ax.annotate(
            f"best with {best[name]:.0%}",
            (high, row),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    ax.set_yticks(
        range(len(result.models)), [safe(m, 30) for m in reversed(ordered(result, metric))]
    )
    ax.set_xlabel(f"{safe(name_of(metric, result), 60)}, {level:.0%} intervals; ◇ at face value")
    ax.set_ylim(-0.6, len(result.models) - 0.4)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    return ax


def save(result: Comparison, metric: str, path: str, level: float) -> None:
    ax = figure(result, metric, level)
    ax.figure.savefig(path, dpi=150)
