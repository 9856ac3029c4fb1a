"""Is this model too good to be true? Its error beside the ceiling, on labels of the same kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from truthing.ceiling.bounds import Bounds
from truthing.ceiling.mean import mean_limits
from truthing.class_codes import Array

SURE = 0.95
Standing = Literal["suspicious", "room left", "none left", "cannot tell"]


@dataclass(frozen=True, eq=False)
class CeilingVerdict:
    """A model's error against the Bayes error.

    ``below``, ``at`` and ``above`` are the probabilities that its error lies under the ceiling,
    within ``margin`` of it, or over it; what the labels cannot tell apart counts as ``at``.
    ``excess`` is the error minus the ceiling.
    """

    error: float
    excess: float
    below: float
    at: float
    above: float
    margin: float
    standing: Standing
    sentence: str
    against: str
    values: Array = field(repr=False)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Limits of the model's error."""
        return mean_limits(
            self.values, min(0.0, self.values.min()), max(1.0, self.values.max()), level
        )

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.interval(level)
        return {
            "error": self.error,
            "low": low,
            "high": high,
            "excess": self.excess,
            "below": self.below,
            "at": self.at,
            "above": self.above,
            "margin": self.margin,
            "standing": self.standing,
            "sentence": self.sentence,
            "against": self.against,
        }


def judge(
    values: Array,
    evidence: Bounds,
    ceiling: float,
    *,
    against: str,
    scale: float = 1.0,
    test_labels: bool = False,
    definite: bool = False,
) -> CeilingVerdict:
    """The verdict from each item's error: exact expectations, paired with the evidence for the
    ceiling, normal for their means.
    """
    error = scale * float(values.mean())
    excess = error - ceiling
    margin = max(0.001 * scale, 0.05 * ceiling)
    least, most = scale * (values - evidence.upper), scale * (values - evidence.lower)
    below = _chance_above(-most, margin)
    above = _chance_above(least, margin)
    at = max(0.0, 1 - below - above)
    standing: Standing = "cannot tell"
    if below >= SURE:
        standing = "suspicious"
    elif above >= SURE:
        standing = "room left"
    elif (
        below <= 1 - SURE and _chance_above(most, margin) <= 1 - SURE
    ):  # no room even under the lowest possible ceiling
        standing = "none left"
    labels = "the test labels" if test_labels else "labels like these"
    sentence = _sentence(standing, error, ceiling, below, at, above, labels, definite)
    return CeilingVerdict(
        error, excess, below, at, above, margin, standing, sentence, against, scale * values
    )


def _chance_above(values: Array, margin: float) -> float:
    from scipy.special import ndtr

    n = len(values)
    # one item's worth of doubt more, so that equal values do not claim certainty
    error = np.sqrt((values.var() + 1 / n**2) / n)
    return float(ndtr((values.mean() - margin) / error))


def _sentence(
    standing: str,
    error: float,
    ceiling: float,
    below: float,
    at: float,
    above: float,
    labels: str,
    definite: bool,
) -> str:
    who = "the labelers themselves err on" if definite else "the ceiling is"
    facts = f"the model errs on {error:.2%} of {labels}, {who} {ceiling:.2%}"
    if standing == "suspicious":
        return (
            f"Suspicious: {facts}, and no model can stay below that (probability {below:.0%} "
            "that this one does). Look for a leak of "
            "the labels, overfitting to the test set, or labels made by another process."
        )
    if standing == "room left":
        gain = f"{100 * (error - ceiling):.2f} points"
        what = (
            f"it is wrong itself on at least {gain}"
            if definite
            else f"about {gain} can still be gained"
        )
        return f"Room left: {facts}; {what} (probability {above:.0%} that it is above)."
    if standing == "none left":
        what = (
            "it cannot be told from a perfect one"
            if definite
            else "no better model could show it on these labels"
        )
        return f"None left: {facts}; {what} (probability {at:.0%})."
    return (
        f"Cannot tell: {facts}; below with probability {below:.0%}, above with {above:.0%}, "
        f"at it or not to be told apart with {at:.0%}. "
        "More items, or more labels per item, would decide."
    )
