"""Quality over time for people: the alarm, then batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from truthing import __version__
from truthing.metrics.estimate import Estimate
from truthing.metrics.words import percent
from truthing.monitoring.result import Monitoring
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.figures import Picture
from truthing.render.sheet import Sheet
from truthing.render.summary import Line
from truthing.render.terminal import add_line, block_table, checks, doubts, lines_table, section
from truthing.render.words import number, one_line

MOST_BATCHES = 60
RAMDAS = (
    "Waudby-Smith, I. and Ramdas, A. (2024). Estimating means of bounded random variables by "
    "betting. Journal of the Royal Statistical Society B 86(1), 1–27."
)


def show(result: Monitoring, console: Console, *, level: float = 0.95) -> None:
    console.print(Text(safe(result.verdict(level), 1000), style="bold"))
    checks(console, result.warnings)
    console.print()
    table, draw = lines_table(level, console, "pass rate")
    found = result.batches(level)
    for batch in found[-MOST_BATCHES:]:
        name = f"{one_line(batch.name, 24)} ({batch.items:,})"
        rate = Estimate.from_draws([batch.rate])
        shown = Estimate(
            rate.values, rate.weights, "draws", interval_rule=_limits(batch.low, batch.high)
        )
        add_line(table, name, shown, float("nan"), level, draw)
    console.print(table, soft_wrap=False)
    for block in judge_block(result, level):
        console.print()
        console.print(block_table(block), soft_wrap=False)
    low, high = result.running(level)
    mean = result.passed.mean()
    told = f"Over all items {mean:.3f}, between {low:.3f} and {high:.3f} at every look."
    section(console, "So far", [told])
    doubts(console, result.assumptions)
    section(console, "Methods", [methods(result, level)])


def judge_block(result: Monitoring, level: float) -> tuple[Block, ...]:
    """The judge's agreement with gold by version, where rows have both."""
    found = result.agreement(level)
    if len(found) < 2:
        return ()
    before = {change.later: change for change in result.agreement_changes(level)}
    rows = []
    for rate in found[-MOST_BATCHES:]:
        step = before.get(rate.name)
        told = (
            "" if step is None else f"{step.difference:+.3f} ({step.low:+.3f} – {step.high:+.3f})"
        )
        span = f"{number(rate.low)} – {number(rate.high)}"
        rows.append((one_line(rate.name, 24), f"{rate.items:,}", number(rate.rate), span, told))
    heads = ("version", "items", "agreement", f"{percent(level)} limits", "since the one before")
    return (Block("The judge's agreement with gold", heads, tuple(rows)),)


def _limits(low: float, high: float) -> Any:
    return lambda level: (low, high)


def methods(result: Monitoring, level: float = 0.95) -> str:
    """A paragraph for a paper."""
    judged = ""
    if len(result.agreement(level)) > 1:
        judged = (
            " Versions of the judge were compared by their agreement with gold (exact permutation "
            f"test, p = {result.agreement_p_value:.2g})."
        )
    what = "known outcomes" if result.gold else "labels with a stated bound on their mistakes"
    return (
        f"The pass rate was watched on {what} of {len(result.passed):,} items with truthing "
        f"{__version__}: an e-process against a rate of {result.floor:.4g} or more (a mixture of "
        "bets over start times; Waudby-Smith & Ramdas 2024) rings with probability "
        f"{result.alarm_chance:.4g} at most if the rate never was below. Batches have exact "
        f"{percent(level)} limits, Bonferroni-corrected.{judged}"
    )


def sheet(result: Monitoring, *, level: float = 0.95, **more: Any) -> Sheet:
    lines = tuple(
        Line(f"{one_line(b.name)} ({b.items:,} items)", b.rate, [(b.low, b.high)])
        for b in result.batches(level)
    )
    low, high = result.running(level)
    return Sheet(
        title="Has quality fallen?",
        headline=result.verdict(level),
        level=level,
        what="batch",
        estimate="pass rate",
        lines=lines,
        ends=(0.0, 1.0),
        blocks=judge_block(result, level),
        facts=(("So far", f"{result.passed.mean():.3f} ({low:.3f} to {high:.3f} at every look)"),),
        warnings=tuple(result.warnings),
        assumptions=tuple(result.assumptions),
        methods=methods(result, level),
        references=(RAMDAS,),
        **more,
    )


def pictures(result: Monitoring, level: float = 0.95) -> dict[str, Picture]:
    """The evidence over time, with the line at which the alarm rings."""

    def draw(ax: Any) -> Any:
        ax.plot(np.arange(1, len(result.evidence) + 1), result.evidence, lw=1.5)
        ax.axhline(1 / result.alarm_chance, ls="--", color="black", lw=0.8)
        return ax.set(xlabel="items", ylabel="evidence of a fall (e-value)", yscale="log")

    words = f"Evidence that the pass rate fell below {result.floor:.4g}; the alarm rings at the "
    return {"evidence": Picture(draw, words + "dashed line.", 6, 3)}
