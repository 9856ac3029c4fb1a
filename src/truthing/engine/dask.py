"""Shards on the workers of a Dask cluster: they read them from storage that all of them see, and
only sums travel.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from truthing.engine.base import Engine, Kernel
from truthing.engine.store import Stored
from truthing.engine.stream import Stream, run
from truthing.errors import InputError

PIECES = 128  # sums that travel in one pass; fixed, so that the number of workers changes no sum
TOGETHER = 8  # sums that are here at the same time


class Dask(Engine):
    """``where`` is a Client, the address of a scheduler, or None for a cluster on this machine."""

    def __init__(self, stream: Stream, where: Any = None) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise InputError(
                "engine='dask' needs Dask: install truthing[dask], or use engine='stream'."
            ) from None
        self.stream, self.n_classes = stream, stream.n_classes
        self.opened: list[Any] = []
        if where is None:
            where = LocalCluster(threads_per_worker=1, dashboard_address=None)
            self.opened.append(where)
        if isinstance(where, str | LocalCluster):
            where = _client(Client, where)
            self.opened.insert(0, where)
        self.client = where
        size = max(-(-len(stream.shards) // PIECES), stream.at_once)
        shards = stream.shards
        self.pieces = [shards[k : k + size] for k in range(0, len(shards), size)]

    def map(self, kernel: Kernel, *shared: Any) -> Iterator[Any]:
        for shard in self.stream.shards:
            yield from self._gathered([[shard]], kernel, shared)

    def add(self, kernel: Kernel, *shared: Any) -> Any:
        results = self._gathered(self.pieces, kernel, shared)
        total = next(results)
        for result in results:
            total += result
        return total

    def close(self) -> None:
        for each in self.opened:
            each.close()

    def _gathered(self, pieces: list[list[Stored]], kernel: Kernel, shared: Any) -> Iterator[Any]:
        """Results in the order of the pieces. What a worker that dies had done is done again by the
        others: all of it, also what all share, is the result of a task."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            held = self.client.submit(_itself, shared, pure=False)
            futures = self.client.map(_sum, pieces, kernel=kernel, shared=held, pure=False)
        while futures:
            some, futures = futures[:TOGETHER], futures[TOGETHER:]
            yield from self.client.gather(some)


def _itself(shared: Any) -> Any:
    return shared


def _sum(shards: list[Stored], kernel: Kernel, shared: Any) -> Any:
    """The kernel's results on some shards, added in their order where the work is done."""
    total = run(shards[:1], kernel, shared)
    for shard in shards[1:]:
        total += run([shard], kernel, shared)
    return total


def _client(make: Any, where: Any) -> Any:
    try:
        return make(where)
    except (OSError, ValueError) as problem:
        why = str(problem).splitlines()[0][:100]
        raise InputError(
            f"no scheduler of Dask answers at {where!r} ({why}): give its address, such as "
            "tcp://10.0.0.1:8786."
        ) from None
