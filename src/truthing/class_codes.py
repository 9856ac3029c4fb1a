"""Names to integers: any hashable values become codes 0, 1, …, with -1 for missing."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from truthing.errors import InputError, listing
from truthing.hashed import blocks_of, code_texts
from truthing.names import Names
from truthing.sorting import MANY, in_order_by, sorted_by

Array = np.ndarray[Any, Any]
Codes = np.ndarray[Any, np.dtype[np.int32]]

BLOCK = 1 << 20  # codes that are counted at a time
_PLAIN_TYPES = ((int,), (str,), (bool,))


def is_missing(value: object) -> bool:
    """None, NaN and pandas' NA are missing; 0, -1 and "" are not.

    >>> [is_missing(v) for v in (None, float("nan"), 0, -1, "")]
    [True, True, False, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def plain(value: Any) -> Any:
    """The Python value behind a numpy scalar, and 1 for 1.0, so that equal names are equal
    however they were stored.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def sort_classes(values: Iterable[Hashable]) -> tuple[Any, ...]:
    """Classes sorted within a type, types kept apart: booleans, numbers, strings, the rest.

    >>> sort_classes(["b", 2, "a", True, -1])
    (True, -1, 2, 'a', 'b')
    """
    return tuple(sorted(values, key=sort_key))


def sort_key(value: Hashable) -> tuple[int, Any]:
    """Where a name stands among names of any type."""
    if isinstance(value, bool):
        return 0, value
    if isinstance(value, int | float):
        return 1, value
    if isinstance(value, str):
        return 2, value
    return 3, (type(value).__name__, repr(value))


def factorise(values: Any, *, missing: object = None) -> tuple[Codes, tuple[Any, ...]]:
    """Codes in order of first appearance and the names behind them; missing values get -1.

    >>> codes, names = factorise(["cat", None, "dog", "cat"])
    >>> codes.tolist(), names
    ([0, -1, 1, 0], ('cat', 'dog'))
    """
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iufbU":
        series = pl.Series(values)
    elif isinstance(values, pl.Series):
        series = values
    else:
        items = [None if is_missing(v) else plain(v) for v in values]
        kinds = {type(v) for v in items if v is not None}
        if not any(kinds <= set(plain_kind) for plain_kind in _PLAIN_TYPES):
            return _factorise_objects(items, missing)
        try:
            series = pl.Series(items)
        except (OverflowError, TypeError):  # integers beyond 64 bits
            return _factorise_objects(items, missing)
    codes, names = _factorise_series(series)
    return _drop_value(codes, names, missing)


def _factorise_series(series: pl.Series) -> tuple[Codes, tuple[Any, ...]]:
    if series.dtype == pl.Null:
        return np.full(len(series), -1, dtype=np.int32), ()
    if not codable(series):
        return _factorise_objects(series.to_list(), None)
    codes, names = code_series(series)
    return codes, tuple(names.to_list())


def codable(series: pl.Series) -> bool:
    """Plain columns are coded by polars and numpy; mixed and nested ones value by value."""
    if str(series.dtype).endswith("Int128"):  # numpy has no such numbers
        return False
    return (
        series.dtype.is_numeric()
        or series.dtype in (pl.String, pl.Boolean, pl.Categorical)
        or series.dtype == pl.Enum
    )


def code_series(series: pl.Series) -> tuple[Codes, pl.Series]:
    """Codes in order of first appearance, null as -1, and the names as a series."""
    if series.dtype.is_float():
        series = _whole(series.fill_nan(None))
    if series.dtype == pl.String and len(series) >= MANY:
        found = code_texts(blocks_of(series), len(series))
        if found is not None:
            return found
    if series.dtype in (pl.String, pl.Boolean) or series.dtype.is_float():
        keys = series.cast(pl.String).cast(pl.Categorical).to_physical()
    else:
        keys = series.to_physical()
    known = (
        np.ones(len(keys), dtype=bool) if not keys.null_count() else keys.is_not_null().to_numpy()
    )
    codes = np.full(len(keys), -1, dtype=np.int32)
    dense, first = _first_appearance(keys.drop_nulls().to_numpy())
    codes[known] = dense
    return codes, series.drop_nulls().gather(first)


def _whole(series: pl.Series) -> pl.Series:
    """Numbers that are all whole as integers: a column of floats is often one of integers with
    gaps.
    """
    whole = series.cast(pl.Int64, strict=False)
    same = (whole.cast(pl.Float64) == series).fill_null(True) & (
        whole.is_null() == series.is_null()
    )
    return whole if same.all() else series


def _first_appearance(keys: Array) -> tuple[Codes, Array]:
    """Codes for integer keys, and the position at which each code appears first."""
    if len(keys) == 0:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    low, high = int(keys.min()), int(keys.max())
    if high - low > 4 * len(keys) + 1000:
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return rank[place], first[order]
    # a narrow range needs no sorting: written back to front, the first appearance of each key is
    # what remains
    offset = keys - low if low else keys
    small: Any = np.int32 if len(keys) < 2**31 else np.int64
    seen: Array = np.full(high - low + 1, len(keys), dtype=small)
    seen[offset[::-1]] = np.arange(len(keys) - 1, -1, -1, dtype=small)
    first = np.sort(seen[seen < len(keys)])
    lookup = np.full(high - low + 1, -1, dtype=np.int32)
    lookup[offset[first]] = np.arange(len(first), dtype=np.int32)
    return lookup[offset], first


def _factorise_objects(values: Sequence[Any], missing: object) -> tuple[Codes, tuple[Any, ...]]:
    table: dict[tuple[type, Any], int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for i, value in enumerate(values):
        if is_missing(value) or (
            missing is not None and type(value) is type(missing) and value == missing
        ):
            codes[i] = -1
            continue
        value = plain(value)
        try:
            codes[i] = table.setdefault((type(value), value), len(table))
        except TypeError:
            raise InputError(
                f"value {value!r} (position {i}) cannot be a name: names must be hashable, "
                "such as strings or integers."
            ) from None
    return codes, tuple(value for _, value in table)


def _drop_value(
    codes: Codes, names: tuple[Any, ...], missing: object
) -> tuple[Codes, tuple[Any, ...]]:
    """One more value that the caller calls missing."""
    gone = plain(missing)
    if gone is None or gone not in names:
        return codes, names
    place = names.index(gone)
    shifted = np.where(codes == place, -1, codes - (codes > place)).astype(np.int32)
    return shifted, names[:place] + names[place + 1 :]


def recode(codes: Codes, names: Sequence[Any], target: Sequence[Any]) -> Codes:
    """Codes in the order of ``names`` as codes in the order of ``target``; names not in it
    become -1.
    """
    where = {(type(name), name): i for i, name in enumerate(target)}
    lookup = np.array([where.get((type(name), name), -1) for name in names] + [-1], dtype=np.int32)
    return lookup[codes]


def sorted_classes(codes: Codes, names: tuple[Any, ...]) -> tuple[Codes, tuple[Any, ...]]:
    """The same coding with the names in class order."""
    classes = sort_classes(names)
    return recode(codes, names, classes), classes


def name_each(names: Sequence[Any] | None, size: int, what: str) -> tuple[Any, ...]:
    """The given names, or 0, 1, … when there are none."""
    if names is None:
        return tuple(range(size))
    if len(names) != size:
        raise InputError(f"{len(names):,} names for {size:,} {what}: give one name for each.")
    return tuple(names)


def shares(names: Sequence[Any], counts: Array, most: int = 8) -> str:
    """Names with their share of a total, for one line of text."""
    total = max(int(counts.sum()), 1)
    shown = [f"{name} {count / total:.0%}" for name, count in zip(names[:most], counts)]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def coded_classes(
    label: Array, names: tuple[Any, ...], classes: Sequence[Any] | None
) -> tuple[Array, tuple[Any, ...]]:
    """Labels as codes of the given classes, or of the sorted ones that occur."""
    if classes is None:
        return sorted_classes(label, names)
    unknown = [name for name in names if name not in classes]
    if unknown:
        raise InputError(
            f"labels hold {listing(unknown)}, not among the given classes {listing(classes)}."
        )
    return recode(label, names, classes), tuple(classes)


def tally(codes: Array, size: int, votes: Array | None = None) -> Array:
    """How often each code stands there, or how many votes it has; -1 is not counted. Block by
    block, because numpy copies what it counts as wider numbers.

    >>> tally(np.array([0, 2, -1, 2]), 4).tolist()
    [1, 0, 2, 0]
    """
    total = np.zeros(size, dtype=np.int64)
    for first in range(0, len(codes), BLOCK):
        part = codes[first : first + BLOCK]
        weights = None if votes is None else votes[first : first + BLOCK]
        if part.min() < 0:
            weights = None if weights is None else weights[part >= 0]
            part = part[part >= 0]
        if size > len(part):
            np.add.at(total, part, 1 if weights is None else weights)
        else:
            total += np.bincount(part, weights=weights, minlength=size).astype(np.int64)
    return total


MOST_VOTES = 2**31 - 1  # for one class of one item


def checked_votes(counts: Any) -> Array:
    """A table of votes as whole numbers, or a sentence on the cell that holds none."""
    table = np.asarray(counts)
    if table.ndim != 2 or table.dtype.kind not in "iufb":
        raise InputError(
            "vote counts are a table of numbers, items in rows and classes in columns."
        )
    with np.errstate(invalid="ignore"):
        good = np.isfinite(table) & (table >= 0) & (table == np.floor(table))
    good &= table <= MOST_VOTES
    if not good.all():
        bad = np.argwhere(~good)[0]
        raise InputError(
            f"row {bad[0]}, column {bad[1]} holds {table[tuple(bad)]}: vote counts are whole "
            "numbers "
            f"from 0 up to {MOST_VOTES:,}."
        )
    return table


def places_in_order(item: Array, labeler: Array, label: Array, sizes: Sequence[int]) -> Any:
    """Entries that hold a label, by item, labeler and place; None where they already stand so.
    ``sizes`` are the numbers of items and of labelers.
    """
    if len(label) >= MANY:
        if in_order_by(item, labeler, label):
            return None
        return sorted_by(item, labeler, label, sizes[0])
    key = item.astype(np.int64) * max(sizes[1], 1) + labeler
    keep = label >= 0
    if keep.all() and not (key[1:] < key[:-1]).any():
        return None
    places = np.flatnonzero(keep)
    kept = key[places]
    if not (kept[1:] < kept[:-1]).any():
        return places
    order = pl.DataFrame({"key": kept, "n": places}).sort("key", maintain_order=True)["n"]
    return order.to_numpy()


def narrow(codes: Array) -> Array:
    """Codes as the samplers take them."""
    return np.ascontiguousarray(codes, dtype=np.int32)


def places_by_name(names: Sequence[Any]) -> Array:
    """Places of names in the order of the names; fast where all are numbers or all are texts."""
    if isinstance(names, Names):
        return names.series.arg_sort().to_numpy().astype(np.int64)
    kinds = set(map(type, names))
    if kinds in ({str}, {int}):
        try:
            return pl.Series(names).arg_sort().to_numpy().astype(np.int64)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            pass  # whole numbers too large for a column
    keys = [sort_key(name) for name in names]
    return np.array(sorted(range(len(names)), key=keys.__getitem__), dtype=np.int64)


def alike(names: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two lists hold the same names of the same types."""
    same = (type(a) is type(b) and a == b for a, b in zip(names, others))
    return len(names) == len(others) and all(same)
