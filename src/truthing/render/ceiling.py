"""The ceiling for people: a sentence, bars on one scale, and the picture of models and ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from truthing.ceiling.result import BayesError
from truthing.ceiling.verdict import CeilingVerdict
from truthing.metrics.words import percent
from truthing.render.console import safe
from truthing.render.figures import Picture
from truthing.render.sheet import Sheet
from truthing.render.summary import Line
from truthing.render.terminal import checks, doubts

WIDTH = 38


def show(result: BayesError, console: Console, *, level: float = 0.95, remarks: str = "") -> None:
    """Sentence, doubts, numbers, verdict, assumptions."""
    if remarks:
        console.print(Text(safe(remarks, 500), style="dim"))
    for sentence in headline(result, level):
        console.print(Text(sentence, style="bold"))
    if result.verdict is not None:
        console.print(Text(result.verdict.sentence))
    checks(console, result.warnings)
    console.print()
    for line in bars(result, level):
        console.print(Text(line))
    doubts(console, result.assumptions)


def sheet(result: BayesError, *, level: float = 0.95, remarks: str = "", **more: Any) -> Sheet:
    first, *rest = headline(result, level)
    verdict = [] if result.verdict is None else [result.verdict.sentence]
    lines = [Line(what, error, [limits]) for what, error, limits in result.shown_errors(level)]
    return Sheet(
        title="What is the least error any classifier can reach?",
        headline=first,
        more=(*rest, *verdict, *([remarks] if remarks else [])),
        level=level,
        estimate="error",
        lines=tuple(lines),
        warnings=tuple(result.warnings),
        assumptions=tuple(result.assumptions),
        **more,
    )


def pictures(result: BayesError, level: float = 0.95, **_: Any) -> dict[str, Picture]:
    """Models and ceiling."""
    models = {} if result.verdict is None else {"model": result.verdict}

    sentence = (
        "Error of the model (bar) and the least error any classifier can reach (line), with "
        f"{percent(level)} intervals."
    )
    if not np.isfinite(result.value):
        return {}
    return {"ceiling": Picture(lambda ax: draw(ax, result, models, level), sentence, 4, 3.5)}


def headline(result: BayesError, level: float) -> list[str]:
    """What a person needs first."""
    if result.labeler_error is not None:
        noise = result.labeler_error
        low, high = noise.interval(level)
        return [
            "If disagreement is labelers' mistakes, it sets no ceiling: every item has one truth, "
            "and 0% error is possible.",
            f"The labelers themselves err on {noise.value:.2%} of the labels ({percent(level)} "
            f"interval {low:.2%} to {high:.2%}).",
        ]
    if np.isnan(result.value):
        return [
            f"The Bayes error is {result.details['over_prior']:.4f} times the unknown share "
            "of the positive class."
        ]
    low, high = result.interval(level)
    sentences = [
        f"No classifier can err on fewer than {result.value:.2%} of labels like these "
        f"({percent(level)} interval {low:.2%} to {high:.2%})."
    ]
    if result.identified is not None:
        sentences.append(
            f"The labels pin it down to {result.lower:.2%} to {result.upper:.2%}, sampling "
            "error apart; "
            f"taken at face value they would say {result.paper:.2%}."
        )
    return sentences


def bars(result: BayesError, level: float) -> list[str]:
    """Ceiling and model on one scale."""
    rows = result.shown_errors(level)
    top = max([high for _, _, (_, high) in rows] + [1e-6])
    lines = (
        [f"{'':<10}{'error':>8}   {f'{level:.0%} interval':<17}  0{'':<{WIDTH - 8}}{top:.2%}"]
        if rows
        else []
    )
    for name, value, (low, high) in rows:
        place = [round(WIDTH * x / top) for x in (low, value, high)]
        bar = "".join(
            "●" if i == place[1] else "━" if place[0] <= i <= place[2] else " "
            for i in range(WIDTH + 1)
        )
        lines.append(f"{name:<10}{value:>8.2%}   {f'{low:.2%} – {high:.2%}':<17}  {bar}".rstrip())
    return lines


def draw(
    ax: Any, result: BayesError, models: Mapping[str, CeilingVerdict], level: float = 0.95
) -> None:
    """Models as bars with intervals, the ceiling as a line with its band (the paper's Figure 4)."""
    low, high = result.interval(level)
    ax.axhspan(100 * low, 100 * high, color="#D55E00", alpha=0.2, linewidth=0)
    ax.axhline(100 * result.value, color="#D55E00", label=f"Bayes error {result.value:.2%}")
    for place, verdict in enumerate(models.values()):
        limits = verdict.interval(level)
        error = [[100 * (verdict.error - limits[0])], [100 * (limits[1] - verdict.error)]]
        ax.bar(
            place, 100 * verdict.error, width=0.6, color="#0072B2", alpha=0.7, yerr=error, capsize=4
        )
    ax.set_xticks(range(len(models)), list(models))
    ax.set_ylabel("error (%)")
    ax.margins(y=0.2)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
