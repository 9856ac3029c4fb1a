"""Answers about several tags for people: a sentence, averages, a table by tag, doubts."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from truthing import __version__
from truthing.metrics.estimate import Estimate
from truthing.metrics.words import percent
from truthing.multi_label.compared import TagComparison
from truthing.multi_label.graded import TagReport
from truthing.multi_label.shares import TagShares
from truthing.multi_label.tagged import Tagged
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.figures import Picture, draw_lines
from truthing.render.methods import CITATIONS
from truthing.render.sheet import Sheet
from truthing.render.summary import Line
from truthing.render.terminal import add_line, block_table, checks, doubts, lines_table, section
from truthing.render.words import number, one_line

MOST_TAGS = 40
TITLES = {
    "grade": "How good are the tags?",
    "rate": "How frequent is each tag?",
    "compare": "Which model tags better?",
}
Row = tuple[str, Estimate, float]


def show(
    result: Tagged, console: Console, *, level: float = 0.95, metric: str = "macro_f1", **_: Any
) -> None:
    """Averages and tags, for the terminal."""
    console.print(Text(safe(_headline(result, level, metric), 1000), style="bold"))
    checks(console, result.warnings)
    console.print()
    table, draw = lines_table(level, console, "estimate")
    for title, estimate, naive in rows(result, metric)[:MOST_TAGS]:
        add_line(table, title, estimate, naive, level, draw)
    console.print(table, soft_wrap=False)
    for block in blocks(result, level, metric):
        console.print()
        console.print(block_table(block), soft_wrap=False)
    doubts(console, result.assumptions)
    section(console, "Methods", [methods(result, level)])


def _headline(result: Tagged, level: float, metric: str) -> str:
    if isinstance(result, TagComparison):
        return result.verdict(level, metric)
    return result.verdict(level)


def rows(result: Tagged, metric: str) -> list[Row]:
    """Title, estimate and face value of every number that is drawn."""
    if isinstance(result, TagReport):
        titles = [name.replace("_", " ").replace("f1", "F1") for name in result.metrics]
        return [(t, result[n], result.at_face_value(n)) for t, n in zip(titles, result.metrics)]
    if isinstance(result, TagShares):
        return [(one_line(tag), result[tag], result.at_face_value(tag)) for tag in result.tags]
    assert isinstance(result, TagComparison)
    found = sorted(result.models, key=lambda model: -result.estimate(model, metric).mean)
    return [
        (one_line(m, 30), result.estimate(m, metric), result.at_face_value(m, metric))
        for m in found
    ]


def blocks(result: Tagged, level: float, metric: str) -> tuple[Block, ...]:
    """The tables by tag."""
    if isinstance(result, TagReport):
        heads = ("tag", "F1", f"{percent(level)} interval", "precision", "recall", "accuracy")
        cells = tuple(
            (
                one_line(tag, 24),
                *_span(report["f1"], level),
                *(number(report[name].mean) for name in ("precision", "recall", "accuracy")),
            )
            for tag, report in list(result.tags.items())[:MOST_TAGS]
        )
        note = "" if len(result.tags) <= MOST_TAGS else "More tags: the JSON form has all."
        return (Block("By tag", heads, cells, note),)
    if isinstance(result, TagComparison):
        return _differences(result, level, metric)
    assert isinstance(result, TagShares)
    many = result.tags_per_item
    return (
        Block(
            "Tags per item",
            ("", "estimate", f"{percent(level)} interval"),
            (("mean", *_span(many, level)),),
        ),
    )


def _differences(result: TagComparison, level: float, metric: str) -> tuple[Block, ...]:
    inner = result.inner(metric)
    heads = ("", "difference", f"{percent(level)} interval", "P(better)")
    names = [metric, *(f"{inner}[{tag}]" for tag in result.tags)]
    cells = []
    for name in names[: MOST_TAGS + 1]:
        for first, second in result.pairs():
            gap = result.difference(name, first, second)
            low, high = gap.interval(level)
            title = f"{one_line(name, 24)}: {one_line(first, 16)} − {one_line(second, 16)}"
            span = f"{low:+.3f} – {high:+.3f}"
            cells.append((title, f"{gap.mean:+.3f}", span, f"{gap.probability_better:.0%}"))
    return (Block("Differences, over tags and in each", heads, tuple(cells)),)


def _span(estimate: Estimate, level: float) -> tuple[str, str]:
    low, high = estimate.interval(level)
    return number(estimate.mean), f"{number(low)} – {number(high)}"


def methods(result: Tagged, level: float = 0.95) -> str:
    """A paragraph for a paper."""
    size = result.sizes
    gold = f" and the known tags of {size['gold']:,} items" if size["gold"] else ""
    shared = result.joint.shared
    together = (
        "tags’ posterior draws were coupled by rank (complete dependence)"
        if shared >= 1
        else "tags’ posterior draws were coupled by a Gaussian copula with the upper limit of the "
        f"correlation seen on gold items ({shared:.2f})"
    )
    parts = [
        f"Each of {size['tags']} tags was a two-class question on {size['items']:,} items with "
        f"{size['labels']:,} noisy labels from {size['labelers']:,} labelers{gold}, using truthing "
        f"{__version__} (seed {result.seed}); labelers’ error rates were learned for each tag "
        "(Dawid & Skene 1979), and the chance that consensus and truth differ had a prior.",
        f"For averages over tags, {together}.",
    ]
    if isinstance(result, TagReport):
        parts.append(
            "Subset accuracy is the share of items with all tags right, between independent and "
            "jointly right tags."
        )
    about = "these items" if result.target == "sample" else "new items like these"
    parts.append(f"Figures are posterior means with {percent(level)} intervals, for {about}.")
    return " ".join(parts)


def sheet(
    result: Tagged,
    *,
    level: float = 0.95,
    metric: str = "macro_f1",
    within: float = 0.01,
    terms: str = "usual",
    **more: Any,
) -> Sheet:
    lines = tuple(
        Line.of(title, found, (level,), naive) for title, found, naive in rows(result, metric)
    )
    return Sheet(
        title=TITLES[result.question],
        headline=_headline(result, level, metric),
        level=level,
        what={"grade": "average", "rate": "tag", "compare": "model"}[result.question],
        estimate="share" if result.question == "rate" else "estimate",
        lines=lines,
        ends=(0.0, 1.0),
        blocks=blocks(result, level, metric),
        warnings=tuple(result.warnings),
        assumptions=tuple(result.assumptions),
        methods=methods(result, level),
        references=(CITATIONS["dawid"],),
        **more,
    )


def pictures(
    result: Tagged, level: float = 0.95, metric: str = "macro_f1", terms: str = "usual"
) -> dict[str, Picture]:
    """The numbers with their intervals."""
    lines = list(sheet(result, level=level, metric=metric).lines)[:MOST_TAGS]

    def draw(ax: Any) -> Any:
        draw_lines(ax, lines)
        return ax.set(xlabel="share")

    words = f"{TITLES[result.question]} Posterior means with {percent(level)} intervals, corrected "
    words += "for mistakes of the labelers."
    return {"tags": Picture(draw, words, 6, 1 + 0.34 * len(lines))}
