"""What the user knows of the labels: how many of them are wrong.

It narrows the level twice. With a share m of wrong labels, of which a share d contradicts the
classifier, the classifier errs on |d - m| to d + m of the items, however mistakes depend on each
other. And where labels are better than those of public panels that agree as well, so is whoever
agrees with them (docs/theory.md, 15).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, logit, ndtr, ndtri, stdtrit

from truthing.class_codes import Array

POINTS = 400
CHANCES = (np.arange(POINTS) + 0.5) / POINTS
FIVE = ndtr([-1.46, -0.6, 0.0, 0.6, 1.46])  # quantiles whose mean and variance are all values'
DOUBT = 4.0  # degrees of freedom of what a user says: a rate may be far off
SEEN, POSSIBLE = (0.02, 0.98), (0.001, 0.999)  # shares that a level is taken of
INSIDE = (np.arange(60) + 0.5) / 60  # quantiles of a normal between bounds
FARTHEST = 1e-12
SAID = 1e-6, 0.999  # shares of wrong labels
NARROWEST = 0.05  # sd of a level


class RightLabels(NamedTuple):
    """The logit of the share of right labels, as public panels that agree as well had it: Student's
    t."""

    centre: float
    scale: float
    freedom: float

    def log_density(self, wrong: Array) -> Array:
        away = (logit(1 - wrong) - self.centre) / self.scale
        tail = -(self.freedom + 1) / 2 * np.log1p(away**2 / self.freedom)
        return np.asarray(tail - np.log(wrong * (1 - wrong)))

    @property
    def values(self) -> Array:
        """Equally likely shares of wrong labels, in order."""
        far = stdtrit(self.freedom, CHANCES)
        return np.asarray(1 / (1 + np.exp(self.centre + self.scale * far)))[::-1]


@dataclass(frozen=True, eq=False)
class WrongLabels:
    """The share of some labelers' labels that are wrong: ``said`` are equally likely values in
    order, by the user's word. It is at least ``least`` (with a standard error), because labels of
    an item that differ are not all right; ``gold`` is what random gold finds, with its error.
    ``agreement`` is the share of these labels that say what the classifier says, ``covered`` that
    of items which have such labels."""

    said: Array
    agreement: float
    covered: float = 1.0
    least: tuple[float, float] = (0.0, 0.0)
    gold: tuple[float, float] | None = None

    def evidence(self, wrong: Array) -> Array:
        """Logs of how likely labels and gold are."""
        least, error = self.least
        found = log_ndtr((wrong - least) / max(error, 1e-6)) if least > 0 else np.zeros(len(wrong))
        if self.gold is not None:
            found = found - 0.5 * ((wrong - self.gold[0]) / self.gold[1]) ** 2
        return np.asarray(found)

    def values(self, expected: RightLabels | None = None) -> Array:
        """Five equally likely values, given all that is known."""
        found = self.evidence(self.said)
        if expected is not None:
            found = found + expected.log_density(self.said)
        weight = np.exp(found - found.max())
        below = (np.cumsum(weight) - weight / 2) / weight.sum()
        return np.interp(FIVE, below, self.said)

    def bounds(self, wrong: Array) -> tuple[Array, Array]:
        """The lowest and the highest accuracy that is possible with so many wrong labels."""
        apart = 1 - self.agreement
        low, high = np.maximum(0.0, 1 - apart - wrong), 1 - np.abs(apart - wrong)
        return low * self.covered, high * self.covered + 1 - self.covered


def said_values(wrong: float, sd: float, between: tuple[float, float] | None = None) -> Array:
    """What a user says, as equally likely values in order: about ``wrong``, or evenly ``between``
    two numbers; ``sd`` is how far off it may be."""
    middle = np.array([wrong]) if between is None else np.linspace(*between, 2 * 50 + 1)[1::2]
    every = np.sort((middle[:, None] + sd * stdtrit(DOUBT, CHANCES)).ravel())
    found = every[len(middle) // 2 :: len(middle)]
    return np.clip(found, *SAID)


@dataclass(frozen=True, eq=False)
class Told:
    """``whole``: all labels, where something is said of all; ``bounding``: those whose share bounds
    the accuracy. ``several``: some items have two labels, so that agreement tells what to
    expect."""

    bounding: WrongLabels
    whole: WrongLabels | None = None
    several: bool = True

    @property
    def compared(self) -> bool:
        """Public panels tell what to expect."""
        return self.whole is not None and self.several

    def values(self, expected: RightLabels) -> Array:
        """Of the labels that bound the accuracy."""
        usual = expected if self.compared and self.bounding is self.whole else None
        return self.bounding.values(usual)

    def surprise(self, expected: RightLabels) -> Array:
        """How much better labels are than expected, as logits; times how far the classifier agrees
        with them: one that contradicts good labels is worse."""
        if self.whole is None or not self.compared:
            return np.zeros(len(FIVE))
        right = logit(np.clip(1 - self.whole.values(expected), *SEEN))
        return np.asarray((right - expected.centre) * (2 * self.whole.agreement - 1))

    def levels(self, expected: RightLabels) -> tuple[Array, Array]:
        """Bounds of the accuracy, as logits."""
        low, high = self.bounding.bounds(self.values(expected))
        return logit(np.clip(low, *POSSIBLE)), logit(np.clip(high, *POSSIBLE))


def between_bounds(low: Any, high: Any, centre: Any, scale: Any) -> tuple[Array, Array]:
    """Mean and sd of normals held between bounds; one more axis is not in the way."""
    first, last = ndtr((low - centre) / scale), ndtr((high - centre) / scale)
    chance = first[..., None] + (last - first)[..., None] * INSIDE
    drawn = centre[..., None] + scale[..., None] * ndtri(np.clip(chance, FARTHEST, 1 - FARTHEST))
    drawn = np.clip(drawn, low[..., None], high[..., None])
    return drawn.mean(axis=-1), np.maximum(drawn.std(axis=-1), NARROWEST)
