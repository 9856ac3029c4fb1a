"""Obuchowski and Rockette's analysis with Hillis's degrees of freedom.

θ_ij, the figure of merit of reader j in modality i, is a reader's effect plus an error whose
covariances over cases are estimated: Cov1 (same reader, two modalities), Cov2 (two readers, one
modality), Cov3 (two and two). Readers and cases are both random, so the answer is about others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array

METRICS = ("auc", "accuracy", "sensitivity", "specificity")


class Inference(NamedTuple):
    """An estimate, its standard error and its degrees of freedom. The limits of a share or an area
    are found on the logit scale: with few readers straight ones held in .90 of simulations only.
    """

    value: float
    error: float
    freedom: float
    share: bool = False

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        from scipy.stats import t

        reach = float(t.ppf((1 + level) / 2, self.freedom)) * self.error if self.error > 0 else 0.0
        if not self.share or not 0 < self.value < 1:
            return self.value - reach, self.value + reach
        odds = self.value / (1 - self.value)
        away = np.exp(reach / (self.value * (1 - self.value)))
        return float(odds / (odds + away)), float(odds * away / (odds * away + 1))

    @property
    def p_value(self) -> float:
        """Two-sided, against 0."""
        from scipy.stats import t

        if self.error <= 0:
            return 1.0 if self.value == 0 else 0.0
        return float(2 * t.sf(abs(self.value) / self.error, self.freedom))


def merit(
    score: Array, diseased: Array, metric: str, threshold: float | None
) -> tuple[Array, Array]:
    """Figures of merit (modalities × readers) and the covariance of all of them over cases."""
    flat = score.reshape(-1, score.shape[2])
    value, covariance = (
        _auc(flat, diseased)
        if metric == "auc"
        else _share(flat, diseased, metric, 0.5 if threshold is None else threshold)
    )
    return value.reshape(score.shape[:2]), covariance


def _auc(flat: Array, diseased: Array) -> tuple[Array, Array]:
    """Areas under the curves and DeLong's covariance, from placements of each case."""
    sick, well = flat[:, diseased], flat[:, ~diseased]
    of_sick, of_well = [], []
    for x, y in zip(sick, well):
        order = np.sort(y)
        below, upto = np.searchsorted(order, x, "left"), np.searchsorted(order, x, "right")
        of_sick.append((below + upto) / 2 / len(y))
        order = np.sort(x)
        below, upto = np.searchsorted(order, y, "left"), np.searchsorted(order, y, "right")
        of_well.append(1 - (below + upto) / 2 / len(x))
    one, other = np.array(of_sick), np.array(of_well)
    spread = (
        np.atleast_2d(np.cov(one)) / one.shape[1] + np.atleast_2d(np.cov(other)) / other.shape[1]
    )
    return one.mean(axis=1), spread


def _share(flat: Array, diseased: Array, metric: str, threshold: float) -> tuple[Array, Array]:
    """Share of right calls at a threshold, and its covariance."""
    right = (flat >= threshold) == diseased
    if metric != "accuracy":
        right = right[:, diseased if metric == "sensitivity" else ~diseased]
    return right.mean(axis=1), np.atleast_2d(np.cov(right)) / right.shape[1]


def covariances(matrix: Array, n_modalities: int, n_readers: int) -> tuple[float, float, float]:
    """Cov1, Cov2 and Cov3: means of the entries of each kind."""
    arm = np.repeat(np.arange(n_modalities), n_readers)
    who = np.tile(np.arange(n_readers), n_modalities)
    same_arm, same_reader = arm[:, None] == arm, who[:, None] == who
    kinds = (same_reader & ~same_arm, same_arm & ~same_reader, ~same_arm & ~same_reader)
    first, second, third = (float(matrix[kind].mean()) if kind.any() else 0.0 for kind in kinds)
    return first, second, third


def one_modality(value: Array, matrix: Array) -> Inference:
    """The reader-averaged figure of one modality (value: readers; matrix: their covariance)."""
    n = len(value)
    _, between, _ = covariances(matrix, 1, n)
    spread = float(value.var(ddof=1))
    whole = spread + n * max(between, 0.0)
    freedom = whole**2 / (spread**2 / (n - 1)) if spread > 0 else np.inf
    return Inference(float(value.mean()), float(np.sqrt(whole / n)), float(freedom), share=True)


def difference(value: Array, matrix: Array) -> Inference:
    """The second modality minus the first, reader-averaged."""
    n = value.shape[1]
    _, second, third = covariances(matrix, 2, n)
    centred = value - value.mean(axis=1, keepdims=True) - value.mean(axis=0) + value.mean()
    spread = float((centred**2).sum() / (n - 1))
    whole = spread + n * max(second - third, 0.0)
    freedom = whole**2 / (spread**2 / (n - 1)) if spread > 0 else np.inf
    gap = float(value[1].mean() - value[0].mean())
    return Inference(gap, float(np.sqrt(2 / n * whole)), float(freedom))
