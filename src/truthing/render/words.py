"""Names and numbers as people read them, the same on the terminal, on the page and in pictures."""

from __future__ import annotations

from typing import Any

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
