"""A reader study for people: the averages, the difference, and each reader."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing import __version__
from truthing.metrics.words import percent
from truthing.mrmc.result import ReaderStudy
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.figures import Picture, draw_lines
from truthing.render.sheet import Sheet
from truthing.render.summary import Line
from truthing.render.terminal import checks, doubts, plain_table, section
from truthing.render.words import number, one_line

MOST_READERS = 40
REFERENCES = (
    "Obuchowski, N. A. and Rockette, H. E. (1995). Hypothesis testing of diagnostic accuracy for "
    "multiple readers and multiple tests. Communications in Statistics 24, 285–308.",
    "Hillis, S. L. (2007). A comparison of denominator degrees of freedom methods for multiple "
    "observer ROC analysis. Statistics in Medicine 26, 596–619.",
)


def show(result: ReaderStudy, console: Console, *, level: float = 0.95) -> None:
    console.print(Text(safe(result.verdict(level), 1000), style="bold"))
    checks(console, result.warnings)
    for block in (averages(result, level), each_reader(result)):
        console.print()
        console.print(_as_table(block), soft_wrap=False)
    doubts(console, result.assumptions)
    section(console, "Methods", [methods(result, level)])


def averages(result: ReaderStudy, level: float) -> Block:
    rows = []
    for row in result.to_frame(level).to_dicts():
        span = f"{number(row['low'])} – {number(row['high'])}"
        freedom = f"{row['freedom']:.1f}"
        rows.append((one_line(row["modality"], 30), number(row["estimate"]), span, freedom))
    heads = ("modality", _name(result), f"{percent(level)} interval", "degrees of freedom")
    return Block("Averages over readers, for other readers and cases", heads, tuple(rows))


def each_reader(result: ReaderStudy) -> Block:
    heads = ("reader", *(one_line(m, 20) for m in result.modalities))
    rows = [
        (one_line(name, 24), *(number(float(v)) for v in result.merit[:, j]))
        for j, name in enumerate(result.readers[:MOST_READERS])
    ]
    return Block("These readers on these cases", heads, tuple(rows))


def _name(result: ReaderStudy) -> str:
    return "AUC" if result.metric == "auc" else result.metric


def _as_table(block: Block) -> Table:
    table = plain_table(block.title)
    for n, head in enumerate(block.heads):
        table.add_column(Text(head), justify="left" if n == 0 else "right")
    for row in block.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def methods(result: ReaderStudy, level: float = 0.95) -> str:
    """A paragraph for a paper."""
    return (
        f"{len(result.readers)} readers read {result.n_cases:,} cases ({result.n_diseased:,} "
        f"positive). The reader-averaged {_name(result)} and its {percent(level)} interval are "
        "those "
        "of Obuchowski & Rockette (1995) with the degrees of freedom of Hillis (2007), readers and "
        f"cases random, covariances over cases by DeLong's method; truthing {__version__}."
    )


def sheet(result: ReaderStudy, *, level: float = 0.95, **more: Any) -> Sheet:
    rows = result.to_frame(level).to_dicts()
    lines = tuple(
        Line(one_line(row["modality"]), row["estimate"], [(row["low"], row["high"])])
        for row in rows[: len(result.modalities)]
    )
    return Sheet(
        title="How good are readers like these?",
        headline=result.verdict(level),
        level=level,
        what=_name(result),
        lines=lines,
        blocks=(averages(result, level), each_reader(result)),
        warnings=tuple(result.warnings),
        assumptions=tuple(result.assumptions),
        methods=methods(result, level),
        references=REFERENCES,
        **more,
    )


def pictures(result: ReaderStudy, level: float = 0.95) -> dict[str, Picture]:
    """Averages with their intervals."""
    lines = list(sheet(result, level=level).lines)

    def draw(ax: Any) -> Any:
        draw_lines(ax, lines)
        return ax.set(xlabel=_name(result))

    words = f"Reader-averaged {_name(result)} with {percent(level)} intervals, readers and cases "
    return {"readers": Picture(draw, words + "random.", 6, 1 + 0.5 * len(lines))}
