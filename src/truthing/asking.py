"""What a user may say about noise, prior, classes, thresholds and gold weights, read in one place for every facade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from truthing.arguments import as_number, as_threshold
from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.labels import Labels, Repeats
from truthing.matching import Joined, as_gold, as_predictions, join
from truthing.noise.base import NoiseModel
from truthing.noise.known import Confusion, Symmetric
from truthing.noise.learned import Learned
from truthing.simulation import class_prior
from truthing.tables import read_gold, read_labels, read_predictions

MOST_CELLS = 20_000_000  # of drawn confusion matrices together


def prepare(
    predictions: Any, labels: Any, *, gold: Any, scores: Any = None, repeats: Repeats = "error"
) -> Joined:
    """Whatever the caller has, read and joined."""
    labels = labels if isinstance(labels, Labels) else _labels(labels)
    predictions = (
        read_predictions(predictions) if isinstance(predictions, str | Path) else predictions
    )
    gold = read_gold(gold) if isinstance(gold, str | Path) else gold
    found = as_predictions(predictions, labels, scores)
    for what, held in (("labels", labels), ("predictions", found)):
        if held is not None and not held.items:
            raise InputError(f"the {what} hold no item: there is nothing to compute from.")
    return join(labels, found, as_gold(gold), repeats=repeats)


def _labels(labels: Any) -> Labels:
    if isinstance(labels, str | Path) or hasattr(labels, "columns"):
        return read_labels(labels)
    return Labels.from_matrix(labels)


def without_itself(joined: Joined, predicted: Array) -> Joined:
    """Without the labeler who is the classifier: the same answer on every item both have."""
    labels = joined.labels
    same = labels.label == predicted[labels.item]
    hits = np.bincount(labels.labeler, weights=same, minlength=labels.n_labelers)
    count = np.bincount(labels.labeler, minlength=labels.n_labelers)
    twin = np.flatnonzero((count >= max(20, 0.5 * labels.n_items)) & (hits == count))
    others = labels.n_labelers - len(twin)
    if labels.anonymous or not len(twin) or not others or len(np.unique(predicted)) == 1:
        return joined
    keep = ~np.isin(labels.labeler, twin)
    left = replace(
        labels,
        item=labels.item[keep],
        labeler=labels.labeler[keep],
        label=labels.label[keep],
        votes=None if labels.votes is None else labels.votes[keep],
    )
    if (left.per_item > 0).mean() < 0.5:
        return joined
    names = listing([repr(labels.labelers[t]) for t in twin], 3)
    joined.warnings.append(
        f"Labeler {names} says exactly what the classifier says: it is the classifier, or copies it, "
        "and its labels were left out."
    )
    return replace(joined, labels=left)


def sizes(joined: Joined) -> dict[str, int]:
    labels = joined.labels
    return {
        "items": labels.n_items,
        "labelers": int((labels.per_labeler > 0).sum()),
        "labels": labels.n_labels,
        "gold": int((joined.gold >= 0).sum()),
    }


def positive_class(classes: tuple[Any, ...], positive: Any, assumptions: list[str]) -> int | None:
    """The positive one of two classes; None when there are more."""
    if len(classes) < 2:
        raise InputError(
            f"only one class occurs ({listing(classes)}): with one class there is nothing to grade. Check labels and predictions."
        )
    if positive is not None and positive not in classes:
        same = [c for c in classes if str(c) == str(positive)]
        if not same:
            raise InputError(
                f"positive class {positive!r} does not occur; there are {listing(map(repr, classes))}."
            )
        positive = same[0]
    if len(classes) > 2:
        if positive is not None:
            raise InputError(
                f"positive={positive!r} is for two classes, and there are {len(classes)}: ask for recall[{positive}] and the like."
            )
        return None
    if positive is None:
        assumptions.append(
            f"The positive class is {classes[-1]!r}, the last in order; set positive= (--positive) to choose the other."
        )
        return 1
    return classes.index(positive)


def predicted_classes(
    joined: Joined, positive: int | None, threshold: float | None, assumptions: list[str]
) -> tuple[Array, Array | None]:
    """Hard predictions (given, or cut from scores) and the positive class's scores."""
    scores, predicted = joined.scores, joined.predicted
    column = scores
    if scores is not None and scores.ndim == 2:
        if predicted is None and threshold is None:
            predicted = scores.argmax(axis=1)
            assumptions.append("The predicted class is the one with the highest score.")
        column = scores[:, positive] if positive is not None else None
    if threshold is not None:
        threshold = as_threshold(threshold)
        if column is None or positive is None:
            raise InputError("a threshold needs scores of two classes.")
        predicted = np.where(column >= threshold, positive, 1 - positive)
        assumptions.append(
            f"Items with a score of at least {threshold:g} count as predicted {joined.labels.classes[positive]!r}."
        )
    if column is not None and positive is None:
        column = None
    if predicted is None and column is not None:
        raise InputError(
            "scores without predictions need a threshold: give threshold= (--threshold)."
        )
    if predicted is None:
        raise InputError("no predictions: give predictions, or scores with a threshold.")
    silent = np.flatnonzero(predicted < 0)
    if len(silent):
        raise InputError(
            f"{len(silent):,} items have no prediction (for example "
            f"{joined.labels.items[silent[0]]!r}): predict them, or leave them out."
        )
    return predicted, column


def as_noise(noise: Any) -> Any:
    """A number, a range, a mapping or a model, as a model."""
    if noise is None:
        return None
    if isinstance(noise, bool):
        raise InputError("noise=True says nothing: give a rate such as 0.05.")
    if isinstance(noise, int | float):
        return Symmetric(float(noise))
    if isinstance(noise, tuple) and len(noise) == 2:
        return Symmetric((float(noise[0]), float(noise[1])))
    if isinstance(noise, Mapping):
        scalar = all(np.ndim(v) == 0 for v in noise.values())
        return Symmetric(dict(noise)) if scalar else Confusion(dict(noise))
    if isinstance(noise, NoiseModel | Learned):
        return noise
    raise InputError(
        f"noise is a {type(noise).__name__}: give a rate, a mapping from labeler to rate or matrix, or a model with log_likelihood(labels)."
    )


def as_prior(prior: Any, classes: tuple[Any, ...]) -> Array:
    """A class prior in the order of the classes."""
    if isinstance(prior, Mapping):
        unknown = [c for c in prior if c not in classes]
        if unknown:
            raise InputError(
                f"the prior names class {listing(map(repr, unknown))}, which does not occur."
            )
        prior = [prior.get(c, 0.0) for c in classes]
    share = class_prior(prior)
    if len(share) != len(classes):
        raise InputError(
            f"the prior has {len(share)} shares for {len(classes)} classes ({listing(classes)}): give one for each."
        )
    return share


def selection_weights(chances: Mapping[Any, float], joined: Joined) -> Array:
    """Weights of gold items that were chosen with known unequal chances; together they count as their effective number."""
    known = np.flatnonzero(joined.gold >= 0)
    items = [joined.labels.items[i] for i in known]
    absent = [item for item in items if item not in chances]
    if absent:
        raise InputError(
            f"gold_weights gives no chance for gold item {listing(map(repr, absent), 3)}: give one for each gold item."
        )
    for item in items:
        if not 0 < as_number(chances[item]) <= 1:
            raise InputError(
                f"gold_weights gives item {item!r} the chance {chances[item]!r} of being chosen for "
                "gold: chances are above 0 and at most 1."
            )
    chance = np.array([float(chances[item]) for item in items])
    weight = 1 / chance
    return weight * weight.sum() / (weight**2).sum()
