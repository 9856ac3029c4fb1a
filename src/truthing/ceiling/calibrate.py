"""Scores turned into probabilities of a decision: Platt's logistic curve and isotonic regression,
fitted on other items than they judge.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truthing.class_codes import Array

FOLDS = 10


def platt(scores: Array, decisions: Array) -> Array:
    """Slope and intercept of the most likely logistic curve (Newton), for centred and scaled
    scores.

    >>> platt(np.array([-1.0, 1.0, -1.0, 1.0]), np.array([0, 1, 1, 0])).round(6).tolist()
    [0.0, 0.0]
    """
    design = np.stack([scores, np.ones(len(scores))], axis=1)
    # a trace of a ridge on the slope: separated data have no finite curve
    ridge = np.diag([1e-3 / len(scores), 0.0])
    theta = np.zeros(2)
    for _ in range(100):
        share = _curve(theta, scores)
        slope = design.T @ (decisions - share) / len(scores) - ridge @ theta
        bend = (design * (share * (1 - share))[:, None]).T @ design / len(scores) + ridge
        step = np.linalg.solve(bend + 1e-12 * np.eye(2), slope)
        theta = theta + step / max(1.0, np.abs(step).max() / 3)
        if np.abs(step).max() < 1e-10:
            break
    return theta


def _curve(theta: Array, scores: Array) -> Array:
    from scipy.special import expit

    return np.asarray(expit(theta[0] * scores + theta[1]))


def isotonic(scores: Array, decisions: Array) -> tuple[Array, Array]:
    """Least-squares curve that never falls, the scores where it starts a step, and its heights.

    >>> [part.tolist() for part in isotonic(np.array([1.0, 2, 3, 4]), np.array([0, 1, 0, 1]))]
    [[1.0, 2.0, 4.0], [0.0, 0.5, 1.0]]
    """
    from scipy.optimize import isotonic_regression

    values, place = np.unique(scores, return_inverse=True)
    weight = np.bincount(place).astype(float)
    curve = isotonic_regression(np.bincount(place, weights=decisions) / weight, weights=weight)
    starts = curve.blocks[:-1]
    return values[starts], np.asarray(curve.x[starts])


def fit_platt(scores: Array, decisions: Array) -> Callable[[Array], Array]:
    theta = platt(scores, decisions)
    return lambda new: _curve(theta, new)


def fit_isotonic(scores: Array, decisions: Array) -> Callable[[Array], Array]:
    turn = 1.0 if platt(scores, decisions)[0] >= 0 else -1.0
    starts, heights = isotonic(turn * scores, decisions)
    return lambda new: heights[
        np.clip(np.searchsorted(starts, turn * new, side="right") - 1, 0, None)
    ]


def cross_fitted(
    fit: Callable[[Array, Array], Callable[[Array], Array]],
    scores: Array,
    decisions: Array,
    seed: int = 0,
) -> Array:
    """Probability of the decision for each item, from a curve that never saw it."""
    fold = np.random.default_rng(seed).permutation(len(scores)) % min(FOLDS, len(scores))
    found = np.empty(len(scores))
    for part in np.unique(fold):
        here = fold == part
        found[here] = fit(scores[~here], decisions[~here])(scores[here])
    return found


def platt_influence(scores: Array, decisions: Array) -> Array:
    """Terms whose mean is Eq. 4 after Platt scaling and whose spread holds the doubt about the
    curve too (delta method).
    """
    theta = platt(scores, decisions)
    share = _curve(theta, scores)
    design = np.stack([scores, np.ones(len(scores))], axis=1)
    spread = share * (1 - share)
    bend = (design * spread[:, None]).T @ design / len(scores) + 1e-12 * np.eye(2)
    towards = (design * (spread * np.where(share < 0.5, 1.0, -1.0))[:, None]).mean(axis=0)
    return np.minimum(share, 1 - share) + design * (decisions - share)[:, None] @ np.linalg.solve(
        bend, towards
    )
