"""Shards streamed from disk: at most a few are in memory at a time, whatever their number."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.engine.base import Engine, Kernel
from truthing.engine.partition import buckets_of
from truthing.engine.regroup import PER_SHARD, Regrouped
from truthing.engine.store import Stored, together
from truthing.errors import InputError
from truthing.threads import n_threads

STALLED = 600.0  # seconds after which storage that gives no shard is given up


class Stream(Engine):
    """Shards in a folder. Tables with one row for each labeler can be larger than the labels of one
    shard; then a thread takes several shards at once."""

    def __init__(self, shards: Sequence[Stored]) -> None:
        self.shards = list(shards)
        self.n_classes = self.shards[0].n_classes
        cells = self.shards[0].n_labelers * self.n_classes**2
        self.at_once = max(1, cells // (2 * PER_SHARD))

    @classmethod
    def of(cls, found: Regrouped) -> Stream:
        page = found.page
        size = len(page.labelers), len(page.classes)
        return cls(
            [
                Stored(str(found.folder), number, n_items, n_labels, *size)
                for number, n_items, n_labels in zip(page.buckets, page.items, page.labels)
            ]
        )

    def changed(self, **changes: Any) -> Stream:
        """The same shards read otherwise, see `Stored`."""
        return type(self)([replace(shard, **changes) for shard in self.shards])

    def beside(self, others: Sequence[Stream]) -> Stream:
        """The same with the predictions of other classifiers, whose streams have the same items in
        the same shards."""
        rivals = zip(*(other.shards for other in others))
        return type(self)([replace(shard, rivals=r) for shard, r in zip(self.shards, rivals)])

    def with_gold(self, items: pl.Series, n_buckets: int) -> tuple[Stream, Array]:
        """The same with gold on some items, and which of those are among its items."""
        bucket = buckets_of(items, n_buckets)
        shards, found = [], np.zeros(len(items), dtype=bool)
        for shard in self.shards:
            here = np.flatnonzero(bucket == shard.number)
            if len(here):
                names = pl.DataFrame({"item": shard.items()}).with_row_index("place")
                wanted = pl.DataFrame({"item": items.gather(here), "number": here})
                both = names.join(wanted, on="item").sort("place")
                pairs = zip(both["place"].to_list(), both["number"].to_list())
                shard = replace(shard, gold=tuple(pairs))
                found[both["number"].to_numpy()] = True
            shards.append(shard)
        return type(self)(shards), found

    def map(self, kernel: Kernel, *shared: Any) -> Iterator[Any]:
        return self._each([[shard] for shard in self.shards], kernel, shared)

    def add(self, kernel: Kernel, *shared: Any) -> Any:
        step = self.at_once
        groups = [self.shards[k : k + step] for k in range(0, len(self.shards), step)]
        results = self._each(groups, kernel, shared)
        total = next(results)
        for result in results:
            total += result
        return total

    def _each(
        self, groups: list[list[Stored]], kernel: Kernel, shared: tuple[Any, ...]
    ) -> Iterator[Any]:
        waiting: deque[tuple[list[Stored], Future[Any]]] = deque()
        pool = ThreadPoolExecutor(n_threads())
        try:
            for group in groups:
                waiting.append((group, pool.submit(run, group, kernel, shared)))
                if len(waiting) > n_threads():
                    yield _result(*waiting.popleft())
            while waiting:
                yield _result(*waiting.popleft())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def run(group: list[Stored], kernel: Kernel, shared: tuple[Any, ...]) -> Any:
    """The kernel on shards that are read now."""
    return kernel(together([shard.load() for shard in group]), *shared)


def _result(group: list[Stored], future: Future[Any]) -> Any:
    try:
        return future.result(timeout=STALLED)
    except TooLate:
        raise InputError(
            f"shard {group[0].path} has not come for {STALLED:.0f} seconds: the storage stalls. "
            "Copy the data to a faster disk, or start again."
        ) from None
