"""Which classes the words of rows on disk stand for, by the rules for rows in memory: those rules
look at distinct words and how often they occur, which a first pass has counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array, recode, sort_classes
from truthing.engine.source import LabelSource
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.matching import one_vocabulary
from truthing.predictions import Gold, Predictions
from truthing.spelling import is_missing_word
from truthing.tables.asked import Asked
from truthing.tables.classes import Words, settle

SHOWN = 10_000  # rows of a likeness of the predictions that has their proportions


@dataclass(frozen=True)
class Vocabulary:
    """Class codes of the raw words of labels and predictions (-1: missing), gold in these classes,
    and what had to be said."""

    classes: tuple[Any, ...]
    labels: Array
    predictions: Array
    gold: Gold | None
    remarks: tuple[str, ...]
    warnings: tuple[str, ...]


def one_list(
    labels: tuple[LabelSource, Sequence[Any], Array],
    predictions: tuple[LabelSource, Sequence[Any], Array] | None,
    gold: Gold | None,
    asked: Asked,
) -> Vocabulary:
    """One list of classes for labels, predictions and gold; sources with their words and how often
    each occurs."""
    words = _settled(*labels, asked, "labels")
    n = len(words.codes)
    counted = np.asarray(labels[2], dtype=np.int64)
    panel = Labels(
        tuple(range(n)),
        ("labels",),
        words.classes,
        np.flatnonzero(words.codes >= 0).astype(np.int32),
        np.zeros(int((words.codes >= 0).sum()), dtype=np.int32),
        words.codes[words.codes >= 0],
        votes=counted[words.codes >= 0],
        anonymous=True,
        notes=words.notes,
        words=words.taken_for_missing,
        settled=asked.classes is not None,
    )
    guesses, guess_words = None, None
    if predictions is not None:
        guess_words = _settled(*predictions, asked, "predictions")
        often = np.asarray(predictions[2], dtype=float)
        times = np.maximum(1, np.round(SHOWN * often / max(often.sum(), 1))).astype(np.int64)
        codes = np.repeat(guess_words.codes, times)
        guesses = Predictions.from_codes(range(len(codes)), guess_words.classes, codes)
        guesses = replace(guesses, notes=guess_words.notes, settled=asked.classes is not None)
    named, guessed, known, notes = one_vocabulary(panel, guesses, gold)
    every = (
        *named.classes,
        *(guessed.classes if guessed else ()),
        *(known.classes if known else ()),
    )
    unique = tuple({(type(c), c): c for c in every}.values())
    classes = unique if panel.settled else sort_classes(unique)
    place = np.full(n, -1, dtype=np.int32)
    place[words.codes >= 0] = recode(named.label, named.classes, classes)
    guess_place = np.empty(0, dtype=np.int32)
    if guessed is not None and guess_words is not None:
        guess_place = recode(guess_words.codes, guessed.classes, classes)
    if known is not None:
        known = replace(known, classes=classes, label=recode(known.label, known.classes, classes))
    return Vocabulary(classes, place, guess_place, known, notes.remarks, notes.checks)


def _settled(
    source: LabelSource, names: Sequence[Any], counts: Array, asked: Asked, what: str
) -> Words:
    doubtful = [n for n in names if is_missing_word(n) and not asked.is_missing(n)]
    if doubtful and asked.classes is None:
        raise InputError(
            f"{source.name}: the {what} hold {doubtful[0]!r}: is it a class, or a missing value? "
            f"Say `missing={str(doubtful[0])!r}`, or name the classes with `classes=...`."
        )
    # as many copies of each word as others are rarer: all that the rules ask of frequencies
    rank = np.unique(counts, return_inverse=True)[1].reshape(-1) + 1
    codes = np.repeat(np.arange(len(names), dtype=np.int32), rank)
    words = settle(source.head, asked, codes, tuple(names), what=what)
    missing = "count as missing."
    told = [
        f"{source.name}: {int(counts[k]):,} {what} {name!r} {missing}"
        for k, name in enumerate(names)
        if asked.is_missing(name)
    ]
    remarks = (*told, *(note for note in words.notes.remarks if not note.endswith(missing)))
    first = np.cumsum(rank) - rank
    return replace(words, codes=words.codes[first], notes=replace(words.notes, remarks=remarks))
