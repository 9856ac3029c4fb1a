"""Is this model too good to be true? Its error beside the ceiling, on labels of the same kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from truthing.ceiling.evidence import Evidence
from truthing.ceiling.mean import mean_limits
from truthing.coding import Array

SURE = 0.95


@dataclass(frozen=True, eq=False)
class Verdict:
    """A model's error against the Bayes error.

    ``below``, ``at`` and ``above`` are the probabilities that its error lies under the ceiling, within ``margin`` of it, or over it; what
    the labels cannot tell apart counts as ``at``. ``excess`` is the error minus the ceiling.
    """

    error: float
    excess: float
    below: float
    at: float
    above: float
    margin: float
    standing: Literal["suspicious", "room left", "none left", "cannot tell"]
    sentence: str
    against: str
    values: Array = field(repr=False)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Limits of the model's error."""
        return mean_limits(self.values, min(0.0, self.values.min()), max(1.0, self.values.max()), level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.interval(level)
        return {
            "error": self.error, "low": low, "high": high, "excess": self.excess, "below": self.below, "at": self.at,
            "above": self.above, "margin": self.margin, "standing": self.standing, "sentence": self.sentence, "against": self.against,
        }  # fmt: skip


def judge(
    values: Array, evidence: Evidence, ceiling: float, *, against: str, scale: float = 1.0, definite: bool = False
) -> Verdict:
    """The verdict from each item's error: exact expectations, paired with the evidence for the ceiling, normal for their means."""
    error = scale * float(values.mean())
    excess = error - ceiling
    margin = max(0.001 * scale, 0.1 * ceiling)
    least, most = scale * (values - evidence.upper), scale * (values - evidence.lower)
    below = _chance_above(-most, margin)
    above = _chance_above(least, margin)
    at = max(0.0, 1 - below - above)
    standing: Literal["suspicious", "room left", "none left", "cannot tell"] = "cannot tell"
    for name, chance in (("suspicious", below), ("room left", above), ("none left", at)):
        if chance >= SURE:
            standing = name  # type: ignore[assignment]
    sentence = _sentence(standing, error, ceiling, below, at, above, definite)
    return Verdict(error, excess, below, at, above, margin, standing, sentence, against, scale * values)


def _chance_above(values: Array, margin: float) -> float:
    from scipy.special import ndtr

    n = len(values)
    # one item's worth of doubt more, so that equal values do not claim certainty
    error = np.sqrt((values.var() + 1 / n**2) / n)
    return float(ndtr((values.mean() - margin) / error))


def _sentence(
    standing: str, error: float, ceiling: float, below: float, at: float, above: float, definite: bool
) -> str:
    facts = f"it errs on {error:.2%} of labels like these, the {'labelers themselves' if definite else 'ceiling'} on {ceiling:.2%}"
    if standing == "suspicious":
        return (
            f"Suspicious: {facts}. No model can stay below that (probability {below:.0%} that this one does): look for a leak of test labels, "
            "overfitting to the test set, or test labels made by another process than the ceiling's."
        )
    if standing == "room left":
        least = " at least" if definite else ""
        what = "of its own errors" if definite else "of its errors can still be avoided"
        return f"Room left: {facts}, so{least} {error - ceiling:.2%} (points) {what} (probability {above:.0%})."
    if standing == "none left":
        what = "it cannot be told from a perfect one" if definite else "no better model would show on these labels"
        return f"None left: {facts}; {what} (probability {at:.0%})."
    return (
        f"Cannot tell: {facts}; below with probability {below:.0%}, at it or not to be told apart {at:.0%}, above {above:.0%}. "
        "More items, or more labels an item, would decide."
    )
