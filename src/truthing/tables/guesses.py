"""From a table with recognised columns to Predictions and Gold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.names import names_at
from truthing.notes import Notes
from truthing.predictions import Gold, Predictions
from truthing.tables.asked import Asked
from truthing.tables.classes import Words, settle
from truthing.tables.columns import Columns
from truthing.tables.layouts import numbered, one_row_items, times
from truthing.tables.panel import never_a_labeler
from truthing.tables.table import Table, parse_names


def to_predictions(table: Table, columns: Columns, asked: Asked) -> Predictions:
    """Hard predictions, scores, or both."""
    prediction = columns.get("prediction")
    probabilities = dict(columns.scores)
    score = columns.get("score")
    if prediction is None and score is None and not probabilities:
        prediction, probabilities = _guess_predictions(table, columns)
    used = [c for c in (prediction, score, *probabilities.values()) if c is not None]
    rows = table if "labeler" not in columns.role else _one_row_per_item(table, columns, used)
    words = None if prediction is None else _words(rows, asked, prediction, "predictions")
    scores, remarks = _score_table(rows, score, probabilities)
    notes = table.notes + columns.notes + Notes(remarks=remarks)
    if columns.layout == "grouped" and words is not None:
        repeats = times(table, columns)
        return replace(
            Predictions.from_codes(
                range(int(repeats.sum())), words.classes, np.repeat(words.codes, repeats)
            ),
            notes=notes + words.notes,
        )
    items = one_row_items(rows, columns)
    if words is not None and (words.codes < 0).any():
        keep = np.flatnonzero(words.codes >= 0)
        if len(keep) == 0:
            raise InputError(f"{table.name}: column {prediction!r} holds no prediction at all.")
        items = names_at(items, keep)
        words = replace(words, codes=words.codes[keep])
        scores = None if scores is None else scores[keep]
    made = Predictions.from_codes(
        items,
        () if words is None else words.classes,
        None if words is None else words.codes,
        scores=scores,
        score_classes=_score_names(asked, probabilities),
    )
    return replace(
        made,
        notes=notes + (Notes() if words is None else words.notes),
        settled=asked.classes is not None,
        numbered=numbered(columns),
        score_name=score or "",
    )


def _score_names(asked: Asked, probabilities: dict[str, str]) -> tuple[Any, ...]:
    names = tuple(asked.meant(name) for name in parse_names(list(probabilities)))
    if asked.classes is None:
        return names
    texts = {str(c): c for c in asked.classes}
    return tuple(texts.get(str(name), name) for name in names)


def _words(table: Table, asked: Asked, column: str, what: str) -> Words:
    """The classes of a column; a cell without one is refused, unless the user calls it missing."""
    codes, names = table.raw(column)
    if (codes < 0).any() and what == "predictions" and not asked.is_missing(""):
        raise InputError(
            f"{table.place(int(np.argmin(codes)))}: no prediction in column {column!r}. Fill it "
            "in, or leave such items out with `missing=''`."
        )
    return settle(table, asked, codes, names, what=what)


def _score_table(
    table: Table, score: str | None, probabilities: dict[str, str]
) -> tuple[Array | None, tuple[str, ...]]:
    if not probabilities:
        return (None if score is None else table.numbers(score, "score")), ()
    grid = np.stack([table.numbers(c, "score") for c in probabilities.values()], axis=1)
    if grid.max() > 1 and np.allclose(grid.sum(axis=1), 100, atol=0.5):
        return grid / 100, (f"{table.name}: scores that add up to 100 were read as percentages.",)
    return grid, ()


def _guess_predictions(table: Table, columns: Columns) -> tuple[str | None, dict[str, str]]:
    """A file said to hold predictions: one column that is not the item, or class probabilities."""
    label = columns.get("label")
    if label is not None and "labeler" not in columns.role:
        return label, {}
    known = {*columns.role.values()}
    rest = [c for c in table.frame.columns if c not in known and c not in columns.unused]
    rest += [c for c in columns.unused if c not in rest and not never_a_labeler(c)]
    numeric = [c for c in rest if _all_numbers(table.frame[c])]
    if len(numeric) > 1 and len(numeric) == len(rest):
        grid = np.stack([table.numbers(c, "score") for c in numeric], axis=1)
        if np.allclose(grid.sum(axis=1), 1, atol=1e-3):
            return None, {c: c for c in numeric}
    if len(rest) == 1 and "labeler" not in columns.role and _few_values(table, rest[0]):
        return rest[0], {}
    raise InputError(
        f"{table.name} has no column of predictions or scores (it has "
        f"{listing(table.frame.columns)}). Call it prediction, pred or score, or name it with "
        "`prediction_column=...` or `score_column=...`."
    )


def _all_numbers(series: pl.Series) -> bool:
    if not (series.dtype.is_numeric() or series.dtype == pl.String):
        return False
    return series.cast(pl.Float64, strict=False).null_count() == 0


def _few_values(table: Table, column: str) -> bool:
    """Classes come again; a column whose every row is new holds something else."""
    series = table.frame[column]
    if series.dtype == pl.Object:
        return True
    return series.len() < 20 or series.n_unique() <= 0.5 * series.len()


def _one_row_per_item(table: Table, columns: Columns, used: list[str]) -> Table:
    """In a file that holds everything, a prediction stands on each of its item's rows."""
    item = columns.role.get("item")
    if item is None:
        raise InputError(
            f"{table.name} has labelers but no column of items: name it with `item_column=...`."
        )
    frame = table.frame.select(item, *used)
    if any(dtype == pl.Object for dtype in frame.dtypes):
        seen: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in frame.iter_rows(named=True):
            if not all(row[c] is None for c in used):
                seen.setdefault(tuple((type(v), v) for v in row.values()), row)
        rows = list(seen.values())
        columns_of = {
            c: pl.Series(c, [r[c] for r in rows], dtype=frame[c].dtype) for c in frame.columns
        }
        frame = pl.DataFrame(columns_of)
        names = [r[item] for r in rows]
        twice = next((n for n in names if names.count(n) > 1), None)
    else:
        empty = pl.all_horizontal(pl.col(c).is_null() for c in used)
        frame = frame.filter(~empty).unique(maintain_order=True)
        clash = frame.filter(pl.col(item).is_duplicated())
        twice = clash[item][0] if clash.height else None
    if twice is not None:
        raise InputError(
            f"{table.name}: item {twice!r} has rows with different values in {listing(used)}. "
            "Give each item one."
        )
    return replace(table, frame=frame, unit="", lines=None)


