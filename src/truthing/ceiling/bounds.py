"""Bounds: one number for each item whose mean bounds the Bayes error from below, and one from
above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.ceiling.mean import lower_limit, upper_limit
from truthing.class_codes import Array


@dataclass(frozen=True, eq=False)
class Bounds:
    """Means of ``lower`` and ``upper`` are at most and at least the Bayes error; one array twice
    where it is identified.

    The ranges are what the numbers could be at all, ``possible`` what the Bayes error could be.
    """

    lower: Array
    upper: Array
    lower_range: tuple[float, float]
    upper_range: tuple[float, float]
    possible: tuple[float, float]

    @classmethod
    def exact(cls, values: Array, low: float, high: float) -> Bounds:
        """Numbers whose mean is an unbiased estimate."""
        return cls(values, values, (low, high), (low, high), (low, high))

    def limits(self, level: float) -> tuple[float, float]:
        """Confidence limits of the Bayes error itself, wherever in its identified interval it
        lies.
        """
        tail = (1 - level) / 2
        low, high = self.lower_range[0], self.upper_range[1]
        if self.lower_range[1] > low:
            low = lower_limit(self.lower, *self.lower_range, tail)
        if high > self.upper_range[0]:
            high = upper_limit(self.upper, *self.upper_range, tail)
        least, most = self.possible
        return float(np.clip(low, least, most)), float(np.clip(high, least, most))
