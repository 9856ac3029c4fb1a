"""From a file to the arguments of bayes_error, and in words what it was taken for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.predictions import Predictions
from truthing.repeats import Repeats
from truthing.streaming.some_items import some_items
from truthing.tables.asked import Asked
from truthing.tables.read import Reading, inspect
from truthing.tables.source import open_table
from truthing.tables.table import Table

# what a column is called, and which argument it is then; other columns of numbers need --kind
NAMES = {
    "soft": ("soft", "soft_label", "soft_labels", "c", "probability", "prob", "p"),
    "uncertainty": ("uncertainty",),
    "noisy": ("noisy", "noisy_soft", "u"),
    "positive_confidence": ("positive_confidence", "pconf", "r"),
    "signs": ("sign", "signs"),
    "hard": ("hard",),
}
KINDS = ("soft", "uncertainty", "noisy", "positive_confidence", "scores", "labels")


@dataclass(frozen=True)
class CeilingFile:
    """Arguments for `bayes_error`, the items' names, and a sentence on what was taken for what."""

    arguments: dict[str, Any]
    items: Sequence[Any]
    remarks: str


def read_ceiling(
    path: Any,
    *,
    kind: str | None = None,
    column: str | None = None,
    layout: str | None = None,
    repeats: Repeats = "error",
    engine: str = "auto",
    **columns: Any,
) -> CeilingFile:
    """Votes, soft labels or scores with decisions, whichever the file holds; of votes that do not
    fit in memory those of a random choice of items."""
    if kind is not None and kind not in KINDS:
        raise InputError(f"`kind={kind!r}` is not known: choose {listing(KINDS)}.")
    votes = kind in (None, "labels")
    if not votes and engine not in ("auto", "memory"):
        raise InputError(f"`engine={engine!r}` reads votes: leave it out beside `kind={kind!r}`.")
    if votes:
        path, _ = some_items(path, engine, asked=Asked.of(layout=layout, **columns))
    table = open_table(path)
    by_name = {} if kind == "labels" else _by_name(table, kind, column, columns)
    if by_name:
        return _from_columns(table, by_name, columns)
    if kind not in (None, "labels", "soft", "noisy"):
        raise InputError(f"{table.name}: which column holds it? Name it with `score_column=...`.")
    grid = _probabilities(table) if kind != "labels" and layout is None else None
    if grid is not None:
        values = grid[:, 0] if grid.shape[1] == 1 else grid
        return CeilingFile(
            {kind or "soft": values},
            tuple(range(len(grid))),
            f"{table.name}: class probabilities of {len(grid):,} items",
        )
    reading = inspect(path, layout=layout, **columns)
    if reading.columns.scores and not reading.has_labels:
        return _from_scores(reading, kind)
    labels = reading.labels.resolve_repeats(repeats)
    words = [f"{table.name}: {str(labels).splitlines()[0]}", *table.notes.all]
    return CeilingFile({"counts": labels}, labels.items, ". ".join(words))


def _by_name(
    table: Table, kind: str | None, column: str | None, columns: dict[str, Any]
) -> dict[str, str]:
    plain = {name.strip().lower(): name for name in table.frame.columns}
    found = {
        what: plain[word] for what, words in NAMES.items() for word in words[::-1] if word in plain
    }
    if kind is None and column is None and not _only(found, table, plain):
        return {}
    truth = columns.get("truth_column") or next(
        (plain[w] for w in ("decision", "decisions", "truth") if w in plain), None
    )
    if column is not None:
        if column not in table.frame.columns:
            raise InputError(
                f"{table.name} has no column {column!r}. It has {listing(table.frame.columns)}."
            )
        kind = kind or ("scores" if truth else "soft")
        found = {
            kind: column,
            **{what: name for what, name in found.items() if what in ("signs", "hard")},
        }
    elif kind == "scores" and truth is not None and "score" in plain:
        found = {"scores": plain["score"]}
    if "scores" in found:
        if truth is None:
            raise InputError(
                f"{table.name}: scores need decisions to be calibrated against. Name their "
                "column with `truth_column=...`."
            )
        return {"scores": found["scores"], "decisions": truth}
    main = next(
        (
            what
            for what in ("soft", "uncertainty", "noisy", "positive_confidence")
            if what in found and kind in (None, what)
        ),
        None,
    )
    if main is not None:
        extra = {"signs": found["signs"]} if main == "noisy" and "signs" in found else {}
        return {main: found[main], **extra}
    return (
        {"hard": found["hard"], "signs": found["signs"]} if {"hard", "signs"} <= set(found) else {}
    )


