"""World: what is assumed, or learned from a pilot, about classes, classifier and labelers; data
sets are drawn from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.noise.base import check_confusion, check_rates, symmetric_table
from truthing.planning.panel import PanelBelief
from truthing.randomness import Seed, generator
from truthing.simulation import class_prior, simulate
from truthing.truth.consensus import Entries

# labels per item from each kind of labeler, in the order of the world's kinds
Composition = tuple[float, ...]
MOST_PEOPLE = 60  # of one kind in a simulated data set; a random choice stands for larger pools


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of labeler: ``tables`` holds one confusion matrix for each person of a pool, or the
    one that all share.

    Items get labels from persons of the pool chosen at random; ``pool`` False: as many persons as
    labels per item. An ``open`` pool has more people like those in it.
    """

    name: str
    tables: Array
    pool: bool = False
    open: bool = False

    @property
    def most(self) -> float:
        """Labels per item that this kind can give."""
        return len(self.tables) if self.pool and not self.open else math.inf

    def people(self, count: float, rng: np.random.Generator) -> Array:
        """Matrices of those who take part."""
        if not self.pool:
            return np.repeat(self.tables, math.ceil(count), axis=0)
        tables = self.tables
        if len(tables) > MOST_PEOPLE:
            tables = tables[rng.choice(len(tables), size=MOST_PEOPLE, replace=False)]
        missing = max(math.ceil(count) - len(tables), 0)
        return np.concatenate([tables, tables[rng.integers(len(tables), size=missing)]])


@dataclass(frozen=True, eq=False)
class DrawnWorld:
    """A simulated data set: truth and prediction of each item, labels as entries, and each rater's
    confusion matrix.
    """

    truth: Array
    predicted: Array
    entries: Entries
    tables: Array

    @property
    def log_likelihood(self) -> Array:
        """log p(labels | truth), items × classes, with the labelers' matrices as they are."""
        return self.entries.log_likelihood(self.tables)


@dataclass(frozen=True, eq=False)
class World:
    """``classifier`` has the truth in rows; ``shared`` is the chance that a label hangs on the
    item, not on the labeler; ``extra_spread`` is how much more a pilot's readings differ than such
    simulations do, ``panel`` what it says about its panel being wrong together: gold is then made
    up after that.
    """

    prior: Array
    classifier: Array
    kinds: tuple[Kind, ...]
    classes: tuple[Any, ...]
    positive: int | None
    shared: float = 0.0
    extra_spread: float = 0.0
    panel: PanelBelief | None = None

    @property
    def accuracy(self) -> float:
        return float(self.prior @ np.diag(self.classifier))

    def draw(self, composition: Composition, n_items: int, seed: Seed) -> DrawnWorld:
        """A data set with these labels per item; a fraction is one label more on that share of
        items.
        """
        rng = generator(seed, "a data set")
        people = [
            kind.people(count, rng) for kind, count in zip(self.kinds, composition) if count > 0
        ]
        counts = [count for count in composition if count > 0]
        tables = np.concatenate(people)
        data = simulate(
            n_items,
            len(tables),
            prior=self.prior,
            operating_point=self.classifier,
            confusion=tables,
            shared_difficulty=self.shared,
            seed=int(rng.integers(2**31)),
        )
        grid = data.labels.label.reshape(n_items, len(tables))
        present = np.concatenate(
            [_chosen(n_items, len(p), c, rng) for p, c in zip(people, counts)], axis=1
        )
        item, rater = np.nonzero(present)
        entries = Entries(
            item.astype(np.int32),
            rater.astype(np.int32),
            grid[present],
            np.ones(len(item)),
            n_items,
            len(tables),
            len(self.prior),
        )
        return DrawnWorld(data.truth, data.predictions, entries, tables)


def _chosen(n_items: int, people: int, count: float, rng: np.random.Generator) -> Array:
    """Who labels what: on each item ``count`` persons at random."""
    wanted = math.floor(count) + (rng.random(n_items) < count - math.floor(count))
    if (wanted == people).all():
        return np.ones((n_items, people), dtype=bool)
    rank = rng.random((n_items, people)).argsort(axis=1).argsort(axis=1)
    return np.asarray(rank < wanted[:, None])


def assumed_world(
    *,
    labelers: Any,
    accuracy: Any,
    prior: Any,
    shared: float,
    positive: Any,
    assumptions: list[str],
) -> World:
    """A world by the user's word; what is not said is filled in and said."""
    n_classes = _class_count(labelers, accuracy)
    if prior is None:
        prior = np.full(n_classes, 1 / n_classes)
        assumptions.append(
            f"The {n_classes} classes are equally frequent: prior (--prior) changes that."
        )
    share = class_prior(prior)
    n_classes = len(share)
    if labelers is None:
        labelers = 0.15
        assumptions.append(
            "Labelers err on 15% of the items: labelers (--labeler-error) changes that."
        )
    if accuracy is None:
        accuracy = 0.8
        assumptions.append(
            "The classifier is right on 80% of each class: accuracy (--accuracy) changes that."
        )
    named = labelers if isinstance(labelers, Mapping) else {"label": labelers}
    if not named:
        raise InputError(
            "labelers is empty: name at least one kind of labeler with its error rate."
        )
    if not 0 <= shared <= 1:
        raise InputError(
            f"shared {shared:g} is outside [0, 1]: it is the chance that a label hangs on the item."
        )
    kinds = tuple(_kind(str(name), value, n_classes) for name, value in named.items())
    classes = tuple(range(n_classes))
    place = (1 if n_classes == 2 else None) if positive is None else _place(positive, classes)
    return World(share, _rows(accuracy, n_classes, "accuracy"), kinds, classes, place, shared)


def _place(positive: Any, classes: tuple[Any, ...]) -> int:
    if str(positive) not in map(str, classes):
        raise InputError(f"positive class {positive!r} is not one of {classes}.")
    return [str(c) for c in classes].index(str(positive))


def _class_count(labelers: Any, accuracy: Any) -> int:
    """As many classes as a given matrix has; two otherwise."""
    for value in (accuracy, *(labelers.values() if isinstance(labelers, Mapping) else (labelers,))):
        if value is not None and np.ndim(value) >= 2:
            return int(np.shape(value)[-1])
    return 2


def _rows(accuracy: Any, n_classes: int, what: str) -> Array:
    if np.ndim(accuracy) == 0:
        rate = float(check_rates(np.array([float(accuracy)]), what)[0])
        return np.asarray(symmetric_table(1 - rate, n_classes))
    matrix = check_confusion(accuracy, what)
    if len(matrix) != n_classes:
        raise InputError(f"{what} has {len(matrix)} classes, the prior has {n_classes}.")
    return matrix


def _kind(name: str, value: Any, n_classes: int) -> Kind:
    """A rate or matrix that all share, or a list of them, one for each person of a pool."""
    depth = np.ndim(value)
    if np.size(value) == 0:
        raise InputError(
            f"labelers of kind {name!r}: there are no labelers in the list. Give an error rate for "
            "each."
        )
    if depth in (1, 3):
        each = [_kind(name, one, n_classes).tables[0] for one in value]
        return Kind(name, np.stack(each), pool=True)
    if depth == 0:
        table = symmetric_table(
            check_rates(np.array([float(value)]), "labeler error")[0], n_classes
        )
        if float(value) >= 1 - 1 / n_classes:
            raise InputError(
                f"labelers of kind {name!r} err on {float(value):.0%} of the items: no "
                "better than guessing."
            )
    else:
        table = _rows(value, n_classes, f"the confusion matrix of {name!r}")
    return Kind(name, np.asarray(table)[None])
