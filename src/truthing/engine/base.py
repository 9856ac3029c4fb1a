"""Engine and Shard: all that a pass over the labels needs to know of where they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array

NOTHING = np.empty(0, dtype=np.int32)
NO_VOTES = np.empty(0)


@dataclass(frozen=True, eq=False)
class Shard:
    """Some items with all their labels, sorted by item.

    ``key`` is labeler · classes + label, item i's from ``start_of[i]`` on; ``votes`` is empty where
    each counts once, ``predicted`` where there is no classifier. The classifier's key is that of
    one more labeler. ``gold`` is -1 where the truth is not known. ``known``, where it is not empty,
    is the number of an item in a list of gold that judges the consensus but does not shape it.
    ``rivals`` is what other classifiers say about the same items.
    """

    start_of: Array
    key: Array
    votes: Array
    gold: Array
    predicted: Array
    n_labelers: int
    n_classes: int
    known: Array = field(default_factory=lambda: NOTHING)
    rivals: tuple[Array, ...] = ()

    @property
    def n_items(self) -> int:
        return len(self.start_of) - 1

    @property
    def n_rows(self) -> int:
        """Rows of a table with one for each key, the classifier's included."""
        return (self.n_labelers + (len(self.predicted) > 0)) * self.n_classes

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What compiled kernels take."""
        return self.start_of, self.key, self.votes, self.gold, self.predicted

    def some(self, first: int, last: int) -> Shard:
        """The items from first to last, without copying a label."""
        return replace(
            self,
            start_of=self.start_of[first : last + 1],
            gold=self.gold[first:last],
            predicted=self.predicted[first:last],
            known=self.known[first:last],
            rivals=tuple(predicted[first:last] for predicted in self.rivals),
        )


Kernel = Callable[..., Any]


class Engine(ABC):
    """Labels in shards, and three short methods: map a kernel over them, add what it gives, close.

    A new engine needs `map` only; `add` is replaced where results can be added before they
    travel. What is written for each item is mapped and taken shard by shard. A kernel is a plain
    function ``kernel(shard, *shared)``; results are taken in the order
    of the shards, so that no sum depends on which came first.
    """

    n_classes: int

    @abstractmethod
    def map(self, kernel: Kernel, *shared: Any) -> Iterator[Any]:
        """``kernel(shard, *shared)`` for every shard, in the order of the shards."""

    def add(self, kernel: Kernel, *shared: Any) -> Any:
        """The sum of the kernel's results."""
        results = self.map(kernel, *shared)
        total = next(results)
        for result in results:
            total += result
        return total

    def close(self) -> None:
        """Let go of what the engine opened itself; most open nothing."""
        return
