"""What of a grade is shown in Markdown; its page is richer (page.py)."""

from __future__ import annotations

from typing import Any

from truthing.render.block import Block
from truthing.render.methods import methods
from truthing.render.sheet import Sheet
from truthing.render.slices import slice_blocks
from truthing.render.summary import Line, Summary
from truthing.render.words import gold_alone_line, gold_fact, metric_title, next_step
from truthing.report import Report


def sheet(report: Report, *, level: float = 0.95, terms: str = "usual", **more: Any) -> Sheet:
    summary = Summary(report, (level,), terms)
    lines = [
        Line.of(metric_title(report, n, terms=terms), report[n], (level,), report.at_face_value(n))
        for n in report.metrics
    ]
    paragraph, references = methods(report, level)
    return Sheet(
        title="How good is the classifier?",
        headline=report.verdict(level),
        level=level,
        lines=tuple(lines),
        ends=(0.0, 1.0),
        blocks=(*slice_blocks(report, level), confusion_block(summary)),
        facts=gold_fact(gold_alone_line(report, level)),
        warnings=tuple(report.warnings),
        assumptions=tuple(report.assumptions),
        following=next_step(report) or "",
        methods=paragraph,
        references=tuple(references),
        **more,
    )


def confusion_block(summary: Summary) -> Block:
    """The matrix, or with many classes its largest mistakes."""
    if not summary.whole_confusion:
        rows: list[tuple[str, ...]] = [
            (
                f"{c.truth} taken for {c.predicted}",
                f"{c.mean:.0f}",
                f"{c.limits[0][0]:.0f} – {c.limits[0][1]:.0f}",
            )
            for c in summary.cells
        ]
        return Block("Largest mistakes", ("", "items", "interval"), tuple(rows))
    names, size = summary.classes, len(summary.classes)
    rows = [
        (
            names[k],
            *(
                f"{c.mean:.0f} ({c.limits[0][0]:.0f}–{c.limits[0][1]:.0f})"
                for c in summary.cells[k * size : (k + 1) * size]
            ),
        )
        for k in range(size)
    ]
    heads = ("truth ↓ predicted →", *names)
    return Block("Items by truth and prediction", heads, tuple(rows))
