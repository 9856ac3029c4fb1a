"""From a table with recognised columns to Labels, Predictions and Gold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array, factorise, recode, sort_classes, sorted_classes
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.predictions import Gold, Predictions
from truthing.tables.columns import Columns
from truthing.tables.table import Table, parse_names

_SPLIT = re.compile(r"[|,; ]")


def to_labels(table: Table, columns: Columns) -> Labels:
    """The labels of a long, wide, grouped or count table."""
    builder = {"long": _long, "wide": _wide, "counts": _counts, "grouped": _grouped}[columns.layout]
    labels = builder(table, columns)
    if labels.n_labels == 0:
        raise InputError(f"{table.name} holds no label at all: every cell is missing.")
    return labels


def _long(table: Table, columns: Columns) -> Labels:
    label_column = columns.get("label")
    if label_column is None:
        raise InputError(
            f"{table.name} has no column of labels (it has {listing(table.frame.columns)}). "
            "Call it label, rating, answer, response or value, or name it with --label-column."
        )
    item, items = _items(table, columns)
    label, names = table.codes(label_column)
    if "labeler" in columns.role:
        labeler, labelers = table.codes(columns.role["labeler"])
        nobody = (labeler < 0) & (label >= 0)
        if nobody.any():
            raise InputError(
                f"{table.place(int(np.argmax(nobody)))}: a label without a labeler. Name who gave it or remove the line."
            )
    else:
        labeler, labelers = np.zeros(len(label), dtype=np.int32), ("labeler",)
    label, classes = sorted_classes(label, names)
    lines = np.arange(len(label), dtype=np.int32) + (table.first_line or 0)
    return Labels.from_codes(
        item,
        labeler,
        label,
        items=items,
        labelers=labelers,
        classes=classes,
        lines=lines,
        source=table.name,
    )


def _items(table: Table, columns: Columns) -> tuple[Array, tuple[Any, ...]]:
    if "item" in columns.role:
        return table.required(columns.role["item"], "item")
    if "labeler" in columns.role:
        raise InputError(
            f"{table.name} has labelers but no column of items (it has {listing(table.frame.columns)}). "
            "Call it item, task, id, image or example, or name it with --item-column."
        )
    return np.arange(table.frame.height, dtype=np.int32), tuple(range(table.frame.height))


def _row_items(table: Table, columns: Columns) -> tuple[Any, ...]:
    """Items of a table with one row for each."""
    item, items = _items(table, columns)
    if len(items) < len(item):
        row = int(np.argmax(pl.Series(item).is_duplicated().to_numpy()))
        raise InputError(
            f"{table.place(row)}: item {items[item[row]]!r} has more than one row, but a {columns.layout} table has one row an item. "
            "Merge the rows, or name the columns if this is a long table (--label-column)."
        )
    return items


def _cells(table: Table, names: Sequence[str]) -> tuple[Array, tuple[Any, ...]]:
    """Cells of several columns, row by row, as codes in one list of classes."""
    coded = [table.codes(c) for c in names]
    if not table.typed:  # text: whether "1" is a number is decided over all columns together
        texts = [Table(table.frame, table.name, table.kind, typed=True).codes(c) for c in names]
        every = tuple(dict.fromkeys(n for _, column in texts for n in column))
        parsed = parse_names(every)
        grid = np.stack([recode(codes, column, every) for codes, column in texts], axis=1)
        label, classes = sorted_classes(grid.reshape(-1), parsed)
    else:
        every = tuple(dict.fromkeys(n for _, column in coded for n in column))
        grid = np.stack([recode(codes, column, every) for codes, column in coded], axis=1)
        label, classes = sorted_classes(grid.reshape(-1), every)
    return label.reshape(grid.shape), classes


def _wide(table: Table, columns: Columns) -> Labels:
    if not columns.rest:
        raise InputError(
            f"{table.name} has no column that could be a labeler: a wide table has one column for each."
        )
    items = _row_items(table, columns)
    grid, classes = _cells(table, columns.rest)
    return _from_grid(
        grid,
        classes,
        items,
        columns.rest if not table.nameless else tuple(range(len(columns.rest))),
    )


def _from_grid(
    grid: Array, classes: tuple[Any, ...], items: Sequence[Any], labelers: Sequence[Any]
) -> Labels:
    n_items, n_labelers = grid.shape
    return Labels.from_codes(
        np.repeat(np.arange(n_items, dtype=np.int32), n_labelers),
        np.tile(np.arange(n_labelers, dtype=np.int32), n_items),
        grid.reshape(-1),
        items=items,
        labelers=labelers,
        classes=classes,
    )


def _counts(table: Table, columns: Columns) -> Labels:
    items = _row_items(table, columns)
    votes = np.stack([table.numbers(c, "count") for c in columns.rest], axis=1)
    bad = np.argwhere((votes < 0) | (votes != np.floor(votes)))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"{table.place(int(row))}: {votes[row, column]:g} votes for {columns.rest[column]!r}. Counts are whole numbers from 0 up."
        )
    names = _class_names(columns.rest)
    order = [names.index(c) for c in sort_classes(names)]
    return Labels.from_counts(votes[:, order], items=items, classes=[names[k] for k in order])


def _class_names(columns: Sequence[str]) -> tuple[Any, ...]:
    """Class names behind count columns: ``count_cat`` is cat, ``c0`` is 0, anything else is itself."""
    for prefix in ("count_", "votes_", "n_", "c"):
        if all(c.lower().startswith(prefix) for c in columns):
            rest = [c[len(prefix) :] for c in columns]
            if prefix != "c" or all(r.isdigit() for r in rest):
                return parse_names(rest)
    return parse_names(columns)


def _grouped(table: Table, columns: Columns) -> Labels:
    """A row is a pattern of labels and how many items show it."""
    if "count" not in columns.role:
        raise InputError(
            f"{table.name} is read as grouped but has no column of counts: call it count or name it with --count-column."
        )
    times = _times(table, columns)
    if "pattern" in columns.role:
        texts = table.frame[columns.role["pattern"]].cast(pl.String).to_list()
        split = [_SPLIT.split(t.strip()) if t is not None else [] for t in texts]
        width = max(map(len, split))
        for row, pattern in enumerate(split):
            if len(pattern) != width:
                raise InputError(
                    f"{table.place(row)}: pattern {texts[row]!r} has {len(pattern)} labels, others have {width}. Write '-' where a labeler gave none."
                )
        frame = pl.DataFrame({str(k + 1): [p[k] for p in split] for k in range(width)})
        table, names = (
            Table(frame, table.name, table.kind, typed=False, first_line=table.first_line),
            frame.columns,
        )
    else:
        names = list(columns.rest)
    grid, classes = _cells(table, names)
    return _from_grid(np.repeat(grid, times, axis=0), classes, range(int(times.sum())), names)


def _times(table: Table, columns: Columns) -> Array:
    times = table.numbers(columns.role["count"], "count")
    if (times < 0).any() or (times != np.floor(times)).any():
        row = int(np.argmax((times < 0) | (times != np.floor(times))))
        raise InputError(
            f"{table.place(row)}: count {times[row]:g} is not a whole number from 0 up."
        )
    return times.astype(np.int64)


def to_predictions(table: Table, columns: Columns) -> Predictions:
    """Hard predictions, scores, or both."""
    prediction = columns.get("prediction")
    probabilities = dict(columns.scores)
    score = columns.get("score")
    if prediction is None and score is None and not probabilities:
        prediction, probabilities = _guess_predictions(table, columns)
    if columns.layout == "grouped" and prediction is not None:
        return _grouped_predictions(table, columns, prediction)
    used = [c for c in (prediction, score, *probabilities.values()) if c is not None]
    rows = table if "labeler" not in columns.role else _one_row_per_item(table, columns, used)
    items = _row_items(rows, columns)
    return Predictions.from_sequence(
        None if prediction is None else _values(rows, prediction),
        items=items,
        scores=_score_table(rows, score, probabilities),
        score_classes=parse_names(list(probabilities)),
    )


def _values(table: Table, column: str) -> list[Any]:
    codes, names = table.required(column, "prediction")
    return [names[c] for c in codes]


def _score_table(table: Table, score: str | None, probabilities: dict[str, str]) -> Array | None:
    if probabilities:
        return np.stack([table.numbers(c, "score") for c in probabilities.values()], axis=1)
    return None if score is None else table.numbers(score, "score")


def _guess_predictions(table: Table, columns: Columns) -> tuple[str | None, dict[str, str]]:
    """A file said to hold predictions: one column that is not the item, or probabilities that add up to one."""
    label = columns.get("label")
    if label is not None and "labeler" not in columns.role:
        return label, {}
    numeric = (
        [c for c in columns.rest if table.frame[c].cast(pl.Float64, strict=False).null_count() == 0]
        if columns.rest
        else []
    )
    if len(numeric) > 1 and len(numeric) == len(columns.rest):
        grid = np.stack([table.numbers(c, "score") for c in numeric], axis=1)
        if np.allclose(grid.sum(axis=1), 1, atol=1e-3):
            return None, {c: c for c in numeric}
    if len(columns.rest) == 1 and "labeler" not in columns.role:
        return columns.rest[0], {}
    raise InputError(
        f"{table.name} has no column of predictions or scores (it has {listing(table.frame.columns)}). "
        "Call it prediction, pred or score, or name it with --prediction-column or --score-column."
    )


def _one_row_per_item(table: Table, columns: Columns, used: list[str]) -> Table:
    """In a file that holds everything, a prediction stands on each of its item's rows: they must agree."""
    item = columns.role["item"]
    frame = (
        table.frame.select(item, *used)
        .filter(~pl.all_horizontal(pl.col(c).is_null() for c in used))
        .unique(maintain_order=True)
    )
    clash = frame.filter(pl.col(item).is_duplicated())
    if clash.height:
        raise InputError(
            f"{table.name}: item {clash[item][0]!r} has rows with different values in {listing(used)}. Give each item one."
        )
    return Table(frame, table.name, table.kind, table.typed, None)


def _grouped_predictions(table: Table, columns: Columns, prediction: str) -> Predictions:
    times = _times(table, columns)
    return Predictions.from_sequence(
        np.repeat(np.array(_values(table, prediction), dtype=object), times),
        items=range(int(times.sum())),
    )


def to_gold(table: Table, columns: Columns) -> Gold:
    """Items with a known truth; empty cells are items without."""
    truth = columns.get("truth")
    if truth is None and "labeler" not in columns.role:
        truth = columns.get("label") or (columns.rest[0] if len(columns.rest) == 1 else None)
    if truth is None:
        raise InputError(
            f"{table.name} has no column of true classes (it has {listing(table.frame.columns)}). "
            "Call it truth, gold, true_label or ground_truth, or name it with --truth-column."
        )
    rows = _one_row_per_item(table, columns, [truth]) if "labeler" in columns.role else table
    items = _row_items(rows, columns)
    codes, names = rows.codes(truth)
    known = np.flatnonzero(codes >= 0)
    if len(known) == 0:
        raise InputError(f"{table.name}: column {truth!r} holds no true class at all.")
    label, classes = sorted_classes(*factorise([names[codes[i]] for i in known]))
    return Gold(tuple(items[i] for i in known), classes, label)
