"""One order of items and labelers inside: rows in another order must not give another answer.

Samplers draw item after item and sums are rounded one after the other, so what is computed would
hang on the order of rows. Inside, items and labelers stand in the order of their names; what users
see stands in the order of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array, places_by_name
from truthing.labels import Labels
from truthing.matching import Joined
from truthing.noise.base import TableNoise
from truthing.noise.known import Confusion, Difficulty, Symmetric
from truthing.noise.learned import Learned
from truthing.truth.outcome import NoiseSummary


@dataclass(frozen=True, eq=False)
class Order:
    """From the user's order to the one inside: ``items[k]`` is the user's place of item k."""

    labels: Any  # the user's, or once they are `let_go` only the names of items and labelers
    items: Array
    labelers: Array

    def let_go(self, model: Any) -> Order:
        """Without the labels in the user's order, unless the model of the noise asks for them."""
        if isinstance(model, _Tables | _Scores):
            return self
        return replace(self, labels=_Listed(self.labels.items, self.labels.labelers))

    def truth(self, truth: Array) -> Array:
        """Rows for each item inside, as rows in the user's order."""
        return truth[np.argsort(self.items)]

    def by_labeler(self, values: Any, axis: int = 0) -> Any:
        """Something for each labeler inside, in the user's order; None stays None."""
        if values is None:
            return None
        return np.take(values, np.argsort(self.labelers), axis=axis)

    def summary(self, noise: NoiseSummary) -> NoiseSummary:
        """What was found about each labeler, in the user's order."""
        limits = noise.confusion_interval
        return replace(
            noise,
            labelers=self.labels.labelers,
            confusion=self.by_labeler(noise.confusion),
            confusion_interval=None
            if limits is None
            else (self.by_labeler(limits[0]), self.by_labeler(limits[1])),
            error=self.by_labeler(noise.error, 1),
            confusion_draws=self.by_labeler(noise.confusion_draws, 1),
        )

    def model(self, noise: Any) -> Any:
        """A noise model for the data inside: positions it speaks of are those of the user."""
        if noise is None or isinstance(noise, Learned | Symmetric):
            return noise
        if isinstance(noise, Confusion):
            if isinstance(noise.matrices, Mapping) or np.ndim(noise.matrices) != 3:
                return noise
            if len(noise.matrices) != len(self.labelers):
                return noise  # refused where it is used
            return replace(noise, matrices=np.asarray(noise.matrices)[self.labelers])
        if isinstance(noise, Difficulty):
            return replace(
                noise,
                difficulty=_placed(noise.difficulty, self.items),
                fallibility=_placed(noise.fallibility, self.labelers),
            )
        return _Tables(noise, self) if isinstance(noise, TableNoise) else _Scores(noise, self)


@dataclass(frozen=True, eq=False)
class _Listed:
    items: Sequence[Any]
    labelers: Sequence[Any]


@dataclass(frozen=True, eq=False)
class _Scores:
    """Somebody's own model, which sees the data as the user gave them."""

    own: Any
    order: Order

    def log_likelihood(self, labels: Labels) -> Array:
        assert labels.n_items == len(self.order.items)
        return np.asarray(self.own.log_likelihood(self.order.labels))[self.order.items]


@dataclass(frozen=True, eq=False)
class _Tables(TableNoise):
    """The same for a model with one confusion matrix for each labeler."""

    own: Any
    order: Order

    def tables(self, labels: Labels) -> Array:
        assert labels.n_labelers == len(self.order.labelers)
        return np.asarray(self.own.tables(self.order.labels))[self.order.labelers]


def in_order(joined: Joined) -> tuple[Joined, Order]:
    """The data as they are computed with, and the way back to the user's order."""
    labels = joined.labels
    order = Order(labels, places_by_name(labels.items), places_by_name(labels.labelers))
    inside = replace(
        joined,
        labels=_rearranged(order),
        predicted=None if joined.predicted is None else joined.predicted[order.items],
        scores=None if joined.scores is None else joined.scores[order.items],
        gold=joined.gold[order.items],
    )
    return inside, order


def _rearranged(order: Order) -> Labels:
    labels = order.labels if _in_place(order.items) else order.labels[order.items]
    labelers, labeler = labels.labelers, labels.labeler
    if not _in_place(order.labelers):
        labelers = tuple(labelers[t] for t in order.labelers)
        labeler = np.argsort(order.labelers).astype(np.int32)[labeler]
    label, votes = labels.label, labels.votes
    own = labels is not order.labels  # the user's labels stay as they are
    for run in labels.runs():
        key = labels.item[run].astype(np.int64) * labels.n_labelers + labeler[run]
        if (key[1:] > key[:-1]).all():
            continue
        if not own:
            label, labeler, own = label.copy(), labeler.copy(), True
            votes = None if votes is None else votes.copy()
        # by label too: contradictions that are kept stand in the order of their rows
        entries = np.lexsort((label[run], key))
        labeler[run], label[run] = labeler[run][entries], label[run][entries]
        if votes is not None:
            votes[run] = votes[run][entries]
    return replace(labels, labelers=labelers, labeler=labeler, label=label, votes=votes)


def _in_place(order: Array) -> bool:
    return bool((order == np.arange(len(order))).all())


def _placed(values: Any, order: Array) -> Any:
    """A sequence by position in the order inside; a number or a mapping by name stays."""
    if values is None or np.ndim(values) != 1 or len(values) != len(order):
        return values
    return np.asarray(values)[order]
