"""Widths simulated at a few anchors, and between them by the laws they follow (docs/plan.md, 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truthing.class_codes import Array
from truthing.planning.widths import Goal, widths
from truthing.planning.world import Composition, World

FEWEST = 50
ANCHORS = (50, 200, 800, 3200, 12800)
KNOWN_ANCHORS = (50, 200, 800, 3200)  # beyond, known noise follows 1/√items closely
GOLD_ANCHORS = (0, 12, 50, 200, 800, 3200, 6000)
SHARES = (
    (300, 6.0),
    (1000, 2.0),
    (5000, 1.0),
    (10**9, 0.5),
)  # data sets at up to so many items: small ones vary more and cost less


@dataclass(frozen=True, eq=False)
class Surface:
    """Expected width of one composition's designs as a function of items and gold; never grows in
    either.

    ``variance`` holds squared widths at (items, gold) anchors, NaN where gold exceeds items; for
    the target "sample" they are divided by the share of items without gold, 1 - gold/items, which
    would otherwise bend them.
    """

    items: Array
    gold: Array
    variance: Array
    relative_error: Array
    sample: bool
    known: bool

    def width(self, items: Array | float, gold: Array | float) -> Array:
        """Interpolated width; ``items`` and ``gold`` broadcast against each other."""
        items, gold = np.broadcast_arrays(
            np.asarray(items, dtype=float), np.asarray(gold, dtype=float)
        )
        rows = []
        for row in self.variance:
            rows.append(self._between_gold(gold, self.gold[~np.isnan(row)], row[~np.isnan(row)]))
        squared = self._between_items(items, np.array(rows))
        if self.sample:
            squared = squared * np.maximum(1 - gold / items, 0.0)
        return np.sqrt(squared)

    def _between_gold(self, gold: Array, at: Array, row: Array) -> Array:
        """1/w² is linear in gold; with noise learned, beyond the first anchor, w² in 1/(gold + that
        anchor): it nears what the items leave.
        """
        precise = 1 / np.interp(gold, at, 1 / np.maximum(row, 1e-12))
        if self.known or len(at) < 2:
            return precise
        return np.where(
            gold <= at[1], precise, np.interp(-1 / (gold + at[1]), -1 / (at + at[1]), row)
        )

    def _between_items(self, items: Array, rows: Array) -> Array:
        """Known noise: 1/w² is linear in items too. Learned: w² is linear in 1/items; beyond the
        last anchor it falls no faster than 1/items.
        """
        if len(rows) == 1:
            return rows[0]
        if self.known:
            return 1 / _lines(items, self.items, 1 / rows)
        line = _lines(1 / items, 1 / self.items[::-1], rows[::-1])
        return np.where(
            items > self.items[-1], np.maximum(line, rows[-1] * self.items[-1] / items), line
        )

    def error(self, items: float, gold: float, width: float) -> float:
        """Standard error of the simulation at the nearest anchor."""
        row = int(np.argmin(np.abs(np.log(self.items / items))))
        known = np.flatnonzero(~np.isnan(self.variance[row]))
        column = known[np.argmin(np.abs(self.gold[known] - gold))]
        return float(width * self.relative_error[row, column])


def _lines(x: Array, knots: Array, rows: Array) -> Array:
    """Piecewise linear through ``rows`` at rising ``knots``; the outer lines go on."""
    place = np.clip(np.searchsorted(knots, x), 1, len(knots) - 1)
    first, second = (np.take_along_axis(rows, at[None], 0)[0] for at in (place - 1, place))
    return first + (x - knots[place - 1]) / (knots[place] - knots[place - 1]) * (second - first)


def simulate_surface(
    world: World,
    goal: Goal,
    composition: Composition,
    anchors: tuple[int, ...],
    *,
    gold: bool,
    sets: int,
    seed: int,
) -> Surface:
    """Mean widths over ``sets`` simulated data sets at each anchor (docs/plan.md, 4)."""
    alone = not any(composition)  # no labels: gold on every item
    told = Goal(goal.metric, goal.target, goal.level, True) if alone else goal
    labels = (1.0, *composition[1:]) if alone else composition
    steps = np.array(GOLD_ANCHORS if gold else (0,))
    mean, error = (
        np.full((len(anchors), len(steps)), np.nan),
        np.full((len(anchors), len(steps)), np.nan),
    )
    for row, n in enumerate(anchors):
        here = np.flatnonzero(steps <= n * (0.9 if goal.target == "sample" else 1.0))
        counts = [n] * len(here) if alone else steps[here].tolist()
        drawn = []
        here_sets = sets_at(n, sets)
        for number in range(here_sets):
            source = np.random.SeedSequence(
                [seed, number, n, *(round(100 * c) for c in composition)]
            )
            first, second = (int(s) for s in source.generate_state(2) // 2)
            data = world.draw(labels, n, first)
            plain = world.panel is not None and world.panel.is_independent(number)
            here_world = replace(world, panel=None) if plain else world
            golds = counts[:1] if alone else counts
            drawn.append(np.broadcast_to(widths(here_world, told, data, golds, second), len(here)))
        table = np.array(drawn)
        mean[row, here] = table.mean(axis=0)
        error[row, here] = (
            table.std(axis=0, ddof=1) / np.sqrt(here_sets) / np.maximum(mean[row, here], 1e-9)
        )
    if not goal.known and not alone and sum(composition) < 2:
        mean[:, 0] = 1e6  # one view of each item and nothing known: only gold identifies it
    factor = 1.0
    if goal.target == "sample":
        factor = np.sqrt(np.maximum(1 - steps[None, :] / np.array(anchors)[:, None], 1e-9))
    smooth = antitone(mean / factor, np.array([sets_at(n, sets) for n in anchors], float))
    return Surface(
        np.array(anchors, float),
        steps.astype(float),
        smooth**2,
        error,
        goal.target == "sample",
        told.known,
    )


def sets_at(n_items: int, sets: int) -> int:
    """Data sets to make up with so many items."""
    return max(round(sets * next(share for most, share in SHARES if n_items <= most)), 2)


def antitone(mean: Array, weight: Array) -> Array:
    """Expected widths do not grow with items or gold; simulated ones may, by chance. NaN stays
    where gold exceeds items.

    Neighbours in items that are out of order are averaged; what disorder is left is cut off.
    """
    from scipy.optimize import isotonic_regression

    smooth = mean.copy()
    for column in smooth.T:
        rows = np.flatnonzero(~np.isnan(column))
        column[rows] = isotonic_regression(column[rows], weights=weight[rows], increasing=False).x
    lowest = np.fmin.accumulate(np.fmin.accumulate(smooth, axis=0), axis=1)
    return np.where(np.isnan(mean), np.nan, lowest)