def _only(found: dict[str, str], table: Table, plain: dict[str, str]) -> bool:
    """Whether a named column stands alone: beside other columns, ``c`` may be a labeler's name
    as well as a probability.
    """
    beside = {
        plain[word]
        for word in ("item", "id", "task", "decision", "decisions", "truth")
        if word in plain
    }
    return set(table.frame.columns) <= {*found.values(), *beside}


def _from_columns(table: Table, named: dict[str, str], columns: dict[str, Any]) -> CeilingFile:
    arguments: dict[str, Any] = {}
    for what, name in named.items():
        if what in ("signs", "hard", "decisions"):
            codes, names = table.required(name, what)
            arguments[what] = [names[code] for code in codes]
        else:
            arguments[what] = table.numbers(name, what.replace("_", " "))
    item = columns.get("item_column") or next(
        (c for c in table.frame.columns if c.lower() in ("item", "id", "task")), None
    )
    items: tuple[Any, ...] = tuple(range(table.frame.height))
    if item is not None:
        codes, names = table.required(item, "item")
        if len(names) < len(codes):
            raise InputError(
                f"{table.name}: an item of column {item!r} has more than one row; soft labels "
                f"have one row per item."
            )
        items = tuple(names[code] for code in codes)
    roles = ", ".join(f"{name} → {what.replace('_', ' ')}" for what, name in named.items())
    return CeilingFile(arguments, items, f"{table.name}: {roles}; {table.frame.height:,} items")


def _probabilities(table: Table) -> Array | None:
    """A nameless array whose numbers are probabilities and not votes or classes."""
    if not table.nameless or not all(dtype.is_float() for dtype in table.frame.dtypes):
        return None
    grid = table.frame.select(pl.all().cast(pl.Float64)).to_numpy()
    return None if (grid == np.floor(grid)).all() else grid


def _from_scores(reading: Reading, kind: str | None) -> CeilingFile:
    predictions = reading.predictions
    grid = np.asarray(predictions.scores)
    return CeilingFile(
        {kind or "soft": grid},
        predictions.items,
        f"{reading.table.name}: a probability for each of {grid.shape[1]} classes",
    )


def align(file: CeilingFile, predictions: Predictions) -> Any:
    """Predictions for the rows of a file: by item where they share items' names, otherwise
    refused in a sentence.
    """
    if "counts" in file.arguments:
        return predictions
    place = {item: i for i, item in enumerate(file.items)}
    shared = [i for i, item in enumerate(predictions.items) if item in place]
    if not shared:
        raise InputError(
            "no predicted item is among the items of the file: check that both name items "
            "the same way."
        )
    chosen = predictions[shared]
    return replace(chosen, items=tuple(place[item] for item in chosen.items))


def merge_classes(labels: Labels, positive: Sequence[str]) -> Labels:
    """Two classes of many: those named, and the rest."""
    known = {str(name): name for name in labels.classes}
    unknown = [name for name in positive if name not in known]
    if unknown:
        raise InputError(
            f"no class is called {listing(unknown)}; there are {listing(labels.classes)}."
        )
    member = np.array([str(name) in positive for name in labels.classes])
    counts = labels.counts()
    return Labels.from_counts(
        np.stack([counts[:, ~member].sum(axis=1), counts[:, member].sum(axis=1)], axis=1),
        items=labels.items,
    )


def merge_predictions(predictions: Predictions, positive: Sequence[str]) -> Predictions:
    if predictions.label is None:
        raise InputError(
            "`positive=...` merges hard predictions: give a column of predicted classes."
        )
    hits = [int(str(predictions.classes[code]) in positive) for code in predictions.label]
    return Predictions.from_sequence(hits, items=predictions.items)
