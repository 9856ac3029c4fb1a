"""A panel that is severe or lenient as a whole: on a scale, the true grades of wrong predictions may
all lie higher, or all lower, than the labelers say.

The chance that a wrong prediction of grade k is truly c is tilted by exp(θ c), one θ ~ N(0, τ²) for
the whole panel, updated by the gold items whose prediction is wrong. Labels alone cannot show it.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array

TAU = 1.6  # log-odds per grade; chosen after looking at public panels (studies/grades.py)
GRID = np.linspace(-4, 4, 161)


def tilt_draws(
    expected: Array, missed: Array, positions: Array, n_draws: int, rng: np.random.Generator
) -> Array:
    """Draws of θ. ``expected`` (predicted × true) is what the consensus takes wrong predictions
    for, ``missed`` how many gold items show; ``positions`` are the grades' places."""
    height = -0.5 * (GRID / TAU) ** 2
    logs = np.log(expected + 1e-12)[None] + GRID[:, None, None] * positions
    logs[:, np.arange(len(positions)), np.arange(len(positions))] = -np.inf
    top = logs.max(axis=2, keepdims=True)
    shares = logs - top - np.log(np.exp(logs - top).sum(axis=2, keepdims=True))
    seen = missed > 0
    height = height + (shares[:, seen] * missed[seen]).sum(axis=1)
    weight = np.exp(height - height.max())
    found = rng.choice(len(GRID), size=n_draws, p=weight / weight.sum())
    step = GRID[1] - GRID[0]
    return np.asarray(GRID[found] + step * (rng.random(n_draws) - 0.5))


def scale_positions(values: Array | None) -> Array | None:
    """Places of the grades in their order, around zero."""
    if values is None or len(values) < 3:
        return None
    place = np.argsort(np.argsort(values)).astype(float)
    return place - place.mean()
