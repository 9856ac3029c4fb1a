"""CSV and TSV. Every cell stays text until its column's names are known, so that "007" survives."""

from __future__ import annotations

import codecs
import csv
import io

import polars as pl

from truthing.errors import InputError, listing
from truthing.tables.table import Table


def check(data: bytes, name: str) -> bytes:
    """UTF-8 bytes without a byte-order mark, or a sentence on why they are not."""
    if b"\x00" in data:
        line = data[: data.index(b"\x00")].count(b"\n") + 1
        raise InputError(
            f"{name} line {line} holds a NUL byte: this is not a text file, or it is damaged. Export it again as UTF-8 CSV."
        )
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise InputError(
            f"{name} line {line} is not UTF-8 (byte 0x{data[problem.start]:02x}). Save it as UTF-8, e.g. iconv -f latin1 -t utf-8."
        ) from None
    return data.removeprefix(codecs.BOM_UTF8)


def delimited(content: bytes, name: str, delimiter: str | None = None) -> Table:
    """A CSV, TSV or semicolon-separated file with a header line."""
    content = content.lstrip(b"\r\n")
    header_line = content[: content.find(b"\n") % (len(content) + 1)].decode().rstrip("\r")
    separator = delimiter or max(",\t;", key=header_line.count)
    header = [h.strip() for h in next(csv.reader([header_line], delimiter=separator))]
    twice = sorted({h for h in header if header.count(h) > 1})
    if twice:
        raise InputError(f"{name} line 1 names column {listing(twice)} twice: rename one of them.")
    try:
        frame = pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.NoDataError:
        raise InputError(f"{name} is empty: it needs a header line and at least one row.") from None
    except pl.exceptions.PolarsError as problem:
        _check_row_lengths(content, name, separator, len(header))
        raise InputError(
            f"{name} cannot be read as CSV: {str(problem).splitlines()[0]}. Check its quotes and separators."
        ) from None
    if frame.height == 0:
        raise InputError(
            f"{name} has a header ({listing(header)}) and no rows: it needs at least one row."
        )
    if frame.width > 1 and frame[:, -1].null_count():
        _check_row_lengths(content, name, separator, len(header))
    frame.columns = header
    kind = {",": "CSV", "\t": "TSV"}.get(separator, f"{separator!r}-separated")
    return Table(frame, name, kind, typed=False, first_line=2)


def _check_row_lengths(content: bytes, name: str, separator: str, width: int) -> None:
    """Name the first row with too few or too many cells. Only run when something looked wrong: it is slow."""
    reader = csv.reader(io.StringIO(content.decode()), delimiter=separator)
    for row in reader:
        if row and len(row) != width:
            raise InputError(
                f"{name} line {reader.line_num} has {len(row)} cells but the header has {width}: "
                "add the missing cell or quote the text that holds a separator."
            )
