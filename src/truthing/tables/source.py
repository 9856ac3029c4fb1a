"""Where a table comes from: a path, standard input or a frame; its first bytes say what it is."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from truthing.errors import InputError
from truthing.tables import binary, coding, frames, json, spreadsheet, text
from truthing.tables.table import Table
from truthing.tables.tools import cvat
from truthing.tables.tools import delimited as tools
from truthing.tables.unpack import gunzip, is_zip

Source = Any  # a path, "-", a data frame, rows as dicts, or a Table


def open_table(
    source: Source, *, delimiter: str | None = None, question: str | None = None
) -> Table:
    """The rows behind a path, "-" for standard input, or a data frame."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        return from_bytes(*_bytes_of(str(source)), delimiter=delimiter, question=question)
    return frames.from_frame(source)


def _bytes_of(path: str) -> tuple[bytes, str]:
    if path == "-":
        return sys.stdin.buffer.read(), "standard input"
    file = Path(path)
    if file.is_dir():
        raise InputError(
            f"{path} is a folder: name a file in it. (One folder of Parquet files is read by "
            "`grade`, `rate`, `compare`, `labelers` and `ceiling`, unless `engine='memory'`.)"
        )
    try:
        return file.read_bytes(), file.name
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file. Check the path; the current folder is {Path.cwd()}."
        ) from None
    except (OSError, ValueError) as reason:
        why = getattr(reason, "strerror", None) or str(reason)
        raise InputError(f"{path!r} cannot be read: {why}. Check its permissions.") from None


def from_bytes(
    data: bytes, name: str, *, delimiter: str | None = None, question: str | None = None
) -> Table:
    """The rows of a file's content, under the name that people know it by."""
    if data[:2] == b"\x1f\x8b":
        data = gunzip(data, name)
    if not data[:4096].strip() and not data.strip():
        raise InputError(f"{name} is empty: it needs a header line and at least one row.")
    if data[:4] == b"PAR1":
        return tools.recognise(binary.parquet(data, name), question)
    if data[:6] == b"\x93NUMPY":
        return binary.npy(data, name)
    if is_zip(data) or data[:4] == b"\xd0\xcf\x11\xe0":
        return spreadsheet.read(data, name, question)
    content, notes = coding.to_utf_8(data, name)
    if content[:4096].lstrip()[:1] in (b"[", b"{"):
        table = json.read(content.decode(), name, question)
    elif content[:4096].lstrip()[:5].lower() in (b"<?xml", b"<anno", b"<html", b"<!doc"):
        table = cvat.xml(content, name, question)
    else:
        plain = text.delimited(content, name, delimiter)
        notes += plain.notes
        table = tools.recognise(plain, question)
    return replace(table, notes=notes + table.notes)
