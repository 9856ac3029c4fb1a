"""Very many labels in the order of their items, by counting: no copies as wide as their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truthing.compiled import njit

Array = np.ndarray[Any, Any]

MANY = 1_000_000  # labels; fewer are sorted without compiled code
BLOCK = 100_000  # items whose labels are moved at a time
LONG = 40  # labels of an item; fewer are sorted by insertion


def in_order_by(item: Array, labeler: Array, label: Array) -> bool:
    """Do entries stand by item and labeler, and does each hold a label?"""
    return bool(_in_order(item, labeler, label))


def sorted_by(item: Array, labeler: Array, label: Array, n_items: int) -> Array:
    """Places of the entries that hold a label, by item, then labeler, then place."""
    kind = np.int32 if len(label) < 2**31 else np.int64
    places = np.empty(len(label), dtype=kind)
    end_of = np.zeros(n_items + 1, dtype=kind)
    n = _placed(item, label, end_of, places)
    _in_item_order(end_of, labeler, places)
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
    """Places by code, those without a label left out; ``start`` becomes where each code ends.
    Returns how many there are."""
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
def _in_item_order(end_of, labeler, places):  # type: ignore[no-untyped-def]
    """Places of one item by labeler; those of one labeler stay as they are."""
    first = 0
    for i in range(len(end_of) - 1):
        last = end_of[i]
        if last - first > LONG:
            mine = places[first:last].copy()
            order = np.argsort(labeler[mine], kind="mergesort")
            places[first:last] = mine[order]
        else:
            for n in range(first + 1, last):
                place, k = places[n], n
                while k > first and labeler[places[k - 1]] > labeler[place]:
                    places[k] = places[k - 1]
                    k -= 1
                places[k] = place
        first = last


@njit(nogil=True)
def keys_in_order(start_of, first_of, items, rank, labeler, label, n_classes, key):  # type: ignore[no-untyped-def]
    """Keys (labeler · classes + label) of the items in another order, sorted within each item;
    ``start_of`` is where they begin there, ``first_of`` where they stand, ``rank`` the number of
    each labeler there."""
    for i in range(len(items)):
        first, last = start_of[i], start_of[i + 1]
        n = first_of[items[i]] - first
        for k in range(first, last):
            key[k] = rank[labeler[n + k]] * n_classes + label[n + k]
        if last - first > LONG:
            key[first:last].sort()
            continue
        for k in range(first + 1, last):
            value, at = key[k], k
            while at > first and key[at - 1] > value:
                key[at] = key[at - 1]
                at -= 1
            key[at] = value
