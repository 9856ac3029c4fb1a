"""What gold by itself would say, without the labels: the yardstick of every other answer.

Accuracy: right items k of g, θ ~ Beta(k + ½, g - k + ½), (k + Binomial(N - g, θ)) / N. Other
metrics: the same for each predicted class, and Dirichlet(½) for what its wrong predictions truly
are. (One Dirichlet(½) over all classes would expect one right prediction in as many as there are
classes: with 10 gold items its F1 held 64 times in 100 on crowds with three classes or more.) A
difference of two accuracies: Dirichlet(½) for only the first right, only the second, or neither of
these. Gold is taken as random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaincinv

from truthing.class_codes import Array
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.estimate import Estimate
from truthing.metrics.ordinal import drawn_metric
from truthing.survey.deployment import Deployment, at_shares
from truthing.truth.draws import SUPPORT
from truthing.truth.link.counts import MOST_DENSE

HALF = 0.5
MOST_DRAWS, MANY_CLASSES_DRAWS = 2000, 100


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
    values: Array | None = None  # of grades on a scale
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
            return Estimate.from_draws(right if name == "accuracy" else 1 - right)
        return drawn_metric(
            name,
            self.confusion,
            classes=self.classes,
            positive=self.positive,
            support=SUPPORT.get(name, (0.0, 1.0)),
            values=self.values,
        )

    @cached_property
    def _right(self) -> Array:
        known = self.gold >= 0
        hit = self.gold[known] == self.predicted[known]
        return self.share_draws(hit, self.target, np.random.default_rng(self.seed))

    def share_draws(self, hit: Array, target: str, rng: np.random.Generator) -> Array:
        """Draws of a share of all items, which holds for the gold items ``hit``."""
        known, worth = self.gold >= 0, self._worth
        missed = max(worth.sum() - worth @ hit, 0.0)
        # evenly spaced quantiles in random order: the limits of few draws would jump
        even = (np.arange(self.n_draws) + rng.random()) / self.n_draws
        share = rng.permutation(betaincinv(worth @ hit + HALF, missed + HALF, even))
        if target == "population":
            return np.asarray(share)
        if self.weight is None:
            free = rng.binomial(self.n_items - self.n_gold, share)
            return np.asarray((int(hit.sum()) + free) / self.n_items)
        seen, total = self.weight[known], self.weight.sum()
        return np.asarray((seen @ hit + (total - seen.sum()) * share) / total)

    def shares(self) -> Array:
        """Draws of the share of each class, draws × classes."""
        return self._shares

    @cached_property
    def _shares(self) -> Array:
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
    def confusion(self) -> ConfusionMatrix:
        """Draws of the confusion matrix, one predicted class at a time."""
        rng = np.random.default_rng(self.seed.spawn(1)[0])
        few = len(self.classes) <= MOST_DENSE
        draws = min(self.n_draws, MOST_DRAWS if few else MANY_CLASSES_DRAWS)
        return self._together(self._columns(draws, rng), draws, rng)

    def _together(
        self, columns: Iterable[tuple[int, Array]], n_draws: int, rng: np.random.Generator
    ) -> ConfusionMatrix:
        """Draws of the true classes of each predicted class, as one answer."""
        n = len(self.classes)
        if n > MOST_DENSE:
            return ConfusionMatrix.by_columns(columns, n_draws, n)
        table = np.zeros((n_draws, n, n))
        for k, drawn in columns:
            table[:, :, k] = drawn
        if self.deployment is not None:
            table = at_shares(table, self.deployment.draw(n_draws, rng))
        return ConfusionMatrix.from_dense(table)

    def _columns(self, draws: int, rng: np.random.Generator) -> Iterator[tuple[int, Array]]:
        n, known = len(self.classes), self.gold >= 0
        often = np.bincount(self.predicted, weights=self.size, minlength=n)
        frequency = np.round(often).astype(np.int64)
        worth = np.zeros(len(self.gold))
        worth[known] = self._worth
        for k in np.flatnonzero(frequency):
            here = known & (self.predicted == k)
            if self.counts is not None and here.any():
                # among themselves the items of a predicted class count as many as they are worth
                part = worth[here]
                most = float(np.clip(self.counts, 0, 1).max())
                worth[here] = part / part.sum() * effective(part) * most
            seen = np.bincount(self.gold[here], minlength=n)
            counted = np.bincount(self.gold[here], weights=worth[here], minlength=n)
            share = _class_shares(counted, int(k), draws, rng)
            yield int(k), self._of_class(int(k), int(frequency[k]), seen, share, rng)

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
    both: tuple[Array, Array],
    gold: Array,
    target: str,
    n_draws: int,
    rng: np.random.Generator,
    n_items: int | None = None,
) -> Array:
    """Draws of the first model's accuracy minus the second's, from gold alone; ``n_items`` are more
    than ``gold`` where that has rows which stand for several."""
    known, n_items = gold >= 0, n_items or len(gold)
    one, other = (codes[known] == gold[known] for codes in both)
    counts = np.array([(one & ~other).sum(), (other & ~one).sum(), (one == other).sum()])
    share = rng.dirichlet(counts + HALF, n_draws)
    if target == "sample":
        share = (counts + rng.multinomial(n_items - known.sum(), share)) / n_items
    return np.asarray(share[:, 0] - share[:, 1])


def effective(weights: Array) -> float:
    """How many items of equal weight say as much."""
    return float(weights.sum() ** 2 / max(float((weights**2).sum()), 1e-300))
