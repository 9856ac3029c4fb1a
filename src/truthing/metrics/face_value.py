"""Metrics against the labels as they are: what one would report without this library."""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels


def face_value(labels: Labels, predicted: Array, weight: Array | None = None) -> Array:
    """Confusion against the labels as they are, every item counting once however many labels it
    has, or by its ``weight``.

    >>> face_value(Labels.from_matrix([[0, 0], [0, 1]]), np.array([0, 1])).tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    votes = labels.counts().astype(float)
    share = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    return confusion_against(share if weight is None else share * weight[:, None], predicted)


def confusion_against(share: Array, predicted: Array) -> Array:
    """Expected confusion counts where each item is of each class with these shares (items ×
    classes).
    """
    n = share.shape[1]
    return np.stack([np.bincount(predicted, weights=share[:, y], minlength=n) for y in range(n)])
