"""Labels, predictions and gold joined by item, coded in one list of classes; what was dropped is counted and said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array, recode, sort_classes
from truthing.errors import InputError, listing
from truthing.labels import Labels, Repeats
from truthing.predictions import Gold, Predictions


@dataclass(frozen=True)
class Joined:
    """Items that have both labels and predictions, in the order of the labels."""

    labels: Labels
    predicted: Array | None
    scores: Array | None
    gold: Array
    dropped: dict[str, int]
    warnings: list[str]


def join(
    labels: Labels,
    predictions: Predictions | None,
    gold: Gold | None,
    *,
    repeats: Repeats = "error",
) -> Joined:
    """Join by item. Names that differ only in type (7 and "7") are matched when nothing matches otherwise, and said."""
    warnings: list[str] = []
    labels = labels.resolve_repeats(repeats)
    if len(labels.contradictions):
        warnings.append(
            f"{len(labels.contradictions):,} times a labeler contradicts itself on an item; both labels are counted (repeats='keep')."
        )
    if predictions is not None:
        predictions = replace(
            predictions,
            items=_same_type(predictions.items, labels.items, "items of the predictions", warnings),
        )
        predictions = _same_class_type(predictions, labels, warnings)
    if gold is not None:
        gold = replace(gold, items=_same_type(gold.items, labels.items, "gold items", warnings))
        gold = replace(
            gold, classes=_same_type(gold.classes, labels.classes, "gold classes", warnings)
        )
    classes = sort_classes(
        {
            (type(c), c): c
            for c in (*labels.classes, *_classes(predictions), *(gold.classes if gold else ()))
        }.values()
    )
    where = {item: i for i, item in enumerate(labels.items)}
    if predictions is None:
        kept = np.arange(labels.n_items)
        source = kept
        unlabeled = 0
    else:
        place = np.array([where.get(item, -1) for item in predictions.items], dtype=np.int64)
        unlabeled = int((place < 0).sum())
        source = np.full(labels.n_items, -1, dtype=np.int64)
        source[place[place >= 0]] = np.flatnonzero(place >= 0)
        kept = np.flatnonzero(source >= 0)
        if len(kept) == 0:
            raise InputError(
                f"labels and predictions share no item (for example {labels.items[0]!r} and {predictions.items[0]!r}): check the item columns."
            )
    known = _gold_codes(gold, where, labels.n_items, classes, warnings)
    bare = (labels.per_item[kept] == 0) & (known[kept] < 0)
    dropped = {
        "only in labels": labels.n_items - len(kept),
        "only in predictions": unlabeled,
        "without any label": int(bare.sum()),
    }
    kept = kept[~bare]
    if len(kept) == 0:
        raise InputError(
            "no item has both a prediction and a label: check the item columns of both."
        )
    warnings += [
        f"{count:,} items are {what} and were dropped." for what, count in dropped.items() if count
    ]
    codes = None
    if predictions is not None and predictions.label is not None:
        codes = recode(predictions.label, predictions.classes, classes)[source[kept]]
    scores = (
        None
        if predictions is None or predictions.scores is None
        else _score_columns(predictions, classes)[source[kept]]
    )
    whole = len(kept) == labels.n_items
    chosen = labels if whole else labels[kept]
    return Joined(chosen.with_classes(classes), codes, scores, known[kept], dropped, warnings)


def as_predictions(predictions: Any, labels: Labels, scores: Any = None) -> Predictions | None:
    """Whatever a caller may hand over: a sequence aligned with the labels' items, a mapping, a Series, or Predictions."""
    if isinstance(predictions, Predictions):
        return (
            predictions
            if scores is None
            else replace(predictions, scores=np.asarray(scores, dtype=float))
        )
    items: Sequence[Any] = labels.items
    if predictions is None:
        if scores is None:
            return None
        if isinstance(scores, Mapping):
            items, scores = list(scores), list(scores.values())
        _same_length(scores, labels, "scores")
        return Predictions.from_sequence(
            items=items, scores=scores, score_classes=labels.classes if np.ndim(scores) == 2 else ()
        )
    if isinstance(predictions, Mapping):
        items = list(predictions)
        values: Any = list(predictions.values())
        scores = [scores[i] for i in items] if isinstance(scores, Mapping) else scores
    else:
        index = getattr(predictions, "index", None)
        named = index is not None and not callable(index) and type(index).__name__ != "RangeIndex"
        values = predictions if isinstance(predictions, np.ndarray) else list(predictions)
        if named:
            items = list(index)  # type: ignore[arg-type]
        else:
            _same_length(values, labels, "predictions")
    return Predictions.from_sequence(
        values,
        items=items,
        scores=scores,
        score_classes=labels.classes if np.ndim(scores) == 2 else (),
    )


