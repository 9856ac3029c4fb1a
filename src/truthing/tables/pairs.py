"""Items that several systems answered: what was labelled is then item and system together."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from truthing.notes import Notes
from truthing.tables.columns import Columns
from truthing.tables.table import Table

BETWEEN = " · "


def paired(table: Table, columns: Columns, per: str) -> Table | None:
    """The table with items named "item · system" where one item has several values of ``per``;
    None where every item has one."""
    item = columns.get("item")
    if item is None or per not in table.frame.columns or per == item:
        return None
    frame = table.frame
    if frame.select(item, per).n_unique() == frame[item].n_unique():
        return None
    named = pl.concat_str(
        [pl.col(c).cast(pl.String).str.strip_chars() for c in (item, per)], separator=BETWEEN
    )
    sentence = f"{table.name}: one {item} has several values of {per}; each is an item of its own."
    return replace(
        table,
        frame=frame.with_columns(named.alias(item)),
        notes=table.notes + Notes(remarks=(sentence,)),
    )


def shared_item(name: object) -> str:
    """The item that systems share.

    >>> shared_item("q1 · base")
    'q1'
    """
    return str(name).rpartition(BETWEEN)[0]
