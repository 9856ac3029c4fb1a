"""One value per item, however the user has it: a column, a mapping from item, or a sequence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.spelling import as_column

NOTHING = "(none)"


def column_of(name: str, readings: Iterable[Any], what: str) -> dict[Any, Any]:
    """Item to value, from the first file that has the column; ``what`` is the argument's name."""
    found = list(readings)
    for reading in found:
        column = as_column(name, reading.table.frame.columns)
        if column in reading.table.frame.columns:
            return dict(reading.column(column))
    has = dict.fromkeys(c for reading in found for c in reading.table.frame.columns)
    if not has:
        raise InputError(
            f"`{what}={name!r}` names a column, but labels and predictions come from no file or "
            "frame: give one value per item, or a mapping from item to value."
        )
    raise InputError(f"`{what}={name!r}`: no file has that column; there are {listing(has, 20)}.")


def per_item(
    given: Any,
    what: str,
    items: Sequence[Any],
    orders: Sequence[Sequence[Any]],
    readings: Iterable[Any],
) -> list[Any]:
    """The value of each of ``items``; None where nothing is said of it.

    ``orders`` are how the user may have the items of a sequence: all with labels, or those graded.
    """
    if isinstance(given, str):
        given = column_of(given, readings, what)
    if isinstance(given, Mapping):
        texts = {str(k): v for k, v in given.items()}
        values = [given[i] if i in given else texts.get(str(i)) for i in items]
        if all(v is None for v in values):
            raise InputError(
                f"`{what}=` names no item that is graded: give a mapping from item to value."
            )
        return values
    if not hasattr(given, "__len__"):
        raise InputError(
            f"`{what}=` is a {type(given).__name__}: give a column's name, one value per item, or "
            "a "
            "mapping from item to value."
        )
    named = list(given)
    order = next((o for o in orders if len(o) == len(named)), None)
    if order is None:
        raise InputError(
            f"`{what}=` has {len(named):,} values for {len(orders[-1]):,} items: give one for "
            "each, "
            "or a mapping from item to value."
        )
    where = dict(zip(order, named))
    return [where[i] for i in items]


def codes_of(values: Sequence[Any]) -> tuple[Array, tuple[str, ...]]:
    """Codes of values in the order of their names; what is missing is called (none)."""
    texts = [NOTHING if _absent(v) else str(v) for v in values]
    names = tuple(sorted(set(texts)))
    place = {name: code for code, name in enumerate(names)}
    return np.array([place[t] for t in texts], dtype=np.int64), names


def number_in(value: Any) -> float | None:
    """A number, also where a file has it as text; None where there is none.

    >>> number_in("2.5"), number_in(""), number_in(3)
    (2.5, None, 3.0)
    """
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or value == ""
