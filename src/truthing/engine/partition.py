"""First half of regrouping: rows dealt into buckets by a hash of their item, so that all labels of
an item, and its prediction, end in the same bucket whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array, code_series
from truthing.engine.source import LabelSource
from truthing.errors import InputError
from truthing.spelling import MISSING_WORDS

BATCH = 500_000  # rows in memory at a time


class Coder:
    """Names as codes in the order of their first appearance, over all batches of a column;
    ``tidy`` is what is done to texts first, null where nothing is left."""

    def __init__(self, tidy: Callable[[pl.Series], pl.Series]) -> None:
        self.tidy = tidy
        self.known: dict[Any, int] = {}
        self.counts = np.zeros(0, dtype=np.int64)

    @property
    def names(self) -> list[Any]:
        return list(self.known)

    def __call__(self, series: pl.Series) -> Array:
        """Codes of a batch, -1 where nothing is said."""
        codes, names = code_series(series)
        if names.dtype == pl.String:  # far fewer than rows
            names = self.tidy(names)
        known = self.known
        place = [
            -1 if name is None else known.setdefault(name, len(known)) for name in names.to_list()
        ]
        found = np.array([*place, -1], dtype=np.int32)[codes]
        seen = np.bincount(found[found >= 0], minlength=len(known))
        seen[: len(self.counts)] += self.counts
        self.counts = seen
        return found


def places_from(file: str, first: int) -> Callable[[int], str]:
    """What the rows of a batch are called in a message; ``first`` rows stand before it."""
    return lambda row: f"{file} row {first + row + 1}"


def item_names(series: pl.Series, place: Callable[[int], str]) -> pl.Series:
    """Items as whole numbers or as texts without blanks around them."""
    if series.dtype.is_integer():
        names = series.cast(pl.Int64, strict=False)
        if names.null_count() > series.null_count():
            raise InputError(f"{place(0)}: items are too large for numbers: write them as text.")
    elif series.dtype.is_nested() or series.dtype == pl.Binary:
        raise InputError(f"{place(0)}: items are of type {series.dtype}: write them as text.")
    elif series.dtype.is_float():
        names = series.cast(pl.Int64, strict=False)
        if not (names.cast(pl.Float64) == series).fill_null(True).all():
            raise InputError(f"{place(0)}: items are numbers with decimals: write them as text.")
    else:
        names = _bare(series.cast(pl.String))
    if names.null_count():
        row = int(names.is_null().arg_max() or 0)
        raise InputError(f"{place(row)}: no item. Fill it in or remove the row.")
    return names


def _bare(texts: pl.Series) -> pl.Series:
    """Without blanks around them; null where nothing is left or a word says so."""
    bare = texts.str.strip_chars()
    few = bare.str.len_bytes() <= max(map(len, MISSING_WORDS))
    if not few.any():
        return bare
    nothing = bare.str.to_lowercase().is_in(["", *MISSING_WORDS]) & few
    return bare.set(nothing, None) if nothing.any() else bare


def deal_labels(source: LabelSource, n_buckets: int, folder: Path) -> tuple[Coder, Coder]:
    """Labels into buckets; returns who and what was said, as codes that the buckets hold."""
    labelers, words = Coder(_bare), Coder(_unblank)
    with _Dealer(n_buckets, folder, "labels") as deal:
        for file, first, rows in source.batches(BATCH):
            place = places_from(file, first)
            items = item_names(rows["item"], place)
            who, what = labelers(rows["labeler"]), words(rows["label"])
            nobody = (who < 0) & (what >= 0)
            if nobody.any():
                raise InputError(
                    f"{place(int(np.argmax(nobody)))}: a label without a labeler. Name who gave it "
                    "or remove the line."
                )
            deal(pl.DataFrame({"item": items, "who": np.maximum(who, 0), "what": what}))
    return labelers, words


def deal_predictions(source: LabelSource, n_buckets: int, folder: Path, like: pl.DataType) -> Coder:
    """Predictions into the same buckets; ``like`` is how the labels spell items."""
    words = Coder(_unblank)
    with _Dealer(n_buckets, folder, "predictions") as deal:
        for file, first, rows in source.batches(BATCH):
            place = places_from(file, first)
            items = spelled(item_names(rows["item"], place), like, source.name)
            what = words(rows["prediction"])
            if (what < 0).any():
                raise InputError(f"{place(int(np.argmin(what)))}: no prediction. Fill it in.")
            deal(pl.DataFrame({"item": items, "what": what}))
    return words


def spelled(items: pl.Series, like: pl.DataType, name: str) -> pl.Series:
    """Items in the type that the labels have."""
    if items.dtype == like:
        return items
    found = items.cast(like, strict=False)
    if found.null_count():
        row = int(found.is_null().arg_max() or 0)
        raise InputError(
            f"{name} calls an item {items[row]!r}, but the items of the labels are whole numbers: "
            "write them the same way in both."
        )
    return found


def buckets_of(items: pl.Series, n_buckets: int) -> Array:
    return (items.hash(0) % n_buckets).to_numpy()


def _unblank(series: pl.Series) -> pl.Series:
    """Cells of blanks are empty."""
    return series.set(series.str.strip_chars() == "", None)


class _Dealer:
    """Writes a batch while the next one is read: one more in memory, and no other."""

    def __init__(self, n_buckets: int, folder: Path, name: str) -> None:
        self.n_buckets, self.folder, self.name = n_buckets, folder, name
        self._number, self._pool = 0, ThreadPoolExecutor(1)
        self._written: Future[None] | None = None

    def __call__(self, table: pl.DataFrame) -> None:
        self._wait()
        name = f"{self.name}-{self._number:05d}.ipc"
        self._written = self._pool.submit(_deal, table, self.n_buckets, self.folder, name)
        self._number += 1

    def _wait(self) -> None:
        if self._written is not None:
            self._written.result()

    def __enter__(self) -> _Dealer:
        return self

    def __exit__(self, kind: Any, *problem: Any) -> None:
        self._pool.shutdown()
        if kind is None:
            self._wait()


def _deal(table: pl.DataFrame, n_buckets: int, folder: Path, name: str) -> None:
    """Each bucket's rows of a batch as one file, in their order."""
    bucket = buckets_of(table["item"], n_buckets)
    order = np.argsort(bucket.astype(np.uint16), kind="stable")
    ends = np.searchsorted(bucket[order], np.arange(n_buckets + 1))
    table = table[order]
    for b in range(n_buckets):
        if ends[b] < ends[b + 1]:
            part = folder / f"{b:05d}"
            part.mkdir(exist_ok=True)
            table[int(ends[b]) : int(ends[b + 1])].write_ipc(part / name)
