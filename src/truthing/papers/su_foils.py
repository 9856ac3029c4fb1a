"""The ways Su sets beside its own: labelers one by one, labels estimated, predictions ignored, a
prior averaged over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.counts import Tally, evaluate
from truthing.metrics.estimate import Estimate
from truthing.metrics.face_value import confusion_against
from truthing.noise.steps import fix_gold
from truthing.papers.su import operating_matrix
from truthing.truth.draws import draw_confusion
from truthing.truth.question import Question


@dataclass(frozen=True, eq=False)
class PointAnswer:
    """Numbers without uncertainty, from one or more confusion matrices; ``centre`` merges what
    several say.
    """

    classes: tuple[Any, ...]
    positive: int | None
    matrices: Array
    centre: str = "mean"

    def estimate(self, name: str) -> Estimate:
        values = evaluate(
            name, Tally.from_confusion(self.matrices), classes=self.classes, positive=self.positive
        )
        known = values[~np.isnan(values)]
        if len(known) == 0:
            return Estimate.exactly(np.nan)
        return Estimate.exactly(
            float(np.mean(known) if self.centre == "mean" else np.median(known))
        )

    @property
    def confusion(self) -> ConfusionMatrix:
        flat = self.matrices.reshape(len(self.matrices), -1)
        merged = flat.mean(axis=0) if self.centre == "mean" else spatial_median(flat)
        return ConfusionMatrix.from_dense(merged.reshape(1, *self.matrices.shape[1:]))


def labeler_matrices(labels: Labels, predicted: Array) -> Array:
    """Each labeler's labels taken for the truth: confusion counts scaled by N / (number of its
    labels).
    """
    n = labels.n_classes
    cell = (labels.labeler.astype(np.int64) * n + labels.label) * n + predicted[labels.item]
    counts = np.bincount(cell, weights=labels.weight, minlength=labels.n_labelers * n * n).reshape(
        -1, n, n
    )
    seen = counts.sum(axis=(1, 2))
    return counts[seen > 0] * (labels.n_items / seen[seen > 0])[:, None, None]


def spatial_median(points: Array, *, tolerance: float = 1e-10, most: int = 1000) -> Array:
    """Multivariate L1 median by the modified Weiszfeld algorithm of Vardi & Zhang (2000).

    >>> spatial_median(np.array([[0.0], [1.0], [10.0]])).round(6).tolist()
    [1.0]
    """
    centre = points.mean(axis=0)
    for _ in range(most):
        distance = np.linalg.norm(points - centre, axis=1)
        here = distance < 1e-12
        weight = np.where(here, 0, 1 / np.where(here, 1, distance))
        if weight.sum() == 0:
            return centre
        pull = weight @ points / weight.sum()
        resultant = np.linalg.norm(weight @ (points - centre))
        # at a data point the step shrinks by the number of points there: Vardi and Zhang's
        # correction
        share = (
            min(1.0, here.sum() / resultant) if here.any() and resultant > 0 else float(here.any())
        )
        new = (1 - share) * pull + share * centre
        if np.linalg.norm(new - centre) < tolerance * (1 + np.linalg.norm(centre)):
            return new
        centre = new
    return centre


def majority_matrix(labels: Labels, predicted: Array, gold: Array) -> tuple[Array, int]:
    """Confusion against the most frequent label, ties shared equally; gold where known; and the
    number of ties.
    """
    votes = labels.counts().astype(float)
    top = (votes == votes.max(axis=1, keepdims=True)) & (votes.max(axis=1, keepdims=True) > 0)
    fix_gold(top, gold)
    share = top / np.maximum(top.sum(axis=1, keepdims=True), 1)
    matrix = confusion_against(share, predicted)
    return matrix, int((top.sum(axis=1) > 1).sum())


def average_over_prior(
    question: Question, n_draws: int, rng: np.random.Generator, points: int = 200
) -> tuple[ConfusionMatrix, Array]:
    """The paper's "fully Bayesian" foil: the operating point drawn from a uniform *prior*, not from
    its posterior.
    """
    n = question.n_classes
    each = max(1, n_draws // points)
    parts, truth = [], np.zeros((len(question.groups), n))
    for _ in range(points):
        if n == 2 and question.positive is not None:
            matrix = operating_matrix(rng.random(), rng.random(), question.positive)
        else:
            matrix = rng.dirichlet(np.ones(n), size=n)
        posterior = question.groups.posterior(matrix, question.class_prior)
        truth += posterior / points
        confusion = draw_confusion(posterior, question.groups, each, rng)
        dense = np.zeros((each, n, n))
        dense[:, confusion.cells[:, 0], confusion.cells[:, 1]] = confusion.draws
        parts.append(dense)
    return ConfusionMatrix.from_dense(np.concatenate(parts)), truth
