"""Su's testing algorithms: the operating point by iteration (Alg. 1-4), then the posterior of every
metric.

Given the operating point K (truth in rows), Su (10) gives each item's posterior. Alg. 1 takes
E[P_D] and E[P_FA] from ratios of normals, Alg. 2 and 4 from sampled answer keys, Alg. 3 from the
most probable labels. All are plug-in methods: the operating point is then treated as known, which
is why their intervals are too narrow (docs/honesty.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate
from truthing.papers.ratio import NormalRatio, normal_estimate
from truthing.truth.draws import DrawnAnswer, LateDraws, draw_confusion
from truthing.truth.exact import ExactQuestion
from truthing.truth.groups import Groups
from truthing.truth.question import Question

TOLERANCE, MOST_ITERATIONS = 1e-3, 30
Update = Callable[[Groups, Array], Array]


@dataclass(frozen=True)
class OperatingPoint:
    """P(prediction | truth), truth in rows, as an algorithm left it."""

    matrix: Array
    iterations: int
    converged: bool
    path: list[Array]


def find_operating_point(
    question: Question,
    update: Update,
    *,
    start: Array | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST_ITERATIONS,
) -> OperatingPoint:
    """Repeat ``update`` on the groups' posterior until no entry moves by ``tolerance``."""
    n = question.n_classes
    margin = min(1e-3, 0.01 / n)
    matrix = np.full((n, n), 1 / n) if start is None else start
    path = [matrix]
    for iteration in range(1, most + 1):
        new = keep_inside(
            update(question.groups, question.groups.posterior(matrix, question.class_prior)), margin
        )
        moved = np.abs(new - matrix).max()
        matrix = new
        path.append(matrix)
        if moved < tolerance:
            return OperatingPoint(matrix, iteration, True, path)
    return OperatingPoint(matrix, most, most == 0, path)


def keep_inside(matrix: Array, margin: float) -> Array:
    """Rows that sum to one with every entry at least ``margin`` (the paper's α)."""
    clipped = np.clip(np.nan_to_num(matrix, nan=1 / matrix.shape[1]), margin, 1 - margin)
    excess = clipped - margin
    total = excess.sum(axis=1, keepdims=True)
    spare = 1 - margin * matrix.shape[1]
    return (
        margin
        + excess * np.where(total > 0, spare / np.where(total > 0, total, 1), 0)
        + np.where(total > 0, 0, spare / matrix.shape[1])
    )


def operating_matrix(detect: float, alarm: float, positive: int) -> Array:
    """(p_D, p_FA) as a matrix with the truth in rows."""
    matrix = np.empty((2, 2))
    matrix[positive, positive], matrix[1 - positive, positive] = detect, alarm
    matrix[:, 1 - positive] = 1 - matrix[:, positive]
    return matrix


# ---- updates


def expected_counts(groups: Groups, posterior: Array) -> Array:
    """Expected confusion counts, truth in rows."""
    n = posterior.shape[1]
    return np.stack(
        [
            np.bincount(groups.predicted, weights=posterior[:, y] * groups.size, minlength=n)
            for y in range(n)
        ]
    )


def most_probable(posterior: Array) -> Array:
    """The most probable class of each group, as a posterior that is sure of it."""
    certain = np.zeros_like(posterior)
    certain[np.arange(len(posterior)), posterior.argmax(axis=1)] = 1.0
    return certain


def by_expectation(groups: Groups, posterior: Array) -> Array:
    """Expected counts, rows normalised: the EM algorithm for the maximum-likelihood operating
    point.
    """
    counts = expected_counts(groups, posterior)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / posterior.shape[1])


def by_ratios(positive: int, *, shortcut: bool = False) -> Update:
    """Alg. 1: means of P_D and P_FA as ratios of normals, integrated; ``shortcut`` takes the
    paper's approximate mean.
    """

    def update(groups: Groups, posterior: Array) -> Array:
        moments = Moments.of(groups, posterior, positive)
        return operating_matrix(
            moments.mean("recall", shortcut), moments.mean("false_alarm", shortcut), positive
        )

    return update


