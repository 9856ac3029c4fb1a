"""Reports as tables for other programs: CSV for spreadsheets, Markdown for pull requests and notes."""

from __future__ import annotations

from typing import Any

import polars as pl

from truthing.rate import Prevalence
from truthing.render.console import safe
from truthing.render.words import metric_title, number, one_line, percent
from truthing.report import Report
from truthing.tables.write import csv_text

COLUMNS = ("estimate", "low", "high", "at_face_value")


def as_csv(result: Report | Prevalence, level: float = 0.95) -> str:
    """One line for each metric (or class): estimate, limits, level and face value; formulas and control codes are made harmless."""
    first = "metric" if isinstance(result, Report) else "class"
    rows = [
        {first: safe(name, 1_000_000), **dict(zip(COLUMNS, values)), "level": level}
        for name, values in _values(result, level)
    ]
    return csv_text(pl.DataFrame(rows).with_columns(pl.col(pl.Float64).fill_nan(None)))


def as_markdown(result: Report | Prevalence, level: float = 0.95) -> str:
    """The verdict, the table, what was assumed and what to check."""
    lines = [
        f"**{escaped(result.verdict(level), 1000)}**", "",
        f"| | estimate | {percent(level)} interval | at face value |", "|---|---:|:---:|---:|",
    ]  # fmt: skip
    for name, (mean, low, high, naive) in _values(result, level):
        title = metric_title(result, name) if isinstance(result, Report) else one_line(name)
        shown = f"{number(low)} – {number(high)}" if mean == mean else "undefined"
        lines.append(f"| {escaped(title)} | {number(mean)} | {shown} | {number(naive)} |")
    for heading, said in (("Assumed", result.assumptions), ("Check", result.warnings)):
        if said:
            lines += ["", f"{heading}:", "", *(f"- {escaped(line, 1000)}" for line in said)]
    return "\n".join(lines) + "\n"


def escaped(text: Any, most: int = 80) -> str:
    r"""Somebody's text inside Markdown: shown, never obeyed.

    >>> escaped("a|b <script> [x](y) `c`")
    'a\\|b &lt;script&gt; \\[x\\](y) \\`c\\`'
    """
    plain = one_line(text, most).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + letter if letter in "\\|`*_[]~#" else letter for letter in plain)


def _values(
    result: Report | Prevalence, level: float
) -> list[tuple[str, tuple[float, float, float, float]]]:
    if isinstance(result, Report):
        found = [(name, result[name], result.at_face_value(name)) for name in result.metrics]
    else:
        found = [
            (str(c), result[c], float(result.face_value[k])) for k, c in enumerate(result.classes)
        ]
    return [
        (name, (estimate.mean, *estimate.interval(level), naive)) for name, estimate, naive in found
    ]
