"""Everything in memory: one shard, cut into runs of items for as many threads as there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truthing.engine.base import Engine, Kernel, Shard
from truthing.threads import in_threads, n_threads, shares

RUN = 1_000_000  # labels that one thread takes at a time; fixed, so that threads change no sum


class Memory(Engine):
    def __init__(self, shard: Shard) -> None:
        self.n_classes = shard.n_classes
        cells = shard.n_rows * shard.n_classes
        labels = int(shard.start_of[-1] - shard.start_of[0])
        parts = max(1, min(labels // max(RUN, 4 * cells), shard.n_items))
        self.shards = [shard.some(*part) for part in shares(shard.n_items, parts)]

    def map(self, kernel: Kernel, *shared: Any) -> Iterator[Any]:
        step = n_threads() if len(self.shards) > 1 else 1
        for first in range(0, len(self.shards), step):
            jobs = [(shard, *shared) for shard in self.shards[first : first + step]]
            yield from in_threads(kernel, jobs)


def joined(pieces: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Results that are columns with a value for each item, shard after shard."""
    columns = [list(parts) for parts in zip(*pieces)]
    columns.reverse()
    return tuple(_one(columns.pop()) for _ in range(len(columns)))  # parts are let go one by one


def _one(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
