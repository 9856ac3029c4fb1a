"""Rows that stay on disk: Parquet, one file or a folder of them, read a batch at a time. CSV is
written as Parquet once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from truthing.errors import InputError, listing
from truthing.notes import NOTHING, Notes
from truthing.tables import text
from truthing.tables.asked import Asked
from truthing.tables.coding import to_utf_8
from truthing.tables.columns import Columns, recognise
from truthing.tables.fragile import BROKEN, read_scan, shape_of
from truthing.tables.table import Table

HEAD = 20_000  # rows that show what the columns are
HEAD_BYTES = 1_000_000
TABLES = (".csv", ".tsv", ".jsonl", ".xlsx")  # files that may hold labels too


@dataclass(frozen=True)
class LabelSource:
    """Files of one schema; ``columns`` are those that are read, by role, ``notes`` say how these
    were chosen."""

    files: tuple[Path, ...]
    heights: tuple[int, ...]
    name: str
    columns: Mapping[str, str]
    head: Table
    stamp: str
    notes: Notes = NOTHING

    @property
    def n_rows(self) -> int:
        return sum(self.heights)

    def with_columns(self, names: Iterable[str]) -> LabelSource:
        """The same with more columns, whose role is `other` and their name."""
        roles = {other(name): name for name in names if name not in self.columns.values()}
        if not roles:
            return self
        _require_one_schema(self.files, [shape_of(file)[0] for file in self.files], roles)
        return replace(self, columns={**self.columns, **roles})

    def batches(self, size: int) -> Iterator[tuple[str, int, pl.DataFrame]]:
        """File, first row and rows, at most ``size`` at a time, columns called by their roles."""
        chosen = [pl.col(column).alias(role) for role, column in self.columns.items()]
        for file, height in zip(self.files, self.heights):
            for first in range(0, height, size):
                scan = pl.scan_parquet(file).select(chosen).slice(first, size)
                yield file.name, first, read_scan(scan, file, min(size, height - first))


def open_source(path: Any, asked: Asked, wanted: tuple[str, ...], cache: Path) -> LabelSource:
    """What a file or folder holds; ``wanted`` are the roles without which it cannot be read."""
    where = Path(str(path))
    files = _files(where)
    if files[0].suffix.lower() != ".parquet":
        if len(files) > 1:
            raise InputError(f"{where}: a folder must hold Parquet files only.")
        files = [_converted(files[0], asked, cache)]
    schemas, heights = zip(*(shape_of(file) for file in files))
    head = read_scan(pl.scan_parquet(files[0]).head(HEAD), files[0])
    if not sum(heights):
        raise InputError(f"{where.name} has columns and no rows: it needs at least one row.")
    typed = files[0].parent != cache
    table = Table(head, where.name, "Parquet", typed=typed, first_line=1)
    columns = recognise(table, asked)
    roles = _roles(table, columns, wanted)
    _require_one_schema(files, schemas, roles)
    about = roles, table, _stamp(files, roles), columns.notes
    return LabelSource(tuple(files), heights, where.name, *about)


def make_folder(cache: Path) -> None:
    """A folder for what is kept between runs."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise InputError(
            f"{cache} cannot be written ({reason.strerror}): say where shards may be kept with the "
            "environment variable TRUTHING_CACHE."
        ) from None


def other(name: str) -> str:
    """The role of a column that has none."""
    return f"column {name}"


def _require_one_schema(
    files: Sequence[Path], schemas: Sequence[Any], roles: Mapping[str, str]
) -> None:
    for file, schema in zip(files[1:], schemas[1:]):
        for column in roles.values():
            if schema.get(column) != schemas[0][column]:
                raise InputError(
                    f"{file.name} has {schema.get(column) or 'nothing'} in column {column!r} where "
                    f"{files[0].name} has {schemas[0][column]}: write all files of the folder with "
                    "the same columns and types."
                )


def _files(where: Path) -> list[Path]:
    if where.is_dir():
        found = sorted(p for p in where.iterdir() if p.suffix.lower() == ".parquet")
        if not found:
            raise InputError(f"{where} holds no Parquet file.")
        others = sorted(p.name for p in where.iterdir() if p.suffix.lower() in TABLES)
        if others:
            raise InputError(
                f"{where} holds {others[0]} beside Parquet files: move it elsewhere, or write it "
                "as Parquet."
            )
        return found
    if not where.exists():
        raise InputError(
            f"{where}: no such file. Check the path; the current folder is {Path.cwd()}."
        )
    return [where]


def _roles(table: Table, columns: Columns, wanted: tuple[str, ...]) -> dict[str, str]:
    if "label" in wanted and columns.layout != "long":
        raise InputError(
            f"{table.name} is a {columns.layout} table: streaming reads one row for each label "
            "(item, labeler, label). Write it so, or use `engine='memory'`."
        )
    roles = dict(columns.role)
    if "prediction" in wanted and "prediction" not in roles and "label" in roles:
        roles["prediction"] = roles["label"]
    absent = [role for role in wanted if role not in roles]
    if absent:
        raise InputError(
            f"{table.name} has no column of {absent[0]}s of a known name (it has "
            f"{listing(table.frame.columns)}): name it with `{absent[0]}_column=...`."
        )
    return {role: roles[role] for role in wanted}


def _converted(file: Path, asked: Asked, cache: Path) -> Path:
    """A CSV file as Parquet, every cell still text; written once for each state of the file."""
    with file.open("rb") as opened:
        start = opened.read(HEAD_BYTES)
    start = start[: start.rfind(b"\n") + 1] if len(start) == HEAD_BYTES else start
    if file.suffix.lower() not in (".csv", ".tsv", ".txt") or start[:2] == b"\x1f\x8b":
        raise InputError(
            f"{file.name} is neither Parquet nor plain CSV: streaming reads those two. Write it as "
            "Parquet, or use `engine='memory'`."
        )
    content, _ = to_utf_8(start, file.name)
    if not start.endswith(content):
        raise InputError(f"{file.name} is not UTF-8: save it as UTF-8 to stream it.")
    head = text.delimited(content, file.name, asked.delimiter)
    target = cache / f"{file.stem}-{_stamp([file], {})}.parquet"
    if not target.exists():
        make_folder(cache)
        part = target.with_suffix(".part")
        separator = asked.delimiter or text.find_separator(content)
        scan = pl.scan_csv(file, separator=separator, infer_schema=False)
        try:
            if head.first_line != 2 or scan.collect_schema().names() != head.frame.columns:
                raise InputError(
                    f"{file.name}: its header cannot be streamed. Name every column once, or use "
                    "`engine='memory'`."
                )
            scan.sink_parquet(part)
        except BROKEN as problem:
            words = (str(problem).splitlines() or ["damaged"])[0][:150]
            raise InputError(f"{file} cannot be read as CSV ({words}).") from None
        part.rename(target)
    return target


def _stamp(files: list[Path], roles: Mapping[str, str]) -> str:
    """What tells one state of the files from another."""
    told = hashlib.blake2b(digest_size=8)
    for file in files:
        state = file.stat()
        told.update(f"{file.resolve()} {state.st_size} {state.st_mtime_ns}\n".encode())
    told.update(repr(sorted(roles.items())).encode())
    return told.hexdigest()
