"""The readers people call: labels, predictions and gold from any usual file or frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from truthing.errors import InputError, did_you_mean, listing
from truthing.labels import Labels, Repeats
from truthing.predictions import Gold, Predictions
from truthing.tables.columns import Columns, recognise
from truthing.tables.layouts import to_gold, to_labels, to_predictions
from truthing.tables.source import open_table
from truthing.tables.table import Table


@dataclass(frozen=True)
class Reading:
    """A table, what its columns were taken for, and what can be had from it."""

    table: Table
    columns: Columns

    @property
    def has_labels(self) -> bool:
        roles = self.columns.role
        if "label" in roles:
            # a column called label beside no labeler, in a file of predictions or gold, is that file's own business
            return "labeler" in roles or not (
                {"prediction", "score", "truth"} & set(roles) or self.columns.scores
            )
        return "pattern" in roles or bool(
            self.columns.rest
            and self.columns.layout in ("wide", "counts", "grouped")
            and not self._lone
        )

    @property
    def _lone(self) -> bool:
        """One column beside item and predictions is a remark, not a panel."""
        return len(self.columns.rest) == 1 and bool(
            {"prediction", "score", "truth"} & set(self.columns.role)
        )

    @property
    def has_predictions(self) -> bool:
        return bool({"prediction", "score"} & set(self.columns.role) or self.columns.scores)

    @property
    def has_gold(self) -> bool:
        return "truth" in self.columns.role

    def column(self, name: str) -> dict[Any, Any]:
        """Some column as a mapping from item to value; the first row of an item counts."""
        if name not in self.table.frame.columns:
            raise InputError(
                f"{self.table.name} has no column {name!r}.{did_you_mean(name, self.table.frame.columns)} It has {listing(self.table.frame.columns)}."
            )
        where = self.columns.get("item")
        values = self.table.frame[name].to_list()
        if where is None:
            return dict(enumerate(values))
        codes, items = self.table.required(where, "item")
        found: dict[Any, Any] = {}
        for code, value in zip(codes, values):
            found.setdefault(items[code], value)
        return found

    @cached_property
    def labels(self) -> Labels:
        return to_labels(self.table, self.columns)

    @cached_property
    def predictions(self) -> Predictions:
        return to_predictions(self.table, self.columns)

    @cached_property
    def gold(self) -> Gold:
        return to_gold(self.table, self.columns)


def inspect(
    source: Any, *, layout: str | None = None, delimiter: str | None = None, **columns: str | None
) -> Reading:
    """What a file or frame is. ``item_column="task"`` and the like name columns that are called otherwise."""
    table = open_table(source, delimiter=delimiter)
    named = {name.removesuffix("_column"): column for name, column in columns.items()}
    return Reading(table, recognise(table, named, layout))


def read_labels(
    source: Any, *, layout: str | None = None, repeats: Repeats | None = None, **columns: str | None
) -> Labels:
    """Labels from a file, standard input ("-") or a data frame: long, wide, grouped or vote counts.

    ``repeats`` settles labelers that contradict themselves now; by default that waits for the grading.
    """
    labels = inspect(source, layout=layout, **columns).labels
    return labels if repeats is None else labels.resolve_repeats(repeats)


def read_predictions(source: Any, **columns: str | None) -> Predictions:
    """Hard predictions and scores from a file, standard input ("-") or a data frame."""
    return inspect(source, **columns).predictions


def read_gold(source: Any, **columns: str | None) -> Gold:
    """Known truths from a file, standard input ("-") or a data frame."""
    return inspect(source, **columns).gold


def read_everything(source: Any, **options: Any) -> tuple[Labels, Predictions, Gold | None]:
    """One file that holds items, labelers, labels, predictions and perhaps gold."""
    reading = inspect(source, **options)
    return reading.labels, reading.predictions, reading.gold if reading.has_gold else None
