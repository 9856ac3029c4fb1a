"""From a table with recognised columns to Labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import MOST_VOTES, Array, recode, sort_classes
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.notes import Notes
from truthing.sorting import MANY
from truthing.tables.asked import Asked
from truthing.tables.classes import Words, settle
from truthing.tables.columns import Columns
from truthing.tables.items import is_index
from truthing.tables.panel import never_a_labeler
from truthing.tables.table import Table, parse_names

_SPLIT = re.compile(r"[|,; ]")
MOST_ITEMS = 100_000_000  # of a grouped table


def to_labels(table: Table, columns: Columns, asked: Asked) -> Labels:
    """The labels of a long, wide, grouped or count table."""
    if columns.problem:
        raise InputError(columns.problem)
    builder = {"long": _long, "wide": _wide, "counts": _counts, "grouped": _grouped}[columns.layout]
    labels = builder(table, columns, asked)
    if labels.n_labels == 0:
        raise InputError(f"{table.name} holds no label at all: every cell is missing.")
    return replace(
        labels,
        notes=table.notes + columns.notes + labels.notes,
        settled=asked.classes is not None,
        numbered=numbered(columns),
    )


def numbered(columns: Columns) -> bool:
    """Whether items are known by their row only."""
    item = columns.get("item")
    return item is None or is_index(item)


def _with_words(labels: Labels, words: Words) -> Labels:
    return replace(labels, notes=words.notes, words=words.taken_for_missing)


def _long(table: Table, columns: Columns, asked: Asked) -> Labels:
    label_column = columns.get("label")
    if label_column is None:
        raise InputError(
            f"{table.name} has no column of labels (it has {listing(table.frame.columns)}). "
            "Call it label, rating, answer, response or value, or name it with "
            "`label_column=...`."
        )
    item, items = row_items(table, columns)
    label, names = table.raw(label_column)
    if "labeler" in columns.role:
        labeler, labelers = table.codes(columns.role["labeler"])
        nobody = (labeler < 0) & (label >= 0)
        if nobody.any():
            raise InputError(
                f"{table.place(int(np.argmax(nobody)))}: a label without a labeler. "
                "Name who gave it or remove the line."
            )
    else:
        _refuse_nobody(table, columns, item, items)
        labeler, labelers = np.zeros(len(label), dtype=np.int32), ("labeler",)
    words = settle(table, asked, label, names, what="labels", labeler=labeler)
    held = [_short(words), labeler, item]
    words = replace(words, codes=np.empty(0, dtype=np.int32))
    del item, label, labeler  # from_codes lets each go when it is sorted: nobody else may hold it
    lines = table.first_line if table.lines is None else table.lines
    made = Labels.from_codes(
        held.pop(),
        held.pop(),
        held.pop(),
        items=items,
        labelers=labelers,
        classes=words.classes,
        lines=lines if table.unit else None,
        source=f"{table.name} {table.unit}".rstrip(),
    )
    return _with_words(made, words)


def _short(words: Words) -> Array:
    """Codes of very many labels as short as they can be until they are sorted."""
    few = len(words.classes) < np.iinfo(np.int8).max and len(words.codes) >= MANY
    return words.codes.astype(np.int8) if few else words.codes


def _refuse_nobody(table: Table, columns: Columns, item: Array, items: Sequence[Any]) -> None:
    """Labels without labelers are one labeler's, if nothing speaks against it."""
    others = [c for c in columns.unused if not never_a_labeler(c)]
    if "item" not in columns.role and others and not table.nameless:
        raise InputError(
            f"{table.name} has no column of items of a known name (it has "
            f"{listing(table.frame.columns)}). Name it with `item_column=...`, and who gave the "
            "labels with `labeler_column=...`."
        )
    if len(items) < len(item):
        row = int(np.argmax(pl.Series(item).is_duplicated().to_numpy()))
        raise InputError(
            f"{table.name}: item {items[item[row]]!r} has several labels, but no column says who "
            f"gave them (it has {listing(table.frame.columns)}). Name it with "
            "`labeler_column=...`."
        )


