"""A report on the terminal: a sentence, the metrics with bars, the confusion matrix, labelers,
every doubt in words, and what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from truthing.metrics.estimate import Estimate
from truthing.metrics.words import percent
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.methods import methods
from truthing.render.slices import slice_blocks
from truthing.render.summary import Summary, sensitivity_lines
from truthing.render.words import (
    gold_alone_line,
    metric_title,
    next_step,
    number,
    one_line,
    short_names,
    wider,
)
from truthing.report import Report
from truthing.requirements import Verdict
from truthing.truth.sensitivity import Sensitivity

MOST_METRICS, MOST_MISTAKES, MOST_LABELERS = 40, 12, 15
ROOM_FOR_BAR, ROOM_FOR_FACE = 72, 56
Draw = Callable[[float, float, float], str]


def show(
    report: Report,
    console: Console,
    level: float = 0.95,
    sensitivity: Sensitivity | None = None,
    terms: str = "usual",
) -> None:
    summary = Summary(report, (level,), terms)
    console.print(Text(safe(report.verdict(level), 1000), style="bold"))
    checks(console, report.warnings)
    console.print()
    console.print(metrics_table(report, level, console, terms), soft_wrap=False)
    if alone := gold_alone_line(report, level):
        console.print()
        section(console, "Gold", [alone])
    console.print()
    console.print(confusion_table(summary, console), soft_wrap=False)
    for block in slice_blocks(report, level):
        console.print()
        console.print(block_table(block), soft_wrap=False)
    if len(summary.labelers) > 1:
        console.print()
        console.print(labelers_table(summary, level, console), soft_wrap=False)
    if sensitivity is not None:
        console.print()
        console.print(sensitivity_table(sensitivity, level, console), soft_wrap=False)
    doubts(console, report.assumptions, next_step(report))
    section(console, "Methods", [methods(report, level)[0]])


def block_table(block: Block) -> Table:
    """A table of words."""
    table = plain_table(block.title.lower())
    for n, head in enumerate(block.heads):
        table.add_column(head, justify="left" if n == 0 else "right", no_wrap=True)
    for row in block.rows:
        table.add_row(*map(Text, row))
    return table


def checks(console: Console, warnings: Sequence[str]) -> None:
    """What may change the meaning of the headline: right under it."""
    section(console, "Check", warnings)


def doubts(console: Console, assumptions: Sequence[str], following: str | None = None) -> None:
    """What was assumed and what to do next, below the numbers."""
    console.print()
    section(console, "Assumed", assumptions)
    section(console, "Next", [following] if following else [])


def section(console: Console, title: str, lines: Sequence[str]) -> None:
    """Sentences under one word."""
    for n, line in enumerate(lines):
        if console.soft_wrap:
            console.print(Text.assemble((f"{title:<10}", "bold"), safe(line, 2000)))
        else:
            grid = Table.grid(padding=(0, 2, 0, 0))
            grid.add_column(width=8)
            grid.add_column()
            grid.add_row(Text(title if n == 0 else "", style="bold"), Text(safe(line, 2000)))
            console.print(grid)


def required(console: Console, verdicts: Sequence[Verdict]) -> None:
    """Whether what was required is met."""
    section(console, "Required", [verdict.sentence for verdict in verdicts])


def plain_table(title: str | None = None) -> Table:
    return Table(
        box=None, pad_edge=False, header_style="", title=title, title_justify="left", title_style=""
    )


def lines_table(level: float, console: Console, what: str) -> tuple[Table, Draw | None]:
    """A table of estimates, and what draws its bars; narrow terminals lose the bars, then the
    face values.
    """
    width = console.width
    bar = 0 if width < ROOM_FOR_BAR else max(10, min(30, width - 63))
    table = plain_table()
    table.add_column("", ratio=None, max_width=max(12, width - 26))
    table.add_column(what, justify="right", no_wrap=True)
    table.add_column(f"{percent(level)} interval", justify="center", no_wrap=True)
    if bar:
        table.add_column(Text("0" + " " * (bar - 2) + "1"), no_wrap=True)
    if width >= ROOM_FOR_FACE:
        table.add_column("at face value", justify="right", no_wrap=True)
    return table, _drawer(console, bar) if bar else None


def _drawer(console: Console, width: int) -> Draw:
    marks = "━●" if console.encoding.lower().startswith("utf") else "=o"
    return lambda low, mean, high: drawn_bar(low, mean, high, width, marks)


def add_line(
    table: Table, title: str, estimate: Estimate, naive: float, level: float, draw: Draw | None
) -> None:
    shown = "" if naive != naive else number(naive)
    if len(estimate.values) == 0:
        cells = ["–", "undefined", *([""] if draw else []), shown]
    else:
        low, high = estimate.interval(level)
        note = f" ({estimate.undefined:.0%} undefined)" if estimate.undefined > 0.005 else ""
        drawn = [draw(low, estimate.mean, high)] if draw else []
        cells = [number(estimate.mean), f"{number(low)} – {number(high)}{note}", *drawn, shown]
    table.add_row(Text(title), *(Text(cell) for cell in cells[: len(table.columns) - 1]))


def metrics_table(report: Report, level: float, console: Console, terms: str = "usual") -> Table:
    table, draw = lines_table(level, console, "estimate")
    for name in report.metrics[:MOST_METRICS]:
        title = metric_title(report, name, terms=terms)
        add_line(table, title, report[name], report.at_face_value(name), level, draw)
    if len(report.metrics) > MOST_METRICS:
        table.add_row(f"… {len(report.metrics) - MOST_METRICS:,} more: the JSON form has all")
    return table


def drawn_bar(low: float, mean: float, high: float, width: int, marks: str = "━●") -> str:
    """
    >>> drawn_bar(0.2, 0.5, 0.8, 11)
    '  ━━━●━━━  '
    """
    place = [round(min(max(v, 0), 1) * (width - 1)) for v in (low, mean, high)]
    line = [" "] * width
    for k in range(place[0], place[2] + 1):
        line[k] = marks[0]
    line[place[1]] = marks[1]
    return "".join(line)


def fits(table: Table, console: Console) -> bool:
    return (
        Measurement.get(console, console.options.update(max_width=10_000), table).maximum
        <= console.width
    )


def confusion_table(summary: Summary, console: Console) -> Table:
    """The matrix where there is room for it, else its largest mistakes."""
    names = [one_line(c, 16) for c in summary.classes]
    table = plain_table("truth ↓  predicted →")
    table.add_column("")
    for name in names:
        table.add_column(Text(name), justify="right", no_wrap=True)
    if summary.whole_confusion:
        for k, name in enumerate(names):
            row = summary.cells[k * len(names) : (k + 1) * len(names)]
            table.add_row(
                Text(name),
                *(f"{c.mean:.0f} ({c.limits[0][0]:.0f}–{c.limits[0][1]:.0f})" for c in row),
            )
        if fits(table, console):
            return table
    mistakes = sorted((c for c in summary.cells if not c.right), key=lambda cell: -cell.mean)[
        :MOST_MISTAKES
    ]
    table = plain_table(f"largest mistakes of {len(summary.report.classes):,} classes")
    for column in ("truth", "predicted"):
        table.add_column(column, max_width=max(8, (console.width - 18) // 2))
    table.add_column("items", justify="right", no_wrap=True)
    for c in mistakes:
        table.add_row(
            Text(c.truth),
            Text(c.predicted),
            f"{c.mean:.0f} ({c.limits[0][0]:.0f}–{c.limits[0][1]:.0f})",
        )
    return table


def labelers_table(summary: Summary, level: float, console: Console) -> Table:
    """As many columns as there is room for."""
    people = summary.labelers[:MOST_LABELERS]
    names = short_names([labeler.error.title for labeler in people], 24)
    for n_classes in range(min(6, len(summary.classes)), -1, -1):
        table = plain_table("labelers, best first")
        table.add_column("", max_width=max(8, console.width - 34))
        for column in ("error", f"{percent(level)} interval", "label tells"):
            table.add_column(column, justify="right", no_wrap=True)
        for name in summary.report.classes[:n_classes]:
            table.add_column(Text(f"right on {one_line(name, 12)}"), justify="right", no_wrap=True)
        for who, labeler in zip(names, people):
            line = labeler.error
            limits = (
                f"{number(line.limits[0][0])} – {number(line.limits[0][1])}"
                if line.limits
                else "given"
            )
            right = (number(share, 2) for share in labeler.right[:n_classes])
            table.add_row(
                Text(who),
                number(line.mean),
                limits,
                f"{labeler.tells:.0%}",
                *right,
            )
        table.caption = "label tells: share of what a perfect label would tell about the truth"
        table.caption_justify, table.caption_style = "left", ""
        left = len(summary.report.noise.labelers) - MOST_LABELERS
        if left > 0:
            table.add_row(f"… {left:,} more")
        if fits(table, console):
            hidden = [f"right on {one_line(c, 12)}" for c in summary.classes[n_classes:6]]
            if hidden:
                table.caption = f"{table.caption}\n{wider(hidden)}"
            break
    return table


def sensitivity_table(found: Sensitivity, level: float, console: Console) -> Table:
    """Accuracy under each assumption, one at a time."""
    bar = 0 if console.width < ROOM_FOR_BAR else 20
    draw = _drawer(console, bar)
    table = plain_table("accuracy when one assumption at a time is")
    table.add_column("")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column(f"{percent(level)} interval", justify="center", no_wrap=True)
    if bar:
        table.add_column(Text("0" + " " * (bar - 2) + "1"), no_wrap=True)
    for assumption, lines in sensitivity_lines(found, (level,)).items():
        table.add_row(Text(assumption, style="italic"))
        for line in lines:
            low, high = line.limits[0] if line.limits else (line.mean, line.mean)
            limits = f"{number(low)} – {number(high)}" if line.limits else "no interval"
            drawn = [draw(low, line.mean, high)] if bar else []
            table.add_row(f"  {line.title}", number(line.mean), limits, *drawn)
    low, high = found.bounds
    table.caption = (
        f"Whatever the dependence, if the consensus is as good as the model says: {low:.3f} to "
        f"{high:.3f}."
    )
    table.caption_justify, table.caption_style = "left", ""
    return table