def as_gold(gold: Any) -> Gold | None:
    if gold is None or isinstance(gold, Gold):
        return gold
    if isinstance(gold, Mapping):
        return Gold.from_mapping(gold) if gold else None
    if hasattr(gold, "to_dict"):
        return Gold.from_mapping(gold.to_dict())
    raise InputError(f"gold is a {type(gold).__name__}: give a mapping from item to true class.")


def _same_length(values: Any, labels: Labels, what: str) -> None:
    if len(values) != labels.n_items:
        raise InputError(
            f"{len(values):,} {what} for {labels.n_items:,} labeled items: a plain sequence is aligned with labels.items; "
            "give a mapping from item to value otherwise."
        )


def _same_type(
    names: tuple[Any, ...], target: tuple[Any, ...], what: str, warnings: list[str]
) -> tuple[Any, ...]:
    """The names as the target spells them, where only the type differs."""
    known = set(target)
    if any(name in known for name in names):
        return names
    texts = {str(t): t for t in target}
    if not any(str(name) in texts for name in names):
        return names
    warnings.append(
        f"The {what} have another type than those of the labels (e.g. {names[0]!r}): matched by their text."
    )
    return tuple(texts.get(str(name), name) for name in names)


def _same_class_type(predictions: Predictions, labels: Labels, warnings: list[str]) -> Predictions:
    classes = (
        _same_type(predictions.classes, labels.classes, "predicted classes", warnings)
        if predictions.classes
        else ()
    )
    score_classes = (
        _same_type(predictions.score_classes, labels.classes, "score classes", [])
        if predictions.score_classes
        else ()
    )
    return replace(predictions, classes=classes, score_classes=score_classes)


def _classes(predictions: Predictions | None) -> tuple[Any, ...]:
    return () if predictions is None else (*predictions.classes, *predictions.score_classes)


def _gold_codes(
    gold: Gold | None,
    where: Mapping[Any, int],
    n_items: int,
    classes: Sequence[Any],
    warnings: list[str],
) -> Array:
    codes = np.full(n_items, -1, dtype=np.int64)
    if gold is None:
        return codes
    absent = [item for item in gold.items if item not in where]
    if len(absent) == gold.n_items:
        raise InputError(
            f"no gold item is among the labeled items (for example {absent[0]!r}): check the item column of the gold."
        )
    if absent:
        warnings.append(
            f"{len(absent):,} gold items are not among the labeled items and were left out ({listing(map(repr, absent), 3)})."
        )
    coded = recode(gold.label, gold.classes, classes)
    for item, code in zip(gold.items, coded):
        if item in where:
            codes[where[item]] = code
    return codes


def _score_columns(predictions: Predictions, classes: Sequence[Any]) -> Array:
    """Scores in the order of the joined classes; a class without a column scores zero."""
    scores = np.asarray(predictions.scores)
    if scores.ndim == 1:
        return scores
    table = np.zeros((len(scores), len(classes)))
    for k, name in enumerate(predictions.score_classes):
        table[:, list(classes).index(name)] = scores[:, k]
    return table