def row_items(table: Table, columns: Columns) -> tuple[Array, Sequence[Any]]:
    """The item of each row: as named, else the number of the row."""
    if "item" in columns.role:
        return table.required(columns.role["item"], "item")
    if "labeler" in columns.role:
        raise InputError(
            f"{table.name} has labelers but no column of items (it has "
            f"{listing(table.frame.columns)}). Call it item, task, id, image or example, or name "
            "it with `item_column=...`."
        )
    return np.arange(table.frame.height, dtype=np.int32), tuple(range(table.frame.height))


def one_row_items(table: Table, columns: Columns) -> Sequence[Any]:
    """Items of a table with one row for each."""
    item, items = row_items(table, columns)
    if len(items) < len(item):
        row = int(np.argmax(pl.Series(item).is_duplicated().to_numpy()))
        again = int(np.flatnonzero(item == item[row])[1])
        kind = "table of predictions or gold" if columns.layout == "long" else "wide table"
        raise InputError(
            f"{table.place(row)}: item {items[item[row]]!r} has more than one row (again: "
            f"{table.place(again).removeprefix(table.name + ' ')}), but a {kind} "
            "has one row per item. Merge the rows, name another column of items "
            "(`item_column=...`), or name the columns if this is a long table "
            "(`label_column=...`)."
        )
    return items


def _grid(table: Table, names: Sequence[str]) -> tuple[Array, tuple[Any, ...]]:
    """Cells of several columns, row by row, as codes in one list of words."""
    raw = [table.raw(c) for c in names]
    every = tuple({(type(n), n): n for _, column in raw for n in column}.values())
    return np.stack([recode(codes, column, every) for codes, column in raw], axis=1), every


def _wide(table: Table, columns: Columns, asked: Asked) -> Labels:
    if not columns.rest:
        why = "; ".join(f"{c or '(no name)'}: {why}" for c, why in list(columns.unused.items())[:5])
        raise InputError(
            f"{table.name} has no column that could be a labeler"
            + (f" ({why})" if why else ": a wide table has one column for each")
            + ". Name them with `labeler_columns=...`."
        )
    items = one_row_items(table, columns)
    grid, every = _grid(table, columns.rest)
    who = np.broadcast_to(np.arange(grid.shape[1], dtype=np.int32), grid.shape)
    words = settle(table, asked, grid, every, what="labels", labeler=who)
    labelers = columns.rest if not table.nameless else tuple(range(len(columns.rest)))
    return _with_words(_from_grid(words.codes, words.classes, items, labelers), words)


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


def _counts(table: Table, columns: Columns, asked: Asked) -> Labels:
    items = one_row_items(table, columns)
    for column in columns.rest:
        series = table.frame[column]
        empty = series.is_null() | (series.cast(pl.String, strict=False).str.strip_chars() == "")
        if empty.any():
            raise InputError(
                f"{table.place(int(empty.arg_max() or 0))}: no number of votes for {column!r}. "
                "Write 0 if nobody chose it, or remove the line."
            )
    votes = np.stack([table.numbers(c, "count") for c in columns.rest], axis=1)
    bad = np.argwhere(~((votes >= 0) & (votes == np.floor(votes)) & (votes <= MOST_VOTES)))
    if len(bad):
        row, column_number = bad[0]
        raise InputError(
            f"{table.place(int(row))}: {votes[row, column_number]:g} votes for "
            f"{columns.rest[column_number]!r}. Counts are whole numbers from 0 to {MOST_VOTES:,}."
        )
    names = tuple(asked.meant(name) for name in class_names(columns.rest))
    order = sort_classes(names) if asked.classes is None else asked.classes
    place = {name: k for k, name in enumerate(names)}
    absent = [name for name in names if name not in order]
    if absent or len(place) < len(names):
        raise InputError(
            f"{table.name}: columns of votes must be the classes, each once; "
            f"{listing(absent or names)} do not fit. Correct `classes=...` or `map=...`."
        )
    table_of_votes = np.zeros((len(votes), len(order)))
    for k, name in enumerate(order):
        if name in place:
            table_of_votes[:, k] = votes[:, place[name]]
    return Labels.from_counts(table_of_votes, items=items, classes=list(order))


