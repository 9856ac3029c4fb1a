"""Agreement on a scale: Krippendorff's ordinal α and the quadratic-weighted κ (docs/scales.md)."""

from __future__ import annotations

from functools import partial

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.people.agreement import Coefficient, Shares, coefficient


def graded_agreement(labels: Labels, values: Array) -> dict[str, Coefficient]:
    """Both coefficients; ``values`` are those of the grades, classes in order."""
    order = np.argsort(values, kind="stable")
    votes = labels.counts()[:, order].astype(float)
    votes = votes[votes.sum(axis=1) > 1]
    kinds, size = np.unique(votes, axis=0, return_counts=True)
    sums = _coincidences(kinds)
    squared = (values[order][:, None] - values[order]) ** 2
    return {
        "ordinal_alpha": coefficient(_ordinal_alpha, sums, size),
        "weighted_kappa": coefficient(partial(_weighted_kappa, squared=squared), sums, size),
    }


def _coincidences(votes: Array) -> Array:
    """Pairs of labels of each kind of item, by both grades: o_ck = Σ v_c (v_k - [c = k]) / (m - 1),
    flat."""
    n = votes.shape[1]
    pairs = votes[:, :, None] * votes[:, None, :]
    pairs[:, np.arange(n), np.arange(n)] -= votes
    return np.asarray((pairs / (votes.sum(axis=1) - 1)[:, None, None]).reshape(len(votes), -1))


def _table(sums: Array) -> tuple[Array, Array, Array]:
    n = int(np.sqrt(sums.shape[-1]))
    table = sums.reshape(*sums.shape[:-1], n, n)
    share = table.sum(axis=-1)
    return table, share, share.sum(axis=-1)


def _ordinal_alpha(sums: Array) -> Shares:
    """δ²_ck = (n_c / 2 + n between + n_k / 2)²: how many labels lie between two grades."""
    table, count, total = _table(sums)
    middle = np.cumsum(count, axis=-1) - count / 2
    distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    observed = (table * distance).sum(axis=(-1, -2)) / total
    by_chance = (count[..., :, None] * count[..., None, :] * distance).sum(axis=(-1, -2))
    expected = by_chance / (total * (total - 1))
    most = total**2
    return 1 - observed / most, 1 - expected / most


def _weighted_kappa(sums: Array, squared: Array) -> Shares:
    """For several labelers alike: disagreement weighs with the squared difference of grades."""
    table, count, total = _table(sums)
    observed = (table * squared).sum(axis=(-1, -2)) / total
    share = count / total[..., None]
    expected = (share[..., :, None] * share[..., None, :] * squared).sum(axis=(-1, -2))
    most = float(squared.max())
    return 1 - observed / most, 1 - expected / most
