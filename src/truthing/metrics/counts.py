"""Metrics as pure functions of confusion counts, vectorised over draws.

Every metric here depends on a confusion matrix only through its diagonal and its margins, so that
is all a `Tally` keeps: a thousand classes and thousands of draws fit in memory. Undefined ratios
(0/0) take ``zero_division``, as in scikit-learn; NaN leaves them undefined, and averages over
classes pass over them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Tally:
    """Right predictions, true items and predicted items of each class; leading axes are draws."""

    right: Array
    truth: Array
    predicted: Array

    @classmethod
    def from_confusion(cls, confusion: Any) -> Tally:
        """From confusion matrices, truth in rows: an array (…, C, C)."""
        table = np.asarray(confusion, dtype=float)
        return cls(np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1), table.sum(axis=-2))

    @property
    def total(self) -> Array:
        return np.asarray(self.truth.sum(axis=-1))

    @property
    def n_classes(self) -> int:
        return int(self.truth.shape[-1])


def ratio(numerator: Array, denominator: Array, zero_division: float) -> Array:
    """A quotient with a stated value where it is 0/0."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, float), np.asarray(denominator, float)
    )
    safe = np.where(denominator == 0, 1.0, denominator)
    return np.where(denominator == 0, zero_division, numerator / safe)


# ---- one number for all classes


def accuracy(tally: Tally, zero_division: float = 0.0) -> Array:
    return ratio(tally.right.sum(axis=-1), tally.total, zero_division)


def error(tally: Tally, zero_division: float = 0.0) -> Array:
    return ratio(tally.total - tally.right.sum(axis=-1), tally.total, zero_division)


def balanced_accuracy(tally: Tally, zero_division: float = 0.0) -> Array:
    """Mean recall over the classes that occur."""
    return _mean(recall(tally, np.nan), tally.truth > 0, zero_division)


def mcc(tally: Tally, zero_division: float = 0.0) -> Array:
    """Matthews correlation; 0 where truth or prediction is constant, as scikit-learn has it."""
    n = tally.total
    cross = tally.right.sum(axis=-1) * n - (tally.truth * tally.predicted).sum(axis=-1)
    spread = (n**2 - (tally.truth**2).sum(axis=-1)) * (n**2 - (tally.predicted**2).sum(axis=-1))
    return ratio(cross, np.sqrt(spread), 0.0)


def kappa(tally: Tally, zero_division: float = np.nan) -> Array:
    """Cohen's κ; undefined where chance alone agrees always."""
    n = tally.total
    chance = (tally.truth * tally.predicted).sum(axis=-1)
    return ratio(tally.right.sum(axis=-1) * n - chance, n**2 - chance, zero_division)


# ---- one number for each class


def precision(tally: Tally, zero_division: float = 0.0) -> Array:
    return ratio(tally.right, tally.predicted, zero_division)


def recall(tally: Tally, zero_division: float = 0.0) -> Array:
    return ratio(tally.right, tally.truth, zero_division)


def false_alarm(tally: Tally, zero_division: float = 0.0) -> Array:
    return ratio(tally.predicted - tally.right, tally.total[..., None] - tally.truth, zero_division)


def specificity(tally: Tally, zero_division: float = 0.0) -> Array:
    negatives = tally.total[..., None] - tally.truth
    return ratio(negatives - (tally.predicted - tally.right), negatives, zero_division)


def f_beta(tally: Tally, zero_division: float = 0.0, *, beta: float = 1.0) -> Array:
    """Su's Table of metrics: (1 + β²) U / (β² (U + V) + ν)."""
    return ratio(
        (1 + beta**2) * tally.right, beta**2 * tally.truth + tally.predicted, zero_division
    )


def f1(tally: Tally, zero_division: float = 0.0) -> Array:
    return f_beta(tally, zero_division)


AREAS = ("auc", "average_precision")  # of scores, not of counts
OVERALL: dict[str, Callable[..., Array]] = {
    "accuracy": accuracy,
    "error": error,
    "balanced_accuracy": balanced_accuracy,
    "mcc": mcc,
    "kappa": kappa,
}
PER_CLASS: dict[str, Callable[..., Array]] = {
    "precision": precision,
    "recall": recall,
    "false_alarm": false_alarm,
    "specificity": specificity,
    "f1": f1,
}
AVERAGES = ("macro", "micro", "weighted")
_F_BETA = re.compile(r"f_beta\((?P<beta>[0-9.]+)\)")
_INDEXED = re.compile(r"(?P<base>[^\[]+)\[(?P<cls>.*)\]", re.DOTALL)


