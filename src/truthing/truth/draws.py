"""Answer keys drawn from the posterior of the truth: each draw is complete, so any metric of it
is a draw of that metric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.counts import Tally
from truthing.metrics.estimate import Estimate, credible_interval
from truthing.metrics.ordinal import drawn_metric
from truthing.truth.groups import Groups
from truthing.truth.poisson_binomial import poisson_binomial

_CHUNK = 4_000_000
_DENSE = 40
_MANY = 20_000
NARROWER = 1.09  # beside gold alone; with the interval's own slack 1.15 times its shortest
OUTSIDE = 0.05  # of the draws, of a 95% interval
GOLD_ONLY, LITTLE = 0.2, 10
GOLD_ONLY_BETWEEN = 0.1  # of differences between two models' accuracies
SUPPORT = {"mcc": (-1.0, 1.0), "kappa": (-1.0, 1.0)}


@dataclass(frozen=True, eq=False)
class DrawnAnswer:
    """Everything that draws of the confusion matrix can tell."""

    classes: tuple[Any, ...]
    positive: int | None
    confusion: ConfusionMatrix
    values: Array | None = None  # of grades on a scale
    slack: float = 1.0  # of its intervals

    def estimate(self, name: str) -> Estimate:
        return drawn_metric(
            name,
            self.confusion,
            classes=self.classes,
            positive=self.positive,
            support=SUPPORT.get(name, (0.0, 1.0)),
            values=self.values,
            slack=self.slack,
        )

    def shares(self) -> Array:
        """Draws of the true classes' shares, draws × classes."""
        counts = self.confusion.tally.truth
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Cut:
    """The shares of the ordered draws below and above a place where an interval may lie. They are
    thinned until the rest holds 95 in 100, draw by draw in the same order.
    """

    below: float = 0.0
    above: float = 0.0

    @property
    def any(self) -> bool:
        return self.below + self.above > OUTSIDE

    def of(self, draws: Array) -> Array:
        if not self.any:
            return draws
        n = len(draws)
        thin = max(OUTSIDE - 1 / n, 0.0) / (self.below + self.above)
        ends, at = [0.0, self.below, 1 - self.above, 1.0], (np.arange(n) + 0.5) / n
        place = np.interp(at, [0.0, self.below * thin, 1 - self.above * thin, 1.0], ends)
        ordered = np.sort(draws)[np.minimum(place * n + 1e-9, n - 1).astype(np.int64)]
        return np.asarray(ordered[draws.argsort(kind="stable").argsort()])


def cut_beside(ours: Array, alone: Array) -> Cut:
    """Where draws must be cut so that their interval is at most a tenth wider than gold alone's:
    the place of that width which holds most of them.

    Labels that only blur what gold shows are of little use. But gold alone is narrowest just where
    it misleads (all gold right, say): taken as it is where it is narrower, it held 73 times in 100,
    the answer it replaced 90 times. So the answer stays where it is, and only its tails are cut.
    """
    if len(ours) == 0 or len(alone) == 0:
        return Cut()
    least, most = credible_interval(alone)
    widest = NARROWER * (most - least) + 1e-12
    low, high = credible_interval(ours)
    if high - low <= widest:
        return Cut()
    ordered, n = np.sort(ours), len(ours)
    first = np.arange(n)
    end = np.searchsorted(ordered, ordered + widest, side="right")
    fullest = np.flatnonzero(end - first == (end - first).max())
    chosen = fullest[np.abs(fullest + end[fullest] - n).argmin()]
    return Cut(chosen / n, 1 - end[chosen] / n)


def at_most_wider(ours: Array, alone: Array) -> Array:
    """Draws whose interval is at most a tenth wider than gold alone's."""
    return cut_beside(ours, alone).of(ours)


def some_by_gold(ours: Array, alone: Array, n_gold: int, most: float = GOLD_ONLY) -> Array:
    """Draws of which up to a fifth (``most``) know only gold, fewer where there is little of it.

    What wrong predictions truly are differs more between panels than the link knows: class shares
    of people held 83 to 96 times in 100 without this (docs/honesty.md).
    """
    share = most * n_gold / (n_gold + LITTLE)
    taken = np.diff(np.floor(share * np.arange(len(ours) + 1))) > 0
    if len(alone) == 0 or not taken.any():
        return ours
    found = ours.copy()
    found[taken] = alone[np.linspace(0, len(alone) - 1, int(taken.sum())).astype(np.int64)]
    return found


