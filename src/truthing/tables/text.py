"""CSV and TSV. Every cell stays text until its column's names are known, so that "007" survives."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.notes import NOTHING, Notes
from truthing.spelling import one_line
from truthing.tables.columns import is_known
from truthing.tables.table import Table
from truthing.tables.titles import above_header, said_separator

SEPARATORS = ",\t;|"
LONGEST_CELL = 10_000_000
LONGEST_HEADER = 4_000_000
MOST_COLUMNS = 20_000
FROM_THE_FIRST = 10**9  # more than any number of cells
_QUOTED, _ALONE = re.compile(rb'"[^"]*"'), re.compile(rb"\r(?!\n)")
_RULE = re.compile(r"\s*(:?-{3,}:?)?\s*")  # below the names of a Markdown table


def delimited(content: bytes, name: str, delimiter: str | None = None) -> Table:
    """A CSV, TSV or semicolon-separated file with a header line."""
    whole = _line_ends(content, name)
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise InputError(f"delimiter {delimiter!r} is not one letter: give one such as ';'.")
    content, separator, notes = _from_header(whole, name, delimiter)
    if not content.strip():
        raise _empty(name)
    above = whole[: len(whole) - len(content)].count(b"\n")
    header = _header(content, name, separator, above + 1)
    odd = _odd_quotes(content, separator)
    if odd:
        _check_rows(content, name, separator, len(header), above)
    try:
        frame = pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.NoDataError:
        raise _empty(name) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        _check_rows(content, name, separator, len(header), above)
        if not odd:
            raise InputError(
                f"{name} cannot be read as CSV: {str(problem).splitlines()[0][:150]}. Check its "
                "quotes and separators."
            ) from None
        # quotes within a cell, such as 5" for inches, are letters to Python's reader
        rows = [row for _, row in _rows(content, separator)]
        frame = pl.DataFrame(rows, [str(k) for k in range(len(header))], orient="row")
        frame = frame.with_columns(pl.all().replace("", None))
    if frame.width != len(header):
        _check_rows(content, name, separator, len(header), above)
        raise InputError(
            f"{name} has rows of {frame.width} cells under a header of {len(header)}: check its "
            "quotes and separators."
        )
    if frame.width > 1 and frame[:, -1].null_count():
        _check_rows(content, name, separator, len(header), above)
    lines = None if odd else _lines(content, frame.height, above)
    if odd:
        frame = frame.filter(~pl.all_horizontal(_is_blank()))
        lines = _compared(content, name, separator, frame, above)
    kind = {",": "CSV", "\t": "TSV"}.get(separator, f"{separator!r}-separated")
    frame, names, lines = _without_nothing(frame, header, lines, above + 2)
    if frame.height == 0:
        raise InputError(
            f"{name} has a header ({listing(header)}) and no rows: it needs at least one row."
        )
    frame.columns = names
    return Table(frame, name, kind, False, above + 2, "line", lines=lines, notes=notes)


def _empty(name: str) -> InputError:
    return InputError(f"{name} is empty: it needs a header line and at least one row.")


def _from_header(content: bytes, name: str, delimiter: str | None) -> tuple[bytes, str, Notes]:
    """The content from its line of names on, its separator, and what was left out above."""
    declared, length = said_separator(content)
    content = content[length:].lstrip(b"\r\n")
    separator = delimiter or declared or find_separator(content)
    skip, _, words = above_header(content, separator)
    if not skip:
        return content, separator, NOTHING
    note = f"{name}: what stands above the names of the columns is left out ({words[:60]!r})."
    return content[skip:], separator, Notes(remarks=(note,))


def _line_ends(content: bytes, name: str) -> bytes:
    """Old files end their lines with a carriage return alone."""
    if b"\r" not in content:
        return content
    if b"\n" not in content:
        return content.replace(b"\r", b"\n")
    if content.count(b"\r") == content.count(b"\r\n"):
        return content
    # within quotes a line may end as it likes
    outside = _QUOTED.sub(lambda cell: cell[0].replace(b"\r", b" "), content)
    alone = _ALONE.search(outside)
    if alone is not None:
        line = content[: alone.start()].count(b"\n") + 1
        raise InputError(
            f"{name} line {line} holds a carriage return that ends no line: save the file again "
            "with one kind of line end."
        )
    return content


def find_separator(content: bytes) -> str:
    """The one that cuts the first lines into equally many cells, the most of them; rather one that
    cuts the very first so, because decimal commas stand in every line but that of the names.
    """
    head = content[:65536]
    lines = [line for line in head.split(b"\n")[:21] if line.strip()]
    if len(head) == 65536 and len(lines) > 1:
        lines = lines[:-1]
    best, most = ",", 0
    for separator in SEPARATORS:
        cells = [line.count(separator.encode()) for line in lines]
        usual = Counter(cells).most_common(1)[0][0] if cells else 0
        table = cells[cells.index(usual) :] if cells else []  # below a title
        even = usual > 0 and set(table) == {usual} and len(table) > 1
        score = cells[0] if cells else 0
        if even:
            above = len(cells) - len(table)
            score = usual * 1000 - above + (0 if above else FROM_THE_FIRST)
        if score > most:
            best, most = separator, score
    return best


def _header(content: bytes, name: str, separator: str, line: int) -> list[str]:
    """The names of the columns; a name may be quoted and hold anything."""
    head = content[:LONGEST_HEADER].decode(errors="ignore")
    try:
        _allow_long_cells()
        header = [*map(one_line, next(csv.reader(io.StringIO(head), delimiter=separator)))]
    except csv.Error as problem:
        raise InputError(f"{name} line {line} cannot be read as CSV: {problem}.") from None
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"{name} has {len(header):,} columns, and at most {MOST_COLUMNS:,} are read: write it "
            "as a long table, one row for each label (item, labeler, label)."
        )
    header[0] = header[0].removeprefix("#").lstrip()
    if len(header) == 1 and sum(map(is_known, header[0].split())) > 1:
        raise InputError(
            f"{name} line {line} ({header[0][:60]!r}) names several columns with blanks between "
            "them: write commas or tabs instead."
        )
    twice = [h for h, times in Counter(header).items() if times > 1 and h]
    if twice:
        raise InputError(
            f"{name} line {line} names column {listing(sorted(twice))} twice: rename one of them."
        )
    if sum(not h for h in header) > 1 and sum(map(bool, header)) <= 1:
        raise InputError(
            f"{name} line {line} names hardly any column: is it a title? The first line must name "
            "the "
            "columns; remove what stands above."
        )
    return header


def _without_nothing(
    frame: pl.DataFrame, header: list[str], lines: Array | None, first: int
) -> tuple[pl.DataFrame, list[str], Array | None]:
    """Without blank lines, and without columns that have no name and no content."""
    bare = [k for k, h in enumerate(header) if not h]
    empty = {k for k in bare if frame[:, k].null_count() == frame.height}
    keep = [k for k in range(len(header)) if k not in empty]
    frame = frame.select(frame.columns[k] for k in keep)
    ruled = frame.height > 0 and all(_RULE.fullmatch(cell or "") for cell in frame.row(0))
    if frame.width and (ruled or frame[:, -1].null_count()):
        filled = ~frame.select(pl.all_horizontal(_is_blank())).to_series()
        filled = filled & (pl.Series(range(len(filled))) > 0) if ruled else filled
        frame = frame.filter(filled)
        if not filled.all():
            lines = np.arange(len(filled), dtype=np.int32) + first if lines is None else lines
            lines = lines[filled.to_numpy()]
    return frame, [header[k] or ("" if len(bare) == 1 else f"Unnamed: {k}") for k in keep], lines


def _is_blank() -> pl.Expr:
    return pl.all().fill_null("").str.strip_chars() == ""


def _lines(content: bytes, height: int, above: int) -> Array | None:
    """The line on which each row begins, None where that is simply its number."""
    breaks = content.count(b"\n")
    quoted = breaks + (not content.endswith(b"\n")) != height + 1
    if not quoted and b"\n\n" not in content and b"\n\r\n" not in content:
        return None
    letters = np.frombuffer(content, dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    inside = np.searchsorted(np.flatnonzero(letters == ord('"')), ends) % 2
    starts = np.flatnonzero(inside == 0) + 2  # the line after each end of a record
    starts = starts[:height]
    return (starts + above).astype(np.int32) if len(starts) == height else None


def _allow_long_cells() -> None:
    csv.field_size_limit(LONGEST_CELL)


def _odd_quotes(content: bytes, separator: str) -> bool:
    """Quotes that do not open before a cell and close behind one: look closely. A doubled quote
    closes and opens again."""
    if b'"' not in content:
        return False
    letters = np.frombuffer(content, dtype=np.uint8)
    at = np.flatnonzero(letters == ord('"'))
    if len(at) % 2 or content.count(b"\r") > content.count(b"\r\n"):
        return True
    edge = np.zeros(256, dtype=bool)
    edge[[ord(separator), 10, 13, ord('"')]] = True
    opens, closes = at[::2], at[1::2]
    before = edge[letters[np.maximum(opens - 1, 0)]] | (opens == 0)
    after = edge[letters[np.minimum(closes + 1, len(letters) - 1)]] | (closes == len(letters) - 1)
    return not (before.all() and after.all())


def _compared(content: bytes, name: str, separator: str, frame: pl.DataFrame, above: int) -> Array:
    """The line on which each row begins, where Python's reader cuts the rows into the same cells.
    It is slow."""
    lines = []
    ours = frame.fill_null("").iter_rows()
    for row, theirs in zip_longest(ours, _rows(content, separator)):
        if row is None or theirs is None or list(row) != theirs[1]:
            raise InputError(
                f"{name}: its quotes can be read in two ways. Put quotes around whole cells only, "
                "and double those inside."
            )
        lines.append(theirs[0] + above)
    return np.array(lines, dtype=np.int32)


def _rows(content: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows below the header as Python's reader has them, without blank ones, and the line on which
    each begins."""
    _allow_long_cells()
    reader = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator)
    next(reader)
    first = reader.line_num + 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield first, row
        first = reader.line_num + 1


def _check_rows(content: bytes, name: str, separator: str, width: int, above: int) -> None:
    """Name the first row with too few or too many cells, or a quote that never ends. It is slow."""
    _allow_long_cells()
    reader = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator, strict=True)
    start = 1 + above
    try:
        for row in reader:
            if len(row) != width and any(cell.strip() for cell in row):
                raise InputError(
                    f"{name} line {reader.line_num + above} has {len(row)} cells but the header "
                    "has "
                    f"{width}: add the missing cell or quote the text that holds a separator"
                    + (", or remove the title above." if start == above + 2 else ".")
                )
            start = reader.line_num + above + 1
    except csv.Error as problem:
        if "unexpected end of data" in str(problem):
            raise InputError(
                f"{name} line {start}: a quote opens and never closes. Is the file cut short? Copy "
                "it again, or double the quote."
            ) from None
        raise InputError(
            f"{name} line {reader.line_num + above}: {problem}. Check its quotes."
        ) from None
