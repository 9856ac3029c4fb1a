"""Labels, predictions and gold joined by item, coded in one list of classes; what was dropped
is counted and said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from truthing.class_codes import Array, recode, sort_classes, tally
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.names import names_at, places_among
from truthing.notes import Notes, about_bare_gold, drop_warnings
from truthing.predictions import Gold, Predictions
from truthing.repeats import Repeats, about_repeats
from truthing.spelling import letters
from truthing.vocabulary import WordSource, rename, unify


@dataclass(frozen=True)
class Joined:
    """Items that have both labels and predictions, in the order of the labels."""

    labels: Labels
    predicted: Array | None
    scores: Array | None
    gold: Array
    dropped: dict[str, int]
    warnings: list[str]
    remarks: list[str] = field(default_factory=list)
    score_name: str = ""
    doubted: Mapping[Any, int] = field(default_factory=dict)  # unsure answers of each item
    readings: Sequence[Any] = ()  # the files that everything came from
    given: Sequence[Any] = ()  # all items that have labels, in the user's order
    elsewhere: Callable[[], Mapping[Any, int]] = dict  # predictions of other items, when asked


def join(
    labels: Labels,
    predictions: Predictions | None,
    gold: Gold | None,
    *,
    repeats: Repeats = "error",
    keep: Container[Any] = (),
) -> Joined:
    """Join by item. Names that differ only in type (7 and "7") are matched when nothing matches
    otherwise, and said. Items of ``keep`` stay without any label too.
    """
    warnings: list[str] = []
    labels, predictions, gold, notes = one_vocabulary(labels, predictions, gold)
    warnings += notes.checks
    again = about_repeats(labels.identical_repeats, len(labels.contradictions), repeats)
    remarks = [*notes.remarks, *again]
    labels = labels.resolve_repeats(repeats)
    if len(labels.contradictions):
        warnings.append(
            f"{len(labels.contradictions):,} times a labeler contradicts itself on an item; "
            "both labels are counted (repeats='keep')."
        )
    place = gold_place = np.empty(0, dtype=np.int32)
    if predictions is not None:
        _refuse_rows(labels, predictions, "predictions")
        items, place = _matched(predictions, labels, "items of the predictions", warnings)
        predictions = replace(predictions, items=items)
    if gold is not None:
        _refuse_rows(labels, gold, "gold")
        items, gold_place = _matched(gold, labels, "gold items", warnings)
        gold = replace(gold, items=items)
    classes = _all_classes(labels, predictions, gold)
    if predictions is None:
        kept = np.arange(labels.n_items)
        source = kept
        unlabeled = 0
    else:
        unlabeled = int((place < 0).sum())
        source = np.full(labels.n_items, -1, dtype=place.dtype)
        source[place[place >= 0]] = np.flatnonzero(place >= 0)
        kept = np.flatnonzero(source >= 0)
        if len(kept) == 0:
            _refuse_near_misses(labels.items, predictions.items, "predictions")
            raise InputError(
                f"labels and predictions share no item (for example {labels.items[0]!r} and "
                f"{predictions.items[0]!r}): check the item columns."
            )
        if unlabeled and len(kept) < labels.n_items:
            _refuse_near_misses(labels.items, predictions.items, "predictions")
    known = _gold_codes(gold, gold_place, labels, classes, warnings)
    given = tally(labels.item, labels.n_items, labels.votes)  # not kept beside the labels
    bare = given[_all_or(kept, labels)] == 0
    bare[bare] = [labels.items[i] not in keep for i in kept[bare]]
    warnings += about_bare_gold(int((known[kept[bare]] >= 0).sum()))
    del given
    dropped = {
        "only in labels": labels.n_items - len(kept),
        "only in predictions": unlabeled,
        "without any label": int(bare.sum()),
    }
    kept = kept[~bare] if bare.any() else kept
    here = _all_or(kept, labels)
    if len(kept) == 0:
        raise InputError(
            "no item has both a prediction and a label: check the item columns of both."
        )
    warnings += drop_warnings(dropped)
    codes = None
    if predictions is not None and predictions.label is not None:
        codes = recode(predictions.label, predictions.classes, classes)[source[here]]
    scores = (
        None
        if predictions is None or predictions.scores is None
        else _score_columns(predictions, classes)[source[here]]
    )
    elsewhere: Callable[[], Mapping[Any, int]] = dict
    if unlabeled and predictions is not None and predictions.label is not None:
        elsewhere = partial(_guesses, predictions, np.flatnonzero(place < 0), classes)
    chosen = labels if len(kept) == labels.n_items else labels[kept]
    name = "" if predictions is None else predictions.score_name
    return Joined(
        chosen.with_classes(classes),
        codes,
        scores,
        known[here],
        dropped,
        warnings,
        remarks,
        name,
        elsewhere=elsewhere,
    )


def _all_or(kept: Array, labels: Labels) -> Any:
    """An index of these items; of all of them one that copies nothing."""
    return slice(None) if len(kept) == labels.n_items else kept


def _guesses(predictions: Predictions, places: Array, classes: Sequence[Any]) -> dict[Any, int]:
    """Item to class code, of the predictions at these places."""
    assert predictions.label is not None
    codes = recode(predictions.label[places], predictions.classes, classes)
    return {predictions.items[i]: int(k) for i, k in zip(places, codes)}


def as_predictions(predictions: Any, labels: Labels, scores: Any = None) -> Predictions | None:
    """Whatever a caller may hand over: a sequence aligned with the labels' items, a mapping, a
    Series, or Predictions.
    """
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
            f"{len(values):,} {what} for {labels.n_items:,} labeled items: a plain sequence "
            "is aligned with labels.items; "
            "give a mapping from item to value otherwise."
        )


def _matched(
    given: Predictions | Gold, labels: Labels, what: str, warnings: list[str]
) -> tuple[Sequence[Any], Array]:
    """Items as the labels spell them, where only the type differs, and where each stands among
    those of the labels (-1: nowhere)."""
    place = places_among(labels.items, given.items)
    if (place >= 0).any():
        return given.items, place
    items = _same_type(given.items, labels.items, what, warnings)
    return items, places_among(labels.items, items)


def _same_type(
    names: Sequence[Any], target: Sequence[Any], what: str, warnings: list[str]
) -> Sequence[Any]:
    """The names as the target spells them, where only the type differs."""
    for spelling, how in ((str, "another type"), (_loose, "other case, blanks or zeros")):
        texts: dict[str, list[Any]] = {}
        for name in target:
            texts.setdefault(spelling(name), []).append(name)
        ours = [spelling(name) for name in names]
        if len(set(ours)) < len(ours) or not any(text in texts for text in ours):
            continue
        if any(len(texts.get(text, ())) > 1 for text in ours):
            continue
        warnings.append(
            f"The {what} have {how} than those of the labels (e.g. {names[0]!r}): matched by their "
            "text."
        )
        return tuple(texts[text][0] if text in texts else name for text, name in zip(ours, names))
    return names


def one_vocabulary(
    labels: Labels, predictions: Predictions | None, gold: Gold | None
) -> tuple[Labels, Predictions | None, Gold | None, Notes]:
    """All three with one list of classes for what is the same, and what had to be said."""
    _refuse_words(labels, predictions, gold)
    sources = [WordSource("labels", labels.classes, labels.per_class, labels.settled)]
    if predictions is not None:
        names = _classes(predictions)
        seen = np.bincount(
            predictions.label[predictions.label >= 0] if predictions.label is not None else [],
            minlength=len(names),
        )
        sources.append(WordSource("predictions", names, seen, predictions.settled))
    if gold is not None:
        seen = np.bincount(gold.label, minlength=len(gold.classes))
        sources.append(WordSource("gold", gold.classes, seen, gold.settled))
    renamed, notes = unify(sources)
    by_name = {s.what: r for s, r in zip([s for s in sources if s.names], renamed)}
    labels = labels.renamed(rename(by_name.get("labels", {}), labels.classes))
    if predictions is not None:
        changes = by_name.get("predictions", {})
        predictions = replace(
            predictions,
            classes=rename(changes, predictions.classes),
            score_classes=rename(changes, predictions.score_classes),
        )
        notes = predictions.notes + notes
    if gold is not None:
        gold = replace(gold, classes=rename(by_name.get("gold", {}), gold.classes))
        notes = gold.notes + notes
    return labels, predictions, gold, labels.notes + notes


def _all_classes(
    labels: Labels, predictions: Predictions | None, gold: Gold | None
) -> tuple[Any, ...]:
    every = (*labels.classes, *_classes(predictions), *(gold.classes if gold else ()))
    unique = tuple({(type(c), c): c for c in every}.values())
    return unique if labels.settled else sort_classes(unique)


def _classes(predictions: Predictions | None) -> tuple[Any, ...]:
    if predictions is None:
        return ()
    every = (*predictions.classes, *predictions.score_classes)
    return tuple({(type(c), c): c for c in every}.values())


def _refuse_words(labels: Labels, predictions: Predictions | None, gold: Gold | None) -> None:
    """A word that was taken for "missing" among the labels, and is a class elsewhere."""
    for source, what in ((predictions, "predictions"), (gold, "gold")):
        if source is None:
            continue
        known = {letters(c) for c in source.classes}
        for word in labels.words:
            if letters(word) in known:
                raise InputError(
                    f"{word!r} was taken for a missing label, but it is a class of the {what}. "
                    f"Say `missing={word!r}`, or name the classes with "
                    f"`classes={[str(c) for c in source.classes[:6]]}`."
                )


def _refuse_rows(labels: Labels, other: Predictions | Gold, what: str) -> None:
    """Rows are matched by their number only where no side has names for its items."""
    if labels.numbered is None or other.numbered is None:
        return  # given in Python: whoever made them knows what an item is
    if labels.numbered == other.numbered:
        if labels.numbered and labels.n_items != other.n_items and what == "predictions":
            raise InputError(
                f"neither labels nor {what} name their items, and there are "
                f"{labels.n_items:,} rows "
                f"and {other.n_items:,}: add a column of items to both, or `item_column=...`."
            )
        return
    rows, named = (labels, other) if labels.numbered else (other, labels)
    if set(named.items) == set(range(rows.n_items)):
        return  # the names are the numbers of the rows, counted from 0
    if labels.numbered:
        raise InputError(
            f"the labels have no column of items, but the {what} have (for example "
            f"{other.items[0]!r}): add one to the labels, or name it with `item_column=...`."
        )
    if other.numbered:
        raise InputError(
            f"the {what} have no column of items, but the labels have (for example "
            f"{labels.items[0]!r}): add one to the {what}, or name it with `item_column=...`."
        )


def _refuse_near_misses(ours: Sequence[Any], theirs: Sequence[Any], what: str) -> None:
    """Items that would match but for case, blanks or leading zeros must not be dropped unseen."""
    known = set(ours)
    lost = set(theirs)
    near = {_loose(item): item for item in ours if item not in lost}
    for item in theirs:
        if item not in known and _loose(item) in near:
            raise InputError(
                f"item {item!r} of the {what} looks like item {near[_loose(item)]!r} of the labels "
                "(case, blanks, leading zeros or decimals): write it the same way in both."
            )


def _loose(item: Any) -> str:
    text = letters(item)
    number = re.fullmatch(r"0*(\d+?)(?:\.0+)?", text)
    return number[1] if number else re.sub(r"\s+", "", text)


def _gold_codes(
    gold: Gold | None,
    place: Array,
    labels: Labels,
    classes: Sequence[Any],
    warnings: list[str],
) -> Array:
    """The true class of each item, -1 where it is not known; ``place`` is that of each gold item
    among those of the labels."""
    codes = np.full(labels.n_items, -1, dtype=np.int64)
    if gold is None:
        return codes
    absent = names_at(gold.items, np.flatnonzero(place < 0))
    if absent:
        _refuse_near_misses(labels.items, gold.items, "gold")
    if len(absent) == gold.n_items:
        raise InputError(
            f"no gold item is among the labeled items (for example {absent[0]!r}): check the "
            "item column of the gold."
        )
    if absent:
        warnings.append(gold_left_out(len(absent), absent))
    codes[place[place >= 0]] = recode(gold.label, gold.classes, classes)[place >= 0]
    return codes


def gold_left_out(n_items: int, some: Sequence[Any]) -> str:
    are, were = ("item is", "was") if n_items == 1 else ("items are", "were")
    which = listing(map(repr, some), 3)
    return f"{n_items:,} gold {are} not among the labeled items and {were} left out ({which})."


def _score_columns(predictions: Predictions, classes: Sequence[Any]) -> Array:
    """Scores in the order of the joined classes; a class without a column scores zero."""
    scores = np.asarray(predictions.scores)
    if scores.ndim == 1:
        return scores
    table = np.zeros((len(scores), len(classes)))
    for k, name in enumerate(predictions.score_classes):
        table[:, list(classes).index(name)] += scores[:, k]
    return table
