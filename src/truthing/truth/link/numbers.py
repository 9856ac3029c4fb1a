"""What a kind of panel is described by: where its level lies, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from truthing.class_codes import Array
from truthing.truth.link.told import RightLabels, Told, between_bounds

Effects = tuple[tuple[float, float], ...]  # weight and sd of the predicted classes' effects
EFFECTS: Effects = ((0.2, 0.6), (0.5, 1.3), (0.3, 2.8))
# the panel's own classes: too lenient or too severe as a whole
OWN_EFFECTS: Effects = ((0.1, 0.6), (0.4, 1.3), (0.5, 2.8))
# weight of "the labels say nothing about which items are right" (gold alone), and as much of "they
# do, but level, slope and class effects are unlike public panels"
FLAT = {"people": 0.1, "models": 0.18}
OWN_FLAT = {"people": 0.2, "models": 0.3}  # of predictions from these very labels
# a classifier may be far better than its panel, which labelers graded by the others hardly are:
# its weight, how much higher the level then is expected, and the sd of that
BETTER = 0.1
ABOVE, ABOVE_SD = 2.0, 1.0
# weight of the other kind's numbers: people may be wrong together as often as language models are
OTHER = {"people": 0.35, "models": 0.0}
# how much wider the level of a classifier graded by few labels per item is: no panel of people
# needed it, and no predictions from these very labels
FEW = {"people": 0.0, "models": 3.0}


class LevelSigns(Protocol):
    """What the level depends on: of `Views`, and of what studies/fit_link.py saw."""

    @property
    def agreed(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def accord(self) -> float: ...
    @property
    def among_level(self) -> float: ...
    @property
    def spread(self) -> float: ...
    @property
    def distance(self) -> float: ...
    @property
    def per_item(self) -> float: ...


@dataclass(frozen=True)
class PanelNumbers:
    """What studies/fit_link.py learned from public panels of one kind.

    λ ~ t(``location`` · `features`); ``covariance`` is how well these are known themselves. The
    parts of the scale add up as squares (`doubts`). Their sum grows by ``few`` / labels per item:
    few judges know less than their agreement tells. b ~ N(slope, slope_sd²), ``effects`` are those
    of the predicted classes. ``flat``, ``better`` and ``other`` are weights of components that gold
    decides on.

    Where the user knows how many labels are wrong: the logit of the share of right labels is
    expected at ``right_labels`` · `label_signs` (± ``right_labels_sd``); by every logit more, times
    how far the classifier agrees with them, λ is ``moved`` (± ``moved_sd``) higher, and ``left`` of
    its scale is left.
    """

    location: tuple[float, ...]
    scale: tuple[float, ...]
    slope: float
    slope_sd: float
    covariance: tuple[tuple[float, ...], ...] = ((0.0,) * 5,) * 5
    freedom: float = 5.0
    effects: Effects = EFFECTS
    flat: float = 0.2
    better: float = 0.0
    other: float = 0.0
    few: float = 0.0
    right_labels: tuple[float, ...] = (0.0, 1.0, 0.0)
    right_labels_sd: float = 0.4
    moved: float = 0.0
    moved_sd: float = 0.0
    left: float = 1.0

    def level(self, seen: LevelSigns, extra_spread: float = 0.0) -> tuple[float, float]:
        """Centre and scale of λ."""
        at = features(seen)
        parts = doubts(seen, extra_spread) * self.scale
        squares = parts @ parts * (1 + self.few / max(seen.per_item, 1.0))
        scale = np.sqrt(squares + at @ np.array(self.covariance) @ at)
        return float(self.location @ at), float(scale)

    def expected_labels(self, seen: LevelSigns) -> RightLabels:
        centre = float(self.right_labels @ label_signs(seen))
        return RightLabels(centre, self.right_labels_sd, self.freedom)

    def narrowed(
        self, seen: LevelSigns, told: Told, centre: float, scale: float
    ) -> tuple[float, float]:
        """Centre and scale of a normal part of λ, given what the user knows of the labels."""
        expected = self.expected_labels(seen)
        surprise = told.surprise(expected)
        left = self.left if told.compared else 1.0
        wide = np.hypot(left * scale, self.moved_sd * surprise)
        low, high = told.levels(expected)
        middle, sd = between_bounds(low, high, centre + self.moved * surprise, wide)
        if not told.several:  # no two labels to compare: half of the weight lies anywhere
            middle = np.concatenate([middle, (low + high) / 2])
            sd = np.concatenate([sd, (high - low) / np.sqrt(12)])
        return float(middle.mean()), float(np.sqrt((sd**2).mean() + middle.var()))


def features(seen: LevelSigns) -> Array:
    """What the expected level is made of: agreement weighs more where labelers agree among
    themselves, and so does that agreement."""
    agreed, among = seen.agreed * seen.accord, seen.among_level * seen.accord
    return np.array([1.0, seen.agreed, seen.gap, agreed, among])


def label_signs(seen: LevelSigns) -> Array:
    """What the expected share of right labels is made of."""
    return np.array([1.0, seen.among_level, seen.among_level * seen.accord])


def doubts(seen: LevelSigns, extra_spread: float = 0.0) -> Array:
    """What the scale is made of: a part that is always there, the spread of the views, lack of
    accord, the distance between agreement with the predictions and among the labelers."""
    spread = np.hypot(seen.spread, extra_spread)
    return np.array([1.0, spread, 1 - seen.accord, seen.distance])
