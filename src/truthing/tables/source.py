"""Where a table comes from: a path, standard input or somebody's data frame; what it is, is told by its first bytes."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path
from typing import Any

import polars as pl

from truthing.errors import InputError
from truthing.tables import binary, json, text
from truthing.tables.table import Table

Source = Any  # a path, "-", a pandas, polars or Arrow table, or a Table


def open_table(source: Source, *, delimiter: str | None = None) -> Table:
    """The rows behind a path, "-" for standard input, or a data frame."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        return from_bytes(*_bytes_of(str(source)), delimiter=delimiter)
    return from_frame(source)


def from_frame(frame: Any) -> Table:
    """Any data frame that narwhals knows: pandas, polars, Arrow, and more."""
    if isinstance(frame, pl.DataFrame):
        return Table(frame, "table", "polars table")
    import narwhals as nw

    if getattr(getattr(frame, "index", None), "name", None) is not None and hasattr(
        frame, "reset_index"
    ):
        frame = frame.reset_index()
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"cannot read labels from a {type(frame).__name__}: give a path, '-' for standard input, or a pandas, polars or Arrow table."
        ) from None
    return Table(eager.to_polars(), "table", f"{eager.implementation.name.lower()} table")


def _bytes_of(path: str) -> tuple[bytes, str]:
    if path == "-":
        return sys.stdin.buffer.read(), "standard input"
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{path} is a folder: name a file in it.")
    try:
        return file.read_bytes(), file.name
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file. Check the path; the current folder is {Path.cwd()}."
        ) from None
    except OSError as reason:
        raise InputError(
            f"{path} cannot be read: {reason.strerror}. Check its permissions."
        ) from None


def from_bytes(data: bytes, name: str, *, delimiter: str | None = None) -> Table:
    """The rows of a file's content, under the name that people know it by."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(
                f"{name} looks gzip-compressed but is damaged or cut short: copy or compress it again."
            ) from None
    if not data[:4096].strip() and not data.strip():
        raise InputError(f"{name} is empty: it needs a header line and at least one row.")
    if data[:4] == b"PAR1":
        return binary.parquet(data, name)
    if data[:6] == b"\x93NUMPY":
        return binary.npy(data, name)
    content = text.check(data, name)
    if content[:4096].lstrip()[:1] in (b"[", b"{"):
        return json.read(content.decode(), name)
    return text.delimited(content, name, delimiter)