SAME = {"weighted_recall": "accuracy"}  # one number under two names has one answer


@dataclass(frozen=True, eq=False)
class AnswerBesideGold:
    """A drawn answer, metric by metric at most a tenth wider than gold alone.

    Of metrics other than accuracy, and of all where ``counts_classes`` (one class predicted for
    every item), some draws are gold alone's.
    """

    drawn: DrawnAnswer
    gold_alone: Any
    counts_classes: bool = False

    @property
    def confusion(self) -> ConfusionMatrix:
        return self.drawn.confusion

    @property
    def slack(self) -> float:
        return self.drawn.slack

    @cached_property
    def _decided(self) -> dict[str, tuple[Estimate, Cut]]:
        return {}

    def _decide(self, name: str) -> tuple[Estimate, Cut]:
        """The answer, and where it was cut; found once for each metric."""
        name = SAME.get(name, name)
        if name not in self._decided:
            ours, alone = self.drawn.estimate(name), self.gold_alone.estimate(name)
            cut = Cut()
            if alone.undefined <= max(0.05, ours.undefined):
                values = ours.values
                if self.counts_classes or name not in ("accuracy", "error"):
                    values = some_by_gold(values, alone.values, self.gold_alone.n_gold)
                cut = cut_beside(values, alone.values)
                ours = replace(ours, values=cut.of(values))
            self._decided[name] = ours, cut
        return self._decided[name]

    def cut(self, name: str) -> Cut:
        return self._decide(name)[1]

    def estimate(self, name: str) -> Estimate:
        return self._decide(name)[0]

    def shares(self) -> Array:
        """Draws of the true classes' shares, each at most a tenth wider than gold alone."""
        return np.stack([cut.of(values) for values, cut in self._class_shares], axis=1)

    def cut_shares(self) -> list[Cut]:
        """Where each class's share was cut."""
        return [cut for _, cut in self._class_shares]

    @cached_property
    def _class_shares(self) -> list[tuple[Array, Cut]]:
        """Draws of each class's share, and where they must be cut."""
        found, n_gold = [], self.gold_alone.n_gold
        for ours, alone in zip(self.drawn.shares().T, self.gold_alone.shares().T):
            values = some_by_gold(ours, alone, n_gold)
            found.append((values, cut_beside(values, alone)))
        return found


@dataclass(frozen=True, eq=False)
class LateDraws:
    """A `DrawnAnswer` made when first asked: metrics with a closed form never need it, and a
    million items take seconds.
    """

    make: Callable[[], DrawnAnswer]

    @cached_property
    def made(self) -> DrawnAnswer:
        return self.make()

    @property
    def confusion(self) -> ConfusionMatrix:
        return self.made.confusion

    def estimate(self, name: str) -> Estimate:
        return self.made.estimate(name)


def draw_confusion(
    posterior: Array, groups: Groups, n_draws: int, rng: np.random.Generator
) -> ConfusionMatrix:
    """Confusion matrices of ``n_draws`` answer keys; equal items are drawn together as a
    multinomial.
    """
    if posterior.shape[1] > _DENSE:
        return _draw_sparse(posterior, groups, n_draws, rng)
    if posterior.shape[1] == 2 and len(groups) > _MANY:
        return _draw_counts(posterior, groups, n_draws, rng)
    single = groups.size <= 4
    parts = _draw_singles(
        np.repeat(posterior[single], groups.size[single], axis=0),
        np.repeat(groups.predicted[single], groups.size[single]),
        n_draws,
        rng,
    )
    if not single.all():
        parts = parts + _draw_multinomials(
            posterior[~single], groups.predicted[~single], groups.size[~single], n_draws, rng
        )
    return ConfusionMatrix.from_dense(parts)


