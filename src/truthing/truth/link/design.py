"""Items grouped by predicted class and by what the labelers say, and the regressors of the link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from truthing.class_codes import Array
from truthing.truth.link.views import Views

CELLS = 2_000_000  # draws × groups worked on at once
MOST_EFFECTS = 20  # predicted classes with an effect of their own; rarer ones share one


@dataclass(frozen=True, eq=False)
class LinkDesign:
    """Items in groups; columns of ``matrix``: level, slope, effects of predicted classes."""

    member: Array
    size: Array
    predicted: Array
    matrix: Array
    expected: Array

    @property
    def share(self) -> Array:
        return self.size / self.size.sum()

    def tally(self, items: Any, weights: Array | None = None) -> Array:
        """How many of these items each group holds."""
        return np.bincount(self.member[items], weights=weights, minlength=len(self.size)).astype(
            float
        )


def link_design(views: Views, level: float, slope: float) -> LinkDesign:
    """Regressors are centred so that slope and class effects hardly move the level."""
    key, member = np.unique(views.bin, return_inverse=True)
    member = member.reshape(-1)
    size = np.bincount(member, weights=views.size).astype(float)
    signal = views.signal if views.size is None else views.signal * views.size
    x = np.bincount(member, weights=signal) / size
    group_class = key // 1000
    start = solve_intercept(np.array([level]), slope * x[None, :], size / size.sum())[0]
    expected = expit(start + slope * x)
    weight = size * (expected * (1 - expected) + 1e-6)
    weight /= weight.sum()
    columns = [np.ones(len(key)), x - weight @ x]
    frequency = np.bincount(group_class, weights=size)
    classes = np.flatnonzero(frequency)
    frequency = frequency[classes]
    if len(classes) > 1:
        own = np.sort(classes[np.argsort(-frequency, kind="stable")[:MOST_EFFECTS]])
        effect = np.full(views.n_classes, len(own))
        effect[own] = np.arange(len(own))
        indicator = np.eye(len(own) + (len(classes) > len(own)))[effect[group_class]]
        columns += list((indicator - weight @ indicator).T)
    return LinkDesign(member, size, group_class, np.column_stack(columns), expected)


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
