"""CSV and TSV. Every cell stays text until its column's names are known, so that "007" survives."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter

import numpy as np
import polars as pl

from truthing.errors import InputError, listing
from truthing.tables.table import Table

SEPARATORS = ",\t;|"
LONGEST_CELL = 10_000_000
LONGEST_HEADER = 4_000_000
MOST_COLUMNS = 20_000


def check(data: bytes, name: str) -> bytes:
    """UTF-8 bytes without a byte-order mark, or a sentence on why they are not."""
    data = _from_utf_16(data, name)
    if b"\x00" in data:
        line = data[: data.index(b"\x00")].count(b"\n") + 1
        raise InputError(
            f"{name} line {line} holds a NUL byte: this is not a text file, or it is damaged. "
            "Export it again as UTF-8 CSV."
        )
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise InputError(
            f"{name} line {line} is not UTF-8 (byte 0x{data[problem.start]:02x}). Save it as "
            "UTF-8, e.g. iconv -f latin1 -t utf-8."
        ) from None
    return data.removeprefix(codecs.BOM_UTF8)


def _from_utf_16(data: bytes, name: str) -> bytes:
    """UTF-16, as Excel's "Unicode text" has it: by its mark, or by a zero in every second byte."""
    coding = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}.get(data[:2])
    head = data[:200]
    if coding is None and len(head) >= 20 and not len(head) % 2:
        if head[1::2].count(0) > 0.9 * len(head) / 2 and not head[::2].count(0):
            coding = "utf-16-le"
        elif head[::2].count(0) > 0.9 * len(head) / 2 and not head[1::2].count(0):
            coding = "utf-16-be"
    if coding is None:
        return data
    try:
        return data.decode(coding).encode()
    except UnicodeError:
        raise InputError(
            f"{name} begins like UTF-16 text but is damaged: save it again as UTF-8."
        ) from None


def delimited(content: bytes, name: str, delimiter: str | None = None) -> Table:
    """A CSV, TSV or semicolon-separated file with a header line."""
    content = _line_ends(content.lstrip(b"\r\n"), name)
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise InputError(f"delimiter {delimiter!r} is not one letter: give one such as ';'.")
    separator = delimiter or find_separator(content)
    header = _header(content, name, separator)
    rows = None
    if _odd_quotes(content, separator):
        rows = _check_rows(content, name, separator, len(header))
    try:
        frame = pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.NoDataError:
        raise InputError(f"{name} is empty: it needs a header line and at least one row.") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        _check_rows(content, name, separator, len(header))
        raise InputError(
            f"{name} cannot be read as CSV: {str(problem).splitlines()[0][:150]}. Check its quotes "
            "and separators."
        ) from None
    if frame.width != len(header):
        _check_rows(content, name, separator, len(header))
        raise InputError(
            f"{name} has rows of {frame.width} cells under a header of {len(header)}: check its "
            "quotes and separators."
        )
    if frame.width > 1 and frame[:, -1].null_count():
        _check_rows(content, name, separator, len(header))
    if rows is not None and rows - 1 != frame.filter(~pl.all_horizontal(pl.all().is_null())).height:
        raise InputError(
            f"{name}: its quotes can be read in two ways. Put quotes around whole cells only, and "
            "double those inside."
        )
    kind = {",": "CSV", "\t": "TSV"}.get(separator, f"{separator!r}-separated")
    frame, names = _without_nothing(frame, header)
    if frame.height == 0:
        raise InputError(
            f"{name} has a header ({listing(header)}) and no rows: it needs at least one row."
        )
    frame.columns = names
    return Table(frame, name, kind, typed=False, first_line=2)


def _line_ends(content: bytes, name: str) -> bytes:
    """Old files end their lines with a carriage return alone."""
    if b"\r" not in content:
        return content
    if b"\n" not in content:
        return content.replace(b"\r", b"\n")
    if content.count(b"\r") > content.count(b"\r\n") and b'"' not in content:
        place = next(
            n for n, c in enumerate(content) if c == 13 and content[n + 1 : n + 2] != b"\n"
        )
        line = content[:place].count(b"\n") + 1
        raise InputError(
            f"{name} line {line} holds a carriage return that ends no line: save the file again "
            "with one kind of line end."
        )
    return content


