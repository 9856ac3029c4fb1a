"""Draws of a confusion matrix, dense for few classes and by occupied cells for many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.counts import Tally
from truthing.metrics.estimate import check_level, shortest_interval


@dataclass(frozen=True, eq=False)
class Confusion:
    """The C × C confusion counts, truth in rows: their mean and, entry by entry, highest-density
    intervals.

    >>> draws = np.array([[[8, 2], [1, 9]], [[7, 3], [1, 9]]])
    >>> Confusion.from_dense(draws).mean.tolist()
    [[7.5, 2.5], [1.0, 9.0]]
    """

    n_classes: int
    cells: Array
    draws: Array
    tally: Tally

    @classmethod
    def from_dense(cls, draws: Array) -> Confusion:
        n_classes = draws.shape[-1]
        cells = np.indices((n_classes, n_classes)).reshape(2, -1).T
        return cls(n_classes, cells, draws.reshape(len(draws), -1), Tally.from_confusion(draws))

    @cached_property
    def mean(self) -> Array:
        return self._spread(self.draws.mean(axis=0))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        check_level(level)
        low, high = shortest_interval(self.draws, level)
        return self._spread(low), self._spread(high)

    def _spread(self, values: Array) -> Array:
        table = np.zeros((self.n_classes, self.n_classes))
        table[self.cells[:, 0], self.cells[:, 1]] = values
        return table