def evaluate(
    name: str,
    tally: Tally,
    *,
    classes: Sequence[Any],
    positive: int | None = None,
    zero_division: float = np.nan,
) -> Array:
    """A metric by its name, for every draw of a tally.

    Names: ``accuracy``, ``recall`` (of the positive class of two), ``recall[cat]``, ``macro_f1``,
    ``f_beta(2)`` …

    >>> evaluate("recall[cat]", Tally.from_confusion([[8, 2], [1, 9]]), classes=["cat", "dog"])
    array(0.8)
    """
    if name in OVERALL:
        return OVERALL[name](tally, zero_division)
    indexed = _INDEXED.fullmatch(name)
    average = next((a for a in AVERAGES if name.startswith(a + "_")), None)
    base = indexed["base"] if indexed else name[len(average) + 1 :] if average else name
    function = _per_class(base, name)
    if average == "micro":
        pooled = Tally(
            tally.right.sum(-1)[..., None],
            tally.truth.sum(-1)[..., None],
            tally.predicted.sum(-1)[..., None],
        )
        if base in ("false_alarm", "specificity"):
            return _micro_negative(base, tally, zero_division)
        return function(pooled, zero_division)[..., 0]
    if indexed:
        place = _class_place(indexed["cls"], classes)
        if base in ("false_alarm", "specificity"):
            return function(tally, zero_division)[..., place]
        one = slice(place, place + 1)  # of a thousand classes the others would only cost time
        own = Tally(tally.right[..., one], tally.truth[..., one], tally.predicted[..., one])
        return function(own, zero_division)[..., 0]
    values = function(tally, zero_division)
    if average == "macro":
        return _mean(values, (tally.truth + tally.predicted) > 0, zero_division)
    if average == "weighted":
        known = np.where(np.isnan(values), 0.0, tally.truth)
        return ratio(
            (np.nan_to_num(values) * known).sum(axis=-1), known.sum(axis=-1), zero_division
        )
    if positive is None:
        raise InputError(
            f"{name} needs a class when there are {len(classes)}: ask for "
            f"{base}[{classes[0]}] or macro_{base}."
        )
    return values[..., positive]


def _class_place(name: str, classes: Sequence[Any]) -> int:
    names = [str(c) for c in classes]
    if name not in names:
        raise InputError(f"no class is called {name!r}.{did_you_mean(name, names)}")
    return names.index(name)


def metric_names(classes: Sequence[Any], positive: int | None) -> list[str]:
    """What a report shows unasked: the headline metrics for two classes, averages and each class
    for more.
    """
    if positive is not None:
        return ["accuracy", "error", *PER_CLASS, "balanced_accuracy", "mcc", "kappa"]
    names = ["accuracy", "error", "balanced_accuracy", "mcc", "kappa"]
    names += [
        f"{average}_{base}"
        for average in ("macro", "weighted")
        for base in ("precision", "recall", "f1")
    ]
    return names + [f"{base}[{c}]" for base in ("precision", "recall", "f1") for c in classes]


def known_metrics() -> list[str]:
    """Every name that `evaluate` understands, up to class names and the β of F."""
    return [*OVERALL, *PER_CLASS, "f_beta(2)", *(f"{a}_{b}" for a in AVERAGES for b in PER_CLASS)]


def _per_class(base: str, name: str) -> Callable[..., Array]:
    if base in PER_CLASS:
        return PER_CLASS[base]
    match = _F_BETA.fullmatch(base)
    if match:
        beta = float(match["beta"])
        return lambda tally, zero_division=0.0: f_beta(tally, zero_division, beta=beta)
    known = [*known_metrics(), *AREAS]
    raise InputError(
        f"no metric is called {name!r}.{did_you_mean(name, known)} Known: "
        f"{', '.join(known)}, and recall[CLASS] and the like."
    )


def _mean(values: Array, used: Array, zero_division: float) -> Array:
    used = used & ~np.isnan(values)
    return ratio(np.where(used, values, 0.0).sum(axis=-1), used.sum(axis=-1), zero_division)


def _micro_negative(base: str, tally: Tally, zero_division: float) -> Array:
    negatives = (tally.total[..., None] - tally.truth).sum(axis=-1)
    alarms = (tally.predicted - tally.right).sum(axis=-1)
    return ratio(alarms if base == "false_alarm" else negatives - alarms, negatives, zero_division)
