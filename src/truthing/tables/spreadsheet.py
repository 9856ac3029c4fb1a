"""Zip files by what is in them: Excel workbooks, Inspect logs, CVAT exports; old Excel files are
refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from truthing.errors import InputError, did_you_mean, listing
from truthing.tables import text
from truthing.tables.table import Table
from truthing.tables.titles import above_header
from truthing.tables.tools import cvat, inspect_log
from truthing.tables.unpack import Archive, is_zip


def read(data: bytes, name: str, question: str | None) -> Table:
    """An Inspect log, a CVAT export, or a sheet of a workbook."""
    if not is_zip(data):
        raise InputError(f"{name} is an old Excel file (.xls): save it as .xlsx or as CSV UTF-8.")
    archive = Archive(data, name)
    if "header.json" in archive.members or any(m.startswith("samples/") for m in archive.members):
        return inspect_log.from_archive(archive, question)
    if "annotations.xml" in archive.members:
        return cvat.xml(archive.read("annotations.xml"), name, question)
    if not any(m.startswith("xl/") for m in archive.members):
        raise InputError(f"{name} is a zip file: unpack it and name a file in it.")
    for member in archive.members:
        archive.read(member)  # within the bound, before anybody else unpacks it
    return _workbook(data, name, question)


def _workbook(data: bytes, name: str, question: str | None) -> Table:
    try:
        import fastexcel  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise InputError(
            f'{name} is an Excel file: install its reader with pip install "truthing[excel]", or '
            "save it as CSV UTF-8."
        ) from None
    try:
        book = fastexcel.read_excel(data)
        sheets = list(book.sheet_names)
        if len(sheets) > 1 and question is None:
            raise InputError(
                f"{name} has {len(sheets)} sheets ({listing(sheets)}): choose one with "
                f"`question={sheets[0]!r}`."
            )
        if question is not None and question not in sheets:
            raise InputError(
                f"{name} has no sheet {question!r}.{did_you_mean(question, sheets)} "
                f"It has {listing(sheets)}."
            )
        content = _as_csv(book, question or 0)
    except (ValueError, OSError, fastexcel.FastExcelError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{name} is a damaged Excel file: save it again.") from None
    if not content.strip(b",\n"):
        raise InputError(f"{name} is empty: it needs a header line and at least one row.")
    table = text.delimited(content, name, ",")
    return replace(table, kind="Excel workbook", unit="row")


def _as_csv(book: Any, sheet: int | str) -> bytes:
    """A sheet means what its CSV would mean: titles, blank rows and names are found alike."""
    cells: pl.DataFrame = book.load_sheet(sheet, header_row=None, dtypes="string").to_polars()
    _, above, _ = above_header(_written(cells), ",")
    if cells.height < above + 2:
        return _written(cells)
    # as text, numbers come with nine decimals: small scores would become the same
    body = book.load_sheet(sheet, header_row=None, skip_rows=above + 1).to_polars()
    exact = [
        pl.concat([cells[: above + 1, k], _digits(column)]).alias(cells.columns[k])
        for k, column in enumerate(body.iter_columns())
        if column.dtype == pl.Float64 and len(column) == cells.height - above - 1
    ]
    return _written(cells.with_columns(exact))


def _digits(numbers: pl.Series) -> pl.Series:
    whole = numbers.cast(pl.Int64, strict=False)
    return pl.select(
        pl.when(whole == numbers).then(whole.cast(pl.String)).otherwise(numbers.cast(pl.String))
    ).to_series()


def _written(cells: pl.DataFrame) -> bytes:
    """One line for each row, so that rows can be counted."""
    flat = cells.with_columns(pl.all().str.replace_all(r"[\r\n]+", " "))
    return flat.write_csv(include_header=False).encode()
