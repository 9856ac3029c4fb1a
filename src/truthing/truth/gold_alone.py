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
from truthing.survey.deployment import Deployment, at_shares
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
    counts: Array | None = None  # what each gold item counts, where that is not one
    weight: Array | None = None  # of every item, where items stand for unequal numbers
    deployment: Deployment | None = None
    size: Array | None = None

    @property
    def n_gold(self) -> int:
        return int((self.gold >= 0).sum())

    @property
    def n_items(self) -> int:
        return len(self.gold) if self.size is None else round(float(self.size.sum()))

    def __getitem__(self, name: str) -> Estimate:
        return self.estimate(name)

    def estimate(self, name: str) -> Estimate:
        """The metric as the gold items alone know it."""
        if name in ("accuracy", "error") and self.deployment is None:
            right = self._right
            values = right if name == "accuracy" else 1 - right
        else:
            tally = self.confusion.tally
            values = evaluate(name, tally, classes=self.classes, positive=self.positive)
        return Estimate.from_draws(values, support=SUPPORT.get(name, (0.0, 1.0)))

    @cached_property
    def _right(self) -> Array:
        known = self.gold >= 0
        hit = self.gold[known] == self.predicted[known]
        return self.share_draws(hit, self.target, np.random.default_rng(self.seed))

    def share_draws(self, hit: Array, target: str, rng: np.random.Generator) -> Array:
        """Draws of a share of all items, which holds for the gold items ``hit``."""
        known, worth = self.gold >= 0, self._worth
        missed = max(worth.sum() - worth @ hit, 0.0)
        share = rng.beta(worth @ hit + HALF, missed + HALF, self.n_draws)
        if target == "population":
            return np.asarray(share)
        if self.weight is None:
            free = rng.binomial(self.n_items - self.n_gold, share)
            return np.asarray((int(hit.sum()) + free) / self.n_items)
        seen, total = self.weight[known], self.weight.sum()
        return np.asarray((seen @ hit + (total - seen.sum()) * share) / total)

    def shares(self) -> Array:
        """Draws of the share of each class, draws × classes."""
        rng, truth = np.random.default_rng(self.seed), self.gold[self.gold >= 0]
        draws = [self.share_draws(truth == c, self.target, rng) for c in range(len(self.classes))]
        return np.stack(draws, axis=1)

    @property
    def _worth(self) -> Array:
        """What each gold item counts in the likelihood: its chance of being chosen, its cluster
        and its weight together."""
        counts = np.ones(self.n_gold) if self.counts is None else self.counts
        if self.weight is None:
            return counts
        both = counts * self.weight[self.gold >= 0]
        squares = max(float((both**2).sum()), 1e-300)
        equal = float(counts.sum() / max(effective(counts), 1e-300))
        return np.asarray(both * both.sum() / squares * equal)

    @cached_property
    def confusion(self) -> Confusion:
        """Draws of the confusion matrix, one predicted class at a time."""
        rng = np.random.default_rng(self.seed.spawn(1)[0])
        n, known = len(self.classes), self.gold >= 0
        draws = min(self.n_draws, MOST_DRAWS)
        table = np.zeros((draws, n, n))
        often = np.bincount(self.predicted, weights=self.size, minlength=n)
        frequency = np.round(often).astype(np.int64)
        worth = np.zeros(len(self.gold))
        worth[known] = self._worth
        for k in np.flatnonzero(frequency):
            here = known & (self.predicted == k)
            seen = np.bincount(self.gold[here], minlength=n)
            counted = np.bincount(self.gold[here], weights=worth[here], minlength=n)
            share = rng.dirichlet(counted + HALF, draws)
            table[:, :, k] = self._of_class(int(k), int(frequency[k]), seen, share, rng)
        if self.deployment is not None:
            table = at_shares(table, self.deployment.draw(draws, rng))
        return Confusion.from_dense(table)

    def _of_class(
        self, k: int, size: int, seen: Array, share: Array, rng: np.random.Generator
    ) -> Array:
        """Draws of the true classes of the items predicted ``k``, of which ``size`` there are."""
        if self.target == "population":
            mass = size if self.weight is None else self.weight[self.predicted == k].sum()
            return np.asarray(share * rng.gamma(mass + HALF, size=len(share))[:, None])
        if self.weight is None:
            return np.asarray(seen + rng.multinomial(size - seen.sum(), share))
        here = self.predicted == k
        held = here & (self.gold >= 0)
        known = np.bincount(self.gold[held], weights=self.weight[held], minlength=len(seen))
        return np.asarray(known + (self.weight[here].sum() - known.sum()) * share)


def effective(weights: Array) -> float:
    """How many items of equal weight say as much."""
    return float(weights.sum() ** 2 / max(float((weights**2).sum()), 1e-300))
