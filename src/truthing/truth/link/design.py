"""Items grouped by predicted class and by what the labelers say, and the regressors of the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from truthing.class_codes import Array
from truthing.truth.link.views import Views

CELLS = 2_000_000  # draws × groups worked on at once
BLOCK = 0.4  # effects of strata and slices are smaller than those of predicted classes
MOST_EFFECTS = 20  # predicted classes with an effect of their own; rarer ones share one


@dataclass(frozen=True, eq=False)
class LinkDesign:
    """Items in groups; columns of ``matrix``: level, slope, effects of predicted classes."""

    member: Array
    size: Array
    predicted: Array
    matrix: Array
    expected: Array
    relative: Array  # spread of each effect, relative to that of predicted classes

    @property
    def share(self) -> Array:
        return self.size / self.size.sum()

    def tally(self, items: Any, weights: Array | None = None) -> Array:
        """How many of these items each group holds."""
        return np.bincount(self.member[items], weights=weights, minlength=len(self.size)).astype(
            float
        )


def link_design(
    views: Views,
    level: float,
    slope: float,
    blocks: Sequence[Array] = (),
    split: Array | None = None,
) -> LinkDesign:
    """Regressors are centred so that slope and effects hardly move the level.

    ``blocks`` are codes of items that may have effects of their own (strata, slices); ``split``
    only keeps items of different codes in different groups.
    """
    bins = views.bin
    whole = bins
    for codes in (*blocks, *([] if split is None else [split])):
        whole = np.unique(whole, return_inverse=True)[1].reshape(-1) * (codes.max() + 1) + codes
    _, first, member = np.unique(whole, return_index=True, return_inverse=True)
    key, member = bins[first], member.reshape(-1)
    size = np.bincount(member, weights=views.size).astype(float)
    signal = views.signal if views.size is None else views.signal * views.size
    x = np.bincount(member, weights=signal) / size
    group_class = key // 1000
    start = solve_intercept(np.array([level]), slope * x[None, :], size / size.sum())[0]
    expected = expit(start + slope * x)
    weight = size * (expected * (1 - expected) + 1e-6)
    weight /= weight.sum()
    columns = [np.ones(len(key)), x - weight @ x]
    relative: list[float] = []
    predicted = views.predicted.astype(np.int64)
    for codes, spread in ((predicted, 1.0), *((block, BLOCK) for block in blocks)):
        indicator = _indicator(codes, codes[first], views.size)
        columns += list((indicator - weight @ indicator).T)
        relative += [spread] * indicator.shape[1]
    matrix = np.column_stack(columns)
    return LinkDesign(member, size, group_class, matrix, expected, np.array(relative))


def _indicator(codes: Array, of_group: Array, size: Array | None) -> Array:
    """A column for each of the frequent codes, one for all rare ones; none for a single code."""
    found, place = np.unique(codes, return_inverse=True)
    frequency = np.bincount(place.reshape(-1), weights=size)
    if len(found) < 2:
        return np.zeros((len(of_group), 0))
    own = np.sort(found[np.argsort(-frequency, kind="stable")[:MOST_EFFECTS]])
    effect = np.full(int(found.max()) + 1, len(own))
    effect[own] = np.arange(len(own))
    return np.asarray(np.eye(len(own) + (len(found) > len(own)))[effect[of_group]])


def solve_intercept(level: Array, offsets: Array, share: Array) -> Array:
    """For each row the intercept at which the mean chance is expit(level), by Newton's method on
    the logit, where the function is nearly a straight line."""
    rows = max(1, CELLS // max(offsets.shape[1], 1))
    if len(level) > rows:
        pieces = range(0, len(level), rows)
        parts = [solve_intercept(level[i : i + rows], offsets[i : i + rows], share) for i in pieces]
        return np.concatenate(parts)
    intercept = level - offsets @ share
    for _ in range(30):
        chance = expit(intercept[:, None] + offsets)
        mean = chance @ share
        rest = expit(-intercept[:, None] - offsets) @ share
        slope = (chance * (1 - chance)) @ share / np.maximum(mean * rest, 1e-300)
        miss = np.log(np.maximum(mean, 1e-300)) - np.log(np.maximum(rest, 1e-300)) - level
        step = np.clip(miss / np.maximum(slope, 1e-3), -3, 3)
        intercept = intercept - step
        if np.abs(step).max() < 1e-4:
            break
    return intercept
