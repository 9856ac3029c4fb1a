"""The ceiling for people: a sentence, bars on one scale, and the picture of models and ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from truthing.ceiling.result import BayesError
from truthing.ceiling.verdict import Verdict
from truthing.errors import InputError
from truthing.render.console import safe

WIDTH = 40


def show(result: BayesError, said: str, level: float, console: Console, notes: Console) -> None:
    """Sentence, numbers, verdict, assumptions; what has to be checked goes to ``notes``."""
    console.print(Text(safe(said, 500), style="dim"))
    for sentence in headline(result, level):
        console.print(Text(sentence, style="bold"))
    if result.verdict is not None:
        console.print(Text(result.verdict.sentence))
    console.print()
    for line in bars(result, level):
        console.print(Text(line))
    console.print()
    for n, sentence in enumerate(result.assumptions):
        console.print(Text(f"{'Assumed' if n == 0 else '':<9} {sentence}"))
    for n, sentence in enumerate(result.warnings):
        notes.print(Text(f"{'Check' if n == 0 else '':<9} {safe(sentence, 1000)}"))


def headline(result: BayesError, level: float) -> list[str]:
    """What a person needs first."""
    if result.labeler_error is not None:
        noise = result.labeler_error
        low, high = noise.interval(level)
        return [
            "Read as labeler error, disagreement sets no ceiling: every item has one truth, and 0% error is possible.",
            f"The labelers themselves err on {noise.value:.2%} of the labels; {level:.0%} sure it is between {low:.2%} and {high:.2%}.",
        ]
    if np.isnan(result.value):
        return [
            f"The Bayes error is {result.details['over_prior']:.4f} times the unknown share of the positive class."
        ]
    low, high = result.interval(level)
    said = [
        f"No classifier can err on fewer than {result.value:.2%} of labels like these; {level:.0%} sure this ceiling is between {low:.2%} and {high:.2%}."
    ]
    if result.identified is not None:
        said.append(
            f"The labels pin it down to {result.lower:.2%} to {result.upper:.2%}, sampling error apart; "
            f"taken at face value they would say {result.paper:.2%}."
        )
    return said


def bars(result: BayesError, level: float) -> list[str]:
    """Ceiling and model on one scale."""
    rows = []
    shown = result if result.labeler_error is None else result.labeler_error
    if np.isfinite(shown.value):
        rows.append(
            ("ceiling" if shown is result else "labelers", shown.value, shown.interval(level))
        )
    if result.verdict is not None:
        rows.append(("model", result.verdict.error, result.verdict.interval(level)))
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


def draw(ax: Any, result: BayesError, models: Mapping[str, Verdict], level: float = 0.95) -> None:
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


def save(result: BayesError, path: str, level: float) -> None:
    """The picture as a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("figures need matplotlib: pip install 'truthing[plot]'.") from None
    figure = Figure(figsize=(4, 3.5), layout="constrained")
    draw(
        figure.subplots(),
        result,
        {} if result.verdict is None else {"model": result.verdict},
        level,
    )
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{path} cannot be written ({problem}): give a file that ends in .png, .svg or .pdf."
        ) from None