def _draw_counts(
    posterior: Array, groups: Groups, n_draws: int, rng: np.random.Generator
) -> ConfusionMatrix:
    """Two classes: each column's count of true positives, drawn from its exact distribution
    instead of item by item.
    """
    counts = np.zeros((n_draws, 2, 2))
    for prediction in range(2):
        chosen = groups.predicted == prediction
        positives = poisson_binomial(posterior[chosen, 1], groups.size[chosen])
        counts[:, 1, prediction] = rng.choice(positives.support, size=n_draws, p=positives.mass)
        counts[:, 0, prediction] = groups.size[chosen].sum() - counts[:, 1, prediction]
    return ConfusionMatrix.from_dense(counts)


def _draw_singles(
    posterior: Array, predicted: Array, n_draws: int, rng: np.random.Generator
) -> Array:
    n_classes = posterior.shape[1]
    counts = np.zeros((n_draws, n_classes, n_classes))
    sure = posterior.max(axis=1) > 1 - 1e-12
    cell = posterior.argmax(axis=1)[sure] * n_classes + predicted[sure]
    counts += np.bincount(cell, minlength=n_classes**2).reshape(n_classes, n_classes)
    posterior, predicted = posterior[~sure], predicted[~sure]
    if len(predicted) == 0:
        return counts
    column = np.zeros((len(predicted), n_classes), dtype=np.float32)
    column[np.arange(len(predicted)), predicted] = 1
    total = column.sum(axis=0)
    cumulative = np.cumsum(posterior, axis=1).astype(np.float32)
    step = max(1, _CHUNK // len(predicted))
    for start in range(0, n_draws, step):
        stop = min(start + step, n_draws)
        chance = rng.random((stop - start, len(predicted)), dtype=np.float32)
        below = np.zeros((stop - start, n_classes))
        for truth in range(n_classes - 1):
            reached = (chance < cumulative[:, truth]).astype(np.float32) @ column
            counts[start:stop, truth] += reached - below
            below = reached
        counts[start:stop, n_classes - 1] += total - below
    return counts


def _draw_multinomials(
    posterior: Array, predicted: Array, size: Array, n_draws: int, rng: np.random.Generator
) -> Array:
    n_groups, n_classes = posterior.shape
    counts = np.zeros((n_draws, n_classes, n_classes))
    order = np.argsort(predicted, kind="stable")
    starts = np.flatnonzero(np.diff(predicted[order], prepend=-1))
    present = predicted[order][starts]
    step = max(1, _CHUNK // (n_groups * n_classes))
    for start in range(0, n_draws, step):
        stop = min(start + step, n_draws)
        drawn = rng.multinomial(size[order], posterior[order], size=(stop - start, n_groups))
        counts[start:stop][:, :, present] += np.add.reduceat(drawn, starts, axis=1).transpose(
            0, 2, 1
        )
    return counts


def _draw_sparse(
    posterior: Array, groups: Groups, n_draws: int, rng: np.random.Generator
) -> ConfusionMatrix:
    """Many classes: truths item by item; only the cells that ever occur are kept."""
    n_classes = posterior.shape[1]
    predicted = np.repeat(groups.predicted, groups.size).astype(np.int64)
    cumulative = np.cumsum(np.repeat(posterior, groups.size, axis=0), axis=1)
    cumulative[:, -1] = 1.0
    truth = np.empty((n_draws, len(predicted)), dtype=np.int64)
    for i in range(len(predicted)):
        truth[:, i] = np.searchsorted(cumulative[i], rng.random(n_draws), side="right")
    cell = truth * n_classes + predicted
    occupied = np.zeros(n_classes**2, dtype=bool)
    occupied[cell] = True
    key = np.flatnonzero(occupied)
    place = (np.cumsum(occupied) - 1)[cell]
    rows = np.arange(n_draws)[:, None]
    counts = np.bincount((rows * len(key) + place).ravel(), minlength=n_draws * len(key)).reshape(
        n_draws, -1
    )
    cells = np.stack([key // n_classes, key % n_classes], axis=1)
    totals = np.bincount((rows * n_classes + truth).ravel(), minlength=n_draws * n_classes).reshape(
        n_draws, -1
    )
    right = np.zeros((n_draws, n_classes))
    diagonal = cells[:, 0] == cells[:, 1]
    right[:, cells[diagonal, 0]] = counts[:, diagonal]
    alike = np.broadcast_to(np.bincount(predicted, minlength=n_classes), (n_draws, n_classes))
    return ConfusionMatrix(
        n_classes, cells, counts, Tally(right, totals.astype(float), alike.astype(float))
    )
