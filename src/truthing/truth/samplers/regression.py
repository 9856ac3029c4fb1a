"""What the truth is regressed on when several classifiers are graded: their predictions or their
scores.

``P(y = c | classifiers) = softmax_c(α_c + Σ_j [column j speaks for c] w_jc)``, times the labelers'
likelihood: the log posterior of the coefficients with the truth summed out, and its mode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.truth.score_curve import curve_basis
from truthing.truth.scores import score_bins

CLASS_SD = 2.0  # prior of α
COMMON_SD = 1.0  # prior of w: what all classifiers have in common,
OWN_SD = 2.0  # and each one's own, divided by the cube root of their number
CELLS = 32  # of each classifier's scores
# added to the variance of each classifier's standardised scores before their correlations are
# inverted
NEARLY_EQUAL = 0.03


@dataclass(frozen=True, eq=False)
class Regression:
    """What the truth is regressed on: column j of item i speaks for class ``guess[i, j]`` with
    coefficient ``tilt[i, j]``.

    The coefficients (α, w) are ``design`` times standard normals; those marked in ``heavy`` have
    Student's tails (two degrees of freedom).
    """

    guess: Array
    tilt: Array
    design: Array
    heavy: Array

    @classmethod
    def on_predictions(cls, predicted: Array, effect: Array) -> Regression:
        """``predicted`` is classifiers × items, ``effect`` the number of the coefficient behind
        "classifier j says c".
        """
        n_models, n_classes = effect.shape
        n_effects = int(effect.max()) + 1
        weights = np.column_stack(
            [np.full(n_effects, COMMON_SD), OWN_SD / n_models ** (1 / 3) * np.eye(n_effects)]
        )
        guess = predicted.T.astype(np.int64)
        tilt = effect[np.arange(n_models), guess]
        return cls(
            guess,
            tilt,
            _with_classes(n_classes, weights),
            np.zeros(n_classes + weights.shape[1], dtype=np.bool_),
        )

    @classmethod
    def on_scores(cls, scores: Array, positive: int) -> Regression:
        """``scores`` is classifiers × items: the log-odds of two classes are a sum of smooth curves
        in them.

        Each classifier's strength has the prior of `score_curve`, most of it in common; slopes
        follow from strengths as in discriminant analysis, by the inverse correlation of the scores:
        what tells like scores apart is a small difference with a large coefficient.
        """
        from scipy.linalg import block_diag

        n_models = len(scores)
        cells = np.stack([score_bins(row, CELLS) for row in scores], axis=1).astype(np.int64)
        curves = [curve_basis(np.bincount(cell))[:, 1:] for cell in cells.T]
        x = np.stack([curve[cell, 0] for curve, cell in zip(curves, cells.T)])
        x = (x - x.mean(axis=1, keepdims=True)) / np.maximum(x.std(axis=1, keepdims=True), 1e-9)
        inverse = np.linalg.inv(x @ x.T / x.shape[1] + NEARLY_EQUAL * np.eye(n_models))
        own = 1 / n_models ** (1 / 3)
        strengths = np.column_stack([np.ones(n_models), own * np.eye(n_models)])
        slopes = block_diag(*(curve[:, :1] for curve in curves)) @ inverse @ strengths
        bends = block_diag(
            *(own * size * curve[:, 1:] for curve, size in zip(curves, np.sqrt(np.diag(inverse))))
        )
        design = _with_classes(2, np.hstack([slopes, bends]))
        heavy = np.zeros(design.shape[1], dtype=np.bool_)
        heavy[2 : 3 + n_models] = True  # some classifiers are nearly perfect
        height = np.array([len(curve) for curve in curves])
        return cls(np.full_like(cells, positive), cells + np.cumsum(height) - height, design, heavy)

    def posterior(self, evidence: Array, size: Array, guess: Array, tilt: Array) -> Posterior:
        """Of the standardised coefficients, at the prior's centre; one memory layout, so that loops
        compile once.
        """
        n = self.design.shape[1]
        return Posterior(
            np.zeros(n),
            np.eye(n),
            np.array(self.design, order="C"),
            np.array(self.heavy),
            np.array(evidence, dtype=float, order="C"),
            np.array(guess, dtype=np.int64, order="C"),
            np.array(tilt, dtype=np.int64, order="C"),
            np.array(size, dtype=float),
        )


def _with_classes(n_classes: int, weights: Array) -> Array:
    n, m = weights.shape
    return np.block(
        [
            [CLASS_SD * np.eye(n_classes), np.zeros((n_classes, m))],
            [np.zeros((n, n_classes)), weights],
        ]
    )


class Posterior(NamedTuple):
    """What the coefficients are drawn from: γ = mode + root z, (α, w) = design γ, and groups of
    equal items.

    ``evidence`` is p(labels | truth) of each group, ``size`` how many items it has.
    """

    mode: Array
    root: Array
    design: Array
    heavy: Array
    evidence: Array
    chosen: Array
    tilt: Array
    size: Array


@njit
def _likelihood(beta, at, slope):  # type: ignore[no-untyped-def]
    """Σ_i log Σ_c p(labels_i | c) P(c | classifiers_i), and its slope; indices and no slices,
    because everything waits for this loop.
    """
    evidence, chosen, tilt, size = at.evidence, at.chosen, at.tilt, at.size
    n_groups, n_columns, n_classes = chosen.shape[0], chosen.shape[1], evidence.shape[1]
    total, chance = 0.0, np.empty(n_classes)
    slope[:] = 0.0
    for i in range(n_groups):
        for c in range(n_classes):
            chance[c] = beta[c]
        for j in range(n_columns):
            chance[chosen[i, j]] += beta[n_classes + tilt[i, j]]
        top = chance[0]
        for c in range(1, n_classes):
            top = max(top, chance[c])
        inner, norm = 1e-300, 0.0
        for c in range(n_classes):
            chance[c] = math.exp(chance[c] - top)
            norm += chance[c]
            inner += chance[c] * evidence[i, c]
        total += size[i] * math.log(inner / norm)
        for c in range(n_classes):
            chance[c] *= size[i] * (evidence[i, c] / inner - 1 / norm)
            slope[c] += chance[c]
        for j in range(n_columns):
            slope[n_classes + tilt[i, j]] += chance[chosen[i, j]]
    return total


@njit
def log_posterior(z, at, slope):  # type: ignore[no-untyped-def]
    """Its value and its slope in z."""
    gamma = at.mode + at.root @ z
    total = _likelihood(at.design @ gamma, at, slope)
    push = slope @ at.design
    for p in range(len(gamma)):
        g = gamma[p]
        if at.heavy[p]:
            total -= 1.5 * math.log1p(g * g)
            push[p] -= 3 * g / (1 + g * g)
        else:
            total -= 0.5 * g * g
            push[p] -= g
    return total, push @ at.root


def at_mode(at: Posterior) -> Posterior:
    """Centred at the mode of the standardised coefficients, with a square root of the inverse
    curvature there.
    """
    from scipy.optimize import minimize

    slope = np.empty(len(at.design))

    def lost(z: Array) -> tuple[float, Array]:
        value, push = log_posterior(z, at, slope)
        return -value, -push

    start = np.zeros(len(at.mode))
    found = minimize(lost, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    step = 1e-4  # the gradient is exact and cheap: its differences are the curvature
    curvature = np.array([lost(found + step * e)[1] - lost(found - step * e)[1] for e in at.root])
    curvature = (curvature + curvature.T) / (4 * step)
    values, vectors = np.linalg.eigh(curvature)
    # nothing is much less certain than the prior
    return at._replace(mode=found, root=vectors / np.sqrt(np.maximum(values, 0.3)))