def class_names(columns: Sequence[str]) -> tuple[Any, ...]:
    """Class names behind count columns: ``count_cat`` is cat, ``c0`` is 0, else the name itself."""
    for prefix in ("count_", "votes_", "n_", "c"):
        if all(c.lower().startswith(prefix) for c in columns):
            rest = [c[len(prefix) :] for c in columns]
            if prefix != "c" or all(r.isdigit() for r in rest):
                return parse_names(rest)
    return parse_names(columns)


def _grouped(table: Table, columns: Columns, asked: Asked) -> Labels:
    """A row is a pattern of labels and how many items show it."""
    if "count" not in columns.role:
        raise InputError(
            f"{table.name} is read as grouped but has no column of counts: call it count or name "
            "it with `count_column=...`."
        )
    repeats = times(table, columns)
    if "pattern" in columns.role:
        table, names = _patterns(table, columns.role["pattern"])
    else:
        names = list(columns.rest)
    grid, every = _grid(table, names)
    who = np.broadcast_to(np.arange(grid.shape[1], dtype=np.int32), grid.shape)
    words = settle(table, asked, grid, every, what="labels", labeler=who)
    items = range(int(repeats.sum()))
    made = _from_grid(np.repeat(words.codes, repeats, axis=0), words.classes, items, names)
    return _with_words(made, words)


def _patterns(table: Table, column: str) -> tuple[Table, list[str]]:
    texts = table.frame[column].cast(pl.String).to_list()
    split = [_SPLIT.split(t.strip()) if t is not None else [] for t in texts]
    width = max(map(len, split))
    for row, pattern in enumerate(split):
        if len(pattern) != width:
            raise InputError(
                f"{table.place(row)}: pattern {texts[row]!r} has {len(pattern)} labels, others "
                f"have {width}. Write nothing between two separators where a labeler gave none."
            )
    cells = [["" if cell == "-" else cell for cell in pattern] for pattern in split]
    frame = pl.DataFrame({str(k + 1): [p[k] for p in cells] for k in range(width)})
    made = replace(table, frame=frame, typed=False)
    return made, frame.columns


def times(table: Table, columns: Columns) -> Array:
    """How many items show each row of a grouped table."""
    found = table.numbers(columns.role["count"], "count")
    bad = ~((found >= 0) & (found == np.floor(found)) & (found <= MOST_ITEMS))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{table.place(row)}: count {found[row]:g} is not a whole number from 0 up to "
            f"{MOST_ITEMS:,}."
        )
    if found.sum() > MOST_ITEMS:
        raise InputError(f"{table.name}: {found.sum():g} items are more than {MOST_ITEMS:,}.")
    return found.astype(np.int64)


def merge(parts: Sequence[tuple[str, Labels]]) -> Labels:
    """Several files of labels as one; a file without labelers is a labeler of its own."""
    if len(parts) == 1:
        return parts[0][1]
    if any(labels.anonymous for _, labels in parts):
        raise InputError(
            "votes of several files cannot be added: they may be the same people. Merge the files."
        )
    if any(labels.numbered for _, labels in parts):
        name = next(name for name, labels in parts if labels.numbered)
        raise InputError(
            f"{name} has no column of items, so its rows cannot be matched with those of another "
            "file. Name one with `item_column=...`."
        )
    items: dict[Any, int] = {}
    who: dict[Any, int] = {}
    classes = sort_classes({(type(c), c): c for _, part in parts for c in part.classes}.values())
    codes: list[tuple[Array, Array, Array]] = []
    for name, part in parts:
        labelers = (name,) if part.labelers == ("labeler",) else part.labelers
        at = np.array([items.setdefault(i, len(items)) for i in part.items], dtype=np.int64)
        by = np.array([who.setdefault(t, len(who)) for t in labelers], dtype=np.int64)
        codes.append((at[part.item], by[part.labeler], recode(part.label, part.classes, classes)))
    item, labeler, label = (np.concatenate([c[k] for c in codes]) for k in range(3))
    made = Labels.from_codes(
        item, labeler, label, items=list(items), labelers=list(who), classes=classes
    )
    notes = sum((part.notes for _, part in parts), Notes())
    return replace(
        made,
        notes=notes,
        settled=all(part.settled for _, part in parts),
        words=tuple(w for _, part in parts for w in part.words),
    )
