"""What a kind of panel is described by: where its level lies, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from truthing.class_codes import Array
from truthing.truth.link.told import Told

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

    def level(
        self, seen: LevelSigns, told: Sequence[Told] = (), extra_spread: float = 0.0
    ) -> tuple[float, float]:
        """Centre and scale of λ; over equally likely values of what the user knows, if anything."""
        found = [self._level(seen, one, extra_spread) for one in told or (None,)]
        centre, scale = np.array(found).T
        return float(centre.mean()), float(np.sqrt((scale**2).mean() + centre.var()))

    def _level(
        self, seen: LevelSigns, told: Told | None, extra_spread: float
    ) -> tuple[float, float]:
        at = features(seen, told)
        parts = doubts(seen, told, extra_spread) * self.scale
        squares = parts @ parts * (1 + self.few / max(seen.per_item, 1.0))
        scale = np.sqrt(squares + at @ np.array(self.covariance) @ at)
        centre = float(self.location @ at)
        return (centre, float(scale)) if told is None else told.within(centre, float(scale))


def features(seen: LevelSigns, told: Told | None = None) -> Array:
    """What the expected level is made of: agreement weighs more where labelers agree among
    themselves, and so does that agreement. Behind it what the user knows of the labels."""
    agreed, among = seen.agreed * seen.accord, seen.among_level * seen.accord
    found = np.array([1.0, seen.agreed, seen.gap, agreed, among])
    return found if told is None else np.concatenate([found, told.features])


def doubts(seen: LevelSigns, told: Told | None = None, extra_spread: float = 0.0) -> Array:
    """What the scale is made of: a part that is always there, the spread of the views, lack of
    accord, the distance between agreement with the predictions and among the labelers; behind it
    the room that knowledge of the labels leaves."""
    spread = np.hypot(seen.spread, extra_spread)
    found = np.array([1.0, spread, 1 - seen.accord, seen.distance])
    return found if told is None else np.append(found, np.ptp(told.features[:2]) / 2)
