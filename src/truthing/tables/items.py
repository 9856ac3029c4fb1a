"""The column that names items, where none bears a usual name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from truthing.tables.table import Table

_ID = re.compile(r"(?:.*[ _.-])?(?:id|ids|key|uuid|guid|no|nr|number|ref|code)|.*(?:Id|ID|Key)")
MOSTLY = 0.9  # of the rows have a name of their own
_INDEX = re.compile(r"|index|Unnamed: ?\d+|level_0")
_WORDY = re.compile(r"(?i).*(text|comment|note|content|prompt|input|output|description|title).*")


def is_index(name: str) -> bool:
    """A column that numbers the rows, as data frames write it."""
    return bool(_INDEX.fullmatch(name.strip()))


def find_item(table: Table, free: Sequence[str], role: Mapping[str, str]) -> tuple[str | None, str]:
    """A column that can only be the item's, and what to say about it."""
    if "count" in role or "pattern" in role:
        return None, ""
    named = [c for c in free if _ID.fullmatch(c.strip())]
    if "labeler" not in role:
        different = [c for c in named if all_different(table, c)]
        named = different or [c for c in named if _repeated_rows(table, c)]
    index = [c for c in free if is_index(c) and all_different(table, c)]
    for found in (named, index):
        if len(found) == 1:
            return found[0], (
                f"{table.name}: {found[0]!r} was taken for the item: choose another column with "
                "`item_column=...`."
            )
        if found:
            return None, ""
    if "labeler" in role or "label" in role or "truth" in role:
        return None, ""
    own = [
        c
        for c in free
        if not _WORDY.fullmatch(c) and table.frame[c].dtype in (pl.String, pl.Int64)
        if all_different(table, c)
    ]
    if len(own) == 1 and len(free) > 1 and table.frame.height >= 5:
        return own[0], (
            f"{table.name}: {own[0]!r} has another value in every row and was taken for the item: "
            "choose another column with `item_column=...`."
        )
    return None, ""


def _repeated_rows(table: Table, column: str) -> bool:
    """Whether it names items all the same, some of them in several rows: whole rows that stand
    there again, or few names that do. Such a table is refused later, with the lines."""
    frame, series = table.frame, table.frame[column]
    if series.dtype == pl.Object or series.null_count() or series.dtype.is_float():
        return False
    n_names = series.n_unique()
    if n_names >= MOSTLY * len(series):
        return True
    try:
        return bool(frame.unique().height == n_names)
    except pl.exceptions.PolarsError:  # columns that cannot be compared
        return False


def all_different(table: Table, column: str) -> bool:
    """Whether no value comes again, as that of a class would."""
    series = table.frame[column]
    if series.dtype == pl.Object or series.null_count() or series.dtype.is_float():
        return False
    return bool(series.head(1000).n_unique() == min(series.len(), 1000)) and bool(
        series.n_unique() == series.len()
    )
