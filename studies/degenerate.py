"""What every public function does with degenerate data: ``python studies/degenerate.py`` writes
docs/degenerate.md.

An answer must be finite, within its range, its limits in order; anything else must be refused in
one line. `outcome` says which, and a test holds the committed table.
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import truthing as tr
from truthing.papers.su_methods import METHODS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "degenerate.md"
FEW = {"draws": 200}
ROUGH = re.compile(r"\d\.\d+e\+\d+|\binf\b")  # differs between processors
NAMES = ("value", "lower", "upper", "confusion", "width", "cost", "variance_repeat")


@dataclass(frozen=True)
class Data:
    """Predictions and truth by item, labels as rows (item, labeler, label)."""

    predictions: dict[str, str]
    rows: list[tuple[str, str, str]]
    gold: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    scores: list[float] | None = None

    @property
    def labels(self) -> pl.DataFrame:
        heads = dict.fromkeys(("item", "labeler", "label"), pl.String)
        return pl.DataFrame(self.rows, schema=heads, orient="row")


def plain(n: int = 24, labelers: int = 3) -> Data:
    """Two classes in turn; prediction and each labeler err on items of their own."""
    truth = {f"i{k:02d}": "ab"[k % 2] for k in range(n)}
    other = {"a": "b", "b": "a"}
    wrong = {item: other[c] for item, c in truth.items()}
    rows = [
        (item, f"w{t}", wrong[item] if (k + 3 * t) % 8 == 7 else c)
        for k, (item, c) in enumerate(truth.items())
        for t in range(labelers)
    ]
    said = {item: wrong[item] if k % 6 == 5 else c for k, (item, c) in enumerate(truth.items())}
    return Data(said, rows)


def relabelled(change: Callable[[str, str, str], str | None], **more: Any) -> Data:
    """The plain data with other labels; None takes one out."""
    data = plain()
    new = [(i, t, c) for i, t, old in data.rows if (c := change(i, t, old)) is not None]
    return replace(data, rows=new, **more)


def swap(label: str) -> str:
    return {"a": "b", "b": "a"}[label]


def with_gold(count: int, change: Callable[[str], str] = str) -> dict[str, str]:
    return {f"i{k:02d}": change("ab"[k % 2]) for k in range(count)}


def first(item: str) -> bool:
    return item < "i08"


def cases() -> dict[str, Data]:
    data = plain()
    return {
        "nothing unusual": data,
        "no items": replace(data, predictions={}, rows=[]),
        "1 item": plain(1),
        "2 items": plain(2),
        "one labeler": plain(labelers=1),
        "one labeler and gold": replace(plain(labelers=1), gold=with_gold(8)),
        "a labeler with one label": relabelled(
            lambda i, t, c: c if t != "w2" or i == "i00" else None
        ),
        "no item with two labels": relabelled(
            lambda i, t, c: c if int(i[1:]) % 3 == int(t[1:]) else None
        ),
        "all labels equal": relabelled(lambda i, t, c: "a"),
        "labelers always right": relabelled(lambda i, t, c: "ab"[int(i[1:]) % 2]),
        "a labeler always wrong": relabelled(
            lambda i, t, c: swap("ab"[int(i[1:]) % 2]) if t == "w2" else c
        ),
        "all labelers always wrong": relabelled(lambda i, t, c: swap("ab"[int(i[1:]) % 2])),
        "a class only predicted": replace(data, predictions=data.predictions | {"i03": "c"}),
        "a class only in labels": relabelled(lambda i, t, c: "c" if (i, t) == ("i03", "w0") else c),
        "a class only in gold": replace(data, gold=with_gold(8) | {"i03": "c"}),
        "prior 0": replace(data, options={"prior": {"a": 1.0, "b": 0.0}, "noise": 0.1}),
        "prior 1": replace(data, options={"prior": {"a": 0.0, "b": 1.0}, "noise": 0.1}),
        "everything gold": replace(data, gold=with_gold(24)),
        "gold against everything": replace(data, gold=with_gold(24, swap)),
        "weights 0": replace(data, options={"weights": dict.fromkeys(data.predictions, 0.0)}),
        "some weights 0": replace(
            data, options={"weights": {i: float(not first(i)) for i in data.predictions}}
        ),
        "every label twice": replace(data, rows=data.rows * 2),
        "noise 0": replace(data, options={"noise": 0.0}),
        "noise 1/2": replace(data, options={"noise": 0.5}),
        "scores all equal": replace(data, scores=[0.5] * 24),
        "scores infinite": replace(data, scores=[math.inf, -math.inf] * 12),
        "scores not numbers": replace(data, scores=[math.nan] * 24),
    }


Number = tuple[float, float, float]
Answer = tuple[list[Number], list[str]]


def estimates(pairs: list[tuple[Any, float, float]]) -> list[Number]:
    """Limits and mean as one row each, checked by `sensible`."""
    found = []
    for estimate, low, high in pairs:
        limits = estimate.interval(0.95)
        if not (math.isnan(limits[0]) and estimate.undefined > 0.999):
            found.append((float(limits[0]), float(estimate.mean), float(limits[1])))
            assert low - 1e-9 <= limits[0] <= limits[1] <= high + 1e-9, (limits, low, high)
    return found


def allowed(data: Data, *names: str) -> dict[str, Any]:
    return {k: v for k, v in data.options.items() if k in names}


def grade(data: Data, **options: Any) -> Answer:
    names = ("prior", "noise", "weights")
    found = tr.grade(
        data.predictions,
        data.labels,
        gold=data.gold or None,
        scores=data.scores,
        repeats="first",
        **FEW,
        **allowed(data, *names),
        **options,
    )
    ranges = {"accuracy": (0, 1), "macro_f1": (0, 1), "mcc": (-1, 1)}
    return estimates([(found[m], *r) for m, r in ranges.items()]), found.warnings


def prevalence(data: Data) -> Answer:
    names = ("prior", "noise", "weights")
    found = tr.prevalence(
        data.labels, gold=data.gold or None, repeats="first", **FEW, **allowed(data, *names)
    )
    return estimates([(found[c], 0, 1) for c in found.classes]), found.warnings


def compare(data: Data) -> Answer:
    other = dict(zip(data.predictions, [*list(data.predictions.values())[1:], "a"]))
    found = tr.compare(
        {"new": data.predictions, "old": other},
        data.labels,
        gold=data.gold or None,
        repeats="first",
        **FEW,
        **allowed(data, "noise", "weights"),
    )
    gap = found.difference("accuracy")
    low, high = gap.interval(0.95)
    assert -1 <= low <= high <= 1, (low, high)
    return [(float(low), float(gap.mean), float(high))], found.warnings


def labelers(data: Data) -> Answer:
    found = tr.labelers(
        data.labels,
        gold=data.gold or None,
        repeats="first",
        **FEW,
        **allowed(data, "prior", "noise"),
    )
    error = found.error[np.isfinite(found.error)]
    return [(float(error.min()), float(error.mean()), float(error.max()))], found.warnings


def agreement(data: Data) -> Answer:
    found = tr.agreement(data.labels.unique(maintain_order=True))
    rows = [(*c.interval(0.95), c.value) for c in found.values()]
    return [(low, value, high) for low, high, value in rows if math.isfinite(value)], []


def bayes_error(data: Data) -> Answer:
    names = sorted({c for _, _, c in data.rows})
    votes = [
        [sum((i, c) == (item, label) for i, _, label in data.rows) for c in names]
        for item in data.predictions
    ]
    found = tr.bayes_error(counts=votes)
    low, high = found.interval(0.95)
    return [(float(low), float(found.value), float(high))], list(found.warnings)


def prefer(data: Data) -> Answer:
    """Labels as verdicts on the answers of two systems: a is A, b is B, shown in both orders."""
    rows = [
        {"item": i, "judge": t, "verdict": c.upper(), "order": ("AB", "BA")[k % 2]}
        for k, (i, t, c) in enumerate(data.rows)
    ]
    gold = {item: c.upper() for item, c in data.gold.items()} or None
    found = tr.prefer(rows, gold=gold, repeats="first", **FEW)
    return estimates([(found.win_rate("A", "B"), 0, 1)]), found.warnings


def monitor(data: Data) -> Answer:
    """Labels as outcomes in the order of time: a is a pass."""
    found = tr.monitor(
        pl.DataFrame({"label": [c for _, _, c in data.rows]}), passing="a", wrong_fails=0.2
    )
    low, high = found.running()
    return [(float(low), float((low + high) / 2), float(high))], found.warnings


def readers(data: Data) -> Answer:
    """Labels as scores of readers, 1 for b; the truth of an item is its place, even or odd."""
    score = dict(zip(data.predictions, data.scores or []))
    rows = [(i, t, score.get(i, float(c == "b")), "yn"[int(i[1:]) % 2]) for i, t, c in data.rows]
    table = pl.DataFrame(rows, schema=["case", "reader", "score", "truth"], orient="row")
    found = tr.readers(table, positive="n").average()
    low, high = found.interval(0.95)
    return [(float(low), float(found.value), float(high))], []


def functions() -> dict[str, Callable[[Data], Answer]]:
    found: dict[str, Callable[[Data], Answer]] = {"grade": grade}
    found["grade, new data"] = partial(grade, target="population")
    found |= {"prevalence": prevalence, "compare": compare, "labelers": labelers}
    found |= {"agreement": agreement, "bayes_error": bayes_error}
    found |= {"prefer": prefer, "monitor": monitor, "readers": readers}
    for method in METHODS:
        found[f"grade by {method}"] = partial(grade, method=method)
    return found


def number(call: Callable[[], Any], _: Any) -> Answer:
    """A closed form, of which the value is enough."""
    found = call()
    values = [getattr(found, name) for name in NAMES if hasattr(found, name)]
    flat = [float(v) for v in np.ravel(np.asarray(values, dtype=float))]
    return [(0.0, 0.0, v) if math.isfinite(v) else (v, v, v) for v in map(abs, flat)], list(
        getattr(found, "warnings", [])
    )


def closed_forms() -> dict[str, Callable[[], Any]]:
    """Calls with arguments at the ends of what is possible."""
    prices = {"item": 0.1, "label": 0.05, "gold": 2}
    known = {"costs": prices, "noise": "known", "sets": 2, "most_labels": 1, "prior": 0.4}
    return {
        "true_error(0, 0)": lambda: tr.true_error(0, 0),
        "true_error(1, 0.1)": lambda: tr.true_error(1, 0.1),
        "true_error(0.3, 0.5)": lambda: tr.true_error(0.3, 0.5),
        "true_error(nan, 0.1)": lambda: tr.true_error(math.nan, 0.1),
        "true_error(0.1, 0.05, n=0)": lambda: tr.true_error(0.1, 0.05, n=0),
        "apparent_error(0, 1)": lambda: tr.apparent_error(0, 1),
        "apparent_error(0.1, -0.1)": lambda: tr.apparent_error(0.1, -0.1),
        "error_bounds(0, 0)": lambda: tr.error_bounds(0, 0),
        "error_bounds(1, 1)": lambda: tr.error_bounds(1, 1),
        "noisy_label_ratio(0, 0.1)": lambda: tr.noisy_label_ratio(0, 0.1),
        "noisy_label_ratio(0.1, 0.5)": lambda: tr.noisy_label_ratio(0.1, 0.5),
        "label_policy(0, 0)": lambda: tr.label_policy(0, 0),
        "label_policy(0.1, 0.5)": lambda: tr.label_policy(0.1, 0.5),
        "true_confusion, labels that say nothing": lambda: tr.true_confusion(
            [[5, 5], [5, 5]], [[0.5, 0.5], [0.5, 0.5]], draws=200
        ),
        "true_confusion, all counts 0": lambda: tr.true_confusion(
            [[0, 0], [0, 0]], [[0.9, 0.1], [0.1, 0.9]], draws=200
        ),
        "information, no labelers": lambda: tr.information(error=[]),
        "information, error 0": lambda: tr.information(error=0.0),
        "information, error 1/2": lambda: tr.information(error=0.5),
        "information, error 1": lambda: tr.information(error=1.0),
        "information, prior 0": lambda: tr.information(error=0.1, prior=[1.0, 0.0]),
        "information, 1,000 classes": lambda: tr.information(error=0.1, prior=[0.001] * 1000),
        "information, 10,000 labelers": lambda: tr.information(error=[0.3] * 10_000),
        "equivalent_labeler, error 0": lambda: tr.equivalent_labeler(error=0.0),
        "labelers_needed, labels that say nothing": lambda: tr.labelers_needed(0.5, expert=0.1),
        "labelers_needed, expert without error": lambda: tr.labelers_needed(0.1, expert=0.0),
        "plan, no labelers": lambda: tr.plan(width=0.1, labelers=[], **known),
        "plan, width 1e-9": lambda: tr.plan(width=1e-9, labelers=0.15, accuracy=0.8, **known).best,
        "plan, accuracy 0": lambda: tr.plan(width=0.1, labelers=0.15, accuracy=0.0, **known).best,
        "plan, accuracy 1": lambda: tr.plan(width=0.1, labelers=0.15, accuracy=1.0, **known).best,
    }


def sensible(numbers: list[Number]) -> bool:
    """Finite numbers, limits in order."""
    return all(
        all(map(math.isfinite, row)) and row[0] <= row[2] + 1e-9 and -1.000001 <= row[1] <= 1.000001
        for row in numbers
    )


def outcome(function: Callable[[Data], Answer], data: Data) -> tuple[str, str]:
    """What happens, in a word or two, and the words of a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers, said = function(data)
        except tr.TruthingError as error:
            words = str(error)
            return ("refusal", words) if words and "\n" not in words else ("NOT ONE LINE", words)
        except Exception as error:  # what this study is looking for
            return "BROKEN", f"{type(error).__name__}: {error}"
    if math.inf in {row[0] for row in numbers}:
        return "infinite", ""
    if not sensible(numbers):
        return "NOT SENSIBLE", str(numbers)
    if not numbers:
        return "undefined", ""
    return ("answer, with a warning" if said else "answer"), ""


