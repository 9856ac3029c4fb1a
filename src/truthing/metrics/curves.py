"""ROC and precision-recall curves with bands, areas under them, and the threshold that is best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate

Band = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve by threshold, high thresholds first: x, y, and bands of both at any level.

    ROC: x is the false-alarm rate, y the recall. PR: x is the recall, y the precision.
    """

    kind: Literal["roc", "pr"]
    thresholds: Array
    x: Array
    y: Array
    bands: Callable[[float], tuple[Band, Band]]
    area_rule: Callable[[], Estimate] | None = None

    @cached_property
    def area(self) -> Estimate | None:
        """AUC or average precision; found when first asked, because it needs draws and the
        curve does not.
        """
        return None if self.area_rule is None else self.area_rule()

    def band(self, level: float = 0.95) -> Band:
        """Credible limits of y at each threshold."""
        return self.bands(level)[1]

    def band_x(self, level: float = 0.95) -> Band:
        """Credible limits of x at each threshold."""
        return self.bands(level)[0]

    def heat(self, points: int = 200, most: int = 400) -> tuple[Array, Array, Array]:
        """The paper's picture of a curve: the average over thresholds of the posterior of (x, y),
        on a grid.

        Each threshold's posterior is drawn as a normal with the spread of its band.
        """
        pick = np.unique(
            np.linspace(0, len(self.x) - 1, min(most, len(self.x))).round().astype(int)
        )
        grid = np.linspace(0, 1, points)
        (x_low, x_high), (y_low, y_high) = self.bands(0.6827)
        density = np.zeros((points, points))
        for i in pick:
            if np.isnan(self.x[i]) or np.isnan(self.y[i]):
                continue
            columns = _bump(grid, self.x[i], (x_high[i] - x_low[i]) / 2)
            rows = _bump(grid, self.y[i], (y_high[i] - y_low[i]) / 2)
            density += np.outer(columns, rows)
        return grid, grid, density / len(pick)


def _bump(grid: Array, centre: float, spread: float) -> Array:
    width = max(spread, 0.5 * (grid[1] - grid[0]))
    weight = np.exp(-0.5 * ((grid - centre) / width) ** 2)
    return weight / (weight.sum() * (grid[1] - grid[0]))


def cut_of(scores: Array | None, positive: Array) -> float | None:
    """The least score that was predicted positive, where predictions are a cut of the scores; else
    nothing.

    >>> cut_of(np.array([0.2, 0.9, 0.5]), np.array([False, True, True]))
    0.5
    >>> cut_of(np.array([0.2, 0.9]), np.array([True, False])) is None
    True
    """
    if scores is None or scores.ndim != 1 or not positive.any() or positive.all():
        return None
    cut = float(scores[positive].min())
    return cut if cut > scores[~positive].max() else None


@dataclass(frozen=True, eq=False)
class BestThreshold:
    """The threshold to use, how sure that is, and the metric there."""

    threshold: Estimate
    metric: Estimate
    chosen: float

    def __str__(self) -> str:
        low, high = self.threshold.interval(0.95)
        return f"threshold {self.chosen:.4g} (95% between {low:.4g} and {high:.4g}): {self.metric}"
