"""Names of very many items: a column of texts or numbers that behaves like a tuple.

A Python text takes 70 bytes and more, in a column it takes its letters and 16. Few names stay a
tuple.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import polars as pl

from truthing.hashed import places_of_texts

Array = np.ndarray[Any, Any]

MANY = 200_000  # names; beyond, they stay in their column
BLOCK = 100_000  # names that are Python objects at the same time


class Names(Sequence[Any]):
    """Different names in an order, read only.

    >>> names = Names(pl.Series(["a", "b", "c"]))
    >>> names[1], names[-1], names[:2], "c" in names, names == ("a", "b", "c")
    ('b', 'c', ('a', 'b'), True, True)
    """

    __slots__ = ("series",)

    def __init__(self, series: pl.Series) -> None:
        self.series = series.rechunk()

    def __len__(self) -> int:
        return len(self.series)

    @overload
    def __getitem__(self, place: int) -> Any: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Any, ...]: ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return tuple(self.series[place].to_list())
        return self.series[int(place)]

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, len(self), BLOCK):
            yield from self.series.slice(first, BLOCK).to_list()

    def __contains__(self, name: object) -> bool:
        kind = str if self.series.dtype == pl.String else int
        return isinstance(name, kind) and bool((self.series == name).any())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            same = self.series.dtype == other.series.dtype and len(self) == len(other)
            return same and bool((self.series == other.series).all())
        if not isinstance(other, tuple):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} names: {self[0]!r}, {self[1]!r}, …>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Names, (self.series,)


def named(series: pl.Series) -> Sequence[Any]:
    """The values of a column of different names."""
    plain = series.dtype == pl.String or series.dtype.is_integer()
    if len(series) < MANY or not plain or series.null_count():
        return tuple(series.to_list())
    return Names(series)


def frozen(names: Sequence[Any]) -> Sequence[Any]:
    """A tuple, except where names stay in their column."""
    return names if isinstance(names, Names) else tuple(names)


def names_at(names: Sequence[Any], places: Array) -> Sequence[Any]:
    """The names at these places."""
    if isinstance(names, Names):
        return named(names.series.gather(places))
    return tuple(names[i] for i in places)


def places_among(names: Sequence[Any], wanted: Sequence[Any]) -> Array:
    """Where each of the wanted names stands, -1 where it does not.

    >>> places_among(("a", "b"), ("b", "x")).tolist()
    [1, -1]
    """
    if isinstance(names, Names):  # never a dictionary of so many Python objects, if we can help it
        column = wanted.series if isinstance(wanted, Names) else _column(wanted)
        if column is not None and column.dtype == names.series.dtype:
            found = places_of_texts(names.series, column)
            if found is not None:
                return found
    where = {name: i for i, name in enumerate(names)}
    return np.array([where.get(name, -1) for name in wanted], dtype=np.int32)


def _column(names: Sequence[Any]) -> pl.Series | None:
    """Names of one plain type as a column."""
    kinds = set(map(type, names))
    if kinds not in ({str}, {int}):
        return None
    try:
        return pl.Series(list(names), dtype=pl.String if kinds == {str} else pl.Int64)
    except (OverflowError, TypeError, pl.exceptions.PolarsError):
        return None  # whole numbers too large for a column
