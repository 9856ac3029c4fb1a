"""Table: a data frame with the name people know it by and the line on which its first row stood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from truthing.coding import Array, factorise, is_missing
from truthing.errors import InputError

MISSING_WORDS = frozenset({"", "na", "null", "nan", "none", "-"})
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)|\+[1-9][0-9]*")
_WHOLE_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.0+")


@dataclass(frozen=True)
class Table:
    """Rows of a file or frame. ``typed`` is False where every cell is still text (CSV, TSV)."""

    frame: pl.DataFrame
    name: str
    kind: str
    typed: bool = True
    first_line: int | None = None
    nameless: bool = False

    def place(self, row: int) -> str:
        """Where a row stands, for a message."""
        if self.first_line is None:
            return f"{self.name} row {row}"
        return f"{self.name} line {row + self.first_line}"

    def codes(self, column: str) -> tuple[Array, tuple[Any, ...]]:
        """A column as codes and names, missing words as -1, and text turned into numbers or booleans where all of it is."""
        codes, names = factorise(self.frame[column])
        gone = [
            i
            for i, n in enumerate(names)
            if is_missing(n) or (isinstance(n, str) and n.strip().lower() in MISSING_WORDS)
        ]
        if gone:
            keep = np.ones(len(names) + 1, dtype=bool)
            keep[gone] = False
            keep[-1] = False
            shift = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
            codes, names = shift[codes], tuple(n for i, n in enumerate(names) if keep[i])
        return codes, names if self.typed else parse_names(names)

    def required(self, column: str, what: str) -> tuple[Array, tuple[Any, ...]]:
        """As `codes`, where nothing may be missing."""
        codes, names = self.codes(column)
        if (codes < 0).any():
            raise InputError(
                f"{self.place(int(np.argmin(codes)))}: no {what} in column {column!r}. Fill it in or remove the line."
            )
        return codes, names

    def numbers(self, column: str, what: str) -> Array:
        """A column of numbers, every one present."""
        series = self.frame[column]
        values = series.cast(pl.Float64, strict=False)
        bad = values.is_null() | values.is_nan()
        if bad.any():
            row = int(bad.arg_max() or 0)
            raise InputError(
                f"{self.place(row)}: {what} {series[row]!r} in column {column!r} is not a number. Correct or remove it."
            )
        return values.to_numpy()


def parse_names(names: Sequence[Any]) -> tuple[Any, ...]:
    """Integers where every text is one, then booleans, then numbers; otherwise the texts. "007" stays a text.

    >>> parse_names(["-1", "1"]), parse_names(["007", "8"]), parse_names(["true", "false"])
    ((-1, 1), ('007', '8'), (True, False))
    """
    texts = [str(n) for n in names]
    if not texts:
        return ()
    if all(_INTEGER.fullmatch(t) for t in texts):
        return tuple(int(t) for t in texts)
    if all(_WHOLE_FLOAT.fullmatch(t) for t in texts):
        return tuple(int(float(t)) for t in texts)
    if all(t in ("true", "false", "True", "False", "TRUE", "FALSE") for t in texts) and len(
        {t.lower() for t in texts}
    ) == len(texts):
        return tuple(t.lower() == "true" for t in texts)
    if all("." in t or _INTEGER.fullmatch(t) for t in texts):
        try:
            values = tuple(float(t) for t in texts)
        except ValueError:
            return tuple(texts)
        if len(set(values)) == len(values) and np.isfinite(values).all():
            return values
    return tuple(texts)
