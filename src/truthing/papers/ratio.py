"""The ratio of two correlated normal variables (Marsaglia 1965, 2006), as Su uses it for recall,
false alarms and F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate


@dataclass(frozen=True)
class NormalRatio:
    """Z/W for jointly normal Z and W, reduced to ``T/r + s`` with T = (a + X)/(b + Y), X and Y
    standard normal.
    """

    a: float
    b: float
    r: float
    s: float

    @classmethod
    def of(
        cls, mean_z: float, mean_w: float, var_z: float, var_w: float, cov: float
    ) -> NormalRatio:
        sd_z, sd_w = np.sqrt(var_z), np.sqrt(var_w)
        rho = np.clip(cov / (sd_z * sd_w), -1 + 1e-12, 1 - 1e-12)
        s = rho * sd_z / sd_w
        h = sd_z * np.sqrt(1 - rho**2)
        if mean_z - s * mean_w < 0:
            h = -h
        return cls((mean_z - s * mean_w) / h, mean_w / sd_w, sd_w / h, s)

    def density(self, at: Array) -> Array:
        """Density of Z/W, in a form without overflow: ``q² - a² - b² = -(a - bt)²/(1 + t²)``."""
        from scipy.special import erf

        t = self.r * (at - self.s)
        q = (self.b + self.a * t) / np.sqrt(1 + t**2)
        tail = np.exp(-(self.a**2 + self.b**2) / 2)
        body = (
            q
            * np.sqrt(np.pi / 2)
            * erf(q / np.sqrt(2))
            * np.exp(-((self.a - self.b * t) ** 2) / (2 * (1 + t**2)))
        )
        return np.abs(self.r) * (tail + body) / (np.pi * (1 + t**2))

    @property
    def shortcut_holds(self) -> bool:
        """The paper's condition for its approximate moments."""
        return self.b > 4

    def shortcut_mean(self) -> float:
        """Su's approximate mean, ``a / (1.01 b - 0.2713)`` for T: about 1% low as b grows; kept for
        the reproduction.
        """
        return self.a / (1.01 * self.b - 0.2713) / self.r + self.s

    def estimate(self, points: int = 2001) -> Estimate:
        """The ratio restricted to [0, 1], where a metric lives."""
        middle = self.a / self.b / self.r + self.s
        spread = 10 * np.sqrt(1 + (self.a / self.b) ** 2) / (abs(self.r) * self.b)
        low, high = max(0.0, middle - spread), min(1.0, middle + spread)
        if not low < high:
            low, high = 0.0, 1.0
        grid = np.linspace(low, high, points)
        density = self.density(grid)
        if (
            not density.sum() > 0
        ):  # the mass lies outside [0, 1]: the nearest end is all that is left
            return Estimate.exactly(float(np.clip(middle, 0, 1)))
        return Estimate.from_density(grid, density)


def normal_estimate(mean: float, sd: float, points: int = 2001) -> Estimate:
    """A normal posterior restricted to [0, 1]."""
    low, high = max(0.0, mean - 9 * sd), min(1.0, mean + 9 * sd)
    if sd <= 0 or not low < high:
        return Estimate.exactly(float(np.clip(mean, 0, 1)))
    grid = np.linspace(low, high, points)
    return Estimate.from_density(grid, np.exp(-0.5 * ((grid - mean) / sd) ** 2))
