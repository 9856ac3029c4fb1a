"""Names and numbers as people read them, the same on the terminal, on the page and in pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from truthing.errors import InputError
from truthing.metrics.estimate import Estimate
from truthing.metrics.words import metric_words
from truthing.render.console import safe
from truthing.report import Report

MEDICAL = {
    "recall": "sensitivity",
    "precision": "positive predictive value",
    "false_alarm": "false positive rate",
}
TERMS = ("usual", "medical")
PER_CLASS = ("precision", "recall", "false_alarm", "specificity", "f1")


def one_line(text: Any, most: int = 40) -> str:
    """A name for a cell of a table or an axis.

    >>> one_line("two\\nlines")
    'two lines'
    """
    return safe(" ".join(str(text).split()), most)


def short_names(names: Sequence[Any], most: int) -> list[str]:
    """Names for cells of at most so many letters, which two names never share: where their
    beginnings are alike, their ends are shown, and else the whole names.

    >>> short_names(["claude-3-5-sonnet-20240620", "claude-3-5-sonnet-20241022", "gpt-4o"], 12)
    ['cla…20240620', 'cla…20241022', 'gpt-4o']
    """
    whole = [one_line(name, 200) for name in names]
    shown = [one_line(name, most) for name in whole]
    for name, again in Counter(shown).items():
        if again == 1:
            continue
        alike = [n for n, short in enumerate(shown) if short == name]
        tail = 2 * most // 3
        ends = [f"{whole[n][: most - tail - 1]}…{whole[n][-tail:]}" for n in alike]
        distinct = len({*ends}) == len({whole[n] for n in alike})
        for n, end in zip(alike, ends):
            shown[n] = end if distinct and len(whole[n]) > most else whole[n]
    return shown


def wider(hidden: Sequence[str]) -> str:
    """What a narrow terminal has no room for."""
    return f"a wider terminal also shows: {', '.join(hidden)}"


def metric_title(report: Report, name: str, most: int = 40, terms: str = "usual") -> str:
    """What a metric is called, with the class that it is about; ``terms`` usual, or medical."""
    check_terms(terms)
    title = metric_words(name)
    if terms == "medical" and report.positive is not None:
        title = MEDICAL.get(name, title)
    if report.positive is not None and name in PER_CLASS:
        title += f" ({one_line(report.classes[report.positive], 24)})"
    return one_line(title, most)


def check_terms(terms: str) -> None:
    if terms not in TERMS:
        raise InputError(
            f"terms {terms!r} are not known: choose usual (recall, precision) or medical "
            f"(sensitivity, specificity)."
        )


def number(value: float, digits: int = 3) -> str:
    """
    >>> number(0.5), number(float("nan")), number(-0.00001)
    ('0.500', '–', '0.000')
    """
    return (
        "–"
        if value != value
        else f"{value + 0:.{digits}f}".replace(f"-{0:.{digits}f}", f"{0:.{digits}f}")
    )


def gold_to_narrow(report: Report, ratio: float) -> str:
    """How much gold would make the interval so much narrower, where that can be foretold; else
    nothing.
    """
    foretold, have = report.outcome.more_gold, report.sizes["gold"]
    if foretold is None or ratio < 0.1:
        return ""
    low, high = report["accuracy"].interval(0.95)
    most, wanted = report.sizes["items"] - have, ratio * float(high - low)
    if most < 5 or foretold.width(most) > wanted:
        return "Gold on all of these items would not be enough: get more items too."
    least = 0
    while most - least > 5:
        middle = (least + most) // 2
        least, most = (least, middle) if foretold.width(middle) <= wanted else (middle, most)
    return (
        f"Gold on about {-(-most // 5) * 5} {'more ' if have else ''}random items "
        "is expected to narrow it that far."
    )


def gold_alone_line(report: Report, level: float = 0.95) -> str:
    """What gold by itself would say of the first metrics, beside which the answer stands."""
    told = "accuracy", "precision", "recall", "f1", "macro_f1"
    found = report.by_gold_alone([name for name in report.metrics if name in told])
    named = [(metric_title(report, name), estimate) for name, estimate in found]
    return gold_says(report.sizes["gold"], named, level)


def gold_says(n_gold: int, found: Sequence[tuple[str, Estimate]], level: float) -> str:
    """These numbers as gold by itself would have them; nothing where there are none."""
    if not found:
        return ""
    parts = []
    for title, estimate in found:
        low, high = estimate.interval(level)
        parts.append(f"{title} {number(estimate.mean)} ({number(low)} – {number(high)})")
    who = "The gold item by itself says" if n_gold == 1 else ""
    who = who or f"The {n_gold:,} gold items by themselves say"
    return f"{who}: {', '.join(parts)}."


def gold_fact(sentence: str) -> tuple[tuple[str, str], ...]:
    """What gold by itself says as a fact of a page, where it says something."""
    return (("Gold", sentence),) if sentence else ()


def next_step(report: Report) -> str | None:
    """The most useful thing to do now."""
    if report.method != "posterior":
        return (
            "method posterior: this one takes its noise model as known, so its interval may be "
            "too narrow."
        )
    gold, foretold = report.sizes["gold"], report.outcome.more_gold
    wanted = min(next((n for n in (50, 100, 200) if n > gold), 0), report.sizes["items"])
    if 0 < report.sizes["items"] <= gold:
        return "more items like these: gold has settled every one of them."
    if "link_effective_sample_size" not in report.diagnostics or not wanted:
        return "how far the answer leans on what was assumed: ask for its sensitivity."
    more = f"gold on {wanted - gold} {'more ' if gold else ''}random items"
    if foretold is None:
        return f"{more} would narrow the interval most."
    half = foretold.width(wanted - gold) / 2
    return f"{more} is expected to narrow accuracy to about ±{half:.2f}."
