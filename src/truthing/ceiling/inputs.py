"""What people hand in, checked: one clear sentence for each thing that cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truthing.class_codes import Array, factorise, is_missing, plain, recode
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.predictions import Predictions


def numbers(values: Any, what: str, *, dimensions: tuple[int, ...] = (1,)) -> Array:
    """An array of finite numbers that is not empty."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers; these are not all numbers.") from None
    if found.size == 0:
        raise InputError(f"{what} are empty: give at least one item.")
    if found.ndim not in dimensions:
        shape = "one number for each item" + (
            ", or a row of one for each class" if 2 in dimensions else ""
        )
        raise InputError(f"{what} have {found.ndim} dimensions: give {shape}.")
    # a sum is finite only if every number is, and costs one pass
    if not np.isfinite(found.sum()) and not np.isfinite(found).all():
        place = np.argwhere(~np.isfinite(found))[0]
        raise InputError(
            f"{what} hold {found[tuple(place)]} at item {place[0]}: leave such items out, or "
            "fill them in."
        )
    return found


def shares(
    values: Any, what: str, *, most: float = 1.0, dimensions: tuple[int, ...] = (1,)
) -> Array:
    """Numbers between 0 and ``most``; rows of class probabilities must add up to one."""
    found = numbers(values, what, dimensions=dimensions)
    if found.min() < 0 or found.max() > most:
        place = np.argwhere((found < 0) | (found > most))[0]
        raise InputError(
            f"{what} must lie between 0 and {most:g}; item {place[0]} has {found[tuple(place)]:g}."
        )
    if found.ndim == 2:
        total = found.sum(axis=1)
        if found.shape[1] < 2 or np.abs(total - 1).max() > 1e-3:
            row = int(np.argmax(np.abs(total - 1)))
            raise InputError(
                f"the class probabilities of item {row} add up to {total[row]:g}, not 1: "
                "give one column for each class "
                "(votes go into counts)."
            )
    return found


def vote_counts(
    values: Any, what: str = "counts"
) -> tuple[Array, tuple[Any, ...], Sequence[Any] | None]:
    """Items × classes votes, the classes, and the items' names if they have any; from `Labels` or a
    table of counts.
    """
    if isinstance(values, Labels):
        table = values.resolve_repeats("error").counts()
        return table, values.classes, values.items
    found = numbers(values, what, dimensions=(2,))
    bad = np.argwhere((found < 0) | (found != np.floor(found)))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"{what} hold {found[row, column]:g} (item {row}, class {column}): votes are "
            "whole numbers from 0 up."
        )
    if found.shape[1] < 2:
        raise InputError(
            f"{what} have one column: give the votes for each class, items in rows and "
            "classes in columns."
        )
    return found.astype(np.int64), tuple(range(found.shape[1])), None


def hard_labels(values: Any) -> Labels:
    """One label for each item, an items × labelers matrix with None or NaN where there is none, or
    `Labels`.
    """
    if isinstance(values, Labels):
        return values
    grid = values if isinstance(values, np.ndarray) else np.array(list(values), dtype=object)
    if grid.size == 0:
        raise InputError("hard labels are empty: give at least one item.")
    if grid.ndim == 1:
        holes = [i for i, value in enumerate(grid) if is_missing(value)]
        if holes:
            raise InputError(f"hard labels hold no label at item {holes[0]}: leave such items out.")
        grid = grid[:, None]
    return Labels.from_matrix(grid)


def two_sided(values: Any, what: str, n: int) -> Array:
    """Positive or not, from booleans, 0 and 1, -1 and +1, or two names of which the last in order
    is positive.
    """
    codes, names = factorise(values if isinstance(values, np.ndarray) else list(values))
    if len(codes) != n:
        raise InputError(f"{len(codes):,} {what} for {n:,} items: give one for each.")
    if (codes < 0).any():
        raise InputError(
            f"{what} hold no value at item {int(np.argmin(codes))}: fill it in or leave the "
            "item out."
        )
    if set(names) <= {-1, 1} or set(names) <= {0, 1} or set(names) <= {False, True}:
        return np.array([name == 1 for name in names])[codes]
    ordered = sorted(names, key=str)
    if len(ordered) != 2:
        raise InputError(
            f"{what} must be of two kinds, such as 0 and 1 or -1 and +1; they hold "
            f"{listing(ordered)}."
        )
    return np.array([name == ordered[1] for name in names])[codes]


def predicted(
    values: Any, classes: Sequence[Any], items: Sequence[Any] | None, n: int
) -> tuple[Array, Array, list[str]]:
    """Which items a model predicted, as which class (a code, -1 for a class nobody was labeled
    with), and what was dropped.
    """
    if isinstance(values, str | bytes):
        raise InputError(
            "predictions must be a sequence, a mapping or Predictions: read a file with "
            "read_predictions."
        )
    named = isinstance(values, Predictions | Mapping)
    if isinstance(values, Predictions):
        keys, labels = values.items, _predicted_labels(values, classes)
    elif isinstance(values, Mapping):
        keys, labels = tuple(values), list(values.values())
    else:
        keys, labels = tuple(range(n)), _from_array(values, classes)
    if not named and len(labels) != n:
        raise InputError(
            f"{len(labels):,} predictions for {n:,} items: give one for each, in the same order."
        )
    place = {
        plain(item): i for i, item in enumerate(items if items is not None and named else range(n))
    }
    both = [(place[plain(key)], label) for key, label in zip(keys, labels) if plain(key) in place]
    if not both:
        raise InputError(
            "no predicted item is among the labeled items: check that both name items the same way."
        )
    codes, names = factorise([label for _, label in both])
    if set(classes) == {0, 1} and set(names) <= {-1, 1}:
        names = tuple(int(name == 1) for name in names)
    code = recode(codes, names, classes)
    if (code < 0).all():
        raise InputError(
            f"predictions are {listing(names)}; the classes are {listing(classes)}: use the "
            "same names."
        )
    notes = []
    if len(both) < n or len(both) < len(keys):
        notes.append(
            f"{n - len(both):,} items have no prediction and {len(keys) - len(both):,} "
            "predictions no labels: left out of the verdict."
        )
    return np.array([i for i, _ in both]), code, notes


def _predicted_labels(values: Predictions, classes: Sequence[Any]) -> list[Any]:
    if values.label is not None:
        return [values.classes[c] if c >= 0 else None for c in values.label]
    table = np.asarray(values.scores)
    names = values.score_classes or tuple(classes)
    best = np.argmax(table, axis=1) if table.ndim == 2 else (table >= 0.5).astype(int)
    return [names[b] for b in best]


def _from_array(values: Any, classes: Sequence[Any]) -> list[Any]:
    grid = (
        np.asarray(values)
        if not isinstance(values, list | tuple)
        else np.asarray(values, dtype=object)
    )
    if grid.ndim == 2:
        return [classes[k] for k in np.argmax(grid.astype(float), axis=1)]
    labels = [plain(v) for v in grid.tolist()]
    if len(classes) == 2 and any(isinstance(v, float) for v in labels):
        return [classes[int(v >= 0.5)] for v in labels]
    if any(isinstance(v, bool) for v in labels) and set(classes) == {0, 1}:
        return [int(v) for v in labels]
    return labels
