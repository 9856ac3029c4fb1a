"""What stands above the names of the columns: titles, comments, and Excel's word on separators."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

from truthing.tables.columns import is_known

FIRST = 65_536  # bytes that are looked at
MOST = 40  # records that are looked at
_SEPARATOR = re.compile(rb'\A"?sep=(.)"?\r?\n')


def said_separator(content: bytes) -> tuple[str, int]:
    """The separator of a first line such as sep=; and the length of that line."""
    found = _SEPARATOR.match(content)
    return (found[1].decode(errors="replace"), found.end()) if found else ("", 0)


def above_header(content: bytes, separator: str) -> tuple[int, int, str]:
    """How many bytes and rows stand above the line of names, and the first words of them.

    Only lines with one cell, or that begin with #, and only where the line below them is as wide
    as the table and holds a name that is known: else the file stays as it is.
    """
    head = content[:FIRST].decode(errors="ignore")
    records = _records(head, separator)
    widths = Counter(len(cells) for _, cells in records if any(cells))
    width = widths.most_common(1)[0][0] if widths else 0
    words = ""
    for end, (start, cells) in enumerate(records):
        filled = [cell for cell in cells if cell]
        if width > 1 and (not filled or _is_title(cells, filled, width)):
            words = words or (filled[0] if filled else "")
            continue
        below = [len(c) for _, c in records[end + 1 :]]
        if end == 0 or len(cells) != width or width not in below:
            break
        if not any(map(is_known, filled)) or len(filled) < 2:
            break
        size = sum(len(line) + 1 for line in content[:FIRST].split(b"\n")[:start])
        return size, end, words
    return 0, 0, ""


def _is_title(cells: list[str], filled: list[str], width: int) -> bool:
    if cells[0].startswith("#"):
        return len(filled) == 1 or not any(map(is_known, filled))
    alone = len(filled) == 1 and bool(cells[0]) and len(cells) in (1, width)
    return alone and not is_known(filled[0])


def _records(head: str, separator: str) -> list[tuple[int, list[str]]]:
    """The first records, each with the number of lines before it."""
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
    found: list[tuple[int, list[str]]] = []
    start = 0
    try:
        for cells in reader:
            found.append((start, [cell.strip() for cell in cells] or [""]))
            start = reader.line_num
            if len(found) == MOST:
                break
    except csv.Error:
        pass  # a cell that is very long: what was seen so far decides
    return found
