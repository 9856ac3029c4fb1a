"""Data frames of any kind, and rows or columns in plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import is_missing, plain
from truthing.errors import InputError
from truthing.spelling import one_line
from truthing.tables.table import Table


def is_frame(value: Any) -> bool:
    """Whether a value is a table rather than one value per item.

    >>> is_frame([{"item": 1}]), is_frame({"item": [1, 2]}), is_frame({1: "cat"}), is_frame([1])
    (True, True, False, False)
    """
    if isinstance(value, pl.DataFrame | pl.LazyFrame):
        return True
    if isinstance(value, str | bytes | np.ndarray):
        return False
    if isinstance(value, Mapping):
        parts = list(value.values())
        return bool(parts) and all(
            isinstance(part, list | tuple | np.ndarray) or hasattr(part, "to_numpy")
            for part in parts
        )
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(row, Mapping) for row in value)
    if hasattr(value, "columns"):
        return True
    if isinstance(value, pl.Series) or hasattr(value, "name"):
        return False
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "column_names")


def from_frame(frame: Any) -> Table:
    """pandas, polars, Arrow, DuckDB, Hugging Face: anything narwhals or Arrow's stream knows."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return _checked(frame, "polars table")
    if isinstance(frame, list | tuple) and is_frame(frame):
        return from_records(list(frame), "table", "rows", 0, "row")
    if isinstance(frame, Mapping) and is_frame(frame):
        return _from_columns({str(k): list(v) for k, v in frame.items()}, "columns")
    import narwhals as nw

    if _is_pandas(frame):
        return _from_pandas(frame)
    try:
        native: Any = nw.from_native(frame)
        eager = native.collect() if isinstance(native, nw.LazyFrame) else native
        return _checked(eager.to_polars(), f"{eager.implementation.name.lower()} table")
    except TypeError:
        pass
    if hasattr(frame, "__arrow_c_stream__"):
        return _checked(pl.DataFrame(frame), "Arrow table")
    if hasattr(frame, "column_names"):
        return _from_dataset(frame)
    raise InputError(
        f"cannot read labels from a {type(frame).__name__}: give a path, '-' for standard input, "
        "a pandas, polars or Arrow table, rows as dicts, or a dict of columns."
    ) from None


def _from_dataset(dataset: Any) -> Table:
    """A Hugging Face dataset: plain values in whatever format it shows them, and class names."""
    if isinstance(dataset.column_names, Mapping):
        splits = list(dataset.column_names)
        raise InputError(
            f"this is several datasets ({', '.join(map(str, splits[:4]))}): give one, such as "
            f"dataset[{splits[0]!r}]."
        )
    if hasattr(dataset, "with_format"):
        dataset = dataset.with_format(None)
    features = getattr(dataset, "features", None) or {}
    columns = {}
    for name in dataset.column_names:
        classes = getattr(features.get(name), "names", None)
        values = list(dataset[name])
        if classes is not None:  # numbers that stand for names; -1 is no label
            values = [None if v is None or v < 0 else classes[v] for v in values]
        columns[name] = values
    return _from_columns(columns, "dataset")


def _checked(frame: pl.DataFrame, kind: str) -> Table:
    if frame.height == 0:
        raise InputError("the table has no rows: it needs at least one.")
    odd = [
        pl.col(c).cast(pl.String)
        for c, d in frame.schema.items()
        if d.is_temporal() or d == pl.Decimal
    ]
    frame = frame.with_columns(odd) if odd else frame
    tidy = {c: one_line(c) for c in frame.columns}  # as in text files
    if len(set(tidy.values())) == len(tidy):
        frame = frame.rename({c: name for c, name in tidy.items() if name != c})
    return Table(frame, "table", kind)


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "columns")


def _from_pandas(frame: Any) -> Table:
    """Column by column, so that pyarrow is not needed; an index that means something is kept."""
    index = frame.index
    names = list(getattr(index, "names", [None]))
    if any(name is not None for name in names) or type(index).__name__ != "RangeIndex":
        if names == [None]:
            frame = frame.copy(deep=False)
            frame.index = index.rename("index" if "index" not in frame.columns else "Unnamed: 0")
        frame = frame.reset_index()
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InputError(f"the table names column {twice[0]!r} twice: rename one of them.")
    columns: dict[str, Any] = {}
    for name in frame.columns:
        values = frame[name]
        kind = getattr(values.dtype, "kind", "O")
        columns[str(name)] = (
            values.to_numpy() if kind in "iufb" and not _nullable(values) else values.tolist()
        )
    return _from_columns(columns, "pandas table")


def _nullable(values: Any) -> bool:
    return not isinstance(values.dtype, np.dtype)


def _from_columns(columns: Mapping[str, Any], kind: str) -> Table:
    sizes = {name: len(values) for name, values in columns.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"columns of a table are equally long; these are not: {sizes}.")
    if not sizes or next(iter(sizes.values())) == 0:
        raise InputError("the table has no rows: it needs at least one.")
    data = {
        name: pl.Series(name, values) if isinstance(values, np.ndarray) else series(name, values)
        for name, values in columns.items()
    }
    return Table(pl.DataFrame(data), "table", kind)


def from_records(
    records: list[Any], name: str, kind: str, first: int = 1, unit: str = "entry"
) -> Table:
    """Rows as dicts; a field that a row lacks is missing."""
    if not records:
        raise InputError(f"{name} is empty: it needs at least one object.")
    columns: dict[str, None] = {}
    for number, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise InputError(
                f"{name} entry {number} is {type(record).__name__}, not an object with named "
                "fields."
            )
        columns.update(dict.fromkeys(map(str, record)))
    data = {c: series(c, [r.get(c) for r in records]) for c in columns}
    return Table(pl.DataFrame(data), name, kind, first_line=first, unit=unit)


def series(name: str, values: Sequence[Any]) -> pl.Series:
    """A plain type where all values have one; Python objects, kept apart by type, where mixed."""
    cells = [None if is_missing(v) else plain(v) for v in values]
    kinds = {type(v) for v in cells if v is not None}
    if kinds <= {int}:
        big = any(v is not None and not -(2**63) <= v < 2**63 for v in cells)
        return pl.Series(name, cells, dtype=pl.Object if big else pl.Int64)
    if kinds <= {int, float}:
        numbers = [None if v is None else _float(v) for v in cells]
        return pl.Series(name, numbers, dtype=pl.Float64)
    if kinds == {str}:
        try:
            return pl.Series(name, cells, dtype=pl.String)
        except UnicodeError:
            raise InputError(
                f"column {name!r} holds half a letter (a lone surrogate): it is damaged. Export it "
                "again."
            ) from None
    return pl.Series(name, cells, dtype=pl.Boolean if kinds == {bool} else pl.Object)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
