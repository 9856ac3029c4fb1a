"""Several labels at once: lists in cells, and a column of 0 and 1 for each tag, as one cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from truthing.errors import InputError
from truthing.tables.table import Table

AUTO = "auto"


def spelt(tags: Sequence[Any]) -> str:
    """Tags as the text of one cell.

    >>> spelt(["b", "a", "b"])
    '["a", "b"]'
    """
    return json.dumps(sorted({str(tag).strip() for tag in tags}), ensure_ascii=False)


def tag_names(tags: Any) -> tuple[str, ...]:
    """The names of all tags, where the user gives them."""
    if tags is True or tags == AUTO:
        return ()
    if isinstance(tags, str):
        if not any(letter.isalnum() for letter in tags):
            return ()
        return tuple(part.strip() for part in tags.split(",") if part.strip())
    if not isinstance(tags, Iterable):
        raise InputError(
            f"tags {tags!r} is not understood: give 'auto', the sign between tags (';'), or the "
            "names of all tags."
        )
    return tuple(str(tag) for tag in tags)


def gathered(table: Table, tags: Any, role: str) -> Table:
    """The table with one cell for all tags of an answer, where it has lists or a column for each.

    ``tags`` is what the user said of them; ``role`` is what a gathered column plays: label,
    prediction or truth.
    """
    frame = table.frame
    for name in (c for c, kind in frame.schema.items() if _may_hold_lists(kind)):
        cells = frame[name].to_list()
        if any(isinstance(cell, list) for cell in cells):
            texts = [spelt(cell) if isinstance(cell, list) else cell for cell in cells]
            texts = [None if text is None else str(text) for text in texts]
            frame = frame.with_columns(pl.Series(name, texts, dtype=pl.String))
    names = tag_names(tags)
    if names and all(name in frame.columns for name in names):
        told = [_ticks(replace(table, frame=frame), name) for name in names]
        cells = [spelt([n for n, tick in zip(names, row) if tick]) for row in zip(*told)]
        if role in frame.columns:
            raise InputError(
                f"{table.name} has a column {role!r} and a column for each tag: leave one of them "
                "out."
            )
        frame = frame.drop(*names).with_columns(pl.Series(role, cells, dtype=pl.String))
    return table if frame is table.frame else replace(table, frame=frame)


def _may_hold_lists(kind: Any) -> bool:
    return isinstance(kind, pl.List | pl.Array) or kind == pl.Object


def _ticks(table: Table, name: str) -> list[bool]:
    """A column of 0 and 1; anything else is refused."""
    known = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    texts = table.frame[name].cast(pl.String).str.strip_chars().str.to_lowercase()
    texts = texts.str.replace(r"\.0+$", "")
    for row, text in enumerate(texts):
        if text not in known:
            raise InputError(
                f"{table.place(row)}: {table.frame[name][row]!r} in the column of tag {name!r} is "
                "neither 0 nor 1. Cut scores first, and remove rows without an answer."
            )
    return [known[text] for text in texts]
