"""Names and numbers as people read them, the same on the terminal, on the page and in pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.errors import InputError
from truthing.render.console import safe
from truthing.report import Report

NAMES = {
    "false_alarm": "false alarms",
    "f1": "F1",
    "mcc": "MCC",
    "kappa": "κ",
    "auc": "AUC",
    "balanced_accuracy": "balanced accuracy",
    "average_precision": "average precision",
}
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


def metric_title(report: Report, name: str, most: int = 40, terms: str = "usual") -> str:
    """What a metric is called, with the class that it is about; ``terms`` usual, or medical."""
    check_terms(terms)
    title = NAMES.get(name, name.replace("_", " ") if "[" not in name else name)
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


def percent(level: float) -> str:
    """
    >>> percent(0.95), percent(0.975)
    ('95%', '97.5%')
    """
    return f"{100 * level:.4g}%"


# mean width of the 95% interval of accuracy by number of gold items, over public panels
# (docs/honesty.md)
WIDTHS = {0: 0.465, 10: 0.352, 25: 0.243, 50: 0.176, 100: 0.122, 200: 0.086}


def expected_width(gold: float) -> float:
    """Mean width of the interval of accuracy with so much gold, between and beyond what was
    measured.
    """
    known = sorted(WIDTHS)
    if gold <= known[-1]:
        return float(np.interp(gold, known, [WIDTHS[n] for n in known]))
    return float(WIDTHS[known[-1]] * (known[-1] / gold) ** 0.5)


def gold_to_narrow(report: Report, ratio: float) -> str:
    """How much gold would make the interval so much narrower, where that was measured; else
    nothing.
    """
    have, items = report.sizes["gold"], report.sizes["items"]
    if "link_effective_sample_size" not in report.diagnostics or ratio < 0.1:
        return ""
    start = expected_width(have)
    wanted = next(
        (n for n in range(have + 5, items + 1, 5) if expected_width(n) <= ratio * start), None
    )
    if wanted is None:
        return "Gold on all of these items would not be enough: get more items too."
    return (
        f"Gold on about {wanted - have} {'more ' if have else ''}random items "
        "narrows it that far on panels like the public ones."
    )


def next_step(report: Report) -> str | None:
    """The most useful thing to do now."""
    if report.method != "posterior":
        return (
            "method posterior: this one takes its noise model as known, so its interval may be "
            "too narrow."
        )
    gold = report.sizes["gold"]
    if "link_effective_sample_size" not in report.diagnostics or gold >= 200:
        return "how far the answer leans on what was assumed: ask for its sensitivity."
    wanted = next(n for n in WIDTHS if n >= 50 and n > gold)
    low, high = report["accuracy"].interval(0.95)
    half = (high - low) / 2 * expected_width(wanted) / expected_width(gold)
    more = f"{wanted - gold} {'more ' if gold else ''}random items"
    return f"gold on {more} would narrow accuracy to about ±{half:.2f}, as it did on public panels."
