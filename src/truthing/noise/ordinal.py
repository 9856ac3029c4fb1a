"""Labels on a scale: a labeler sees the true grade blurred and cuts it at thresholds of its own.

P(label ≤ k | truth c) = expit(s_t (τ_k + b_t - c)): mistakes become rarer with distance, b_t is a
labeler's severity, s_t its precision. Shared thresholds τ, and each labeler's two numbers shrunk
towards the average labeler, are learned by EM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.noise.steps import expected_counts, fix_gold, item_posteriors

LAPSE = 0.01  # of labels are any grade: nobody is beyond a slip of the pen
SEVERITY_SD, PRECISION_SD = 0.7, 0.5  # of labelers around the average one
ITERATIONS, STEP = 40, 0.02


@dataclass(frozen=True)
class Ordinal:
    """Classes are grades in order: near misses are more frequent than far ones, and each labeler is
    severe or lenient, precise or not.

    Grades that are numbers are ordered by size; name the order of others with ``classes=``.

    Parameters
    ----------
    weight : float, default 10
        How many labels of each true grade this shape is worth, beside what a labeler's own labels
        say about its confusion matrix.
    """

    weight: float = 10.0

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise InputError(f"Ordinal({self.weight}): the weight is a number of labels above 0.")

    def fit(self, labels: Labels, gold: Array | None = None) -> OrdinalFit:
        """Each labeler's severity and precision, and the confusion matrices that follow."""
        return fit_ordinal(labels, gold)


@dataclass(frozen=True, eq=False)
class OrdinalFit:
    """``confusion`` is labelers × truth × label; ``severity`` and ``precision`` have one number for
    each labeler."""

    thresholds: Array
    severity: Array
    precision: Array
    prior: Array
    posterior: Array

    @property
    def confusion(self) -> Array:
        return ordinal_tables(self.thresholds, self.severity, self.precision)


def ordinal_tables(thresholds: Array, severity: Array, precision: Array) -> Array:
    """Labelers × truth × label.

    >>> ordinal_tables(np.array([0.5, 1.5]), np.zeros(1), np.array([4.0]))[0].round(2).tolist()
    [[0.88, 0.12, 0.01], [0.12, 0.76, 0.12], [0.01, 0.12, 0.88]]
    """
    n = len(thresholds) + 1
    at = thresholds[None, None, :] + severity[:, None, None] - np.arange(n)[None, :, None]
    below = 1 / (1 + np.exp(-np.clip(at * precision[:, None, None], -40, 40)))
    edges = np.concatenate(
        [np.zeros_like(below[:, :, :1]), below, np.ones_like(below[:, :, :1])], 2
    )
    return np.asarray((1 - LAPSE) * np.diff(edges, axis=2) + LAPSE / n)


def fit_ordinal(labels: Labels, gold: Array | None = None) -> OrdinalFit:
    """EM from a soft majority vote; the M step climbs one coordinate after the other."""
    n, n_labelers = labels.n_classes, labels.n_labelers
    votes = labels.weight.astype(float)
    posterior = labels.counts() + 0.3
    posterior = posterior / posterior.sum(axis=1, keepdims=True)
    fix_gold(posterior, gold)
    thresholds = np.arange(n - 1) + 0.5
    severity, precision = np.zeros(n_labelers), np.full(n_labelers, np.log(3.0))
    item, labeler, label = (np.asarray(x, dtype=np.int64) for x in _columns(labels))
    for _ in range(ITERATIONS):
        counts = expected_counts(item, labeler, label, votes, posterior, n_labelers)
        typical = precision.mean()
        for _ in range(2):
            severity = _climb(0, counts, thresholds, severity, precision, typical)
            precision = _climb(1, counts, thresholds, severity, precision, typical)
        for k in range(n - 1):
            thresholds = _climb_threshold(counts, thresholds, k, severity, precision)
        rows = ordinal_tables(thresholds, severity, np.exp(precision))
        prior = (posterior.sum(axis=0) + 1) / (len(posterior) + n)
        before = posterior
        start = np.tile(np.log(prior), (labels.n_items, 1))
        posterior = item_posteriors(item, labeler, label, votes, np.log(rows), start)
        fix_gold(posterior, gold)
        if np.abs(posterior - before).max() < 1e-3:
            break
    return OrdinalFit(thresholds, severity, np.exp(precision), prior, posterior)


def _columns(labels: Labels) -> tuple[Array, Array, Array]:
    return labels.item, labels.labeler, labels.label


def _score(counts: Array, thresholds: Array, severity: Array, precision: Array) -> Array:
    """Each labeler's expected log-likelihood; ``precision`` is a logarithm."""
    rows = ordinal_tables(thresholds, severity, np.exp(precision))
    return np.asarray((counts * np.log(rows)).sum(axis=(1, 2)))


def _climb(
    which: int,
    counts: Array,
    thresholds: Array,
    severity: Array,
    precision: Array,
    typical: float,
) -> Array:
    """One damped Newton step of every labeler's severity (0) or log precision (1), by
    differences."""

    def score(by: Array | float) -> Array:
        mild, sharp = (severity + by, precision) if which == 0 else (severity, precision + by)
        shrunk = (mild / SEVERITY_SD) ** 2 + ((sharp - typical) / PRECISION_SD) ** 2
        return _score(counts, thresholds, mild, sharp) - 0.5 * shrunk

    middle, up, down = score(0.0), score(STEP), score(-STEP)
    slope, curve = (up - down) / (2 * STEP), (up - 2 * middle + down) / STEP**2
    by = np.clip(slope / np.maximum(-curve, 0.5), -0.5, 0.5)
    return np.asarray((precision if which else severity) + np.where(score(by) >= middle, by, 0.0))


def _climb_threshold(
    counts: Array, thresholds: Array, k: int, severity: Array, precision: Array
) -> Array:
    """The same for one shared threshold, which stays between its neighbours."""

    def moved(by: float) -> Array:
        out = thresholds.copy()
        out[k] += by
        return out

    def score(by: float) -> float:
        own = -0.5 * (moved(by)[k] - k - 0.5) ** 2
        return float(_score(counts, moved(by), severity, precision).sum() + own)

    middle, up, down = score(0.0), score(STEP), score(-STEP)
    slope, curve = (up - down) / (2 * STEP), (up - 2 * middle + down) / STEP**2
    by = float(np.clip(slope / max(-curve, 0.5), -0.3, 0.3))
    low = thresholds[k - 1] + 0.1 if k else -np.inf
    high = thresholds[k + 1] - 0.1 if k + 1 < len(thresholds) else np.inf
    by = float(np.clip(thresholds[k] + by, low, high) - thresholds[k])
    return moved(by) if score(by) >= middle else thresholds
