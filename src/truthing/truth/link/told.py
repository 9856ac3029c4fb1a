"""What the user knows about the labels: how many of them are wrong.

It narrows the level, however labelers and classifier depend on each other. With a share m of wrong
labels, of which a share d contradicts the classifier, the classifier errs on |d - m| to d + m of
the items (docs/theory.md, 15).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logit

from truthing.class_codes import Array

FIVE = (-1.46, -0.6, 0.0, 0.6, 1.46)  # equally likely values of mean 0 and variance 1
# within these shares a bound tells how far the prediction can be right, and where it may end
SEEN, POSSIBLE = (0.02, 0.98), (0.001, 0.999)
NARROWEST = 0.1  # of half the room between the bounds, as logits
ROOM = 2.5  # a scale is at most half the room between the bounds over this


@dataclass(frozen=True)
class Told:
    """One value of the share of labels that are wrong, beside how often these labels say what the
    classifier says; ``covered`` is the share of items that have such labels."""

    wrong: float
    agreement: float
    covered: float = 1.0

    @property
    def shares(self) -> tuple[float, float]:
        """The lowest and the highest accuracy that is possible."""
        apart = 1 - self.agreement
        low, high = 1 - apart - self.wrong, 1 - abs(apart - self.wrong)
        return max(0.0, low) * self.covered, high * self.covered + 1 - self.covered

    @cached_property
    def features(self) -> Array:
        """Logits of the lowest and the highest accuracy that is possible, and of right labels."""
        return np.asarray(logit(np.clip([*self.shares, 1 - self.wrong], *SEEN)))

    @cached_property
    def bounds(self) -> Array:
        return np.asarray(logit(np.clip(self.shares, *POSSIBLE)))

    def within(self, centre: float, scale: float) -> tuple[float, float]:
        """A level of this centre and scale, held to what is possible."""
        low, high = self.bounds
        middle, narrow = within(low, high, centre, scale)
        return float(middle), float(narrow)


def within(low: Any, high: Any, centre: Any, scale: Any) -> tuple[Any, Any]:
    """Levels between bounds: the centre is one that is possible, the scale leaves little beyond."""
    half = np.maximum((high - low) / 2, NARROWEST)
    return np.clip(centre, low, high), scale * half / np.hypot(half, ROOM * scale)


def told_labels(
    wrong: float, sd: float, agreement: float, covered: float = 1.0
) -> tuple[Told, ...]:
    """The share ``wrong`` of wrong labels, known up to ``sd``, as equally likely values."""
    values = np.clip(wrong + sd * np.array(FIVE), 0, 1)
    return tuple(Told(float(value), agreement, covered) for value in values)
