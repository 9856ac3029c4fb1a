"""Printing ours beside theirs, or keeping the tables for another form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table

from truthing.render.console import err, out
from truthing.results import Result


@dataclass(frozen=True)
class Reproduction(Result):
    """The tables of one paper, in their order."""

    name: str
    tables: list[dict[str, Any]] = field(default_factory=list)

    kind = "reproduce"

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "tables": self.tables}

    def to_frame(self) -> Any:
        """One row for each cell: table, row, column and what stands there; a polars table."""
        import polars as pl

        cells = [
            (table["title"], row[0], head, cell)
            for table in self.tables
            for row in table["rows"]
            for head, cell in zip(table["heads"][1:], row[1:])
        ]
        return pl.DataFrame(cells, schema=["table", "row", "column", "value"], orient="row")


_KEPT: ContextVar[Reproduction | None] = ContextVar("kept", default=None)


@contextmanager
def keeping(name: str) -> Iterator[Reproduction]:
    """Inside, tables are kept and not printed."""
    kept = Reproduction(name)
    before = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(before)


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], note: str = "") -> None:
    """A titled table on standard output."""
    kept = _KEPT.get()
    if kept is not None:
        cells = [[str(cell) for cell in row] for row in rows]
        kept.tables.append({"title": title, "heads": list(header), "rows": cells, "note": note})
        return
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


def say(text: str) -> None:
    """A line beside the tables; on standard error where another form is printed."""
    (err() if _KEPT.get() is not None else out()).print(text, soft_wrap=True)
