"""Zip files by what is in them: Excel workbooks and Inspect logs; old Excel files are refused."""

from __future__ import annotations

from typing import Any

from truthing.errors import InputError, listing
from truthing.tables.frames import from_records
from truthing.tables.table import Table
from truthing.tables.tools import inspect_log
from truthing.tables.unpack import Archive, is_zip


def read(data: bytes, name: str, question: str | None) -> Table:
    """An Inspect log, or the first sheet of a workbook."""
    if not is_zip(data):
        raise InputError(f"{name} is an old Excel file (.xls): save it as .xlsx or as CSV UTF-8.")
    archive = Archive(data, name)
    if "header.json" in archive.members or any(m.startswith("samples/") for m in archive.members):
        return inspect_log.from_archive(archive, question)
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
        sheet = book.load_sheet(question or 0)
        rows: list[dict[str, Any]] = sheet.to_polars().to_dicts()
    except (ValueError, OSError, fastexcel.FastExcelError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{name} is a damaged Excel file: save it again.") from None
    return from_records(rows, name, "Excel workbook", 2)
