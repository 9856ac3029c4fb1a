"""A calibration set as users have it: labels and truth of other items by the same labelers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.case import Case, read_case
from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean, listing
from truthing.labels import Labels
from truthing.matching import join
from truthing.spelling import as_column
from truthing.survey.columns import codes_of, column_of

CHOSEN = ("truth", "verdict")
FEWEST = 10


@dataclass(frozen=True, eq=False)
class CalibrationItems:
    """Other items with known truth: ``labels`` by the graded items' labelers and in their classes,
    ``predicted`` models × items (None: the models did not answer them), ``chosen`` "truth" or
    "verdict" where the user says how they were chosen."""

    labels: Labels
    truth: Array
    predicted: Array | None = None
    chosen: str | None = None
    notes: tuple[str, ...] = ()
    cluster: Array | None = None  # codes; None: nobody said


def read_calibration(
    given: Any,
    chosen: str | None,
    labels: Labels,
    graded: Sequence[Any],
    answers: Sequence[Mapping[Any, int]] = (),
    cluster: Any = None,
) -> tuple[Labels, CalibrationItems]:
    """The graded labels by the labelers that both sets have, and the calibration items.

    ``given`` is (labels, truth), or one source that holds both; ``answers`` are the predictions of
    each model for items that are not graded, item to class code; ``cluster`` is what the user says
    of the graded items' clusters, which may hold those of the calibration items too.
    """
    if chosen is not None and chosen not in CHOSEN:
        raise InputError(
            f"`calibration_chosen={chosen!r}` is not known.{did_you_mean(chosen, CHOSEN)} Choose "
            "truth (items chosen by their true class, or at random) or verdict (by what the "
            "labelers say)."
        )
    source, truth = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    case = source if isinstance(source, Case) else read_case(source, {}, truth)
    if case.gold is None:
        raise InputError(
            "the calibration set has no truth: give a file with a truth column, or (labels, truth)."
        )
    joined = join(case.labels, None, case.gold)
    theirs, codes = joined.labels, joined.gold
    places = {str(c): k for k, c in enumerate(labels.classes)}
    unknown = [c for c in theirs.classes if str(c) not in places]
    if unknown:
        raise InputError(
            f"the calibration set has class {unknown[0]!r}, which the graded items do not; they "
            f"have {listing(map(repr, labels.classes))}. Write classes alike in both."
        )
    recoded = np.array([places[str(c)] for c in theirs.classes], dtype=np.int64)
    known = {i for i in graded if isinstance(i, str)}
    kept = [
        k
        for k, i in enumerate(theirs.items)
        if codes[k] >= 0 and theirs.per_item[k] > 0 and i not in known
    ]
    notes = []
    shared = sum(i in known for i in theirs.items)
    if shared:
        notes.append(
            f"{shared:,} calibration items are graded too and were left out: give their truth as "
            "gold."
        )
    if len(kept) < FEWEST:
        raise InputError(
            f"the calibration set has {len(kept)} items with labels and truth that are not graded: "
            f"it needs at least {FEWEST}."
        )
    mine, other, told = same_labelers(labels, theirs[np.array(kept)])
    other = replace(
        other, classes=labels.classes, label=recoded[other.label].astype(labels.label.dtype)
    )
    items, truths = other.items, recoded[codes[kept]]
    guesses = None
    if answers and all(all(i in each for i in items) for each in answers):
        guesses = np.array([[each[i] for i in items] for each in answers])
    clusters = None if cluster is None else _clusters(cluster, items, case.readings)
    if cluster is not None and clusters is None:
        notes.append(
            "The calibration items' clusters are not known, so each was taken as one of its own: "
            "give `cluster=` as a column of both files, or a mapping that names items of both."
        )
    return mine, CalibrationItems(other, truths, guesses, chosen, (*notes, *told), clusters)


def _clusters(given: Any, items: Sequence[Any], readings: Sequence[Any]) -> Array | None:
    """Codes of the calibration items' clusters, where a column of their file or a mapping tells
    them all."""
    if isinstance(given, str):
        files = [reading.table.frame.columns for reading in readings]
        has = any(as_column(given, columns) in columns for columns in files)
        given = column_of(given, readings, "cluster") if has else {}
    if not isinstance(given, Mapping):
        return None
    texts = {str(k): v for k, v in given.items()}
    values = [texts.get(str(i)) for i in items]
    return None if any(v is None for v in values) else codes_of(values)[0]


def same_labelers(labels: Labels, theirs: Labels) -> tuple[Labels, Labels, list[str]]:
    """Both sets with the labelers that both have, in one order; what was left out, in words."""
    if labels.anonymous or theirs.anonymous:
        if labels.anonymous != theirs.anonymous:
            raise InputError(
                "one of calibration set and labels names its labelers and the other does not: "
                "they cannot be matched."
            )
        return labels, theirs, []
    names = {str(w): k for k, w in enumerate(labels.labelers)}
    common = [w for w in theirs.labelers if str(w) in names]
    if not common:
        raise InputError(
            f"calibration set and labels share no labeler (for example {theirs.labelers[0]!r} and "
            f"{labels.labelers[0]!r}): the labelers of one say nothing about those of the other."
        )
    told = []
    kept = [w for w in labels.labelers if str(w) in {str(c) for c in common}]
    if len(kept) < labels.n_labelers:
        told.append(
            f"{labels.n_labelers - len(kept)} of {labels.n_labelers} labelers did not label the "
            "calibration set; their labels were left out."
        )
    mine, other = labels.select(kept), theirs.select(common)
    order = {str(w): k for k, w in enumerate(mine.labelers)}
    place = np.array([order[str(w)] for w in other.labelers], dtype=other.labeler.dtype)
    return mine, replace(other, labelers=mine.labelers, labeler=place[other.labeler]), told
