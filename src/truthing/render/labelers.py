"""Labelers for people: who is worth the pay, bars for bits, agreement, pairs, and every doubt in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing.errors import InputError
from truthing.people.result import LabelersReport
from truthing.render.console import safe
from truthing.render.terminal import drawn_bar

BAR, MOST_PAIRS, MOST_CLASSES, MOST_DRAWN = 24, 5, 6, 40
COEFFICIENTS = {
    "fleiss_kappa": "Fleiss' κ",
    "krippendorff_alpha": "Krippendorff's α",
    "gwet_ac1": "Gwet's AC1",
    "cohen_kappa": "Cohen's κ",
    "conger_kappa": "Cohen's κ (Conger)",
}


def show(
    result: LabelersReport, console: Console, *, level: float, expert: float, top: int
) -> None:
    """A sentence, the labelers, what they have in common, and what was assumed."""
    console.print(Text(safe(result.verdict(level), 2000), style="bold"))
    console.print()
    console.print(people_table(result, level, top), soft_wrap=False)
    console.print()
    if result.agreement:
        shown = [
            f"{COEFFICIENTS[name]} {_span(value, level)}"
            for name, value in result.agreement.items()
        ]
        _line(console, "Agree", " · ".join(shown))
    for pair in result.pairs[:MOST_PAIRS]:
        _line(console, "Pairs", str(pair))
    if len(result.pairs) > MOST_PAIRS:
        _line(console, "Pairs", f"{len(result.pairs) - MOST_PAIRS} more: --json shows all.")
    for name, meant in list(result.readings.items())[:MOST_PAIRS]:
        _line(
            console,
            "Invert",
            f"{name}: " + ", ".join(f"{said} means {truth}" for said, truth in meant.items()),
        )
    _line(console, "Expert", expert_sentence(result, expert))
    for title, lines in (("Assumed", result.assumptions), ("Check", result.warnings)):
        for line in lines:
            _line(console, title, line)


def expert_sentence(result: LabelersReport, expert: float) -> str:
    """How many labelers like these are worth one expert."""
    try:
        needed = result.needed(expert)
    except InputError as problem:
        return f"Against an expert with {expert:.1%} error: {problem}"
    return f"An expert with {expert:.1%} error is matched by {needed} label{'s' * (needed != 1)} an item from independent labelers like the average of these."


def people_table(result: LabelersReport, level: float, top: int) -> Table:
    """Best first; of many labelers the best and the worst."""
    table = Table(box=None, pad_edge=False, header_style="")
    right = (
        [f"right on {safe(c, 12)}" for c in result.classes]
        if len(result.classes) <= MOST_CLASSES
        else []
    )
    checked = bool(result.gold_checked.any())
    scale_head = f"0{result.most_bits:>{BAR - 1}.2f}"
    heads = [
        "",
        "labels",
        "error",
        f"{level:.0%} interval",
        *(["by the others"] if result.graded else []),
        *right,
        "bits a label",
        scale_head,
        "adds",
    ]
    for column in [*heads, *(["wrong on gold"] if checked else []), "note"]:
        table.add_column(
            column, justify="left" if column in ("", scale_head, "note") else "right", no_wrap=True
        )
    frame = result.frame(level).to_dicts()
    n = int((result.given > 0).sum())
    shown = list(range(n)) if n <= top else [*range(-(-top // 2)), -1, *range(n - top // 2, n)]
    for place in shown:
        if place < 0:
            table.add_row(f"… {n - top} more")
            continue
        t, row = int(result.order[place]), frame[place]
        scale = max(result.most_bits, 1e-9)
        bar = drawn_bar(row["bits_low"] / scale, row["bits"] / scale, row["bits_high"] / scale, BAR)
        table.add_row(
            safe(row["labeler"], 24), f"{row['labels']:,}", f"{row['error']:.3f}", f"{row['error_low']:.3f} – {row['error_high']:.3f}",
            *([error_by_others(row)] if result.graded else []),
            *(f"{result.noise.confusion[t, c, c]:.2f}" for c in range(len(right))),  # type: ignore[index]
            f"{row['bits']:.3f}", bar, f"{row['adds']:.3f}",
            *([f"{result.gold_wrong[t]} of {result.gold_checked[t]}"] if checked else []), "" if row["kind"] == "useful" else row["kind"],
        )  # fmt: skip
    return table


def error_by_others(row: dict[str, Any]) -> str:
    """The interval of `graded` in a row of the report's frame; empty where the others know too little."""
    return (
        f"{row['graded_low']:.2f} – {row['graded_high']:.2f}"
        if np.isfinite(row.get("graded", np.nan))
        else ""
    )


def _span(value: Any, level: float) -> str:
    low, high = value.interval(level)
    return f"{value.value:.2f} ({low:.2f} – {high:.2f})"


def _line(console: Console, title: str, text: str) -> None:
    console.print(Text.assemble((f"{title:<8} ", "bold"), safe(text, 1000)))


def draw(ax: Any, result: LabelersReport, level: float = 0.95) -> None:
    """Bits in a label and what it adds to the others', best first."""
    frame = result.frame(level).head(MOST_DRAWN)
    place = -np.arange(len(frame))
    for what, colour, shift, label in (
        ("bits", "#0072B2", 0.12, "in a label"),
        ("adds", "#D55E00", -0.12, "added to the others"),
    ):
        value = frame[what].to_numpy()
        error = [
            np.maximum(value - frame[f"{what}_low"], 0),
            np.maximum(frame[f"{what}_high"] - value, 0),
        ]
        ax.errorbar(
            value, place + shift, xerr=error, fmt="o", ms=4, color=colour, lw=1.5, label=label
        )
    ax.axvline(result.most_bits, color="black", lw=0.8, ls=":", label="the truth itself")
    ax.set_yticks(place, [safe(name, 24).replace("$", r"\$") for name in frame["labeler"]])
    ax.set(xlabel="bits", xlim=(0, None), title=f"What labels are worth ({level:.0%} intervals)")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def save(result: LabelersReport, path: str, level: float) -> None:
    """The picture as a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("figures need matplotlib: pip install 'truthing[plot]'.") from None
    rows = min(len(result.labelers), MOST_DRAWN)
    figure = Figure(figsize=(7, 1.3 + 0.25 * rows), layout="constrained")
    draw(figure.subplots(), result, level)
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{path} cannot be written ({problem}): give a file that ends in .png, .svg or .pdf."
        ) from None
