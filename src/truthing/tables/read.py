"""The readers people call: labels, predictions and gold from any usual file or frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from truthing.errors import InputError, did_you_mean, listing
from truthing.labels import Labels
from truthing.predictions import Gold, Predictions
from truthing.repeats import Repeats
from truthing.tables.asked import UNASKED, Asked
from truthing.tables.columns import Columns, recognise
from truthing.tables.guesses import to_gold, to_predictions
from truthing.tables.layouts import to_labels
from truthing.tables.pairs import paired
from truthing.tables.source import open_table
from truthing.tables.table import Table

Words = str | Sequence[Any] | None


@dataclass(frozen=True)
class Reading:
    """A table, what its columns were taken for, and what can be had from it."""

    table: Table
    columns: Columns
    asked: Asked = UNASKED
    paired: bool = False  # its items are item and system together

    @property
    def has_labels(self) -> bool:
        roles = self.columns.role
        others = bool({"prediction", "score", "truth"} & set(roles) or self.columns.scores)
        if "label" in roles:
            # a column called label beside no labeler, in a file of predictions or gold, is that
            # file's own business
            return "labeler" in roles or not others
        if self.columns.problem and others:
            return False
        return "pattern" in roles or bool(
            self.columns.rest and self.columns.layout in ("wide", "counts", "grouped")
        )

    @property
    def has_predictions(self) -> bool:
        return bool({"prediction", "score"} & set(self.columns.role) or self.columns.scores)

    @property
    def has_gold(self) -> bool:
        return "truth" in self.columns.role

    def column(self, name: str) -> dict[Any, Any]:
        """Some column as a mapping from item to value; the first row of an item counts."""
        columns = self.table.frame.columns
        if name not in columns:
            raise InputError(
                f"{self.table.name} has no column {name!r}.{did_you_mean(name, columns)} "
                f"It has {listing(columns)}."
            )
        where = self.columns.get("item")
        values = self.table.column(name).to_list()
        if where is None:
            return dict(enumerate(values))
        codes, items = self.table.required(where, "item")
        found: dict[Any, Any] = {}
        for code, value in zip(codes, values):
            found.setdefault(items[code], value)
        return found

    @cached_property
    def labels(self) -> Labels:
        return to_labels(self.table, self.columns, self.asked)

    @cached_property
    def predictions(self) -> Predictions:
        return to_predictions(self.table, self.columns, self.asked)

    @cached_property
    def gold(self) -> Gold:
        return to_gold(self.table, self.columns, self.asked)


def inspect(source: Any, *, hint: Sequence[Any] = (), **keywords: Any) -> Reading:
    """What a file or frame is. ``item_column="task"`` and the like name columns called otherwise.

    ``hint`` are classes of predictions or gold: they tell labelers from other columns.
    """
    return read_as(source, Asked.of(**keywords), hint)


def read_as(source: Any, asked: Asked, hint: Sequence[Any] = ()) -> Reading:
    """As `inspect`, with what the user said already gathered."""
    if isinstance(source, Reading):
        source = source.table
    table = open_table(source, delimiter=asked.delimiter, question=asked.question)
    if table.several and asked.tags is None:
        raise InputError(table.several)
    columns = recognise(table, asked, hint)
    pairs = None if asked.per is None else paired(table, columns, asked.per)
    if pairs is None:
        return Reading(table, columns, asked)
    return Reading(pairs, recognise(pairs, asked, hint), asked, paired=True)


def check_ignored(asked: Asked, tables: Sequence[Table]) -> None:
    """A column to be left out that no file has is a slip."""
    columns = [c for table in tables for c in table.frame.columns]
    for name in asked.among(columns).ignore:
        if name not in columns:
            raise InputError(
                f"there is no column {name!r} to ignore.{did_you_mean(name, columns)} "
                f"There are {listing(dict.fromkeys(columns))}."
            )


def _alone(source: Any, keywords: Mapping[str, Any], unknown: Mapping[str, Any]) -> Reading:
    asked = Asked.of(**{k: v for k, v in keywords.items() if k in _READ}, **unknown)
    reading = read_as(source, asked)
    check_ignored(asked, [reading.table])
    return reading


_READ = (
    *("item_column", "labeler_column", "label_column", "prediction_column", "score_column"),
    *("truth_column", "count_column", "layout", "delimiter", "question", "missing"),
    *("labeler_columns", "ignore", "classes", "map"),
)


def read_labels(
    source: Any,
    *,
    repeats: Repeats | None = None,
    layout: str | None = None,
    item_column: str | None = None,
    labeler_column: str | None = None,
    label_column: str | None = None,
    count_column: str | None = None,
    labeler_columns: Words = None,
    ignore: Words = None,
    missing: Words = None,
    classes: Sequence[Any] | None = None,
    map: Mapping[Any, Any] | None = None,
    delimiter: str | None = None,
    question: str | None = None,
    **unknown: Any,
) -> Labels:
    """Labels from a file, standard input ("-") or a data frame: long, wide, grouped or counts.

    ``item_column`` and the like name columns; ``labeler_columns`` are those of a wide table,
    ``ignore`` columns that are no labels. ``missing`` are words that mean "no label", ``classes``
    all classes in order, ``map`` says what a written name means. ``question`` chooses one of
    several that a tool's export holds. ``repeats`` settles labelers that contradict themselves
    now; by default that waits for the grading.
    """
    labels = _alone(source, locals(), unknown).labels
    return labels if repeats is None else labels.resolve_repeats(repeats)


def read_predictions(
    source: Any,
    *,
    item_column: str | None = None,
    prediction_column: str | None = None,
    score_column: str | None = None,
    ignore: Words = None,
    missing: Words = None,
    classes: Sequence[Any] | None = None,
    map: Mapping[Any, Any] | None = None,
    delimiter: str | None = None,
    question: str | None = None,
    **unknown: Any,
) -> Predictions:
    """Hard predictions and scores from a file, standard input ("-") or a data frame.

    Arguments as in `read_labels`; an item whose prediction is one of ``missing`` is left out.
    """
    return _alone(source, locals(), unknown).predictions


def read_gold(
    source: Any,
    *,
    item_column: str | None = None,
    truth_column: str | None = None,
    ignore: Words = None,
    missing: Words = None,
    classes: Sequence[Any] | None = None,
    map: Mapping[Any, Any] | None = None,
    delimiter: str | None = None,
    question: str | None = None,
    **unknown: Any,
) -> Gold:
    """Known truths from a file, standard input ("-") or a frame; arguments as in `read_labels`."""
    return _alone(source, locals(), unknown).gold


def read_everything(source: Any, **options: Any) -> tuple[Labels, Predictions, Gold | None]:
    """One file that holds items, labelers, labels, predictions and perhaps gold."""
    reading = inspect(source, **options)
    return reading.labels, reading.predictions, reading.gold if reading.has_gold else None
