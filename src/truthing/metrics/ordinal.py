"""Metrics of grades on a scale, from draws of the confusion matrix: how far apart, not only
whether.

With v the grades' values, e the share of items in each cell of the confusion matrix:
mean absolute error Σ e_ck |v_c - v_k|; quadratic-weighted κ = 1 - Σ e_ck (v_c - v_k)² / Σ e_c e_k
(v_c - v_k)²; mean score Σ e_c v_c, of the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.counts import evaluate, ratio
from truthing.metrics.estimate import Estimate

ORDINAL = ("weighted_kappa", "mean_absolute_error", "mean_score")


def scale_values(classes: Sequence[Any], *, ordered: bool = False) -> Array:
    """The grades' values: the numbers that they are, or their places in the order.

    >>> scale_values(("1", "2", "4")).tolist(), scale_values(("I", "P", "C"), ordered=True).tolist()
    ([1.0, 2.0, 4.0], [0.0, 1.0, 2.0])
    """
    try:
        values = np.array([float(str(c)) for c in classes])
        if np.isfinite(values).all():
            return values
    except ValueError:
        pass
    if not ordered:
        raise InputError(
            f"grades {', '.join(map(repr, classes[:6]))} are not numbers: give their order with "
            "`classes=...`, and say `scale='ordinal'`."
        )
    return np.arange(len(classes), dtype=float)


def ordinal_metric(name: str, confusion: ConfusionMatrix, values: Array) -> Array:
    """One of `ORDINAL` for every draw."""
    truth, predicted = confusion.tally.truth, confusion.tally.predicted
    first, second = values[confusion.cells[:, 0]], values[confusion.cells[:, 1]]
    total = truth.sum(axis=1)
    if name == "mean_score":
        return ratio(truth @ values, total, np.nan)
    if name == "mean_absolute_error":
        return ratio(confusion.draws @ np.abs(first - second), total, np.nan)
    squared = ratio(confusion.draws @ (first - second) ** 2, total, np.nan)
    return weighted_kappa(squared, *_moments(truth, values), *_moments(predicted, values))


def weighted_kappa(squared: Array, mean: Array, spread: Array, other: Array, width: Array) -> Array:
    """From the mean squared difference, and mean and variance of both ratings."""
    return 1 - ratio(squared, spread + width + (mean - other) ** 2, np.nan)


def _moments(counts: Array, values: Array) -> tuple[Array, Array]:
    total = counts.sum(axis=1)
    mean = ratio(counts @ values, total, np.nan)
    return mean, ratio(counts @ values**2, total, np.nan) - mean**2


def drawn_metric(
    name: str,
    confusion: ConfusionMatrix,
    *,
    classes: Sequence[Any],
    positive: int | None,
    support: tuple[float, float],
    values: Array | None = None,
    slack: float = 1.0,
) -> Estimate:
    """Any metric of draws of a confusion matrix."""
    if name not in ORDINAL:
        found = evaluate(name, confusion.tally, classes=classes, positive=positive)
        return Estimate.from_draws(found, support=support, slack=slack)
    grades = scale_values(classes) if values is None else values
    low, high = float(grades.min()), float(grades.max())
    supports = {"weighted_kappa": (-1.0, 1.0), "mean_absolute_error": (0.0, high - low)}
    support = supports.get(name, (low, high))
    found = ordinal_metric(name, confusion, grades)
    return Estimate.from_draws(found, support=support, slack=slack)


def face_values(table: Array, values: Array | None) -> dict[str, float]:
    """The metrics of `ORDINAL` for one confusion matrix; none where classes are no scale."""
    if values is None:
        return {}
    confusion = ConfusionMatrix.from_dense(np.asarray(table, dtype=float)[None])
    return {name: float(ordinal_metric(name, confusion, values)[0]) for name in ORDINAL}
