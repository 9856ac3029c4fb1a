"""With the operating point fixed, counts are Poisson-binomial: metrics without a central limit
theorem or a ratio approximation.

This answers what the paper leaves open in its Section 6.3.1. For class c, U counts true c among
predicted c and V true c among the rest; they are independent, and precision, recall, false alarms
and F are functions of (U, V).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.counts import ratio
from truthing.metrics.estimate import Estimate
from truthing.truth.draws import DrawnAnswer, LateDraws
from truthing.truth.groups import Groups
from truthing.truth.poisson_binomial import Counts, poisson_binomial

_TABLE = 2_000_000
_BINS = 1 << 14
_NAME = re.compile(
    r"(?P<base>precision|recall|false_alarm|specificity|f1|f_beta\((?P<beta>[0-9.]+)\))(\[(?P<cls>.*)\])?",
    re.DOTALL,
)


@dataclass(frozen=True)
class ExactQuestion:
    """A metric of one class, by name: which metric, which class, which β."""

    base: str
    cls: int
    beta: float

    @classmethod
    def parse(
        cls, name: str, classes: tuple[Any, ...], positive: int | None
    ) -> ExactQuestion | None:
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        if match["cls"] is not None:
            names = [str(c) for c in classes]
            if match["cls"] not in names:
                return None
            index: int | None = names.index(match["cls"])
        else:
            index = positive
        if index is None:
            return None
        base = "f" if match["base"].startswith("f1") or match["beta"] else match["base"]
        return cls(base, index, float(match["beta"] or 1))


@dataclass(frozen=True, eq=False)
class ExactAnswer:
    """Exact posteriors of accuracy and of each class's metrics; averages over classes are drawn."""

    classes: tuple[Any, ...]
    positive: int | None
    groups: Groups
    posterior: Array
    drawn: DrawnAnswer | LateDraws

    def estimate(self, name: str) -> Estimate:
        if name in ("accuracy", "error"):
            right = self.right
            count = right if name == "accuracy" else right.mirrored(self.n_items)
            return Estimate.from_atoms(count.support / self.n_items, count.mass)
        asked = ExactQuestion.parse(name, self.classes, self.positive)
        if asked is None:
            return self.drawn.estimate(name)
        return self._class_metric(asked)

    @property
    def confusion(self) -> Any:
        return self.drawn.confusion

    @cached_property
    def n_items(self) -> int:
        return int(self.groups.size.sum())

    @cached_property
    def right(self) -> Counts:
        """How many predictions are right."""
        chance = self.posterior[np.arange(len(self.groups)), self.groups.predicted]
        return poisson_binomial(chance, self.groups.size)

    def counts(self, cls: int) -> tuple[Counts, Counts, int]:
        """U and V of one class, and how many items were predicted so."""
        chosen = self.groups.predicted == cls
        inside, outside = (
            poisson_binomial(self.posterior[m, cls], self.groups.size[m]) for m in (chosen, ~chosen)
        )
        return inside, outside, int(self.groups.size[chosen].sum())

    def _class_metric(self, asked: ExactQuestion) -> Estimate:
        hits, misses, predicted = self.counts(asked.cls)
        if asked.base == "precision":
            return Estimate.from_atoms(
                ratio(hits.support.astype(float), np.full(len(hits.mass), predicted), np.nan),
                hits.mass,
            )
        formula = _FORMULAS[asked.base]
        n, beta = self.n_items, asked.beta

        def value(u: Array, v: Array) -> Array:
            return formula(u, v, predicted, n, beta)

        return _product_estimate(hits, misses, value)


_FORMULAS: dict[str, Callable[[Array, Array, int, int, float], Array]] = {
    "recall": lambda u, v, p, n, b: ratio(u, u + v, np.nan),
    "false_alarm": lambda u, v, p, n, b: ratio(p - u, n - u - v, np.nan),
    "specificity": lambda u, v, p, n, b: ratio(n - v - p, n - u - v, np.nan),
    "f": lambda u, v, p, n, b: ratio((1 + b**2) * u, b**2 * (u + v) + p, np.nan),
}


def _product_estimate(
    hits: Counts, misses: Counts, value: Callable[[Array, Array], Array]
) -> Estimate:
    """A function of two independent counts: every pair while there are few, else binned finely with
    the mean kept exact.
    """
    tail = 0.0 if len(hits.mass) * len(misses.mass) <= _TABLE else 1e-13
    hits, misses = hits.trimmed(tail), misses.trimmed(tail)
    u, v = hits.support[:, None].astype(float), misses.support[None].astype(float)
    if len(hits.mass) * len(misses.mass) <= _TABLE:
        return Estimate.from_atoms(value(u, v), hits.mass[:, None] * misses.mass)
    corners = value(u[[0, -1]], v[:, [0, -1]])
    low, high = np.nanmin(corners), np.nanmax(corners)
    mass, mean = np.zeros(_BINS), 0.0
    for k in range(len(hits.mass)):
        row = value(u[k], v[0])
        weight = hits.mass[k] * misses.mass
        mean += float(np.nansum(row * weight))
        place = np.clip(((row - low) / (high - low) * _BINS).astype(np.int64), 0, _BINS - 1)
        mass += np.bincount(place, weights=weight, minlength=_BINS)
    grid = low + (np.arange(_BINS) + 0.5) * (high - low) / _BINS
    kept = mass > 0
    return Estimate(grid[kept], mass[kept] / mass.sum(), "atoms", point=mean / mass.sum())