def by_sampling(n_draws: int, rng: np.random.Generator) -> Update:
    """Alg. 2 and 4: the empirical conditional confusion matrix, averaged over sampled answer
    keys.
    """

    def update(groups: Groups, posterior: Array) -> Array:
        confusion = draw_confusion(posterior, groups, n_draws, rng)
        rows = confusion.tally.truth
        share = confusion.draws / np.where(rows == 0, np.nan, rows)[:, confusion.cells[:, 0]]
        known = ~np.isnan(share)
        mean = np.where(
            known.any(axis=0),
            np.where(known, share, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1),
            np.nan,
        )
        matrix = np.zeros((confusion.n_classes, confusion.n_classes))
        matrix[confusion.cells[:, 0], confusion.cells[:, 1]] = mean
        empty = rows.sum(axis=0) == 0
        matrix[empty] = 1 / confusion.n_classes
        return matrix

    return update


def by_estimated_labels(groups: Groups, posterior: Array) -> Array:
    """Alg. 3: the most probable labels taken for the truth."""
    return by_expectation(groups, most_probable(posterior))


# ---- Alg. 1's posteriors


@dataclass(frozen=True)
class Moments:
    """Su (11-16): means and variances of U and V, shares of N, for one class against the rest; ν
    predicted so.
    """

    mean_u: float
    mean_v: float
    var_u: float
    var_v: float
    share: float

    @classmethod
    def of(cls, groups: Groups, posterior: Array, positive: int) -> Moments:
        n = groups.size.sum()
        chosen = groups.predicted == positive
        p = posterior[:, positive]
        first, second = p * groups.size / n, p * (1 - p) * groups.size / n**2
        return cls(
            float(first[chosen].sum()),
            float(first[~chosen].sum()),
            float(second[chosen].sum()),
            float(second[~chosen].sum()),
            float(groups.size[chosen].sum() / n),
        )

    def parts(self, base: str, beta: float = 1.0) -> tuple[float, float, float, float, float]:
        """Means, variances and covariance of numerator and denominator (the spec's table of Z' and
        W').
        """
        u, w, su, sw = self.mean_u, self.mean_u + self.mean_v, self.var_u, self.var_u + self.var_v
        if base == "recall":
            return u, w, su, sw, su
        if base == "false_alarm":
            return self.share - u, 1 - w, su, sw, su
        square = beta**2
        return (
            (1 + square) * u,
            square * w + self.share,
            (1 + square) ** 2 * su,
            square**2 * sw,
            square * (1 + square) * su,
        )

    def estimate(self, base: str, beta: float = 1.0) -> Estimate:
        mean_z, mean_w, var_z, var_w, cov = self.parts(base, beta)
        if var_w <= 0:
            return Estimate.exactly(mean_z / mean_w if mean_w > 0 else float("nan"))
        floor = (
            1e-10 * var_w
        )  # a numerator without variance would divide by zero; this adds nothing visible
        return NormalRatio.of(mean_z, mean_w, max(var_z, floor), var_w, cov).estimate()

    def mean(self, base: str, shortcut: bool = False) -> float:
        mean_z, mean_w, var_z, var_w, cov = self.parts(base)
        if shortcut and var_z > 0 and var_w > 0:
            reduced = NormalRatio.of(mean_z, mean_w, var_z, var_w, cov)
            if reduced.shortcut_holds:
                return float(np.clip(reduced.shortcut_mean(), 0, 1))
        return self.estimate(base).mean


@dataclass(frozen=True, eq=False)
class RatioAnswer:
    """Alg. 1: accuracy and precision normal, recall, false alarms and F as ratios of normals; the
    rest is drawn.
    """

    classes: tuple[Any, ...]
    positive: int
    groups: Groups
    posterior: Array
    drawn: DrawnAnswer | LateDraws

    def estimate(self, name: str) -> Estimate:
        if name in ("accuracy", "error"):
            m = self.moments(self.positive)
            mean = m.mean_u - m.mean_v - m.share + 1
            return normal_estimate(
                mean if name == "accuracy" else 1 - mean, float(np.sqrt(m.var_u + m.var_v))
            )
        asked = ExactQuestion.parse(name, self.classes, self.positive)
        if asked is None:
            return self.drawn.estimate(name)
        m = self.moments(asked.cls)
        if asked.base == "precision":
            return (
                Estimate.exactly(np.nan)
                if m.share == 0
                else normal_estimate(m.mean_u / m.share, float(np.sqrt(m.var_u)) / m.share)
            )
        if asked.base == "specificity":
            flipped = m.estimate("false_alarm")
            return Estimate(
                1 - flipped.values[::-1],
                flipped.weights[::-1],
                flipped.kind,
                undefined=flipped.undefined,
            )
        return m.estimate(asked.base, asked.beta)

    def moments(self, cls: int) -> Moments:
        return Moments.of(self.groups, self.posterior, cls)

    @property
    def confusion(self) -> Any:
        return self.drawn.confusion
