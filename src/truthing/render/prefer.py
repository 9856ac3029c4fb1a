"""Preferences for people: a sentence, win rates of each pair, the ranking, the judges, doubts."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from truthing import __version__
from truthing.metrics.estimate import Estimate
from truthing.metrics.words import percent
from truthing.preference.result import Preferences
from truthing.render.block import Block
from truthing.render.console import safe
from truthing.render.figures import Picture, draw_lines
from truthing.render.methods import CITATIONS
from truthing.render.sheet import Sheet
from truthing.render.summary import Line
from truthing.render.terminal import add_line, checks, doubts, lines_table, plain_table, section
from truthing.render.words import number, one_line

MOST_PAIRS, MOST_JUDGES = 30, 30
DAVIDSON = (
    "Davidson, R. R. (1970). On extending the Bradley–Terry model to accommodate ties in paired "
    "comparison experiments. Journal of the American Statistical Association 65, 317–328."
)


def show(result: Preferences, console: Console, *, level: float = 0.95) -> None:
    """Pairs, ranking and judges, for the terminal."""
    console.print(Text(safe(result.verdict(level), 1000), style="bold"))
    checks(console, result.warnings)
    console.print()
    table, draw = lines_table(level, console, "share")
    shown = rates(result)
    for title, estimate, naive in shown[: 3 * MOST_PAIRS]:
        add_line(table, title, estimate, naive, level, draw)
    if len(shown) > 3 * MOST_PAIRS:
        table.add_row(f"… {len(shown) - 3 * MOST_PAIRS} more: the JSON form has all")
    console.print(table, soft_wrap=False)
    for block in (ranking(result, level), judges(result, level)):
        if block.rows:
            console.print()
            console.print(_as_table(block), soft_wrap=False)
    doubts(console, result.assumptions)
    section(console, "Methods", [methods(result, level)])


def rates(result: Preferences) -> list[tuple[str, Estimate, float]]:
    """Title, estimate and face value of every outcome of every pair."""
    found = []
    for p, (a, b) in enumerate(result.outcomes.pairs):
        first, second = (one_line(result.systems[s], 16) for s in (a, b))
        titles = [f"{first} beats {second}", f"{second} beats {first}"]
        several = len(result.outcomes.pairs) > 1
        titles.append(f"{first} and {second}: tie" if several else "tie")
        for kind, title in enumerate(titles):
            drawn = result.outcomes.shares[:, p, kind]
            if kind < 2 or drawn.any():
                naive = float(result.outcomes.face_value[p, kind])
                found.append((title, Estimate.from_draws(drawn), naive))
    return found


def ranking(result: Preferences, level: float) -> Block:
    """Systems, best first; nothing where they cannot be ranked."""
    heads = ("system", "strength", f"{percent(level)} interval", "P(best)", "place", "wins")
    if not result.rankable:
        return Block("", heads, ())
    best, places = result.probability_best, result.ranks(level)
    rows = []
    for name in result.order:
        strength = result.strength(name)
        low, high = strength.interval(level)
        span = f"{low:+.2f} – {high:+.2f}"
        place = (
            "{}–{}".format(*places[name]) if len(set(places[name])) > 1 else str(places[name][0])
        )
        won = number(result[name].mean)
        cells = (f"{strength.mean:+.2f}", span, f"{best[name]:.0%}", place, won)
        rows.append((one_line(name, 24), *cells))
    title = "Ranking (Bradley–Terry with ties; strengths in logits, mean 0)"
    return Block(title, heads, tuple(rows))


def judges(result: Preferences, level: float) -> Block:
    """How each judge judges."""
    heads = ("judge", "verdicts", "ties", "for the first shown", "changes with the order")
    rows = [
        (
            one_line(name, 24),
            f"{judge.verdicts:,}",
            f"{judge.ties:.0%}",
            _span(judge.first, level),
            _span(judge.changes, level),
        )
        for name, judge in list(result.judges.items())[:MOST_JUDGES]
    ]
    note = "" if len(result.judges) <= MOST_JUDGES else "More judges: the JSON form has all."
    return Block("Judges (50% for the first shown is no lean)", heads, tuple(rows), note)


def _span(estimate: Estimate | None, level: float) -> str:
    if estimate is None:
        return "not known"
    low, high = estimate.interval(level)
    return f"{estimate.mean:.0%} ({100 * low:.0f}–{100 * high:.0f}%)"


def _as_table(block: Block) -> Table:
    table = plain_table(block.title)
    for n, head in enumerate(block.heads):
        table.add_column(Text(head), justify="left" if n == 0 else "right")
    for row in block.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def methods(result: Preferences, level: float = 0.95) -> str:
    """A paragraph for a paper."""
    size = result.sizes
    gold = f" and people's judgement of {size['gold']:,} of them" if size["gold"] else ""
    parts = [
        f"{len(result.systems)} systems were compared on {size['comparisons']:,} pairs of answers "
        f"with {size['verdicts']:,} verdicts from {size['n_judges']:,} judges{gold}, using "
        "truthing "
        f"{__version__} (seed {result.seed}).",
        "Each judge in each order of presentation had a confusion matrix of its own, partially "
        "pooled (after Dawid & Skene 1979), so that a lean to a position is learned; the chance "
        "that the judges' consensus is right was given a wide prior"
        + (", updated by the gold of each pair." if size["gold"] else "."),
    ]
    if len(result.systems) > 2:
        parts.append("Systems were ranked by the Bradley–Terry model with ties (Davidson 1970).")
    about = "these items" if result.target == "sample" else "new items like these"
    parts.append(f"Figures are posterior means with {percent(level)} intervals, for {about}.")
    return " ".join(parts)


def sheet(result: Preferences, *, level: float = 0.95, **more: Any) -> Sheet:
    lines = tuple(Line.of(title, found, (level,), naive) for title, found, naive in rates(result))
    blocks = [block for block in (ranking(result, level), judges(result, level)) if block.rows]
    cited = [CITATIONS["dawid"]] + ([DAVIDSON] if len(result.systems) > 2 else [])
    return Sheet(
        title="Which system is preferred?",
        headline=result.verdict(level),
        level=level,
        what="outcome",
        estimate="share",
        lines=lines,
        ends=(0.0, 1.0),
        blocks=tuple(blocks),
        warnings=tuple(result.warnings),
        assumptions=tuple(result.assumptions),
        methods=methods(result, level),
        references=tuple(cited),
        **more,
    )


def pictures(result: Preferences, level: float = 0.95) -> dict[str, Picture]:
    """Win rates with their intervals, and strengths where there is a ranking."""
    lines = list(sheet(result, level=level).lines)[:MOST_PAIRS]

    def draw(ax: Any) -> Any:
        draw_lines(ax, lines)
        return ax.set(xlabel="share of the comparisons")

    words = f"True outcomes of each pair of systems with {percent(level)} intervals, corrected for "
    words += "mistakes of the judges and their lean to a position."
    return {"preferences": Picture(draw, words, 6, 1 + 0.34 * len(lines))}
