"""Grades cut to two classes: labels, predictions and gold in the same place, and said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.case import Case
from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.matching import Joined
from truthing.notes import Notes
from truthing.predictions import Gold, Predictions


def cut_case(case: Case, cut: Any, positive: Any = None) -> Case:
    """Every grade from ``cut`` on becomes one class, every lower one the other.

    Gold may already be of two classes (benign and malignant beside grades 1 to 5): then its names
    are used, and ``positive`` says which one the high grades stand for (None: the last in order).
    """
    if cut is None:
        return case
    cut = f"{cut:g}" if isinstance(cut, float) else cut  # 3.0 of a form is grade 3
    grades = _grades(case)
    place = _place(cut, grades)
    low, high = _names(case.gold, grades, cut, positive)
    names = {str(grade): high if k >= place else low for k, grade in enumerate(grades)}
    notes = Notes(
        remarks=(
            f"Grades are cut at {cut}: {_listed(grades[place:])} count as {high!r}, "
            f"{_listed(grades[:place])} as {low!r}; labels, predictions and gold alike.",
        )
    )
    order = (low, high)
    labels = _two(case.labels, names, order)
    labels = replace(labels, notes=labels.notes + notes, settled=True)
    models = {
        name: _predictions(found, names, order, grades) for name, found in case.models.items()
    }
    return Case(labels, models, _gold(case.gold, names, order), case.readings)


def _grades(case: Case) -> list[Any]:
    """All grades in order: numbers by size, others as the user named them."""
    every: dict[str, Any] = {str(c): c for c in case.labels.classes}
    for found in case.models.values():
        every |= {str(c): c for c in found.classes if found.label is not None}
    numbers = _numbers(list(every))
    if numbers is not None:
        return [grade for _, grade in sorted(zip(numbers, every.values()), key=lambda p: p[0])]
    if not case.labels.settled:
        raise InputError(
            f"`cut=...` needs grades in order, and {listing(map(repr, every), 6)} are not numbers: "
            "give their order with `classes=...`."
        )
    strange = [name for name in every if name not in {str(c) for c in case.labels.classes}]
    if strange:
        raise InputError(f"grade {strange[0]!r} of the predictions is not among the classes given.")
    return list(case.labels.classes)


def _numbers(names: Sequence[str]) -> list[float] | None:
    try:
        return [float(name) for name in names]
    except ValueError:
        return None


def _place(cut: Any, grades: Sequence[Any]) -> int:
    """The first grade that counts as high."""
    numbers = _numbers([str(g) for g in grades])
    limit = _numbers([str(cut)])
    if numbers is not None and limit is not None:
        place = int(np.searchsorted(numbers, limit[0]))
    else:
        names = [str(g) for g in grades]
        if str(cut) not in names:
            raise InputError(f"cut {cut!r} is no grade here; there are {listing(names, 10)}.")
        place = names.index(str(cut))
    if not 0 < place < len(grades):
        raise InputError(
            f"cut {cut!r} leaves all grades on one side; they go from {grades[0]} to {grades[-1]}."
        )
    return place


def _names(gold: Gold | None, grades: Sequence[Any], cut: Any, positive: Any) -> tuple[Any, Any]:
    names = {str(g) for g in grades}
    if gold is None or all(str(c) in names for c in gold.classes):
        return f"below {cut}", f"{cut} or above"
    if len(gold.classes) != 2:
        raise InputError(
            f"gold has classes {listing(map(repr, gold.classes), 6)}: with cut= it holds grades "
            "of the same scale, or two classes."
        )
    positive = gold.classes[-1] if positive is None else positive
    high = [c for c in gold.classes if str(c) == str(positive)]
    if not high:
        raise InputError(f"positive class {positive!r} does not occur in the gold.")
    return next(c for c in gold.classes if str(c) != str(positive)), high[0]


def _listed(grades: Sequence[Any]) -> str:
    return listing(map(str, grades), 8)


def _codes(classes: Sequence[Any], names: Mapping[str, Any], order: tuple[Any, Any]) -> Array:
    return np.array([order.index(names[str(c)]) for c in classes], dtype=np.int64)


def _two(labels: Labels, names: Mapping[str, Any], order: tuple[Any, Any]) -> Labels:
    made = Labels.from_codes(
        labels.item,
        labels.labeler,
        _codes(labels.classes, names, order)[labels.label],
        items=labels.items,
        labelers=labels.labelers,
        classes=order,
        votes=labels.votes,
        anonymous=labels.anonymous,
    )
    return replace(made, notes=labels.notes, numbered=labels.numbered, words=labels.words)


def _predictions(
    found: Predictions, names: Mapping[str, Any], order: tuple[Any, Any], grades: Sequence[Any]
) -> Predictions:
    """Grades that were predicted are scores too: they rank the items."""
    scores = found.scores
    if found.score_classes:
        raise InputError(
            "cut= takes predicted grades, or one score that grows with them, not a column of "
            "scores for each grade."
        )
    label = found.label
    if label is None:
        return found
    codes = _codes(found.classes, names, order)
    if scores is None:
        at = {str(g): float(k) for k, g in enumerate(grades)}
        numbers = _numbers([str(g) for g in grades])
        value = np.array([at[str(c)] if numbers is None else float(str(c)) for c in found.classes])
        scores = np.where(label >= 0, value[np.maximum(label, 0)], np.nan)
        if np.isnan(scores).any():
            scores = None
    cut = np.where(label >= 0, codes[np.maximum(label, 0)], -1)
    return replace(found, classes=order, label=cut, scores=scores, settled=True)


def _gold(gold: Gold | None, names: Mapping[str, Any], order: tuple[Any, Any]) -> Gold | None:
    if gold is None:
        return None
    both = {**{str(c): c for c in order}, **names}
    codes = _codes(gold.classes, both, order)[gold.label]
    return replace(gold, classes=order, label=codes, settled=True)


def nearest_grades(joined: Joined, values: Array | None, assumptions: list[str]) -> Joined:
    """Scores on the scale of the grades, without predictions, are read as the nearest grade."""
    if values is None or joined.predicted is not None or joined.scores is None:
        return joined
    if joined.scores.ndim != 1 or len(values) < 3:
        return joined
    order = np.argsort(values)
    middles = (values[order][1:] + values[order][:-1]) / 2
    assumptions.append("The predicted grade is the one nearest to the score.")
    return replace(joined, predicted=order[np.searchsorted(middles, joined.scores)], scores=None)


def check_scale(scale: str | None) -> bool:
    """Are classes grades in order?"""
    if scale not in (None, "nominal", "ordinal"):
        raise InputError(
            f"scale {scale!r} is not known: choose 'ordinal' (grades in order) or 'nominal'."
        )
    return scale == "ordinal"