def find_separator(content: bytes) -> str:
    """The one that cuts the first lines into equally many cells, the most of them."""
    head = content[:65536]
    lines = [line for line in head.split(b"\n")[:21] if line.strip()]
    if len(head) == 65536 and len(lines) > 1:
        lines = lines[:-1]
    best, most = ",", 0
    for separator in SEPARATORS:
        cells = [line.count(separator.encode()) for line in lines]
        even = len(set(cells)) == 1
        score = cells[0] * (1000 if even else 1) if cells else 0
        if score > most:
            best, most = separator, score
    return best


def _header(content: bytes, name: str, separator: str) -> list[str]:
    """The names of the columns; a name may be quoted and hold anything."""
    head = content[:LONGEST_HEADER].decode(errors="ignore")
    try:
        _allow_long_cells()
        header = [
            " ".join(h.split()) for h in next(csv.reader(io.StringIO(head), delimiter=separator))
        ]
    except csv.Error as problem:
        raise InputError(f"{name} line 1 cannot be read as CSV: {problem}.") from None
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"{name} has {len(header):,} columns, and at most {MOST_COLUMNS:,} are read: write it "
            "as a long table, one row for each label (item, labeler, label)."
        )
    twice = [h for h, times in Counter(header).items() if times > 1 and h]
    if twice:
        raise InputError(
            f"{name} line 1 names column {listing(sorted(twice))} twice: rename one of them."
        )
    if sum(not h for h in header) > 1 and sum(map(bool, header)) <= 1:
        raise InputError(
            f"{name} line 1 names hardly any column: is it a title? The first line must name the "
            "columns; remove what stands above."
        )
    return header


def _without_nothing(frame: pl.DataFrame, header: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """Without blank lines, and without columns that have no name and no content."""
    bare = [k for k, h in enumerate(header) if not h]
    empty = {k for k in bare if frame[:, k].null_count() == frame.height}
    keep = [k for k in range(len(header)) if k not in empty]
    frame = frame.select(frame.columns[k] for k in keep)
    if frame.width and frame[:, 0].null_count():
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    return frame, [header[k] or ("" if len(bare) == 1 else f"Unnamed: {k}") for k in keep]


def _allow_long_cells() -> None:
    csv.field_size_limit(LONGEST_CELL)


def _odd_quotes(content: bytes, separator: str) -> bool:
    """Quotes that do not stand at the edge of a cell, or do not come in pairs: look closely."""
    if b'"' not in content:
        return False
    letters = np.frombuffer(content, dtype=np.uint8)
    at = np.flatnonzero(letters == ord('"'))
    if len(at) % 2 or content.count(b"\r") > content.count(b"\r\n"):
        return True
    edge = np.zeros(256, dtype=bool)
    edge[[ord(separator), 10, 13, ord('"')]] = True
    before = edge[letters[np.maximum(at - 1, 0)]] | (at == 0)
    after = edge[letters[np.minimum(at + 1, len(letters) - 1)]] | (at == len(letters) - 1)
    return bool((~before & ~after).any())


def _check_rows(content: bytes, name: str, separator: str, width: int) -> int:
    """Name the first row with too few or too many cells, or a quote that never ends. It is slow."""
    _allow_long_cells()
    reader = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator, strict=True)
    start, found = 1, 0
    try:
        for row in reader:
            if row and len(row) != width:
                raise InputError(
                    f"{name} line {reader.line_num} has {len(row)} cells but the header has "
                    f"{width}: add the missing cell or quote the text that holds a separator."
                )
            start = reader.line_num + 1
            found += any(row)
    except csv.Error as problem:
        if "unexpected end of data" in str(problem):
            raise InputError(
                f"{name} line {start}: a quote opens and never closes. Is the file cut short? Copy "
                "it again, or double the quote."
            ) from None
        raise InputError(f"{name} line {reader.line_num}: {problem}. Check its quotes.") from None
    return found
