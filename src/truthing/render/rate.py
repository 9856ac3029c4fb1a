"""Shares of the classes for people."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from truthing.metrics.words import percent
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.figures import Picture, draw_lines
from truthing.render.sheet import Sheet
from truthing.render.slices import differences_block, slices_block
from truthing.render.summary import Line
from truthing.render.terminal import (
    MOST_METRICS,
    add_line,
    block_table,
    checks,
    doubts,
    lines_table,
    section,
)
from truthing.render.words import gold_fact, gold_says, one_line
from truthing.shares import Prevalence


def show(result: Prevalence, console: Console, *, level: float = 0.95) -> None:
    """Shares of the classes, for the terminal."""
    console.print(Text(safe(result.verdict(level), 1000), style="bold"))
    checks(console, result.warnings)
    console.print()
    table, draw = lines_table(level, console, "share")
    for k, name in enumerate(result.classes[:MOST_METRICS]):
        add_line(table, one_line(name), result[name], float(result.face_value[k]), level, draw)
    if len(result.classes) > MOST_METRICS:
        table.add_row(f"… {len(result.classes) - MOST_METRICS} more: the JSON form has all")
    console.print(table, soft_wrap=False)
    if alone := gold_alone(result, level):
        console.print()
        section(console, "Gold", [alone])
    if result.values is not None:
        console.print(Text(mean_grade(result, level)))
    for block in blocks(result, level):
        console.print()
        console.print(block_table(block), soft_wrap=False)
    doubts(console, result.assumptions)


def gold_alone(result: Prevalence, level: float) -> str:
    """What gold by itself would say of the classes shown."""
    shown = result.classes[-1:] if len(result.classes) == 2 else result.classes[:MOST_METRICS]
    alone = result.gold_alone
    found = [(one_line(c), alone[c]) for c in shown if c in alone]
    return gold_says(result.sizes["gold"], found, level)


def mean_grade(result: Prevalence, level: float) -> str:
    """A sentence on the mean of the true grades."""
    assert result.values is not None
    low, high = result.mean_score.interval(level)
    naive = float(result.face_value @ result.values)
    return (
        f"The mean grade is {result.mean_score.mean:.2f} ({percent(level)} interval {low:.2f} to "
        f"{high:.2f}); at face value {naive:.2f}."
    )


def blocks(result: Prevalence, level: float) -> tuple[Block, ...]:
    """Slices, and how they differ: two systems before one panel are two slices."""
    if not result.slices:
        return ()
    shares = slices_block(result.by_slice(), one_line(result.headline_class, 16), level)
    return (shares, differences_block(result, level)) if len(result.slices) > 1 else (shares,)


def sheet(result: Prevalence, *, level: float = 0.95, **more: Any) -> Sheet:
    lines = tuple(
        Line.of(one_line(name), result[name], (level,), float(naive))
        for name, naive in zip(result.classes, result.face_value)
    )
    return Sheet(
        title="How frequent is each class?",
        headline=result.verdict(level),
        more=() if result.values is None else (mean_grade(result, level),),
        level=level,
        what="class",
        estimate="share",
        lines=lines,
        ends=(0.0, 1.0),
        blocks=blocks(result, level),
        facts=gold_fact(gold_alone(result, level)),
        warnings=tuple(result.warnings),
        assumptions=tuple(result.assumptions),
        **more,
    )


def pictures(result: Prevalence, level: float = 0.95) -> dict[str, Picture]:
    """Shares with their intervals."""
    lines = list(sheet(result, level=level).lines)[:MOST_METRICS]

    def draw(ax: Any) -> Any:
        draw_lines(ax, lines)
        return ax.set(xlabel="share")

    sentence = (
        f"Share of each class with {percent(level)} intervals, corrected for mistakes of the "
        "labelers."
    )
    return {"shares": Picture(draw, sentence, 6, 1 + 0.34 * len(lines))}
