"""Codes of very many texts, a block at a time: no copy of the column, no list of Python texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

from truthing.compiled import njit

Array = np.ndarray[Any, Any]

BLOCK = 1 << 18  # texts looked up at a time; row groups of Parquet often have as many
FULL = 0.6  # of the slots: then there will be twice as many


def blocks_of(series: pl.Series) -> Iterator[pl.Series]:
    """A column a block at a time."""
    for first in range(0, len(series), BLOCK):
        yield series.slice(first, BLOCK)


def code_texts(blocks: Iterable[pl.Series], size: int) -> tuple[Array, pl.Series] | None:
    """Codes in the order of first appearance, null as -1, and the texts behind them.

    Texts are told apart by 64 bits of a hash, and each is then compared with the one whose code it
    got; None where two of them share their hash, so that another way is taken.
    """
    codes = np.empty(size, dtype=np.int32)
    slots, held = np.full(1 << 20, -1, dtype=np.int32), np.empty(1 << 19, dtype=np.uint64)
    known, first, parts = 0, 0, list[pl.Series]()
    for texts in blocks:
        here = codes[first : first + len(texts)]
        first += len(texts)
        while known + len(texts) > len(held):
            held = np.concatenate([held, np.empty_like(held)])
        while known + len(texts) > FULL * len(slots):
            slots = np.full(2 * len(slots), -1, dtype=np.int32)
            _refill(held[:known], slots)
        silent = texts.is_null().to_numpy() if texts.null_count() else np.empty(0, dtype=bool)
        new_at = np.empty(len(texts), dtype=np.int32)
        n_new = _look_up(texts.hash(0).to_numpy(), silent, slots, held, known, here, new_at)
        if n_new:
            parts.append(_own(texts.gather(new_at[:n_new])))
            known += n_new
        names = pl.concat(parts, rechunk=False) if parts else texts.clear()
        heard = here >= 0
        said = names.gather(here if heard.all() else here[heard])
        if not (said == (texts if heard.all() else texts.drop_nulls())).all():
            return None
    return codes, pl.concat(parts) if parts else pl.Series(dtype=pl.String)


def places_of_texts(names: pl.Series, wanted: pl.Series) -> Array | None:
    """Where each wanted name stands among different names (texts or whole numbers), -1 where it
    does not; None where hashes are shared, so that another way is taken.
    """
    slots = np.full(1 << int(len(names) / FULL).bit_length(), -1, dtype=np.int32)
    held = names.hash(0).to_numpy()
    _refill(held, slots)
    places = np.empty(len(wanted), dtype=np.int32)
    for first in range(0, len(wanted), BLOCK):
        some = wanted.slice(first, BLOCK)
        here = places[first : first + BLOCK]
        _find(some.hash(0).to_numpy(), slots, held, here)
        found = np.flatnonzero(here >= 0)
        if not (names.gather(here[found]) == some.gather(found)).all():
            return None
    return places


def _own(texts: pl.Series) -> pl.Series:
    """The texts with letters of their own: what they were taken from can be let go."""
    return pl.Series(texts.name, texts.to_list(), dtype=pl.String)


@njit(nogil=True)
def _look_up(hashes, silent, slots, held, known, codes, new_at):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(slots) - 1)
    n_new = 0
    for k in range(len(hashes)):
        if len(silent) and silent[k]:
            codes[k] = -1
            continue
        at = hashes[k] & mask
        while slots[at] >= 0 and held[slots[at]] != hashes[k]:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = known + n_new
            held[known + n_new] = hashes[k]
            new_at[n_new] = k
            n_new += 1
        codes[k] = slots[at]
    return n_new


@njit(nogil=True)
def _find(hashes, slots, held, places):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(slots) - 1)
    for k in range(len(hashes)):
        at = hashes[k] & mask
        while slots[at] >= 0 and held[slots[at]] != hashes[k]:
            at = (at + np.uint64(1)) & mask
        places[k] = slots[at]


@njit(nogil=True)
def _refill(held, slots):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(slots) - 1)
    for code in range(len(held)):
        at = held[code] & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = code
