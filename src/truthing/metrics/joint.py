"""Joint posteriors of two metrics: a density on a grid, its credible regions and their contours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import check_level


@dataclass(frozen=True, eq=False)
class JointDensity:
    """Density on the grid ``x`` × ``y`` (first axis x), normalised over it."""

    x: Array
    y: Array
    density: Array

    @classmethod
    def of(cls, x: Array, y: Array, density: Array) -> JointDensity:
        mass = density.sum() * _step(x) * _step(y)
        return cls(x, y, density / mass if mass > 0 else density)

    @classmethod
    def from_draws(cls, x: Array, y: Array, points: int = 120) -> JointDensity:
        """A smoothed histogram of paired draws."""
        from scipy.ndimage import gaussian_filter

        known = ~(np.isnan(x) | np.isnan(y))
        x, y = x[known], y[known]
        edges = []
        for values in (x, y):
            spread = max(4 * values.std(), 1e-6)
            low, high = (
                max(-1.0, values.mean() - 1.5 * spread),
                min(1.0, values.mean() + 1.5 * spread),
            )
            edges.append(np.linspace(low, high, points + 1))
        table, _, _ = np.histogram2d(x, y, bins=edges)
        widths = [
            max(len(v) ** (-1 / 6) * v.std() / (e[1] - e[0]), 0.5) for v, e in zip((x, y), edges)
        ]
        table = gaussian_filter(table, widths, mode="constant")
        centres = [(e[1:] + e[:-1]) / 2 for e in edges]
        return cls.of(centres[0], centres[1], table)

    @property
    def mode(self) -> tuple[float, float]:
        i, j = np.unravel_index(np.argmax(self.density), self.density.shape)
        return float(self.x[i]), float(self.y[j])

    @property
    def mean(self) -> tuple[float, float]:
        mass = self.density / self.density.sum()
        return float(mass.sum(axis=1) @ self.x), float(mass.sum(axis=0) @ self.y)

    def threshold(self, level: float = 0.95) -> float:
        """The density above which ``level`` of the mass lies: the contour of the highest-density
        region.
        """
        check_level(level)
        ordered = np.sort(self.density, axis=None)[::-1]
        mass = np.cumsum(ordered) / ordered.sum()
        return float(ordered[np.searchsorted(mass, level)])

    def region(self, level: float = 0.95) -> Array:
        """Mask of the grid points inside the highest-density region."""
        return self.density >= self.threshold(level)

    def contains(self, x: float, y: float, level: float = 0.95) -> bool:
        """Is a point inside the region?"""
        i, j = int(np.argmin(np.abs(self.x - x))), int(np.argmin(np.abs(self.y - y)))
        on_grid = abs(self.x[i] - x) <= _step(self.x) and abs(self.y[j] - y) <= _step(self.y)
        return bool(on_grid and self.density[i, j] >= self.threshold(level))


def _step(grid: Array) -> float:
    return float(grid[1] - grid[0]) if len(grid) > 1 else 1.0
