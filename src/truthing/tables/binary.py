"""Parquet files and numpy arrays."""

from __future__ import annotations

import io
import tokenize
import warnings

import numpy as np
import polars as pl

from truthing.errors import InputError
from truthing.tables.fragile import BROKEN, careful, damaged, read_apart
from truthing.tables.frames import _checked
from truthing.tables.table import Table

MOST_CELLS = 2_000_000_000


def parquet(data: bytes, name: str) -> Table:
    read_apart(data, name)
    try:
        with careful(name):
            scan = pl.scan_parquet(io.BytesIO(data))
            width = len(scan.collect_schema())
            height = int(scan.select(pl.len()).collect().item())
        # a column of one value takes no room in the file, but all of it in memory
        if height * width > max(20_000_000, 200 * len(data)) or height * width > MOST_CELLS:
            raise InputError(
                f"{name} holds {height:,} rows of {width:,} columns, too many for a file of its "
                "size: refused. Write out the columns and rows that you need."
            )
        with careful(name):
            frame = pl.read_parquet(io.BytesIO(data))
    except InputError:
        raise
    except (*BROKEN, ValueError) as problem:
        raise damaged(name, problem) from None
    if frame.height == 0:
        raise InputError(f"{name} has columns and no rows: it needs at least one row.")
    table = _checked(frame, "Parquet")
    return Table(table.frame, name, "Parquet", first_line=1)


def npy(data: bytes, name: str) -> Table:
    """One value per item, or a table with items in rows; its columns have only positions."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old headers are read all the same
            array = np.load(io.BytesIO(data), allow_pickle=False)
    except (
        *(ValueError, EOFError, OSError, MemoryError, SyntaxError, TypeError, KeyError),
        *(tokenize.TokenError, OverflowError, AttributeError, RecursionError),
    ) as problem:
        if "pickle" in str(problem).lower() and "object arrays" in str(problem).lower():
            raise InputError(
                f"{name} holds Python objects and would have to be unpickled, which can run code: "
                "refused. Save it as numbers or fixed-width strings."
            ) from None
        raise damaged(name, problem, "numpy") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iufbU":
        raise InputError(
            f"{name} is a numpy file of another kind of data: save numbers, booleans or strings."
        )
    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        points = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint32)
        points = points if array.dtype.isnative else points.byteswap()
        if (points > 0x10FFFF).any() or ((points >= 0xD800) & (points < 0xE000)).any():
            raise InputError(f"{name} is a numpy file with damaged text: save it again.")
    if array.size == 0:
        raise InputError(f"{name} is an empty array: it needs at least one row.")
    if array.ndim not in (1, 2):
        raise InputError(
            f"{name} has {array.ndim} dimensions: labels are a vector or an items × labelers table."
        )
    columns = (
        {"value": array}
        if array.ndim == 1
        else {str(k): array[:, k] for k in range(array.shape[1])}
    )
    try:
        frame = pl.DataFrame(
            {k: v.astype(float) if v.dtype == np.float16 else v for k, v in columns.items()}
        )
    except (*BROKEN, ValueError, TypeError) as problem:
        raise damaged(name, problem, "numpy") from None
    kind = "numpy vector" if array.ndim == 1 else "numpy table"
    return Table(frame, name, kind, nameless=True)
