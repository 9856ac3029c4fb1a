"""Predictions and Gold: what the classifier said, and the items whose truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import (
    Array,
    factorise,
    name_each,
    recode,
    shares,
    sort_classes,
    sorted_classes,
)
from truthing.errors import InputError
from truthing.names import frozen, names_at
from truthing.notes import NOTHING, Notes


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """What the classifier said: hard labels, scores, or both, for named items.

    ``scores`` is a vector that grows with the positive class or a table with one column per class
    of ``score_classes``.

    >>> print(Predictions.from_sequence(["spam", "ham"], items=[1, 2]))
    2 items, predicted ham 50%, spam 50%
    """

    items: Sequence[Any]
    classes: tuple[Any, ...]
    label: Array | None
    scores: Array | None = None
    score_classes: tuple[Any, ...] = ()
    notes: Notes = NOTHING  # what had to be said when they were read
    settled: bool = False  # the user named the classes
    numbered: bool | None = None  # items are rows of a file; None: not from a file
    score_name: str = ""  # what the column of scores was called

    @classmethod
    def from_codes(
        cls,
        items: Sequence[Any],
        classes: tuple[Any, ...],
        codes: Array | None,
        *,
        scores: Any = None,
        score_classes: Sequence[Any] = (),
    ) -> Predictions:
        """From codes of sorted classes; the readers' way."""
        table = None if scores is None else _check_scores(scores, score_classes)
        if codes is not None and score_classes:
            every = sort_classes({(type(c), c): c for c in (*classes, *score_classes)}.values())
            codes, classes = recode(codes, classes, every), every
        return cls(
            frozen(items), classes or tuple(score_classes), codes, table, tuple(score_classes)
        )

    @classmethod
    def from_sequence(
        cls,
        labels: Any = None,
        *,
        items: Sequence[Any] | None = None,
        scores: Any = None,
        score_classes: Sequence[Any] = (),
    ) -> Predictions:
        """From a sequence or mapping of hard labels, from scores, or from both."""
        if isinstance(labels, Mapping):
            items, labels = list(labels), list(labels.values())
        if labels is None and scores is None:
            raise InputError("predictions need hard labels, scores, or both.")
        codes, classes = (None, ()) if labels is None else sorted_classes(*factorise(labels))
        table = None if scores is None else _check_scores(scores, score_classes)
        size = len(codes) if codes is not None else len(table)  # type: ignore[arg-type]
        if table is not None and len(table) != size:
            raise InputError(
                f"{size:,} predictions but {len(table):,} scores: give one score for each "
                "prediction."
            )
        names = name_each(items, size, "items")
        if len(set(names)) < len(names):
            twice = next(name for name, times in Counter(names).items() if times > 1)
            raise InputError(
                f"item {twice!r} is predicted twice: keep one prediction for each item."
            )
        if codes is not None and score_classes:
            every = sort_classes({*classes, *score_classes})
            codes, classes = recode(codes, classes, every), every
        return cls(names, classes or tuple(score_classes), codes, table, tuple(score_classes))

    @property
    def n_items(self) -> int:
        return len(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Predictions:
        chosen = np.atleast_1d(np.arange(self.n_items)[index])
        return replace(
            self,
            items=names_at(self.items, chosen),
            label=None if self.label is None else self.label[chosen],
            scores=None if self.scores is None else self.scores[chosen],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Predictions):
            return NotImplemented
        return (
            (self.items, self.classes, self.score_classes)
            == (other.items, other.classes, other.score_classes)
            and _equal(self.label, other.label)
            and _equal(self.scores, other.scores)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        parts = [f"{self.n_items:,} items"]
        if self.label is not None:
            parts.append(
                "predicted "
                + shares(
                    self.classes,
                    np.bincount(self.label[self.label >= 0], minlength=len(self.classes)),
                )
            )
        if self.scores is not None:
            parts.append(
                f"scores from {np.nanmin(self.scores):.3g} to {np.nanmax(self.scores):.3g}"
            )
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"<Predictions: {self}>"


@dataclass(frozen=True, eq=False, repr=False)
class Gold:
    """Items whose truth is known.

    >>> print(Gold.from_mapping({7: "cat", 9: "dog"}))
    2 gold items, cat 50%, dog 50%
    """

    items: Sequence[Any]
    classes: tuple[Any, ...]
    label: Array
    notes: Notes = NOTHING
    settled: bool = False
    numbered: bool | None = None

    @classmethod
    def from_mapping(cls, truth: Mapping[Any, Any]) -> Gold:
        codes, names = factorise(list(truth.values()))
        known = codes >= 0
        codes, classes = sorted_classes(codes[known], names)
        return cls(tuple(item for item, here in zip(truth, known) if here), classes, codes)

    @property
    def n_items(self) -> int:
        return len(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def as_dict(self) -> dict[Any, Any]:
        return {item: self.classes[code] for item, code in zip(self.items, self.label)}

    def __eq__(self, other: object) -> bool:
        return self.as_dict() == other.as_dict() if isinstance(other, Gold) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return (
            f"{self.n_items:,} gold items, "
            f"{shares(self.classes, np.bincount(self.label, minlength=len(self.classes)))}"
        )

    def __repr__(self) -> str:
        return f"<Gold: {self}>"


def _check_scores(scores: Any, score_classes: Sequence[Any]) -> Array:
    table = np.asarray(scores, dtype=float)
    if not np.isfinite(table).all():
        raise InputError(
            f"score {int(np.argwhere(~np.isfinite(table))[0][0])} is not a finite number: "
            "give a number for each item."
        )
    if table.ndim == 2:
        if table.shape[1] != len(score_classes):
            raise InputError(
                f"{table.shape[1]} score columns for {len(score_classes)} classes: give one "
                "column for each class."
            )
        if (table < 0).any() or (table > 1).any():
            bad = np.argwhere((table < 0) | (table > 1))[0]
            raise InputError(
                f"row {bad[0]} holds the class probability {table[tuple(bad)]}: "
                "probabilities lie between 0 and 1."
            )
    return table


def _equal(a: Array | None, b: Array | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)
