"""Very many labels in the order of their items, by counting: no copies as wide as their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truthing.compiled import njit

Array = np.ndarray[Any, Any]

MANY = 1_000_000  # labels; fewer are sorted without compiled code
BLOCK = 100_000  # items whose labels are moved at a time


def in_order_by(item: Array, labeler: Array, label: Array) -> bool:
    """Do entries stand by item and labeler, and does each hold a label?"""
    return bool(_in_order(item, labeler, label))


def sorted_by(item: Array, labeler: Array, label: Array, sizes: Sequence[int]) -> Array:
    """Places of the entries that hold a label, by item, then labeler, then place."""
    kind = np.int32 if len(label) < 2**31 else np.int64
    by_labeler = np.empty(len(label), dtype=kind)
    places = np.empty(len(label), dtype=kind)
    n = _placed(labeler, label, np.zeros(sizes[1] + 1, dtype=np.int64), by_labeler)
    _placed_again(item, by_labeler[:n], np.zeros(sizes[0] + 1, dtype=np.int64), places)
    return places[:n]


def rows_of(indptr: Array, chosen: Array, columns: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Columns with the rows of the chosen items only, in their order, and each item's number of
    rows; item i has the rows ``indptr[i]:indptr[i + 1]``.
    """
    size = np.diff(indptr)[chosen]
    into = np.append(0, np.cumsum(size))
    moved = [np.empty(into[-1], dtype=column.dtype) for column in columns]
    for first in range(0, len(chosen), BLOCK):
        some = slice(first, first + BLOCK)
        starts = np.repeat(indptr[chosen[some]] - into[:-1][some], size[some])
        here = slice(into[first], into[first] + len(starts))
        rows = starts + np.arange(here.start, here.stop)
        for column, target in zip(columns, moved):
            target[here] = column[rows]
    return size, moved


@njit(nogil=True)
def _in_order(item, labeler, label):  # type: ignore[no-untyped-def]
    for n in range(len(label)):
        if label[n] < 0:
            return False
        if n and item[n] < item[n - 1]:
            return False
        if n and item[n] == item[n - 1] and labeler[n] < labeler[n - 1]:
            return False
    return True


@njit(nogil=True)
def _placed(codes, label, start, places):  # type: ignore[no-untyped-def]
    """Places by code, those without a label left out; returns how many."""
    for n in range(len(codes)):
        if label[n] >= 0:
            start[codes[n] + 1] += 1
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    total = start[-1]
    for n in range(len(codes)):
        if label[n] >= 0:
            places[start[codes[n]]] = n
            start[codes[n]] += 1
    return total


@njit(nogil=True)
def _placed_again(codes, before, start, places):  # type: ignore[no-untyped-def]
    """Places by code, in the order ``before`` where codes are the same."""
    for n in before:
        start[codes[n] + 1] += 1
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    for n in before:
        places[start[codes[n]]] = n
        start[codes[n]] += 1
