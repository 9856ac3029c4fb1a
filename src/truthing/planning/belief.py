"""What is believed about each item now, draw by draw, and how much one more observation would
narrow the headline (docs/plan.md, 6).

Items that the model cannot tell apart share a group. Given a draw d of the parameters, item i is of
class c with chance q[d, g, c].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.counts import Tally, evaluate
from truthing.planning.widths import Goal, known_samples
from truthing.planning.world import World
from truthing.truth.link.counts import likely_classes
from truthing.truth.link.prior import Components
from truthing.truth.link.sampler import LinkDraws, draw_link
from truthing.truth.link.views import DEPENDENCE, Views

MOST_CELLS = 20_000_000  # draws × groups × classes


@dataclass(frozen=True, eq=False)
class Belief:
    """``free`` counts each group's items without gold; ``counts`` are expected confusion counts of
    each draw; ``slope`` is None where labels inform about parameters (known noise), else the link's
    slope, by which it discounts what labels say.
    """

    member: Array
    free: Array
    predicted: Array
    chances: Array
    counts: Array
    sample: bool
    slope: float | None

    def gradient(self, goal: Goal, world: World) -> Array:
        """∂metric/∂count at the expected confusion matrix, truth × prediction."""
        mean = self.counts.mean(axis=0)
        step = max(1e-4 * mean.sum(), 1e-3)
        shifted = mean + step * np.eye(mean.size).reshape(-1, *mean.shape)
        values = [
            evaluate(
                goal.metric,
                Tally.from_confusion(table),
                classes=world.classes,
                positive=world.positive,
                zero_division=0.0,
            )
            for table in (mean[None], shifted)
        ]
        return np.asarray((values[1] - values[0]) / step).reshape(mean.shape)

    def variance(self, slopes: Array) -> float:
        """Posterior variance of the linearised metric: of its mean over draws, and of the items
        given a draw.
        """
        between = float((self.counts * slopes).sum(axis=(1, 2)).var())
        if not self.sample:
            return between
        worth = slopes.T[self.predicted]
        spread = (self.chances * worth**2).sum(axis=2) - (self.chances * worth).sum(axis=2) ** 2
        return between + float((spread @ self.free).mean())

    def gain(self, slopes: Array, likelihood: Array, *, informs: bool = True) -> Array:
        """Expected fall of that variance, group by group, from one observation with P(outcome |
        class) = ``likelihood``.

        ``Var E[M | o] = Σ_o P(o) (E[M | o] - E M)²``; ``informs`` False: the observation speaks of
        its item only, not of parameters.
        """
        worth = slopes.T[self.predicted]  # groups × classes
        centre = (self.counts * slopes).sum(axis=(1, 2))
        q = self.chances
        own_mean = (q * worth).sum(axis=2)
        total = np.zeros(len(self.free))
        for o in range(likelihood.shape[1]):
            chance = q @ likelihood[:, o]
            own = (
                (q * worth) @ likelihood[:, o] - chance * own_mean
                if self.sample
                else np.zeros_like(chance)
            )
            if informs:
                marginal = np.maximum(chance.mean(axis=0), 1e-300)
                shift = (chance * (centre - centre.mean())[:, None] + own).mean(axis=0)
                total += shift**2 / marginal
            else:
                total += (own**2 / np.maximum(chance, 1e-300)).mean(axis=0)
        return total


def linked_belief(
    readings: Views,
    level: Components,
    gold: Array,
    goal: Goal,
    *,
    seed: int,
    weights: Array | None = None,
) -> Belief:
    """The default: noise learned, linked to the truth."""
    rng = np.random.default_rng(seed)
    link = draw_link(readings, level, gold, rng, n_draws=1000, gold_weights=weights)
    shape, chance = link.design, link.chance()
    likely = likely_classes(shape, readings)
    q = (1 - chance)[:, :, None] * likely
    everyone = np.arange(len(shape.size))
    q[:, everyone, shape.predicted] = chance
    known = np.flatnonzero(gold >= 0)
    free = shape.size - np.bincount(shape.member[known], minlength=len(shape.size))
    sample = goal.target == "sample"
    counts = _counts(q, free if sample else shape.size, shape.predicted)
    if sample:
        flat = gold[known] * readings.n_classes + readings.predicted[known]
        counts += np.bincount(flat, minlength=readings.n_classes**2).reshape(readings.n_classes, -1)
    return Belief(shape.member, free, shape.predicted, q, counts, sample, slope_of(link))


def slope_of(link: LinkDraws) -> float:
    return float(link.coefficients[:, 1].mean())


def known_belief(
    predicted: Array, log_likelihood: Array, gold: Array, goal: Goal, *, seed: int
) -> Belief:
    """Noise given: labels inform about the classifier and the class prior too."""
    groups, samples = known_samples(predicted, log_likelihood, gold, seed)
    keep = max(100, min(len(samples.rows), MOST_CELLS // groups.evidence.size))
    rows, prior = (
        part[:: max(len(samples.rows) // keep, 1)] for part in (samples.rows, samples.prior)
    )
    q = (
        np.exp(groups.evidence)[None]
        * prior[:, None, :]
        * rows[:, :, groups.predicted].transpose(0, 2, 1)
    )
    q /= np.maximum(q.sum(axis=2, keepdims=True), 1e-300)
    held = np.bincount(groups.member[gold >= 0], minlength=len(groups))
    sample = goal.target == "sample"
    counts = (
        _counts(q, groups.size, groups.predicted)
        if sample
        else len(predicted) * prior[:, :, None] * rows
    )
    return Belief(groups.member, groups.size - held, groups.predicted, q, counts, sample, None)


def tempered(table: Array, slope: float, labels: float) -> Array:
    """What one more label says about the truth under the link: its log-likelihood times the
    slope and the dependence discount.
    """
    effective = [m / (1 + (m - 1) * DEPENDENCE) if m else 0.0 for m in (labels, labels + 1)]
    power = np.maximum(table, 1e-12) ** (max(slope, 0.0) * (effective[1] - effective[0]))
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def _counts(q: Array, size: Array, predicted: Array) -> Array:
    n_classes = q.shape[2]
    counts = np.zeros((len(q), n_classes, n_classes))
    for k in range(n_classes):
        here = predicted == k
        counts[:, :, k] = np.einsum("dgc,g->dc", q[:, here], size[here])
    return counts
