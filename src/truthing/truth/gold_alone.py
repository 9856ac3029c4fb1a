"""What gold by itself would say, without the labels: the yardstick of every other answer.

Accuracy: right items k of g, θ ~ Beta(k + ½, g - k + ½), (k + Binomial(N - g, θ)) / N. Other
metrics: the same for each predicted class, and Dirichlet(½) for what its wrong predictions truly
are. (One Dirichlet(½) over all classes would expect one right prediction in as many as there are
classes: with 10 gold items its F1 held 64 times in 100 on crowds with three classes or more.) A
difference of two accuracies: Dirichlet(½) for who is right where the two models differ. Gold is
taken as random.
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
TINY = 1e-9
MOST_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class GoldAlone:
    """Estimates from the gold items only; ``predicted`` and ``gold`` are codes of all items (gold
    -1 where unknown).
    """

    classes: tuple[Any, ...]
    positive: int | None
    predicted: Array
    gold: Array
    target: str
    n_draws: int
    seed: np.random.SeedSequence

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
        return share_draws(right, self.n_gold, len(self.gold), self.target, self.n_draws, rng)

    @cached_property
    def confusion(self) -> Confusion:
        """Draws of the confusion matrix, one predicted class at a time."""
        rng = np.random.default_rng(self.seed.spawn(1)[0])
        n, known = len(self.classes), self.gold >= 0
        draws = min(self.n_draws, MOST_DRAWS)
        table = np.zeros((draws, n, n))
        frequency = np.bincount(self.predicted, minlength=n)
        for k in np.flatnonzero(frequency):
            seen = np.bincount(self.gold[known & (self.predicted == k)], minlength=n)
            share = _class_shares(seen, int(k), draws, rng)
            if self.target == "sample":
                table[:, :, k] = seen + rng.multinomial(frequency[k] - seen.sum(), share)
            else:
                table[:, :, k] = share * rng.gamma(frequency[k] + HALF, size=draws)[:, None]
        return Confusion.from_dense(table)


def _class_shares(seen: Array, predicted: int, n_draws: int, rng: np.random.Generator) -> Array:
    """Draws of the shares of the true classes where one class is predicted."""
    share = np.empty((n_draws, len(seen)))
    others = np.delete(np.arange(len(seen)), predicted)
    if len(others) == 0:
        return np.ones((n_draws, 1))
    wrong = seen[others]
    right = rng.beta(seen[predicted] + HALF, wrong.sum() + HALF, n_draws)
    share[:, predicted] = right
    share[:, others] = (1 - right)[:, None] * rng.dirichlet(wrong + HALF, n_draws)
    return share


def difference_draws(
    said: tuple[Array, Array],
    gold: Array,
    n_classes: int,
    target: str,
    n_draws: int,
    rng: np.random.Generator,
) -> Array:
    """Draws of the first model's accuracy minus the second's, from gold alone.

    Only items where what they ``said`` differs count, and how many there are is known. The right
    one there is the first, the second or, with three classes or more, neither.
    """
    first, second = said
    apart, n_items = first != second, len(gold)
    known = apart & (gold >= 0)
    hits = [int((codes[known] == gold[known]).sum()) for codes in said]
    counts = np.array([*hits, known.sum() - sum(hits)])[: min(n_classes, 3)]
    share = rng.dirichlet(counts + HALF, n_draws)
    if target == "population":
        mass = rng.beta(apart.sum() + TINY, n_items - apart.sum() + TINY, n_draws)
        return np.asarray(mass * (share[:, 0] - share[:, 1]))
    found = counts + rng.multinomial(apart.sum() - known.sum(), share)
    return np.asarray((found[:, 0] - found[:, 1]) / n_items)


def share_draws(
    hits: int, n_gold: int, n_items: int, target: str, n_draws: int, rng: np.random.Generator
) -> Array:
    """Draws of a share of all items, of which gold shows ``hits`` in ``n_gold``."""
    share = rng.beta(hits + HALF, n_gold - hits + HALF, n_draws)
    if target == "population":
        return np.asarray(share)
    return np.asarray((hits + rng.binomial(n_items - n_gold, share)) / n_items)
