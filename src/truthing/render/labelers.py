"""Labelers for people: whom to keep, retrain or drop, what labels tell, agreement, pairs, and every
doubt in words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing.errors import InputError
from truthing.metrics.words import percent
from truthing.people.advice import Advice
from truthing.people.result import LabelersReport
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.figures import Picture
from truthing.render.sheet import Sheet
from truthing.render.summary import Line, scale
from truthing.render.terminal import checks, doubts, fits, section
from truthing.render.words import one_line, short_names, wider

MOST_PAIRS, MOST_CLASSES, MOST_DRAWN, MOST_SHOWN = 5, 6, 40, 200
LETTERS = (40, 24, 16)  # of names, by the room there is
COEFFICIENTS = {
    "fleiss_kappa": "Fleiss' κ",
    "krippendorff_alpha": "Krippendorff's α",
    "gwet_ac1": "Gwet's AC1",
    "cohen_kappa": "Cohen's κ",
    "conger_kappa": "Cohen's κ (Conger)",
    "ordinal_alpha": "Krippendorff's ordinal α",
    "weighted_kappa": "quadratic-weighted κ",
}


def show(
    result: LabelersReport,
    console: Console,
    *,
    level: float = 0.95,
    expert: float = 0.05,
    top: int = 20,
    left_out: str = "",
) -> None:
    """Whom to keep, retrain or drop, the labelers, what they have in common, and what was
    assumed.
    """
    first, *rest = result.sentences(level)
    console.print(Text(safe(first, 2000), style="bold"))
    for sentence in ([left_out] if left_out else []) + rest:
        console.print(Text(safe(sentence, 1000)))
    checks(console, result.warnings)
    console.print()
    console.print(people_table(result, console, level, top), soft_wrap=False)
    console.print()
    for title, lines in facts(result, level, expert).items():
        section(console, title, lines)
    doubts(console, result.assumptions)


def facts(result: LabelersReport, level: float, expert: float) -> dict[str, list[str]]:
    """What is said about the panel beside the table."""
    agree = " · ".join(
        f"{COEFFICIENTS[name]} {_span(value, level)}" for name, value in result.agreement.items()
    )
    pairs = [str(pair) for pair in result.pairs[:MOST_PAIRS]]
    if len(result.pairs) > MOST_PAIRS:
        pairs.append(f"{len(result.pairs) - MOST_PAIRS} more: the JSON form has all.")
    swaps = [
        f"{name}: " + ", ".join(f"{word} means {truth}" for word, truth in meant.items())
        for name, meant in list(result.readings.items())[:MOST_PAIRS]
    ]
    found = {"Agree": [agree] if agree else [], "Pairs": pairs, "Invert": swaps}
    found["Slices"] = worst_slices(result, level)
    return {**found, "Expert": [expert_sentence(result, expert)]}


def worst_slices(result: LabelersReport, level: float) -> list[str]:
    """Where each labeler errs most, with the probability that it is that slice."""
    told = []
    for name in list(result.slices)[:MOST_PAIRS]:
        found = result.by_slice(name)
        worst = max(found, key=lambda each: each.probability_worst)
        low, high = worst.estimate.interval(level)
        told.append(
            f"{one_line(name)} errs most in {one_line(worst.name)} of {len(found)} slices with "
            f"probability {worst.probability_worst:.0%}: {low:.2f} to {high:.2f} by the others."
        )
    if len(result.slices) > MOST_PAIRS:
        told.append(f"{len(result.slices) - MOST_PAIRS} more labelers: the JSON form shows all.")
    return told


def sheet(
    result: LabelersReport,
    *,
    level: float = 0.95,
    expert: float = 0.05,
    left_out: str = "",
    **more: Any,
) -> Sheet:
    rows = result.to_frame(level).to_dicts()[:MOST_SHOWN]
    lines = [
        Line(one_line(row["labeler"]), row["error"], [(row["error_low"], row["error_high"])])
        for row in rows
    ]
    heads = ("labeler", "advice", "labels", "label tells", "adds", "error by the others")
    most = max(result.most_bits, 1e-12)
    cells = tuple(
        (
            one_line(row["labeler"]),
            _advice(row),
            f"{row['labels']:,}",
            f"{row['bits'] / most:.0%}",
            f"{row['adds'] / most:.0%}",
            error_by_others(row),
        )
        for row in rows
    )
    told = facts(result, level, expert)
    return Sheet(
        title="Who labels well?",
        headline=result.sentences(level)[0],
        more=(*([left_out] if left_out else []), *result.sentences(level)[1:]),
        level=level,
        what="labeler",
        estimate="error",
        lines=tuple(lines),
        ends=(0.0, scale(lines)[1]),
        blocks=(
            Block(
                "What to do about whom",
                heads,
                cells,
                "Label tells: the share of what a perfect label would tell about the truth. Adds: "
                "the share that the others' labels do not tell.",
            ),
        ),
        facts=tuple((word, line) for word, lines in told.items() for line in lines),
        warnings=tuple(result.warnings),
        assumptions=tuple(result.assumptions),
        **more,
    )


def pictures(result: LabelersReport, level: float = 0.95, **_: Any) -> dict[str, Picture]:
    """What labels are worth."""
    rows = min(len(result.labelers), MOST_DRAWN)

    caption = (
        "What one label of each labeler tells about the truth, and what it adds to the other "
        "labels of its items, as shares of "
        f"what a perfect label would tell; {percent(level)} intervals."
    )
    height = 1.3 + 0.25 * rows
    return {"labelers": Picture(lambda ax: draw(ax, result, level), caption, 7, height)}


def expert_sentence(result: LabelersReport, expert: float) -> str:
    """How many labelers like these are worth one expert."""
    try:
        needed = result.needed(expert)
    except InputError as problem:
        return f"Against an expert with {expert:.1%} error: {problem}"
    return (
        f"An expert with {expert:.1%} error is matched by {needed} label{'s' * (needed != 1)} "
        "per item from independent labelers like the average of these."
    )


def people_table(result: LabelersReport, console: Console, level: float, top: int) -> Table:
    """Best first, of many labelers the best and the worst; as many columns as there is room for,
    the error always.
    """
    optional = [
        "by the others",
        "wrong on gold",
        *(f"right on {safe(c, 12)}" for c in result.classes),
    ]
    if not result.graded:
        optional.remove("by the others")
    if not result.gold_checked.any():
        optional.remove("wrong on gold")
    if len(result.classes) > MOST_CLASSES:
        optional = [name for name in optional if not name.startswith("right on")]
    for count in range(len(optional), -1, -1):
        for letters in LETTERS:
            table = _people(result, optional[:count], level, top, letters)
            if fits(table, console):
                if count < len(optional):
                    table.caption = f"{table.caption}\n{wider(optional[count:])}"
                return table
    # numbers are never cut: names and advice take more lines instead
    table = _people(result, [], level, top, min(LETTERS))
    for column in (table.columns[0], table.columns[-1]):
        column.no_wrap, column.overflow = False, "fold"
    return table


def _people(
    result: LabelersReport, optional: list[str], level: float, top: int, letters: int
) -> Table:
    table = Table(box=None, pad_edge=False, header_style="")
    heads = (
        "",
        "labels",
        "error",
        f"{percent(level)} interval",
        *optional,
        "tells",
        "adds",
        "advice",
    )
    for column in heads:
        table.add_column(
            column, justify="left" if column in ("", "advice") else "right", no_wrap=True
        )
    frame, most = result.to_frame(level).to_dicts(), max(result.most_bits, 1e-12)
    n = int((result.given > 0).sum())
    names = short_names([row["labeler"] for row in frame], letters)
    shown = list(range(n)) if n <= top else [*range(-(-top // 2)), -1, *range(n - top // 2, n)]
    for place in shown:
        if place < 0:
            table.add_row(f"… {n - top} more")
            continue
        t, row = int(result.order[place]), frame[place]
        extra = {
            "by the others": error_by_others(row),
            "wrong on gold": f"{result.gold_wrong[t]} of {result.gold_checked[t]}",
            **{
                f"right on {safe(c, 12)}": f"{result.noise.confusion[t, k, k]:.2f}"  # type: ignore[index]
                for k, c in enumerate(result.classes)
            },
        }
        table.add_row(
            Text(names[place]),
            f"{row['labels']:,}",
            f"{row['error']:.3f}",
            f"{row['error_low']:.3f} – {row['error_high']:.3f}",
            *(extra[name] for name in optional),
            f"{row['bits'] / most:.0%}",
            f"{row['adds'] / most:.0%}",
            Text(_advice(row)),
        )
    table.caption = (
        "tells, adds: share of what a perfect label would tell, and of that what the others do not"
    )
    table.caption_justify, table.caption_style = "left", ""
    return table


def _advice(row: dict[str, Any]) -> str:
    return one_line(str(Advice(row["advice"], row["reason"])), 22)


def error_by_others(row: dict[str, Any]) -> str:
    """The interval of `graded` in a row of the report's frame; empty where the others know too
    little.
    """
    return (
        f"{row['graded_low']:.2f} – {row['graded_high']:.2f}"
        if np.isfinite(row.get("graded", np.nan))
        else ""
    )


def _span(value: Any, level: float) -> str:
    low, high = value.interval(level)
    return f"{value.value:.2f} ({low:.2f} – {high:.2f})"


def draw(ax: Any, result: LabelersReport, level: float = 0.95) -> None:
    """Bits in a label and what it adds to the others', best first."""
    frame, most = result.to_frame(level).head(MOST_DRAWN), max(result.most_bits, 1e-12)
    place = -np.arange(len(frame))
    for what, colour, shift, label in (
        ("bits", "#0072B2", 0.12, "a label tells"),
        ("adds", "#D55E00", -0.12, "beyond the others"),
    ):
        value, low, high = (
            100 * frame[name].to_numpy() / most for name in (what, f"{what}_low", f"{what}_high")
        )
        error = [np.maximum(value - low, 0), np.maximum(high - value, 0)]
        ax.errorbar(
            value, place + shift, xerr=error, fmt="o", ms=4, color=colour, lw=1.5, label=label
        )
    ax.set_yticks(place, [safe(name, 24).replace("$", r"\$") for name in frame["labeler"]])
    ax.set(xlabel=f"% of what a perfect label tells, {percent(level)} intervals", xlim=(0, 100))
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
