"""Lam & Stork's Eq. 5 and 6: the true confusion matrix behind one labeler with a known confusion
matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_seed
from truthing.class_codes import Array
from truthing.errors import InputError, NotIdentified
from truthing.metrics.counts import ratio
from truthing.metrics.estimate import credible_interval
from truthing.noise.base import check_confusion


@dataclass(frozen=True)
class TrueConfusion:
    """The classifier's confusion matrix, P(prediction | truth) with the truth in rows, and what
    follows from it.
    """

    confusion: Array
    prior: Array
    precision: Array
    recall: Array
    raw_confusion: Array
    raw_prior: Array
    clipped: bool
    condition: float
    warnings: list[str]
    assumptions: list[str]
    draws: Array | None = field(default=None, repr=False)

    @property
    def error(self) -> float:
        """Total error rate of the classifier."""
        return float(1 - self.prior @ np.diag(self.confusion))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Limits for each entry of the confusion matrix, when the joint table held counts."""
        if self.draws is None:
            raise InputError("no interval from proportions: give the joint table as counts.")
        return credible_interval(self.draws, level)

    def __str__(self) -> str:
        rows = "\n".join("  " + "  ".join(f"{v:.4f}" for v in row) for row in self.confusion)
        prior = ", ".join(f"{p:.4f}" for p in self.prior)
        return (
            f"P(prediction | truth), truth in rows:\n{rows}\nclass prior {prior}\nerror "
            f"{self.error:.4f}"
        )


def true_confusion(
    joint: Any, labeler_confusion: Any, *, draws: int = 4000, seed: int = 0
) -> TrueConfusion:
    """The classifier's true confusion matrix and the class prior, for a labeler with a known one.

    Lam & Stork Eq. 5 and 6 with the truth in rows: ``joint = L.T @ diag(prior) @ K``.

    Parameters
    ----------
    joint : matrix
        Labels in rows, predictions in columns, as counts or proportions; counts give intervals.
    labeler_confusion : matrix
        P(label | truth), truth in rows.
    draws : int, default 4000
        Draws behind the intervals.
    seed : int, default 0
        Same seed, same answer.

    Returns
    -------
    TrueConfusion
        ``confusion`` and ``prior``.

    See Also
    --------
    grade : the same question for many labelers of unknown quality.

    Examples
    --------
    >>> L = np.array([[0.9, 0.1], [0.2, 0.8]]); K = np.array([[0.7, 0.3], [0.1,
    ...     0.9]]); p = np.array([0.6, 0.4])
    >>> true_confusion(L.T @ np.diag(p) @ K, L).confusion.round(6).tolist()
    [[0.7, 0.3], [0.1, 0.9]]
    """
    draws, seed = as_draws(draws), as_seed(seed)
    table = np.asarray(joint, dtype=float)
    labeler = check_confusion(labeler_confusion, "labeler_confusion")
    if table.ndim != 2 or table.shape[0] != labeler.shape[0]:
        raise InputError(
            f"the joint table has shape {table.shape}; it needs a row for each of the "
            f"{labeler.shape[0]} labels."
        )
    if not np.isfinite(table).all() or (table < 0).any() or table.sum() == 0:
        raise InputError(
            "the joint table must hold counts or proportions: no negative entries, not all zero."
        )
    condition = float(np.linalg.cond(labeler))
    if condition > 1e6:
        raise NotIdentified(
            f"the labeler's confusion matrix is singular (condition number {condition:.3g}): "
            "its labels cannot tell some classes apart. "
            "Merge those classes or use other labelers."
        )
    total = table.sum()
    raw_confusion, raw_prior = _invert(table / total, labeler)
    confusion, prior = _project(raw_confusion, raw_prior)
    clipped = bool(
        (raw_confusion < -1e-12).any()
        or (raw_confusion > 1 + 1e-12).any()
        or (raw_prior < -1e-12).any()
    )
    warnings = []
    if clipped:
        warnings.append(
            "Some raw entries lie outside [0, 1] and were projected: sampling error, a wrong "
            "labeler matrix, or dependence."
        )
    if condition > 100:
        warnings.append(
            f"The labeler's matrix is close to singular (condition number {condition:.0f}): "
            "small errors in it are magnified."
        )
    samples = None
    if total > 1.5 and np.allclose(table, np.round(table)):
        gamma = np.random.default_rng(seed).gamma(table + 0.5, size=(draws, *table.shape))
        shares = gamma / gamma.sum(axis=(1, 2), keepdims=True)
        samples = np.stack([_project(*_invert(share, labeler))[0] for share in shares])
    weighted = prior[:, None] * confusion
    square = weighted.shape[0] == weighted.shape[1]
    diagonal = np.diag(weighted) if square else np.full(len(prior), np.nan)
    return TrueConfusion(
        confusion,
        prior,
        precision=ratio(diagonal, weighted.sum(axis=0) if square else np.ones(len(prior)), np.nan),
        recall=np.diag(confusion) if square else diagonal,
        raw_confusion=raw_confusion,
        raw_prior=raw_prior,
        clipped=clipped,
        condition=condition,
        warnings=warnings,
        assumptions=[
            "Labels and predictions are independent given the truth; the labeler's matrix is exact."
        ],
        draws=samples,
    )


def _invert(joint: Array, labeler: Array) -> tuple[Array, Array]:
    unmixed = np.linalg.solve(labeler.T, joint)
    prior = unmixed.sum(axis=1)
    return unmixed / np.where(np.abs(prior) < 1e-12, np.nan, prior)[:, None], prior


def _project(confusion: Array, prior: Array) -> tuple[Array, Array]:
    clean = np.clip(np.nan_to_num(confusion, nan=1 / confusion.shape[1]), 0, None)
    share = np.clip(prior, 0, None)
    return clean / clean.sum(axis=1, keepdims=True), share / share.sum()
