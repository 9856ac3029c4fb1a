"""Parquet files and numpy arrays."""

from __future__ import annotations

import io

import numpy as np
import polars as pl

from truthing.errors import InputError
from truthing.tables.table import Table


def parquet(data: bytes, name: str) -> Table:
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except pl.exceptions.PolarsError as problem:
        raise InputError(
            f"{name} is not a readable Parquet file ({str(problem).splitlines()[0]}): write it again."
        ) from None
    if frame.height == 0:
        raise InputError(f"{name} has columns and no rows: it needs at least one row.")
    return Table(frame, name, "Parquet", first_line=1)


def npy(data: bytes, name: str) -> Table:
    """One value per item, or a table with items in rows; the columns have no names, only positions."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except ValueError as problem:
        if "pickle" in str(problem).lower():
            raise InputError(
                f"{name} holds Python objects and would have to be unpickled, which can run code: refused. "
                "Save it as numbers or fixed-width strings."
            ) from None
        raise InputError(f"{name} is a damaged numpy file ({problem}): save it again.") from None
    if array.size == 0:
        raise InputError(f"{name} is an empty array: it needs at least one row.")
    if array.ndim == 1:
        return Table(
            pl.DataFrame({"value": array}), name, "numpy vector", nameless=True, first_line=0
        )
    if array.ndim != 2:
        raise InputError(
            f"{name} has {array.ndim} dimensions: labels are a vector or an items × labelers table."
        )
    columns = {str(k): array[:, k] for k in range(array.shape[1])}
    return Table(pl.DataFrame(columns), name, "numpy table", nameless=True, first_line=0)
