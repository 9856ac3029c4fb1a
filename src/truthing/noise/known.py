"""Noise that is given: one rate, a rate for each labeler, confusion matrices, difficulty ×
fallibility, joint tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.noise.base import (
    NoiseModel,
    TableNoise,
    align,
    check_confusion,
    check_rates,
    combined_error,
    symmetric_table,
)

if TYPE_CHECKING:
    from truthing.noise.difficulty import DifficultyFit


@dataclass(frozen=True)
class Symmetric(TableNoise):
    """Every labeler errs at ``error``, all wrong classes equally likely (Su's assumed error rate).

    Parameters
    ----------
    error : float, tuple or mapping
        One rate, a range ``(low, high)`` that is uniform between its ends, or labeler to rate.

    Examples
    --------
    >>> labels = Labels.from_matrix([[0, 1]])
    >>> Symmetric(0.1).tables(labels)[0].tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """

    error: float | tuple[float, float] | Mapping[Any, float]

    @property
    def range(self) -> tuple[float, float] | None:
        """The ends of a range, or None where the rate is a number."""
        if not isinstance(self.error, tuple):
            return None
        low, high = self.error
        check_rates(np.array([low, high]), "error")
        if low > high:
            raise InputError(
                f"the range of error rates {low}-{high} runs backwards: give the lower end first."
            )
        return low, high

    def tables(self, labels: Labels) -> Array:
        between = self.range
        rates = align(sum(between) / 2 if between else self.error, labels.labelers, "error rate")
        return symmetric_table(check_rates(rates, "error"), labels.n_classes)


@dataclass(frozen=True)
class Confusion(TableNoise):
    """One confusion matrix for each labeler, truth in rows.

    Parameters
    ----------
    matrices : matrix, sequence or mapping
        One for all, one for each labeler in order, or labeler to matrix.
    weight : float, optional
        How many labels this knowledge is worth. None: it is certain. 40: as if learned from 40
        labels of
        each labeler, to be updated by the data.
    classes : sequence, optional
        The order of rows and columns, where it is not that of ``labels.classes``.

    Examples
    --------
    >>> labels = Labels.from_matrix([[0], [1]])
    >>> Confusion([[0.9, 0.1], [0.2, 0.8]]).tables(labels).shape
    (1, 2, 2)
    """

    matrices: Any
    weight: float | None = None
    classes: Sequence[Any] | None = None

    def tables(self, labels: Labels) -> Array:
        if isinstance(self.matrices, Mapping):
            absent = [name for name in labels.labelers if name not in self.matrices]
            if absent:
                raise InputError(
                    f"no confusion matrix is given for labeler {listing(absent)}: give one, "
                    "or leave the noise to be learned."
                )
            given = [self.matrices[name] for name in labels.labelers]
        else:
            array = np.asarray(self.matrices, dtype=float)
            given = [array] * labels.n_labelers if array.ndim == 2 else list(array)
        if len(given) != labels.n_labelers:
            raise InputError(
                f"{len(given)} confusion matrices for {labels.n_labelers} labelers: give one "
                "for each, or a mapping by name."
            )
        return np.stack(
            [
                self.matrix(m, labels, f"the matrix of labeler {who!r}")
                for m, who in zip(given, labels.labelers)
            ]
        )

    def matrix(self, matrix: Any, labels: Labels, what: str) -> Array:
        """One labeler's matrix, checked and put into the order of the labels' classes."""
        table = check_confusion(matrix, what)
        order = tuple(self.classes) if self.classes is not None else labels.classes
        if len(table) != len(order):
            raise InputError(
                f"{what} has {len(table)} classes, the data have {len(order)} "
                f"({listing(order)}): name its order with classes=."
            )
        absent = [c for c in labels.classes if c not in order]
        if absent:
            raise InputError(
                f"{what} does not name class {absent[0]!r}: add a row and a column for it."
            )
        place = [order.index(c) for c in labels.classes]
        return table[np.ix_(place, place)]


@dataclass(frozen=True)
class Difficulty:
    """Difficulty of items × fallibility of labelers (Su 59-60).

    ``e = (d - d f + f)(C - 1)/C``: an item of difficulty 1 or a labeler of fallibility 1 leaves a
    pure guess.
    ``Difficulty()`` with neither is learned.

    Parameters
    ----------
    difficulty : float, sequence or mapping, optional
        Of all items, of each, or item to difficulty.
    fallibility : float, sequence or mapping, optional
        Of all labelers, of each, or labeler to fallibility.

    Examples
    --------
    >>> labels = Labels.from_matrix([[0, 1], [1, 1]])
    >>> np.exp(Difficulty(0.0, [0.2, 0.4]).log_likelihood(labels)).round(2).tolist()
    [[0.18, 0.08], [0.02, 0.72]]
    """

    difficulty: Any = None
    fallibility: Any = None

    @property
    def learned(self) -> bool:
        if (self.difficulty is None) != (self.fallibility is None):
            raise InputError(
                "Difficulty needs difficulty and fallibility, or neither of them: then both "
                "are learned."
            )
        return self.difficulty is None

    def fit(self, labels: Labels, gold: Array | None = None) -> DifficultyFit:
        """Marginal maximum a posteriori by accelerated EM, each item's difficulty summed out: a
        point estimate, fast at any size.
        """
        from truthing.noise.difficulty import HardItems
        from truthing.noise.em import fit_em

        if not self.learned:
            raise InputError(
                "difficulty and fallibility are given: there is nothing to fit; Difficulty() "
                "learns both."
            )
        return fit_em(labels, HardItems(labels.n_labelers, labels.n_classes), gold)

    def rates(self, labels: Labels) -> tuple[Array, Array]:
        """Difficulty of each item and fallibility of each labeler, as given."""
        delta = check_rates(align(self.difficulty, labels.items, "difficulty"), "difficulty")
        phi = check_rates(align(self.fallibility, labels.labelers, "fallibility"), "fallibility")
        return delta, phi

    def log_likelihood(self, labels: Labels) -> Array:
        delta, phi = self.rates(labels)
        rate = combined_error(delta[labels.item], phi[labels.labeler], labels.n_classes)
        with np.errstate(divide="ignore"):
            right = np.log1p(-rate) * labels.weight
            wrong = np.log(rate / max(labels.n_classes - 1, 1)) * labels.weight
        scores = np.empty((labels.n_items, labels.n_classes))
        for c in range(labels.n_classes):
            terms = np.where(labels.label == c, right, wrong)
            scores[:, c] = np.bincount(labels.item, weights=terms, minlength=labels.n_items)
        return scores


@dataclass(frozen=True)
class Joint:
    """Labelers that are not independent: a joint table P(labels of the group | truth).

    Parameters
    ----------
    group : sequence
        Names of the labelers.
    table : array
        The truth first, then one axis for each labeler of the group. A member without a label on an
        item
        is summed out.
    others : noise model, optional
        A model for all other labelers.

    Examples
    --------
    >>> labels = Labels.from_matrix([[0, 0], [0, 1]], labelers=["a", "b"])
    >>> table = np.array([[[0.8, 0.05], [0.05, 0.1]], [[0.2, 0.1], [0.1, 0.6]]])
    >>> np.exp(Joint(("a", "b"), table).log_likelihood(labels)).round(2).tolist()
    [[0.8, 0.2], [0.05, 0.1]]
    """

    group: Sequence[Any]
    table: Any
    others: NoiseModel | None = None

    def log_likelihood(self, labels: Labels) -> Array:
        table = np.asarray(self.table, dtype=float)
        expected = (labels.n_classes,) * (len(self.group) + 1)
        if table.shape != expected:
            raise InputError(
                f"the joint table of {listing(self.group)} has shape {table.shape}; it needs "
                f"{expected}: truth, then each labeler."
            )
        sums = table.reshape(labels.n_classes, -1).sum(axis=1)
        if (table < 0).any() or not np.allclose(sums, 1, atol=1e-6):
            raise InputError(
                f"the joint table of {listing(self.group)} must hold probabilities that sum "
                "to one for each truth."
            )
        rest = [name for name in labels.labelers if name not in self.group]
        if rest and self.others is None:
            raise InputError(
                f"labeler {listing(rest)} is not in the joint table: give others=, a model "
                "for the rest."
            )
        grid = labels.select(list(self.group)).matrix()
        # one more place on each axis, for "gave no label": the sum over what the label could have
        # been
        for axis in range(1, table.ndim):
            table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
        with np.errstate(divide="ignore"):
            scores = np.log(table)[(slice(None), *grid.T)].T
        return (
            scores + self.others.log_likelihood(labels.select(rest))
            if rest and self.others is not None
            else scores
        )
