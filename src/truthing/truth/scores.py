"""What scores add: curves, areas and the best threshold from draws of the truth that condition on
the score.

The chance of the positive class is a smooth curve in the score (score_curve.py). A hard prediction
alone does not carry the area under the curve: drawn given only the prediction, intervals of the AUC
held the truth 27 times in 100.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.counts import Tally, evaluate, ratio
from truthing.metrics.curves import Band, BestThreshold, Curve
from truthing.metrics.estimate import NEARLY, Estimate, credible_interval
from truthing.randomness import generator
from truthing.survey.deployment import class_factors
from truthing.truth.groups import Groups
from truthing.truth.link.scores import weighed_by_gold
from truthing.truth.score_curve import sample_logits

CELLS = 64
MOST_POINTS = 1000
MOST_GROUPS = 20_000
LEVELS = 128
AT_ONCE = 1_000_000  # items times draws


def score_bins(scores: Array, n_bins: int = CELLS) -> Array:
    """Bins of about equal numbers of items; equal scores share a bin."""
    cuts = np.unique(np.quantile(scores, np.arange(1, n_bins) / n_bins))
    return np.unique(np.searchsorted(cuts, scores, side="right"), return_inverse=True)[1].reshape(
        -1
    )


def run_ends(scores: Array) -> Array:
    """The last place of each run of equal scores."""
    return np.flatnonzero(np.append(np.diff(scores) != 0, True))


def levelled(evidence: Array) -> Array:
    """Evidence of two classes rounded to about a hundred log-likelihood ratios.

    The curve of the rates hangs on many items, so the rounding is far below its own uncertainty;
    sampling it then costs the same however many items there are. The truths themselves are drawn
    from the evidence as it is.
    """
    difference = np.clip(evidence[:, 1] - evidence[:, 0], -20, 20)
    edges = np.unique(np.quantile(difference, np.linspace(0, 1, LEVELS + 1)[1:-1]))
    place = np.searchsorted(edges, difference)
    count = np.bincount(place, minlength=len(edges) + 1)
    mean = np.bincount(place, weights=difference, minlength=len(edges) + 1) / np.maximum(count, 1)
    return np.stack([np.minimum(-mean, 0), np.minimum(mean, 0)], axis=1)[place]


@dataclass(frozen=True, eq=False)
class ScoreAnswer:
    """Truths drawn for items sorted by falling score; drawing waits until something is asked."""

    scores: Array
    draw: Callable[[], Array]
    redraw: int = -1  # a seed: items are redrawn too, for what is asked of new data like these
    weight: Array | None = None  # of the items, mean one
    cluster: Array | None = None  # whole clusters are redrawn together
    slack: float = 1.0  # of its intervals
    shares: Callable[[int], Array] | None = None  # at deployment, draws × (negative, positive)

    @classmethod
    def lazily(
        cls,
        scores: Array,
        evidence: Array,
        prior: Array | None,
        *,
        n_draws: int,
        seed: int,
        target: str = "sample",
    ) -> ScoreAnswer:
        """Draws given known evidence (columns: negative, positive) and scores, the curve of
        P(positive | score) learned.
        """
        order = np.argsort(-scores, kind="stable")
        scores, evidence = scores[order], evidence[order]

        def draw() -> Array:
            groups, odds = _cell_odds(evidence, score_bins(scores), prior, n_draws, seed)
            pick = np.linspace(0, len(odds) - 1, draws_for(len(scores), n_draws)).astype(int)
            chance = np.exp(np.clip(groups.evidence[:, 1] - groups.evidence[:, 0], -600, 600))
            return np.asarray(
                _draw_truth(odds[pick], chance, groups.predicted, groups.member, seed)
            )

        return cls(scores, draw, seed if target == "population" else -1)

    @classmethod
    def linked(
        cls,
        scores: Array,
        evidence: Array,
        predicted: Array,
        odds: Array,
        member: Array,
        gold: Array,
        positive: int,
        *,
        n_draws: int,
        seed: int,
        target: str = "sample",
        gold_weights: Array | None = None,
        weight: Array | None = None,
        cluster: Array | None = None,
    ) -> ScoreAnswer:
        """Draws whose odds given the prediction are ``odds`` (draws × groups), times what the
        score's bin adds to the prediction. ``gold_weights`` say what each gold item counts.
        """
        counts = np.ones(len(gold))
        if gold_weights is not None:
            counts[gold >= 0] = gold_weights
        order = np.argsort(-scores, kind="stable")
        scores, evidence, predicted, member, gold, counts = (
            part[order] for part in (scores, evidence, predicted, member, gold, counts)
        )

        def draw() -> Array:
            bins = score_bins(scores)
            outcome = bins * 2 + predicted
            used, outcome = np.unique(outcome, return_inverse=True)
            side = used % 2
            _, cell_odds = _cell_odds(evidence, outcome.reshape(-1), None, n_draws, seed)
            size = draws_for(len(scores), n_draws)
            pick = np.linspace(0, len(cell_odds) - 1, size).astype(int)
            rows = _rows(cell_odds[pick], outcome.reshape(-1))
            # within the items predicted alike, the bins' rates must not move the odds that the link
            # gives to them as a whole
            inside = np.stack([rows[:, :, side == k].sum(axis=2) for k in (0, 1)], axis=2)[
                :, :, side
            ]
            tilt = (rows[:, 1] / inside[:, 1]) / np.maximum(rows[:, 0] / inside[:, 0], 1e-12)
            base = odds[np.linspace(0, len(odds) - 1, size).astype(int)]
            known = np.where(gold < 0, -1, gold == positive)
            outcome = outcome.reshape(-1)
            base = np.maximum(base, 1e-12)
            rng = generator(seed, "scores beside gold")
            base, tilt = weighed_by_gold(base, tilt, member, outcome, known, rng, counts)
            return np.asarray(_draw_linked(base, tilt, member, outcome, known, seed))

        redraw = seed if target == "population" else -1
        weight = None if weight is None else weight[order]
        cluster = None if cluster is None else cluster[order]
        return cls(scores, draw, redraw, weight, cluster, NEARLY)

    @classmethod
    def together(cls, parts: list[ScoreAnswer]) -> ScoreAnswer:
        """Answers of equal weight for the same items."""
        first = parts[0]
        draw = lambda: np.concatenate([p.truth for p in parts])  # noqa: E731
        return replace(first, draw=draw)

    @cached_property
    def truth(self) -> Array:
        """Draws × items, 1 for the positive class."""
        return self.draw()

    @cached_property
    def _at(self) -> Array:
        """Positions after which the threshold can fall: the last item of each run of equal
        scores.
        """
        last = run_ends(self.scores)
        if len(last) > MOST_POINTS:
            last = last[np.unique(np.linspace(0, len(last) - 1, MOST_POINTS).astype(int))]
        return last

    @cached_property
    def _drawn(self) -> tuple[int, Array, Array]:
        """How items are redrawn, and their weights and clusters."""
        n = len(self.scores)
        weight = np.ones(n) if self.weight is None else self.weight.astype(float)
        cluster = np.arange(n) if self.cluster is None else self.cluster.astype(np.int64)
        return self.redraw, weight, cluster

    @cached_property
    def _counted(self) -> tuple[Array, Array, Array]:
        return _cumulative(self.truth, self._at, *self._drawn)

    @cached_property
    def _factors(self) -> Array:
        """What a negative and a positive item count at the shares of deployment, draws × 2."""
        if self.shares is None:
            return np.ones((len(self.truth), 2))
        total = self._counted[2]
        known = np.stack([self.truth.shape[1] - total, total], axis=1)
        return class_factors(known, self.shares(len(total)))

    @cached_property
    def _paths(self) -> tuple[Array, Array, Array]:
        """True and false positives at each threshold (draws × thresholds), and all positives."""
        hits, alarms, total = self._counted
        negative, positive = self._factors.T[:, :, None]
        return positive * hits, negative * alarms, positive * total[:, None]

    @cached_property
    def _areas(self) -> tuple[Array, Array]:
        return _areas(self.truth, run_ends(self.scores), self._factors, *self._drawn)

    def estimate(self, name: str) -> Estimate:
        auc, precision = self._areas
        return Estimate.from_draws(auc if name == "auc" else precision, slack=self.slack)

    def _rates(self) -> tuple[Array, Array, Array]:
        hits, alarms, total = self._paths
        recall = ratio(hits, total, np.nan)
        alarm = ratio(alarms, self.truth.shape[1] - total, np.nan)
        return recall, alarm, hits / (hits + alarms)

    def roc(self) -> Curve:
        recall, alarm, _ = self._rates()
        return self._curve("roc", alarm, recall, self.estimate("auc"))

    def pr(self) -> Curve:
        recall, _, precision = self._rates()
        return self._curve("pr", recall, precision, self.estimate("average_precision"))

    def _curve(self, kind: Literal["roc", "pr"], x: Array, y: Array, area: Estimate) -> Curve:
        defined = ~np.isnan(x + y).any(
            axis=1
        )  # a draw without positives (or negatives) has no curve
        if defined.any():
            x, y = x[defined], y[defined]

        def bands(level: float) -> tuple[Band, Band]:
            return credible_interval(x, level), credible_interval(y, level)

        return Curve(
            kind,
            self.scores[self._at],
            x.mean(axis=0),
            y.mean(axis=0),
            bands,
            lambda: area,
        )

    def best_threshold(
        self, metric: str = "f1", *, cost: tuple[float, float] | None = None
    ) -> BestThreshold:
        """The threshold with the best expected metric, or least expected ``cost`` = (of a false
        alarm, of a miss).
        """
        hits, alarms, total = self._paths
        if cost is not None:
            if min(cost) < 0 or max(cost) <= 0:
                raise InputError(
                    f"cost {cost}: give the costs of a false alarm and of a miss, not both zero."
                )
            value = -(cost[0] * alarms + cost[1] * (total - hits)) / self.truth.shape[1]
        else:
            n = self.truth.shape[1]
            confusion = np.stack(
                [
                    np.stack([n - total - alarms, alarms], axis=-1),
                    np.stack([total - hits, hits], axis=-1),
                ],
                axis=-2,
            )
            value = evaluate(metric, Tally.from_confusion(confusion), classes=(0, 1), positive=1)
            if metric in ("error", "false_alarm"):
                value = -value
        known = np.where(np.isnan(value), -np.inf, value)
        best = int(np.argmax(np.nanmean(np.where(np.isinf(known), np.nan, known), axis=0)))
        spread = (float(self.scores.min()), float(self.scores.max()))
        at = self.scores[self._at]
        sign = -1 if cost is not None or metric in ("error", "false_alarm") else 1
        return BestThreshold(
            Estimate.from_draws(at[known.argmax(axis=1)], support=spread),
            Estimate.from_draws(sign * value[:, best], support=(-np.inf, np.inf)),
            float(at[best]),
        )


def _cell_odds(
    evidence: Array, cell: Array, prior: Array | None, n_draws: int, seed: int
) -> tuple[Groups, Array]:
    """Draws of the odds of the positive class in each cell, cells rising with the score."""
    groups = Groups.of(evidence, cell)
    alike = groups if len(groups) <= MOST_GROUPS else Groups.of(levelled(evidence), cell)
    logits = sample_logits(
        alike.evidence, alike.predicted, alike.size, prior=prior, n_draws=n_draws, seed=seed
    )
    return groups, np.exp(np.clip(logits, -30, 30))


def _rows(odds: Array, cell: Array) -> Array:
    """P(cell | class), draws × classes × cells, from the odds in each cell and how many items
    it has.
    """
    chance = odds / (1 + odds)
    joint = np.stack([1 - chance, chance], axis=1) * np.bincount(cell, minlength=odds.shape[1])
    return np.maximum(joint / joint.sum(axis=2, keepdims=True), 1e-12)


def draws_for(n_items: int, n_draws: int) -> int:
    """As many answer keys as fit in about 200 MB."""
    return int(max(100, min(n_draws, 200_000_000 // max(n_items, 1))))


def _draw_truth(odds: Array, chance: Array, outcome: Array, member: Array, seed: int) -> Array:
    rng = generator(seed, "truths by score")
    truth = np.empty((len(odds), len(member)), dtype=np.uint8)
    for part in in_parts(truth):
        o = chance * odds[part][:, outcome]
        p = np.where(o < 1e300, o / (1 + np.minimum(o, 1e300)), 1.0)
        truth[part] = rng.random((len(p), len(member))) < p[:, member]
    return truth


def _draw_linked(
    base: Array, tilt: Array, member: Array, outcome: Array, known: Array, seed: int
) -> Array:
    rng = generator(seed, "truths by score")
    truth = np.empty((len(base), len(member)), dtype=np.uint8)
    truth[:] = known == 1
    open_ = np.flatnonzero(known < 0)
    for part in in_parts(truth):
        o = base[part][:, member[open_]] * tilt[part][:, outcome[open_]]
        truth[part, open_] = rng.random(o.shape) * (1 + o) < o
    return truth


def in_parts(truth: Array) -> list[slice]:
    """Draws a few at a time, so that what is computed of them stays small."""
    size = max(1, AT_ONCE // max(truth.shape[1], 1))
    return [slice(k, min(k + size, len(truth))) for k in range(0, len(truth), size)]


def _weighed(
    truth: Array, redraw: int, base: Array, cluster: Array
) -> Iterator[tuple[slice, Array]]:
    """Draws a few at a time and their items' weights: the items' own (a row for all draws), or
    times those of a Bayesian bootstrap of the clusters (mean one), the same whenever they are
    asked for.
    """
    n_items, rng = truth.shape[1], generator(max(redraw, 0), "weights of items")
    for part in in_parts(truth):
        if redraw < 0:
            yield part, base[None]
        else:
            mass = rng.standard_exponential((part.stop - part.start, int(cluster.max()) + 1))
            weight = base * mass[:, cluster]
            yield part, weight * (n_items / weight.sum(axis=1, keepdims=True))


def _cumulative(
    truth: Array, at: Array, redraw: int, base: Array, cluster: Array
) -> tuple[Array, Array, Array]:
    n_draws = len(truth)
    hits, alarms = np.empty((n_draws, len(at))), np.empty((n_draws, len(at)))
    total = np.empty(n_draws)
    for part, weight in _weighed(truth, redraw, base, cluster):
        count = np.cumsum(truth[part] * weight, axis=1)
        hits[part], total[part] = count[:, at], count[:, -1]
        alarms[part] = np.cumsum(weight, axis=1)[:, at] - hits[part]
    return hits, alarms, total


def _areas(
    truth: Array, ends: Array, factors: Array, redraw: int, base: Array, cluster: Array
) -> tuple[Array, Array]:
    auc, average = np.empty(len(truth)), np.empty(len(truth))
    for part, weight in _weighed(truth, redraw, base, cluster):
        auc[part], average[part] = areas_of(truth[part] * weight, weight, ends, factors[part])
    return auc, average


def areas_of(
    positive: Array, weight: Array, ends: Array, factors: Array | None = None
) -> tuple[Array, Array]:
    """AUC with ties counted half, and average precision, of each draw (rows): the positive part of
    each item's ``weight``, by falling score; ``ends`` of runs of equal scores; ``factors`` as
    `class_factors` gives them for negatives and positives.
    """
    if factors is not None and (factors != 1).any():
        hits = factors[:, 1:] * positive
        positive, weight = hits, hits + factors[:, :1] * (weight - positive)
    if len(ends) < positive.shape[1]:
        starts = np.append(0, ends[:-1] + 1)
        positive, weight = (np.add.reduceat(w, starts, axis=1) for w in (positive, weight))
    hits, everybody = np.cumsum(positive, axis=1), np.cumsum(weight, axis=1)
    right = hits[:, -1]
    wrong = everybody[:, -1] - right
    area = ((weight - positive) * (hits - 0.5 * positive)).sum(axis=1)
    precision = (positive * hits / np.maximum(everybody, 1e-300)).sum(axis=1)
    return ratio(area, right * wrong, np.nan), ratio(precision, right, np.nan)
