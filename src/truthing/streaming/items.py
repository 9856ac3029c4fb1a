"""What is known about each item of a panel on disk, computed when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.engine.stream import Stream
from truthing.errors import InputError
from truthing.tables.write import whole
from truthing.truth.link.grouped import truth_rows


@dataclass(frozen=True, eq=False)
class StreamedTruth:
    """Each item's class probabilities, computed shard by shard when they are asked for."""

    classes: tuple[Any, ...]
    stream: Stream
    shared: tuple[Any, ...]

    def __len__(self) -> int:
        return sum(shard.n_items for shard in self.stream.shards)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self.classes)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.concatenate(list(self.stream.map(truth_rows, *self.shared))).astype(dtype)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def frames(self) -> Iterator[pl.DataFrame]:
        """One table for each shard: items and their probabilities."""
        rows = self.stream.map(truth_rows, *self.shared)
        for shard, truth in zip(self.stream.shards, rows):
            columns = {f"p_{c}": truth[:, k] for k, c in enumerate(self.classes)}
            yield pl.DataFrame({"item": shard.items().cast(pl.String), **columns})

    def write(self, path: Any) -> None:
        """To a CSV or Parquet file, or as a folder of Parquet files; one shard in memory."""
        target = Path(str(path))
        if target.suffix.lower() == ".csv":
            with whole(target) as opened:
                for number, table in enumerate(self.frames()):
                    table.write_csv(opened, include_header=number == 0)
            return
        single = target.suffix.lower() == ".parquet"
        if not single and target.suffix:
            raise InputError(f"{path}: write the truth to a .csv or .parquet file, or a folder.")
        folder = target.with_name(target.name + ".part") if single else target
        folder.mkdir(parents=True, exist_ok=True)
        for number, table in enumerate(self.frames()):
            table.write_parquet(folder / f"{number:05d}.parquet")
        if single:
            pl.scan_parquet(folder / "*.parquet").sink_parquet(target)
            for piece in folder.glob("*.parquet"):
                piece.unlink()
            folder.rmdir()


class StreamedItems(Sequence[Any]):
    """Names of the items, read when they are asked for."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __len__(self) -> int:
        return sum(shard.n_items for shard in self.stream.shards)

    @cached_property
    def _names(self) -> list[Any]:
        return [name for shard in self.stream.shards for name in shard.items().to_list()]

    def __getitem__(self, index: Any) -> Any:
        return self._names[index]