def table() -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Case to function to outcome, and every refusal to where it was met."""
    cells: dict[str, dict[str, str]] = {}
    refusals: dict[str, list[str]] = {}
    for case, data in cases().items():
        cells[case] = {}
        for name, function in functions().items():
            word, said = outcome(function, data)
            cells[case][name] = word
            if said:
                refusals.setdefault(said, []).append(f"{case}, {name}")
            if word.isupper():
                print(f"{case}, {name}: {word}: {said}", file=sys.stderr, flush=True)
    return cells, refusals


def page() -> str:
    """The table and the refusals as Markdown."""
    cells, refusals = table()
    names = list(functions())
    lines = [
        "# Degenerate data",
        "",
        "What each function does with data that hardly can be answered. Written by",
        "`studies/degenerate.py`; a test holds it. An answer is finite, within its range, its",
        "limits in order. A refusal is one line that says what to do.",
        "",
        f"| data | {' | '.join(names)} |",
        "|---|" + "---|" * len(names),
    ]
    lines += [f"| {case} | {' | '.join(row[n] for n in names)} |" for case, row in cells.items()]
    lines += ["", "| call | |", "|---|---|"]
    for name, call in closed_forms().items():
        word, said = outcome(partial(number, call), plain(1))
        lines.append(f"| {name} | {word} |")
        if said:
            refusals.setdefault(said, []).append(name)
        if word.isupper():
            print(f"{name}: {word}: {said}", file=sys.stderr, flush=True)
    lines += ["", "## Refusals in words", ""]
    lines += [
        f"- {ROUGH.sub('huge', words)} *({'; '.join(sorted(where))})*"
        for words, where in refusals.items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