def to_gold(table: Table, columns: Columns, asked: Asked) -> Gold:
    """Items with a known truth; empty cells are items without."""
    truth = columns.get("truth")
    if truth is None and "labeler" not in columns.role:
        rest = list(columns.rest) or [c for c in columns.unused if not never_a_labeler(c)]
        truth = columns.get("label") or (rest[0] if len(rest) == 1 else None)
    if truth is None:
        raise InputError(
            f"{table.name} has no column of true classes (it has {listing(table.frame.columns)}). "
            "Call it truth, gold, true_label or ground_truth, or name it with `truth_column=...`."
        )
    rows = _one_row_per_item(table, columns, [truth]) if "labeler" in columns.role else table
    items = one_row_items(rows, columns)
    words = _words(rows, asked, truth, "gold")
    known = np.flatnonzero(words.codes >= 0)
    if len(known) == 0:
        raise InputError(f"{table.name}: column {truth!r} holds no true class at all.")
    used = sorted(set(words.codes[known].tolist()))
    place = np.full(len(words.classes), -1, dtype=np.int32)
    place[used] = np.arange(len(used))
    return Gold(
        names_at(items, known),
        tuple(words.classes[k] for k in used),
        place[words.codes[known]],
        notes=table.notes + columns.notes + words.notes,
        settled=asked.classes is not None,
        numbered=numbered(columns),
    )
