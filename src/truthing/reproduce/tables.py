"""Printing ours beside theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from truthing.render.console import out


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], note: str = "") -> None:
    """A titled table on standard output."""
    console = out()
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="",
        box=None,
        pad_edge=False,
    )
    for column in header:
        table.add_column(column, justify="left" if column == header[0] else "right")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    console.print(table, soft_wrap=False)
    if note:
        console.print(note)
    console.print()
