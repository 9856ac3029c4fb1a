"""Large Parquet files of nothing but items, labelers and labels (or predictions), a column and a
block of rows at a time: as texts, all of them together would take twenty times their codes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from truthing.class_codes import Array, code_series
from truthing.errors import InputError
from truthing.hashed import BLOCK, code_texts
from truthing.tables.asked import Asked
from truthing.tables.binary import MOST_CELLS
from truthing.tables.columns import recognise
from truthing.tables.fragile import read_scan, shape_of, tries_apart
from truthing.tables.table import Table

MANY = 1_000_000  # rows; fewer are read at once
PER_ROW = 60  # bytes in memory, at most, with five labels per item
HEAD = 20_000  # rows that show what the columns are
ROLES = ({"item", "labeler", "label"}, {"item", "prediction"})


@dataclass(frozen=True)
class Lean(Table):
    """A table whose frame holds its first rows only; a column is read when it is asked for."""

    path: Path = Path()
    rows: int = 0

    @property
    def height(self) -> int:
        return self.rows

    def column(self, name: str) -> pl.Series:
        return read_scan(pl.scan_parquet(self.path).select(name), self.path, self.rows)[name]

    def coded(self, name: str) -> tuple[Array, pl.Series]:
        if self.frame.schema[name] == pl.String:
            found = code_texts(self._blocks(name), self.rows)
            if found is not None:
                return found
        return code_series(self.column(name))

    def _blocks(self, name: str) -> Iterator[pl.Series]:
        for first in range(0, self.rows, BLOCK):
            scan = pl.scan_parquet(self.path).select(name).slice(first, BLOCK)
            yield read_scan(scan, self.path, min(BLOCK, self.rows - first))[name]


def _refuse_too_many(name: str, rows: int) -> None:
    """Labels that this machine cannot hold are refused before they fill it."""
    try:
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return  # not every system tells
    needed = rows * PER_ROW
    if needed > room:
        raise InputError(
            f"{name} holds {rows:,} rows. In memory they take about {needed / 1e9:,.0f} GB, "
            f"and this machine has {room / 1e9:,.0f}. Above {room // PER_ROW:,} rows use "
            "`engine='stream'` of `grade`, `rate`, `compare`, `labelers` and `ceiling`. For other "
            "commands give a file with fewer items."
        )


def lean_table(source: Any, asked: Asked) -> Table | None:
    """The file column by column, where it is large and holds nothing else; otherwise None."""
    if not isinstance(source, str | Path) or asked.tags or asked.per or asked.question:
        return None
    if tries_apart():
        return None  # a server does not read what it did not try elsewhere
    path = Path(source)
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return None
    schema, rows = shape_of(path)
    _refuse_too_many(path.name, rows)
    plain = all(kind == pl.String or kind.is_integer() for kind in schema.values())
    most = min(200 * path.stat().st_size, MOST_CELLS)
    if rows < MANY or not plain or rows * len(schema) > most:
        return None
    head = read_scan(pl.scan_parquet(path).head(HEAD), path)
    table = Lean(head, path.name, "Parquet", first_line=1, path=path, rows=rows)
    columns = recognise(table, asked)
    exact = set(columns.role) in ROLES and len(columns.role) == len(schema)
    return table if exact and columns.layout == "long" and not columns.problem else None
