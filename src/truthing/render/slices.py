"""Slices for people: one line each, which is worst, and how two of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from truthing.metrics.words import percent
from truthing.render.block import Block
from truthing.render.words import metric_title, one_line
from truthing.report import Report
from truthing.shares import Prevalence
from truthing.survey.slices import SliceEstimate

MOST_SLICES, MOST_PAIRS = 40, 15


def slice_blocks(report: Report, level: float) -> list[Block]:
    """The slices of a grade, by accuracy or by the first metric that is shown."""
    metric = "accuracy" if "accuracy" in report.metrics else report.metrics[0]
    found = report.by_slice(metric)
    return [slices_block(found, metric_title(report, metric), level)] if found else []


def slices_block(found: Sequence[SliceEstimate], what: str, level: float) -> Block:
    """A table of the slices; ``what`` is the metric or the class in words."""
    heads = ("slice", "items", "gold", what, f"{percent(level)} interval", "P(lowest)")
    rows = []
    for each in found[:MOST_SLICES]:
        low, high = each.estimate.interval(level)
        rows.append(
            (
                one_line(each.name, 24),
                f"{each.items:,}",
                f"{each.gold:,}",
                f"{each.estimate.mean:.3f}",
                f"{low:.3f} – {high:.3f}",
                f"{each.probability_worst:.0%}",
            )
        )
    note = f"{len(found)} slices, partially pooled."
    if len(found) > MOST_SLICES:
        note += f" {len(found) - MOST_SLICES} more: the JSON form has all."
    return Block("Slices", heads, tuple(rows), note)


def differences_block(result: Prevalence, level: float) -> Block:
    """How the slices differ in the class that the headline is about."""
    name = result.headline_class
    heads = ("difference", f"of {one_line(name, 16)}", f"{percent(level)} interval", "P(higher)")
    rows = []
    for first, second in list(combinations(result.slices, 2))[:MOST_PAIRS]:
        found = result.difference(name, first, second)
        low, high = found.interval(level)
        rows.append(
            (
                f"{one_line(first, 20)} - {one_line(second, 20)}",
                f"{found.mean:+.3f}",
                f"{low:+.3f} – {high:+.3f}",
                f"{found.probability_positive:.0%}",
            )
        )
    return Block("Differences", heads, tuple(rows))
