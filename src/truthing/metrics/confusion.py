"""Draws of a confusion matrix, dense for few classes and by occupied cells for many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.counts import Tally
from truthing.metrics.estimate import check_level, credible_interval


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """The C × C confusion counts, truth in rows: their mean and, entry by entry, highest-density
    intervals.

    >>> draws = np.array([[[8, 2], [1, 9]], [[7, 3], [1, 9]]])
    >>> ConfusionMatrix.from_dense(draws).mean.tolist()
    [[7.5, 2.5], [1.0, 9.0]]
    """

    n_classes: int
    cells: Array
    draws: Array
    tally: Tally
    kept: Array | None = None  # the mean, where no cell was kept draw by draw

    @classmethod
    def from_dense(cls, draws: Array) -> ConfusionMatrix:
        n_classes = draws.shape[-1]
        cells = np.indices((n_classes, n_classes)).reshape(2, -1).T
        return cls(n_classes, cells, draws.reshape(len(draws), -1), Tally.from_confusion(draws))

    @classmethod
    def from_margins(cls, tally: Tally, mean: Array) -> ConfusionMatrix:
        """Of so many classes that only diagonal, margins and the mean were kept."""
        none = np.zeros((0, 2), dtype=np.int64)
        return cls(len(mean), none, np.zeros((len(tally.truth), 0)), tally, mean)

    @classmethod
    def joined(cls, parts: Iterable[ConfusionMatrix]) -> ConfusionMatrix:
        """Draws of several parts, one after the other, each from margins."""
        tallies: list[Tally] = []
        total: Array = np.zeros(())
        for part in parts:
            tallies.append(part.tally)
            total = total + part.mean * len(part.tally.truth)
        right, truth, given = (
            np.concatenate([getattr(tally, name) for tally in tallies])
            for name in ("right", "truth", "predicted")
        )
        return cls.from_margins(Tally(right, truth, given), total / len(truth))

    @classmethod
    def by_columns(
        cls, columns: Iterable[tuple[int, Array]], n_draws: int, n_classes: int
    ) -> ConfusionMatrix:
        """One predicted class at a time, each draws × truth; only diagonal, margins and mean are
        kept."""
        right, truth, given = (np.zeros((n_draws, n_classes)) for _ in range(3))
        mean = np.zeros((n_classes, n_classes))
        for k, drawn in columns:
            right[:, k], given[:, k], mean[:, k] = drawn[:, k], drawn.sum(1), drawn.mean(0)
            truth += drawn
        return cls.from_margins(Tally(right, truth, given), mean)

    def all_predicted(self, k: int) -> ConfusionMatrix:
        """The same truth where class ``k`` is predicted for every item."""
        right, given = np.zeros(self.tally.truth.shape), np.zeros(self.tally.truth.shape)
        right[:, k], given[:, k] = self.tally.truth[:, k], self.tally.total
        mean = np.zeros((self.n_classes, self.n_classes))
        mean[:, k] = self.tally.truth.mean(axis=0)
        return ConfusionMatrix.from_margins(Tally(right, self.tally.truth, given), mean)

    @cached_property
    def mean(self) -> Array:
        if self.kept is not None:
            return self.kept
        return self._spread(self.draws.mean(axis=0))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        check_level(level)
        if self.kept is not None:
            raise InputError(
                f"{self.n_classes:,} classes are too many to keep a table of classes × classes for "
                "each draw: its mean is known, limits of its cells are not. Merge rare classes."
            )
        low, high = credible_interval(self.draws, level)
        return self._spread(low), self._spread(high)

    def _spread(self, values: Array) -> Array:
        table = np.zeros((self.n_classes, self.n_classes))
        table[self.cells[:, 0], self.cells[:, 1]] = values
        return table
