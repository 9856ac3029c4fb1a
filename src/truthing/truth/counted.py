"""What can be counted about a panel before any model is fitted: who labelled how much, which items
are disputed, who can be compared with whom. All of it adds up over shards of items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.engine.base import Engine, Shard
from truthing.metrics.face_value import confusion_against
from truthing.survey.gold_choice import N_STRATA, seen_strata
from truthing.truth.passes import count_keys, votes_pass


@dataclass(eq=False)
class Counted:
    """``given`` are labels by key, ``hits`` by labeler those that say what the classifier says;
    ``circle`` names for each labeler one whom chains of shared items connect it with;
    ``strata`` counts items that look alike, ``gold_strata`` has number and stratum of gold items;
    ``face_value`` is the confusion against the labels as they are, ``shares`` its classes."""

    n_items: int
    given: Array
    hits: Array
    circle: Array
    labelled: int
    doubly: int
    most: float
    strata: Array
    gold_strata: Array
    face_value: Array
    shares: Array
    predicted: Array

    def __iadd__(self, other: Counted) -> Counted:
        self.n_items += other.n_items
        self.given += other.given
        self.hits += other.hits
        _merge_circles(self.circle, other.circle)
        self.labelled += other.labelled
        self.doubly += other.doubly
        self.most = max(self.most, other.most)
        self.strata += other.strata
        self.gold_strata = np.concatenate([self.gold_strata, other.gold_strata])
        self.face_value += other.face_value
        self.shares += other.shares
        self.predicted += other.predicted
        return self


@dataclass(frozen=True, eq=False)
class CountedPanel:
    """A panel that is not in memory: what `Labels` says of itself, from sums over its shards."""

    classes: tuple[Any, ...]
    labelers: tuple[Any, ...]
    engine: Engine
    found: Counted
    anonymous: bool = False

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_labelers(self) -> int:
        return len(self.labelers)

    @property
    def n_items(self) -> int:
        return self.found.n_items

    @property
    def n_labels(self) -> int:
        return round(float(self.found.given.sum()))

    @property
    def per_class(self) -> Array:
        return np.asarray(self.found.given.reshape(-1, self.n_classes).sum(axis=0))

    @property
    def per_labeler(self) -> Array:
        return np.round(self.found.given.reshape(-1, self.n_classes).sum(axis=1)).astype(np.int64)


def count_panel(shard: Shard) -> Counted:
    """Everything that is counted, of one shard."""
    n_classes, n_labelers = shard.n_classes, shard.n_labelers
    votes = votes_pass(shard)
    given = votes.sum(axis=1)
    share = votes / np.maximum(given, 1)[:, None]
    known = shard.known >= 0 if len(shard.known) else np.zeros(shard.n_items, dtype=bool)
    circle, hits = np.arange(n_labelers, dtype=np.int32), np.zeros(n_labelers)
    _connect(*shard.arrays, n_classes, circle, hits)
    has_classifier = len(shard.predicted) > 0
    predicted = shard.predicted if has_classifier else np.zeros(shard.n_items, dtype=np.int64)
    stratum = seen_strata(votes, predicted if has_classifier else None)
    return Counted(
        shard.n_items,
        count_keys(shard)[: n_labelers * n_classes],
        hits,
        circle,
        int((given > 0).sum()),
        int((given >= 2).sum()),
        float(given.max(initial=0.0)),
        np.bincount(stratum, minlength=N_STRATA * n_classes).astype(float),
        np.column_stack([shard.known[known], stratum[known]]).astype(np.int64).reshape(-1, 2),
        confusion_against(share, predicted),
        share.sum(axis=0),
        np.bincount(predicted, minlength=n_classes).astype(float),
    )


def n_circles(panel: CountedPanel) -> int:
    """Groups of labelers that share no item with one another."""
    return len(np.unique(_roots(panel.found.circle)[panel.per_labeler > 0]))


def circles(item: Array, labeler: Array, n_labelers: int) -> Array:
    """For each labeler the lowest one whom chains of shared items connect it with; entries stand
    by item."""
    circle = np.arange(n_labelers, dtype=np.int32)
    _meet(item, labeler, circle)
    found: Array = _roots(circle)
    return found


@njit(nogil=True)
def _meet(item, labeler, circle):  # type: ignore[no-untyped-def]
    for n in range(1, len(item)):
        if item[n] == item[n - 1]:
            _join(circle, labeler[n - 1], labeler[n])


@njit(nogil=True)
def _root(circle, t):  # type: ignore[no-untyped-def]
    while circle[t] != t:
        circle[t] = circle[circle[t]]
        t = circle[t]
    return t


@njit(nogil=True)
def _join(circle, a, b):  # type: ignore[no-untyped-def]
    a, b = _root(circle, a), _root(circle, b)
    if a < b:
        circle[b] = a
    else:
        circle[a] = b


@njit(nogil=True)
def _connect(start_of, key, votes, gold, predicted, n_classes, circle, hits):  # type: ignore[no-untyped-def]
    for i in range(len(start_of) - 1):
        for n in range(start_of[i], start_of[i + 1]):
            if n > start_of[i]:
                _join(circle, key[n - 1] // n_classes, key[n] // n_classes)
            if len(predicted) and key[n] % n_classes == predicted[i]:
                hits[key[n] // n_classes] += votes[n] if len(votes) else 1.0


@njit(nogil=True)
def _merge_circles(circle, other):  # type: ignore[no-untyped-def]
    for t in range(len(circle)):
        if other[t] != t:
            _join(circle, t, other[t])


@njit(nogil=True)
def _roots(circle):  # type: ignore[no-untyped-def]
    roots = np.empty_like(circle)
    for t in range(len(circle)):
        roots[t] = _root(circle, t)
    return roots
