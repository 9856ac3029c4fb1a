"""Sheet: what of any result is shown, in one order: headline, doubts that change it, numbers,
assumptions, methods.

Each kind of result has a function `sheet` in its file of this room; Markdown, pages and the web
page are drawn from it.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from truthing import __version__
from truthing.metrics.words import percent
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.summary import Line, scale
from truthing.render.words import number, one_line
from truthing.requirements import Verdict
from truthing.results import Result
from truthing.tables.write import csv_text

FOLDER = Path(__file__).parent / "templates"
MOST_SENTENCES = 40


@dataclass(frozen=True)
class Sheet:
    """Everything that is shown of a result; ``lines`` are numbers with intervals, drawn on one
    scale.
    """

    title: str
    headline: str
    more: tuple[str, ...] = ()
    level: float = 0.95
    what: str = ""
    estimate: str = "estimate"
    lines: tuple[Line, ...] = ()
    ends: tuple[float, float] | None = None
    blocks: tuple[Block, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()  # a word, and what is said under it
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    following: str = ""
    methods: str = ""
    references: tuple[str, ...] = ()
    requirements: tuple[Verdict, ...] = ()

    @property
    def faced(self) -> bool:
        return any(line.face_value == line.face_value for line in self.lines)

    @property
    def scale(self) -> tuple[float, float]:
        return self.ends or scale(self.lines)


def sheet(result: Result, *, requirements: Sequence[Verdict] = (), **about: Any) -> Sheet:
    """The sheet of any result."""
    module = importlib.import_module(f"truthing.render.{result.kind}")
    return module.sheet(result, requirements=tuple(requirements), **about)


def as_csv(frame: pl.DataFrame) -> str:
    """A table for spreadsheets: formulas and control codes are made harmless."""
    clean = [
        pl.col(name).map_elements(lambda text: safe(text, 1_000_000), return_dtype=pl.String)
        for name, kind in frame.schema.items()
        if kind == pl.String
    ]
    return csv_text(frame.with_columns(*clean).with_columns(pl.col(pl.Float64).fill_nan(None)))


# ---- Markdown ------------------------------------------------------------------------------------


def as_markdown(shown: Sheet) -> str:
    """For notes, pull requests and the step summaries of build servers."""
    parts = [f"**{escaped(shown.headline, 2000)}**", *(escaped(s, 2000) for s in shown.more)]
    parts += _bullets("Required", [verdict.sentence for verdict in shown.requirements])
    parts += _bullets("Check", sentences(shown.warnings))
    if shown.lines:
        parts.append(_table(*lines_table(shown)))
    for block in shown.blocks:
        parts += [f"{escaped(block.title)}:"] if block.title else []
        parts.append(_table(block.heads, block.rows))
        parts += [escaped(block.note, 1000)] if block.note else []
    parts += _bullets("Also", [f"{word}: {fact}" for word, fact in shown.facts])
    parts += _bullets("Assumed", sentences(shown.assumptions))
    parts += _bullets("Next", [shown.following] if shown.following else [])
    parts += _bullets("Methods, ready to paste", [shown.methods] if shown.methods else [])
    parts += _bullets("References", shown.references)
    return "\n\n".join(parts) + "\n"


def lines_table(shown: Sheet) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The numbers with intervals as words."""
    faced = ("at face value",) if shown.faced else ()
    heads = (shown.what, shown.estimate, f"{percent(shown.level)} interval", *faced)
    rows = []
    for line in shown.lines:
        limits = (
            f"{number(line.limits[0][0])} – {number(line.limits[0][1])}"
            if line.known
            else "undefined"
        )
        cells = (line.title, number(line.mean), limits, number(line.face_value))
        rows.append(cells[: len(heads)])
    return heads, rows


def sentences(lines: Sequence[str]) -> list[str]:
    """Assumptions or warnings; a flood of them is cut and counted."""
    shown = [safe(line, 1000) for line in lines[:MOST_SENTENCES]]
    left = len(lines) - len(shown)
    return [*shown, f"{left:,} more: the JSON form has them all."] if left else shown


def _bullets(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{title}:", "\n".join(f"- {escaped(line, 2000)}" for line in lines)] if lines else []


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(escaped(head) for head in heads) + " |"]
    lines.append("|---|" + "---:|" * (len(heads) - 1))
    lines += ["| " + " | ".join(escaped(cell, 400) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def escaped(text: Any, most: int = 80) -> str:
    r"""Somebody's text inside Markdown: shown, never obeyed.

    >>> escaped("a|b <script> [x](y) `c`")
    'a\\|b &lt;script&gt; \\[x\\](y) \\`c\\`'
    """
    plain = one_line(text, most).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + letter if letter in "\\|`*_[]~#" else letter for letter in plain)


# ---- one page ------------------------------------------------------------------------------------


def as_html(shown: Sheet) -> str:
    """One page in the look of the report: no network, no script."""
    from truthing.render.page import template

    page = template("sheet.html").render(
        shown=shown,
        requirements=shown.requirements,
        css=(FOLDER / "report.css").read_text("utf-8"),
        version=__version__,
        warnings=sentences(shown.warnings),
        assumptions=sentences(shown.assumptions),
    )
    return str(page)
