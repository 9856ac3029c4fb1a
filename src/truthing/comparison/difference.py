"""One model minus another: both are graded by the same draws of the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.estimate import Estimate
from truthing.truth.draws import narrower
from truthing.truth.gold_alone import difference_draws

LESS_IS_BETTER = ("error", "false_alarm")
# of the draws of a difference know only gold: how two models depend is learned from few panels
GOLD_ONLY = 0.3


@dataclass(frozen=True, eq=False)
class Difference(Estimate):
    """First model minus second, paired: both are graded by the same draws of the truth."""

    first: str = ""
    second: str = ""
    metric: str = ""

    @classmethod
    def between(cls, first: str, second: str, metric: str, draws: Array) -> Difference:
        """From draws of first minus second."""
        plain = Estimate.from_draws(draws, support=(-1.0, 1.0))
        parts = plain.values, plain.weights, plain.kind, plain.support, plain.undefined
        return cls(*parts, first=first, second=second, metric=metric)

    @property
    def probability_positive(self) -> float:
        """P(first is above second); a tie counts half."""
        share = ((self.values > 0) + 0.5 * (self.values == 0)) @ self.weights
        return float(np.clip(share, 0.0, 1.0))  # weights add up to one but for rounding

    @property
    def probability_better(self) -> float:
        """P(first is better than second): below it where less is better."""
        return (
            1 - self.probability_positive
            if less_is_better(self.metric)
            else self.probability_positive
        )

    def probability_equivalent(self, within: float = 0.01) -> float:
        """P(the two differ by at most ``within``): the region of practical equivalence."""
        if within < 0:
            raise InputError(
                f"within={within}: how far two models may differ and still count as equal; "
                "not negative."
            )
        return float((np.abs(self.values) <= within + 1e-12) @ self.weights)


def less_is_better(metric: str) -> bool:
    name = metric.split("[")[0]
    return name.split("_", 1)[-1] in LESS_IS_BETTER or name in LESS_IS_BETTER


def beside_gold(
    draws: Array,
    said: tuple[Array, Array],
    gold: Array,
    n_classes: int,
    target: str,
    rng: np.random.Generator,
) -> Array:
    """Draws of a difference of accuracies, some replaced by what gold alone says of it; all of
    them where gold alone is `narrower`.
    """
    alone = difference_draws(said, gold, n_classes, target, len(draws), rng)
    mixed = np.where(rng.random(len(draws)) < GOLD_ONLY, alone, draws)
    both = (Estimate.from_draws(values, support=(-1.0, 1.0)) for values in (mixed, alone))
    return np.asarray(narrower(*both).values)
