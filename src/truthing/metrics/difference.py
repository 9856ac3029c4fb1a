"""Two paired estimates and their difference: which is better, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.estimate import Estimate

LESS_IS_BETTER = ("error", "false_alarm", "mean_absolute_error")


@dataclass(frozen=True, eq=False)
class Difference(Estimate):
    """First model minus second, paired: both are graded by the same draws of the truth."""

    first: str = ""
    second: str = ""
    metric: str = ""

    @classmethod
    def between(
        cls,
        draws: tuple[Array, Array],
        names: tuple[str, str],
        metric: str,
        slack: float = 1.0,
    ) -> Difference:
        """From paired draws of both; those in which one is undefined are left out."""
        found = draws[0] - draws[1]
        known = found[~np.isnan(found)]
        weights = np.full(len(known), 1 / max(len(known), 1))
        undefined = 1 - len(known) / max(len(found), 1)
        first, second = names
        return cls(
            known,
            weights,
            "draws",
            (-1.0, 1.0),
            undefined,
            slack=slack,
            first=first,
            second=second,
            metric=metric,
        )

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
                f"within={within}: how far two models may differ and still count as equal; not "
                "negative."
            )
        return float((np.abs(self.values) <= within + 1e-12) @ self.weights)


def less_is_better(metric: str) -> bool:
    return (
        metric.split("[")[0].split("_", 1)[-1] in LESS_IS_BETTER
        or metric.split("[")[0] in LESS_IS_BETTER
    )
