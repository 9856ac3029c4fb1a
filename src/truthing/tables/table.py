"""Table: a data frame with the name people know it by and the line on which its first row stood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array, codable, code_series, factorise
from truthing.errors import InputError
from truthing.names import named
from truthing.notes import NOTHING, Notes
from truthing.spelling import MISSING_WORDS, is_missing_word, tidy

_LONGEST = max(len(word.encode()) for word in MISSING_WORDS)
_INTEGER = r"^(-?(0|[1-9][0-9]*)|\+[1-9][0-9]*)$"
_WHOLE_FLOAT = r"^-?(0|[1-9][0-9]*)\.0+$"
_NUMBER = r"^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?$"


@dataclass(frozen=True)
class Table:
    """Rows of a file or frame. ``typed`` is False where every cell is still text (CSV, TSV)."""

    frame: pl.DataFrame
    name: str
    kind: str
    typed: bool = True
    first_line: int = 0
    unit: str = "row"  # what a row is in the file; "" where rows were gathered from all over it
    lines: Array | None = None  # of each row, where lines are blank or a row takes several
    nameless: bool = False
    notes: Notes = NOTHING
    asks: bool = True  # False: a tool's own columns, which need no guessing
    several: str = ""  # why it is refused unless several labels at once are asked about

    def place(self, row: int) -> str:
        """Where a row stands, for a message."""
        return f"{self.name} {self.unit} {self.numbered()[row]}" if self.unit else self.name

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self.frame.height

    def column(self, name: str) -> pl.Series:
        """All cells of a column."""
        return self.frame[name]

    def coded(self, name: str) -> tuple[Array, pl.Series]:
        """A plain column as codes, and the values behind them."""
        return code_series(self.frame[name])

    def numbered(self) -> Array:
        """The number of each row, as people would count it in the file."""
        if self.lines is not None:
            return self.lines
        return np.arange(self.height, dtype=np.int32) + self.first_line

    def raw(self, column: str) -> tuple[Array, tuple[Any, ...]]:
        """A column as codes and names as they stand there; only empty cells are missing."""
        self._refuse_objects(column)
        if not codable(self.frame[column]):
            values = self.frame[column].to_list()
            return factorise([None if isinstance(v, str) and not tidy(v) else v for v in values])
        codes, names = self.coded(column)
        if names.dtype in (pl.String, pl.Categorical) or names.dtype == pl.Enum:
            names = names.cast(pl.String)
            codes, names = _without(codes, names, names.str.strip_chars() == "")
        return codes, tuple(names.to_list())

    def _refuse_objects(self, column: str) -> None:
        if any(isinstance(v, dict) for v in self.frame[column].head(5).to_list()):
            raise InputError(
                f"{self.name}: a cell of column {column!r} holds several values. Write one row for "
                "each label, or one column for each labeler."
            )

    def codes(self, column: str) -> tuple[Array, Sequence[Any]]:
        """Names of items or labelers, without blanks around them; numbers where all are."""
        if not codable(self.frame[column]):
            values = (tidy(v) if isinstance(v, str) else v for v in self.frame[column].to_list())
            return factorise([None if is_missing_word(v) else v for v in values])
        codes, names = self.coded(column)
        if names.dtype in (pl.String, pl.Categorical) or names.dtype == pl.Enum:
            names = names.cast(pl.String)
            bare = names.str.strip_chars()
            if (bare != names).any():
                again, names = code_series(bare)
                codes = np.append(again, -1)[codes].astype(np.int32)
            short = names.str.len_bytes() <= _LONGEST
            if short.any():
                words = ["", *MISSING_WORDS]
                gone = names.str.to_lowercase().is_in(words) & short
                codes, names = _without(codes, names, gone)
        return codes, named(names) if self.typed else parse_names(names)

    def required(self, column: str, what: str) -> tuple[Array, Sequence[Any]]:
        """As `codes`, where nothing may be missing."""
        codes, names = self.codes(column)
        if (codes < 0).any():
            raise InputError(
                f"{self.place(int(np.argmin(codes)))}: no {what} in column {column!r}. Fill "
                "it in or remove the line."
            )
        return codes, names

    def numbers(self, column: str, what: str) -> Array:
        """A column of numbers, every one present; also 0,5 and 50% where all cells are such."""
        series = self.frame[column]
        values = series.cast(pl.Float64, strict=False)
        bad = values.is_null() | values.is_nan()
        if bad.any() and series.dtype == pl.String:
            values = _european(series)
            bad = values.is_null() | values.is_nan()
        if bad.any():
            row = int(bad.arg_max() or 0)
            raise InputError(
                f"{self.place(row)}: {what} {series[row]!r} in column {column!r} is not a number. "
                "Correct or remove it."
            )
        return values.to_numpy()


def _european(series: pl.Series) -> pl.Series:
    """Decimal commas and percent signs; a comma that splits thousands is not taken for one."""
    text = series.str.strip_chars()
    if text.str.ends_with("%").all():
        text = text.str.strip_suffix("%").str.strip_chars()
    thousands = text.str.contains(r"^[-+]?[1-9][0-9]{0,2},[0-9]{3}$")
    if not thousands.fill_null(False).all():
        text = text.str.replace(r"^([-+]?[0-9]*),([0-9]+)$", "${1}.${2}")
    return text.cast(pl.Float64, strict=False)


def _without(codes: Array, names: pl.Series, gone: pl.Series) -> tuple[Array, pl.Series]:
    """The coding without some of its names, which become missing."""
    if not gone.any():
        return codes, names
    keep = np.append(~gone.to_numpy(), False)
    return np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)[codes], names.filter(~gone)


def parse_names(names: pl.Series | Sequence[Any]) -> tuple[Any, ...]:
    """Integers where every text is one, then booleans, then numbers; otherwise the texts. "007"
    stays a text.

    >>> parse_names(["-1", "+1"]), parse_names(["007", "8"]), parse_names(["true", "false"])
    ((-1, 1), ('007', '8'), (True, False))
    """
    texts = (
        names
        if isinstance(names, pl.Series)
        else pl.Series([str(n) for n in names], dtype=pl.String)
    )
    if len(texts) == 0:
        return ()
    lower = texts.str.to_lowercase()
    if lower.is_in(["true", "false"]).all() and lower.n_unique() == len(lower):
        return tuple((lower == "true").to_list())
    if texts.str.contains(_INTEGER).all() or texts.str.contains(_WHOLE_FLOAT).all():
        whole = (
            texts.str.strip_chars_start("+")
            .cast(pl.Float64 if "." in texts[0] else pl.Int64, strict=False)
            .cast(pl.Int64)
        )
        if not whole.null_count() and whole.n_unique() == len(texts):
            return tuple(whole.to_list())
    elif texts.str.contains(_NUMBER).all():
        values = texts.cast(pl.Float64, strict=False)
        if not values.null_count() and values.n_unique() == len(texts) and values.is_finite().all():
            return tuple(values.to_list())
    return tuple(texts.to_list())
