"""From what the user knows about the labelers to what the sampler needs; and, when nothing is
known, which model predicts best.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.noise.base import check_rates, symmetric_table
from truthing.noise.known import Confusion, Difficulty, Symmetric
from truthing.noise.learned import DawidSkene, Learned, OneCoin, Strata
from truthing.noise.ordinal import Ordinal
from truthing.truth.samplers.labeler_tables import COIN, FIXED, OWN, POOLED, SHARED
from truthing.truth.samplers.labelers import RowModel, pool_base


def is_open(noise: Any) -> bool:
    """Did the user say nothing about the labelers' quality, at most which model to learn?"""
    return (
        noise is None
        or isinstance(noise, Learned)
        or (isinstance(noise, Difficulty) and noise.learned)
    )


def must_be_learned(noise: Any, labels: Labels) -> bool:
    """Is anything about these labelers left open?"""
    if noise is None or isinstance(noise, Learned):
        return True
    if isinstance(noise, Difficulty):
        return noise.learned
    if isinstance(noise, Symmetric):
        return noise.range is not None or (
            isinstance(noise.error, Mapping) and any(n not in noise.error for n in labels.labelers)
        )
    if isinstance(noise, Confusion):
        partial = isinstance(noise.matrices, Mapping) and any(
            n not in noise.matrices for n in labels.labelers
        )
        return noise.weight is not None or partial
    return False


def check_prior(prior: Any, noise: Any, labels: Labels, *, trusted: bool) -> None:
    """Class shares that would not be used are refused."""
    if prior is not None and must_be_learned(noise, labels) and not trusted:
        raise InputError(
            "`prior=...` is not used when the labelers' noise is learned and the panel may be "
            "wrong together: leave it out, give the noise of all labelers with `noise=...`, or "
            "trust the noise model with `panel_error=0`."
        )


def row_model(noise: Any, labels: Labels) -> tuple[RowModel, str]:
    """What is known about each labeler's rows, and a name for it."""
    n_labelers, n_classes = labels.n_labelers, labels.n_classes
    if isinstance(noise, OneCoin):
        return RowModel.learned(n_labelers, n_classes, kind=COIN), "one error rate for each labeler"
    if isinstance(noise, Strata):
        return RowModel.learned(
            n_labelers, n_classes, n_strata=noise.k
        ), f"confusion matrices in {noise.k} strata of difficulty"
    if isinstance(noise, Difficulty):
        return RowModel.learned(
            n_labelers, n_classes, kind=COIN
        ), "ability of labelers × difficulty of items"
    if isinstance(noise, Ordinal):
        tables = noise.fit(labels).confusion
        own = np.maximum(noise.weight * tables, 1e-3)
        return RowModel(
            np.full(n_labelers, OWN), own, pool_base(n_classes), 0.0, 1.0
        ), "grades on a scale, each labeler with thresholds and a precision of its own"
    if isinstance(noise, DawidSkene):
        return RowModel.learned(
            n_labelers, n_classes
        ), "one confusion matrix for each labeler (Dawid-Skene)"
    kind = np.full(n_labelers, POOLED)
    table = np.zeros((n_labelers, n_classes, n_classes))
    low, high = 0.0, 1.0
    if isinstance(noise, Symmetric) and noise.range is not None:
        low, high = noise.range
        kind[:] = SHARED
        name = f"one error rate between {low:g} and {high:g} for all"
    elif isinstance(noise, Symmetric) and isinstance(noise.error, Mapping):
        _check_names(noise.error, labels)
        for t, who in enumerate(labels.labelers):
            if who in noise.error:
                rate = check_rates(np.array([float(noise.error[who])]), "error")
                kind[t], table[t] = FIXED, symmetric_table(rate, n_classes)[0]
        name = "known error rates where given, learned confusion matrices for the rest"
    elif isinstance(noise, Confusion) and isinstance(noise.matrices, Mapping):
        _check_names(noise.matrices, labels)
        for t, who in enumerate(labels.labelers):
            if who in noise.matrices:
                matrix = noise.matrix(noise.matrices[who], labels, f"the matrix of labeler {who!r}")
                kind[t], table[t] = _given(matrix, noise.weight)
        name = "given confusion matrices, learned ones for the rest"
    else:
        assert isinstance(noise, Confusion)
        for t, matrix in enumerate(noise.tables(labels)):
            kind[t], table[t] = _given(matrix, noise.weight)
        name = f"given confusion matrices worth {noise.weight:g} labels each, updated by the data"
    return RowModel(kind, table, pool_base(n_classes), low, high), name


def _given(matrix: Array, weight: float | None) -> tuple[int, Array]:
    if weight is None:
        return FIXED, matrix
    if weight <= 0:
        raise InputError(
            f"weight {weight}: how many labels the matrices are worth; give a number above "
            "0, or None for certain."
        )
    return OWN, np.maximum(matrix * weight / len(matrix), 1e-3)


def _check_names(given: Mapping[Any, Any], labels: Labels) -> None:
    unknown = [name for name in given if name not in labels.labelers]
    if unknown and len(unknown) == len(given):
        raise InputError(
            f"noise is given for {listing(map(repr, unknown))}, none of them a labeler here; "
            f"there are {listing(map(repr, labels.labelers))}."
        )
