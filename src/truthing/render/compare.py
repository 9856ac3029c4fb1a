"""A comparison for people: a sentence, the models with bars, the differences, ranks, slices,
and every doubt in words.
"""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing.comparison.result import Comparison, name_of
from truthing.metrics.words import percent
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.figures import Picture, new_axes
from truthing.render.sheet import Sheet
from truthing.render.summary import Line
from truthing.render.terminal import add_line, checks, doubts, lines_table, plain_table
from truthing.render.words import one_line, short_names

MOST_PAIRS = 20


def show(
    result: Comparison,
    console: Console,
    *,
    metric: str = "accuracy",
    level: float = 0.95,
    within: float = 0.01,
) -> None:
    console.print(Text(safe(result.verdict(metric, level), 1000), style="bold"))
    console.print(Text(safe(result.order_sentence(metric), 1000)))
    checks(console, result.warnings)
    console.print()
    console.print(models_table(result, metric, level, console), soft_wrap=False)
    console.print()
    console.print(pairs_table(result, metric, level, within), soft_wrap=False)
    if result.slices:
        console.print()
        console.print(slices_table(result, metric, level), soft_wrap=False)
    doubts(console, result.assumptions)


def sheet(
    result: Comparison,
    *,
    metric: str = "accuracy",
    level: float = 0.95,
    within: float = 0.01,
    **more: Any,
) -> Sheet:
    best, names = result.probability_best(metric), ordered(result, metric)
    lines = [
        Line.of(
            f"{shown} (best: {best[name]:.0%})",
            result.estimate(name, metric),
            (level,),
            result.at_face_value(name, metric),
        )
        for name, shown in zip(names, short_names(names, 40))
    ]
    heads: tuple[str, ...] = (
        "",
        "difference",
        f"{percent(level)} interval",
        "P(better)",
        f"P(within {within:g})",
    )
    blocks = [Block("Differences, paired", heads, tuple(pair_rows(result, metric, level, within)))]
    if result.slices:
        heads = ("", "items", "model", "estimate", f"{percent(level)} interval", "alone")
        title = "Slices, pooled with each other; on new data like them"
        blocks.append(Block(title, heads, tuple(slice_rows(result, metric, level))))
    return Sheet(
        title="Which model is better?",
        headline=result.verdict(metric, level),
        more=(result.order_sentence(metric),),
        level=level,
        what=one_line(name_of(metric, result)),
        lines=tuple(lines),
        blocks=tuple(blocks),
        warnings=tuple(result.warnings),
        assumptions=tuple(result.assumptions),
        **more,
    )


def pictures(
    result: Comparison, level: float = 0.95, metric: str = "accuracy", **_: Any
) -> dict[str, Picture]:
    """The models with their intervals."""
    sentence = (
        f"{name_of(metric, result).capitalize()} of each model with {percent(level)} intervals "
        f"(bars), and "
        "against the labels taken at face value (diamonds)."
    )
    height = 0.6 + 0.4 * len(result.models)
    return {"models": Picture(lambda ax: figure(result, metric, level, ax), sentence, 6, height)}


def ordered(result: Comparison, metric: str) -> list[str]:
    best = result.probability_best(metric)
    return sorted(result.models, key=lambda m: -best[m])


def models_table(result: Comparison, metric: str, level: float, console: Console) -> Table:
    table, draw = lines_table(level, console, safe(name_of(metric, result), 24))
    best, names = result.probability_best(metric), ordered(result, metric)
    for name, shown in zip(names, short_names(names, 30 if console.width >= 96 else 16)):
        add_line(
            table,
            f"{shown} (best: {best[name]:.0%})",
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


def pair_rows(
    result: Comparison, metric: str, level: float, within: float
) -> list[tuple[str, ...]]:
    names = ordered(result, metric)
    shown = dict(zip(names, short_names(names, 24)))
    rows: list[tuple[str, ...]] = []
    for first, second in [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]:
        gap = result.difference(metric, first, second)
        low, high = gap.interval(level)
        rows.append(
            (
                f"{shown[first]} - {shown[second]}",
                f"{gap.mean:+.3f}",
                f"{low:+.3f} – {high:+.3f}",
                f"{gap.probability_better:.1%}",
                f"{gap.probability_equivalent(within):.0%}",
            )
        )
    return rows


def pairs_table(result: Comparison, metric: str, level: float, within: float) -> Table:
    rows = pair_rows(result, metric, level, within)
    table = _columns(
        plain_table("differences, paired"),
        "",
        "difference",
        f"{percent(level)} interval",
        "P(better)",
        f"P(within {within:g})",
    )
    for row in rows[:MOST_PAIRS]:
        table.add_row(*map(Text, row))
    if len(rows) > MOST_PAIRS:
        table.add_row(f"… {len(rows) - MOST_PAIRS} more: the JSON form has all")
    return table


def slice_rows(result: Comparison, metric: str, level: float) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for part in result.by_slice(metric):
        low, high = part.pooled.interval(level)
        rows.append(
            (
                one_line(part.name, 24),
                f"{part.items:,}",
                one_line(part.model, 40),
                f"{part.pooled.mean:.3f}",
                f"{low:.3f} – {high:.3f}",
                f"{part.alone.mean:.3f}",
            )
        )
    return rows


def slices_table(result: Comparison, metric: str, level: float) -> Table:
    title = plain_table("slices, pooled with each other; on new data like them")
    table = _columns(title, "", "items", "model", "estimate", f"{percent(level)} interval", "alone")
    for row in slice_rows(result, metric, level):
        table.add_row(*map(Text, row))
    return table


def figure(
    result: Comparison, metric: str = "accuracy", level: float = 0.95, ax: Any = None
) -> Any:
    """Intervals of the models, best first, with the value at face value beside each."""
    ax = new_axes(ax, 6, 0.6 + 0.4 * len(result.models))
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
    named = safe(name_of(metric, result), 60)
    ax.set_xlabel(f"{named}, {percent(level)} intervals; ◇ at face value")
    ax.set_ylim(-0.6, len(result.models) - 0.4)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    return ax
