"""What every noise model offers, and the one pass over the labels that most of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.labels import Labels


@runtime_checkable
class NoiseModel(Protocol):
    """Anything that scores labels: an object with ``log_likelihood(labels)``.

    It returns log p(labels of item i | truth c), up to a constant for each item, as items ×
    classes.
    """

    def log_likelihood(self, labels: Labels) -> Array: ...


class TableNoise(ABC):
    """A model with one confusion matrix for each labeler, labelers independent given the truth (Su
    58).
    """

    @abstractmethod
    def tables(self, labels: Labels) -> Array:
        """labelers × truth × label."""

    def log_likelihood(self, labels: Labels) -> Array:
        return table_log_likelihood(labels, self.tables(labels))


def table_log_likelihood(labels: Labels, tables: Array) -> Array:
    """Σ_t log Π_t[c, z_it] for every item and class; one pass over the labels for each class."""
    with np.errstate(divide="ignore"):
        log_tables = np.log(tables)
    scores = np.empty((labels.n_items, tables.shape[1]))
    for c in range(tables.shape[1]):
        terms = log_tables[labels.labeler, c, labels.label]
        terms = terms if labels.votes is None else terms * labels.votes
        scores[:, c] = np.bincount(labels.item, weights=terms, minlength=labels.n_items)
    return scores


def symmetric_table(error: Any, n_classes: int) -> Array:
    """Su 59: right with probability 1 - ε, every wrong class equally likely; ``error`` may be an
    array.
    """
    rate = np.asarray(error, dtype=float)[..., None, None]
    wrong = rate / max(n_classes - 1, 1)
    return np.where(np.eye(n_classes, dtype=bool), 1 - rate, wrong)


def combined_error(difficulty: Any, fallibility: Any, n_classes: int) -> Array:
    """Su 60."""
    return np.asarray(
        (difficulty - difficulty * fallibility + fallibility) * (n_classes - 1) / n_classes
    )


def align(values: Any, names: Sequence[Any], what: str) -> Array:
    """A number for all, a sequence in the order of ``names``, or a mapping by name, as an array."""
    if isinstance(values, int | float):
        return np.full(len(names), float(values))
    if hasattr(values, "keys"):
        absent = [n for n in names if n not in values]
        if absent:
            raise InputError(
                f"no {what} is given for {listing(absent)}: give one for each, or a single "
                "number for all."
            )
        return np.array([float(values[n]) for n in names])
    array = np.asarray(values, dtype=float)
    if array.shape != (len(names),):
        raise InputError(
            f"{what} has {array.size} values for {len(names)}: give one for each, or a "
            "single number for all."
        )
    return array


def check_rates(rates: Array, what: str) -> Array:
    bad = ~np.isfinite(rates) | (rates < 0) | (rates > 1)
    if bad.any():
        raise InputError(f"{what} {rates[bad][0]:g} is outside [0, 1]: it is a share, 0.05 for 5%.")
    return rates


def check_confusion(matrix: Any, what: str) -> Array:
    """A square matrix of probabilities whose rows (truth) sum to one, or a sentence on what is
    wrong with it.
    """
    table = np.asarray(matrix, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise InputError(
            f"{what} has shape {table.shape}: a confusion matrix is square, truth in rows."
        )
    if not np.isfinite(table).all() or (table < 0).any() or (table > 1 + 1e-9).any():
        raise InputError(f"{what} holds entries outside [0, 1]: its entries are probabilities.")
    sums = table.sum(axis=1)
    if not np.allclose(sums, 1, atol=1e-6):
        row = int(np.argmax(np.abs(sums - 1)))
        hint = (
            " Its columns do: transpose it, the truth belongs in rows."
            if np.allclose(table.sum(axis=0), 1, atol=1e-6)
            else ""
        )
        raise InputError(f"row {row} of {what} sums to {sums[row]:.4g}, not 1.{hint}")
    return table
