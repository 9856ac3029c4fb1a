"""The width of the default posterior's interval on a simulated data set: the very functions that
`grade` calls, nothing else.

The sampler of the labelers' rows, which `grade` runs to describe the labelers, is left out: the
link does not use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.counts import Tally, evaluate
from truthing.metrics.estimate import NEARLY, Estimate
from truthing.planning.world import DrawnWorld, World
from truthing.truth.link.counts import confusion_draws, population_confusion
from truthing.truth.link.prior import Components, learned_components, stated_components
from truthing.truth.link.sampler import draw_link
from truthing.truth.link.views import Views, read_panel

DRAWS = 1000


@dataclass(frozen=True)
class Goal:
    """Which interval is asked for: of what, about what, at which level, and what `grade` will
    be told about the labelers.
    """

    metric: str
    target: str
    level: float
    known: bool
    panel_error: Any = None
    panel: str | None = None

    def width(self, confusion: Array, world: World) -> float:
        """Width of the metric's interval over drawn confusion matrices; a metric that is never
        defined is not known at all: 1.
        """
        low, high = self.estimate(confusion, world).interval(self.level)
        return high - low if high >= low else 1.0

    def estimate(self, confusion: Array, world: World) -> Estimate:
        tally = Tally.from_confusion(confusion)
        drawn = evaluate(self.metric, tally, classes=world.classes, positive=world.positive)
        return Estimate.from_draws(drawn, slack=1.0 if self.known else NEARLY)

    def link_level(self, readings: Views, extra_spread: float = 0.0) -> Components:
        """The prior of the level as `grade` would set it, for readings that differ by
        ``extra_spread`` more (docs/plan.md, 3).
        """
        if self.panel_error is not None:
            return stated_components(readings, self.panel_error)
        return learned_components(readings, self.panel, extra_spread=extra_spread)


def widths(world: World, goal: Goal, data: DrawnWorld, golds: Sequence[int], seed: int) -> Array:
    """Widths for each number of random gold items; larger gold sets contain the smaller ones."""
    rng = np.random.default_rng(seed)
    order, truth = rng.permutation(len(data.truth)), data.truth
    if goal.known:
        evidence = data.log_likelihood

        def confusion(gold: Array) -> Array:
            return known_confusion(data.predicted, evidence, gold, goal.target, seed)

    else:
        readings = read_panel(data.entries, data.predicted)
        level = goal.link_level(readings, world.extra_spread)
        if world.panel is not None:
            truth = world.panel.truths(readings, rng)

        def confusion(gold: Array) -> Array:
            return linked_confusion(readings, level, gold, goal.target, seed)

    found = []
    for count in golds:
        gold = np.full(len(order), -1, dtype=np.int64)
        gold[order[:count]] = truth[order[:count]]
        found.append(goal.width(confusion(gold), world))
    return np.array(found)


def linked_confusion(
    readings: Views, level: Components, gold: Array, target: str, seed: int, draws: int = DRAWS
) -> Array:
    """Draws of the confusion matrix under the link."""
    rng = np.random.default_rng(seed)
    link = draw_link(readings, level, gold, rng, n_draws=draws)
    count = confusion_draws if target == "sample" else population_confusion
    return count(link, readings, gold, rng)


def known_confusion(
    predicted: Array, log_likelihood: Array, gold: Array, target: str, seed: int
) -> Array:
    """Draws of the confusion matrix when the labelers' noise is known."""
    samples = known_samples(predicted, log_likelihood, gold, seed)[1]
    return samples.counts if target == "sample" else samples.prior[:, :, None] * samples.rows


def known_samples(predicted: Array, log_likelihood: Array, gold: Array, seed: int) -> Any:
    """Groups of equal items, and draws of the classifier's rows, the class prior and the counts."""
    from truthing.noise.steps import fix_gold
    from truthing.truth.groups import Groups
    from truthing.truth.labelers import PER_ROW
    from truthing.truth.samplers.known import sample_known

    n_classes = log_likelihood.shape[1]
    evidence = log_likelihood - log_likelihood.max(axis=1, keepdims=True)
    fix_gold(evidence, gold, logs=True)
    groups = Groups.of(evidence, predicted)
    row_prior = np.full((n_classes, n_classes), PER_ROW / n_classes)
    samples = sample_known(
        groups.evidence,
        groups.predicted,
        groups.size,
        n_outcomes=n_classes,
        row_prior=row_prior,
        prior=None,
        n_draws=DRAWS,
        seed=seed,
    )
    return groups, samples
