"""What gold by itself would say, without the labels: the yardstick of every other answer.

Accuracy: right items k of g, θ ~ Beta(k + ½, g - k + ½), (k + Binomial(N - g, θ)) / N. Other
metrics: the same with Dirichlet(½) for the true classes of each predicted class. Gold is taken as
random.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.confusion import Confusion
from truthing.metrics.counts import evaluate
from truthing.metrics.estimate import Estimate
from truthing.truth.draws import SUPPORT

HALF = 0.5
MOST_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class GoldAlone:
    """Estimates from the gold items only; ``predicted`` and ``gold`` are codes of all items (gold
    -1 where unknown), or of rows that stand for ``size`` items each.
    """

    classes: tuple[Any, ...]
    positive: int | None
    predicted: Array
    gold: Array
    target: str
    n_draws: int
    seed: np.random.SeedSequence
    size: Array | None = None

    @property
    def n_gold(self) -> int:
        return int((self.gold >= 0).sum())

    def __getitem__(self, name: str) -> Estimate:
        return self.estimate(name)

    def estimate(self, name: str) -> Estimate:
        """The metric as the gold items alone know it."""
        if name in ("accuracy", "error"):
            right = self._right
            values = right if name == "accuracy" else 1 - right
        else:
            tally = self.confusion.tally
            values = evaluate(name, tally, classes=self.classes, positive=self.positive)
        return Estimate.from_draws(values, support=SUPPORT.get(name, (0.0, 1.0)))

    @cached_property
    def _right(self) -> Array:
        rng = np.random.default_rng(self.seed)
        known = self.gold >= 0
        right = int((self.gold[known] == self.predicted[known]).sum())
        n_items = len(self.gold) if self.size is None else round(float(self.size.sum()))
        return share_draws(right, self.n_gold, n_items, self.target, self.n_draws, rng)

    @cached_property
    def confusion(self) -> Confusion:
        """Draws of the confusion matrix, one predicted class at a time."""
        rng = np.random.default_rng(self.seed.spawn(1)[0])
        n, known = len(self.classes), self.gold >= 0
        draws = min(self.n_draws, MOST_DRAWS)
        table = np.zeros((draws, n, n))
        often = np.bincount(self.predicted, weights=self.size, minlength=n)
        frequency = np.round(often).astype(np.int64)
        for k in np.flatnonzero(frequency):
            seen = np.bincount(self.gold[known & (self.predicted == k)], minlength=n)
            share = rng.dirichlet(seen + HALF, draws)
            if self.target == "sample":
                table[:, :, k] = seen + rng.multinomial(frequency[k] - seen.sum(), share)
            else:
                table[:, :, k] = share * rng.gamma(frequency[k] + HALF, size=draws)[:, None]
        return Confusion.from_dense(table)


def share_draws(
    hits: int, n_gold: int, n_items: int, target: str, n_draws: int, rng: np.random.Generator
) -> Array:
    """Draws of a share of all items, of which gold shows ``hits`` in ``n_gold``."""
    share = rng.beta(hits + HALF, n_gold - hits + HALF, n_draws)
    if target == "population":
        return np.asarray(share)
    return np.asarray((hits + rng.binomial(n_items - n_gold, share)) / n_items)
