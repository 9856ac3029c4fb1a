"""Shards on disk: one file of codes and one of item names each, and a page that says what they are.

Every read checks the file's own checksums, so that a shard that changed or was damaged is named
rather than used.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.engine.base import NO_VOTES, NOTHING, Shard
from truthing.errors import InputError
from truthing.tables.fragile import read_scan

VERSION = 2
PAGE = "shards.json"


@dataclass(frozen=True)
class Page:
    """What the shards of a folder hold: ``buckets`` are their numbers of ``n_buckets``, ``items``
    and ``labels`` counts for each; ``labelers`` stand in the order of their first label."""

    classes: list[Any]
    labelers: list[Any]
    buckets: list[int]
    items: list[int]
    labels: list[int]
    n_buckets: int
    dropped: dict[str, int]
    contradictions: int
    again: int  # labels that repeat an earlier one, and count once
    version: int = VERSION

    def write(self, folder: Path) -> None:
        (folder / PAGE).write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> Page | None:
        """None where there is no finished folder of this version."""
        try:
            found = json.loads((folder / PAGE).read_text())
        except (OSError, ValueError):
            return None
        return cls(**found) if found.get("version") == VERSION else None


def write_shard(
    folder: Path,
    number: int,
    per_item: Array,
    key: Array,
    predicted: Array | None,
    items: pl.Series,
) -> None:
    """One shard; numbers are kept as small as they go."""
    columns = {"per_item": _small(per_item), "key": _small(key)}
    if predicted is not None:
        columns["predicted"] = _small(predicted)
    np.savez(folder / f"{number:05d}.npz", **columns)  # type: ignore[arg-type]
    pl.DataFrame({"item": items}).write_parquet(folder / f"{number:05d}.items.parquet")


def _small(codes: Array) -> Array:
    top = int(codes.max(initial=0))
    for kind in (np.uint8, np.uint16):
        if top <= np.iinfo(kind).max:
            return codes.astype(kind)
    return codes.astype(np.int32)


@dataclass(frozen=True)
class Stored:
    """A shard on disk, small enough to send to another process; labels of ``without`` are left
    out, ``gold`` are places of items with gold and their numbers in the list of gold;
    ``alone`` leaves the predictions out. ``rivals`` are shards of the same items with the
    predictions of other classifiers."""

    folder: str
    number: int
    n_items: int
    n_labels: int
    n_labelers: int
    n_classes: int
    without: tuple[int, ...] = ()
    gold: tuple[tuple[int, int], ...] = ()
    alone: bool = False
    rivals: tuple[Stored, ...] = ()

    @property
    def path(self) -> Path:
        return Path(self.folder) / f"{self.number:05d}.npz"

    def load(self) -> Shard:
        """The shard in memory; a word on it where it is not what was written."""
        held = self._read("per_item", "key", "predicted")
        per_item, key = held["per_item"], held["key"].astype(np.int32)
        guessed = "predicted" in held and not self.alone
        predicted = held["predicted"] if guessed else NOTHING
        if len(per_item) != self.n_items or len(key) != self.n_labels:
            raise self._damaged("it has another number of items")
        start_of = np.zeros(self.n_items + 1, dtype=np.int64)
        np.cumsum(per_item, out=start_of[1:])
        if start_of[-1] != self.n_labels:
            raise self._damaged("its labels do not add up")
        if self.without:
            start_of, key = _left(start_of, key, self.without, self.n_classes)
        nobody = np.full(self.n_items, -1, dtype=np.int32)
        known = nobody.copy()
        for place, number in self.gold:
            known[place] = number
        return Shard(
            start_of,
            key,
            NO_VOTES,
            nobody,
            predicted.astype(np.int32),
            self.n_labelers,
            self.n_classes,
            known,
            tuple(rival.predictions() for rival in self.rivals),
        )

    def predictions(self) -> Array:
        """What its classifier says about each item."""
        found = self._read("predicted").get("predicted", NOTHING)
        if len(found) != self.n_items:
            raise self._damaged("it has another number of items")
        return found.astype(np.int32)

    def _read(self, *names: str) -> dict[str, Array]:
        """Those of its columns that are there."""
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                if "key" not in held.files:
                    raise KeyError("key")
                return {name: held[name] for name in names if name in held.files}
        except FileNotFoundError:
            raise InputError(
                f"shard {self.path} is gone. Start again: it will be written anew."
            ) from None
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as problem:
            raise self._damaged(str(problem).splitlines()[0][:100]) from None

    def items(self) -> pl.Series:
        """Names of its items, in their order."""
        path = self.path.with_suffix("").with_suffix(".items.parquet")
        return read_scan(pl.scan_parquet(path), path)["item"]

    def _damaged(self, why: str) -> InputError:
        return InputError(
            f"shard {self.path} is damaged ({why}). Delete the folder {self.folder} and start "
            "again: it will be written anew."
        )


def _left(start_of: Array, key: Array, gone: Iterable[int], n_classes: int) -> tuple[Array, Array]:
    """Without the labels of some labelers."""
    keep = ~np.isin(key // n_classes, list(gone))
    kept = np.concatenate([[0], np.cumsum(keep)])
    return kept[start_of].astype(np.int64), key[keep]


def together(shards: list[Shard]) -> Shard:
    """Several shards as one."""
    if len(shards) == 1:
        return shards[0]
    first, starts, offset = shards[0], [shards[0].start_of], int(shards[0].start_of[-1])
    for shard in shards[1:]:
        starts.append(shard.start_of[1:] + offset)
        offset += int(shard.start_of[-1])
    return Shard(
        np.concatenate(starts),
        np.concatenate([s.key for s in shards]),
        first.votes,
        np.concatenate([s.gold for s in shards]),
        np.concatenate([s.predicted for s in shards]),
        first.n_labelers,
        first.n_classes,
        np.concatenate([s.known for s in shards]),
        tuple(np.concatenate(predicted) for predicted in zip(*(s.rivals for s in shards))),
    )
