"""Several models joined with the labels, on the items that all of them have, and their slices."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.asking import left_out_labeler, prepare, without_copies, without_labelers
from truthing.case import Case, read_case
from truthing.class_codes import Array, sort_classes
from truthing.comparison.result import check_models
from truthing.errors import InputError, NotIdentified, did_you_mean, listing
from truthing.kinds import NOTHING, Kinds
from truthing.labels import Labels
from truthing.matching import Joined
from truthing.notes import drop_warnings
from truthing.ordering import Order
from truthing.predicted import repeats_majority
from truthing.predictions import Predictions
from truthing.repeats import Repeats
from truthing.survey.design import Survey, read_survey

FEW_IN_SLICE = 5
MOST_CLASSES = 100  # with 1,000 the sampler of the truth took minutes


def check_classes(n_classes: int) -> None:
    if n_classes > MOST_CLASSES:
        raise InputError(
            f"{n_classes:,} classes are too many to compare models (at most "
            f"{MOST_CLASSES}): merge rare classes, or grade each model with tr.grade."
        )


def join_models(
    predictions: Mapping[str, Any],
    labels: Any,
    gold: Any,
    repeats: Repeats,
    kinds: Kinds = NOTHING,
    positive: Any = None,
) -> list[Joined]:
    """Every model joined with the labels, on the items that all of them have and in one list of
    classes.
    """
    case, doubted = kinds.case(read_case(labels, predictions, gold), positive)
    absent = [name for name in predictions if name not in case.models]
    if absent:
        raise InputError(
            f"model {absent[0]!r} has no predictions and cannot be compared: give labels or "
            "scores for each."
        )
    gold = case.gold
    bare = prepare(None, case.labels, gold=gold, repeats=repeats, keep=doubted)
    panel = bare.labels
    known = case.models
    alone = [_join(name, p, panel, gold, doubted) for name, p in known.items()]
    common = set(alone[0].labels.items).intersection(*(j.labels.items for j in alone[1:]))
    if not common:
        raise InputError(
            f"models {listing(map(repr, predictions))} have no labeled item in common: a "
            "comparison needs items that all of them predicted."
        )
    every = {(type(c), c): c for j in alone for c in j.labels.classes}.values()
    classes = tuple(every) if panel.settled else sort_classes(every)
    chosen = [i for i, item in enumerate(panel.items) if item in common]
    shared = panel[np.array(chosen)].with_classes(classes)
    joined = [_join(name, p, shared, gold, doubted) for name, p in known.items()]
    dropped, lost = _dropped(case, panel, alone), []
    for name, j in zip(known, alone):
        if n := j.labels.n_items - len(common):
            lost.append(_left_out(name, n))
    about: dict[str, Any] = {"readings": case.readings, "given": case.labels.items}
    about |= {"doubted": doubted, "dropped": dropped}
    told = [replace(j, warnings=_without_drops(j), **about) for j in joined]
    told[0].warnings.extend([*_without_drops(bare), *drop_warnings(dropped), *lost])
    return told


def _without_drops(joined: Joined) -> list[str]:
    """Warnings without those on dropped items: a second join counts what the first one left out as
    if it had no label."""
    return [w for w in joined.warnings if w not in drop_warnings(joined.dropped)]


def _dropped(case: Case, panel: Labels, alone: Sequence[Joined]) -> dict[str, int]:
    """How many items were dropped and why; ``panel`` holds the labelled ones, ``alone`` is each
    model joined with it. Names are compared as texts, as they were joined."""
    seen = set().union(*(j.labels.items for j in alone))
    extra = sum(j.dropped["only in predictions"] for j in alone)
    if not extra and panel.n_items == case.labels.n_items:
        return {**alone[0].dropped, "only in labels": panel.n_items - len(seen)}
    kept, every = ({str(i) for i in items} for items in (panel.items, case.labels.items))
    guessed = {str(i) for p in case.models.values() for i in p.items} - kept
    bare = every - kept
    return {
        "only in labels": panel.n_items - len(seen) + len(bare - guessed),
        "only in predictions": min(len(guessed - every), extra),
        "without any label": len(bare & guessed),
    }


def _left_out(name: str, n: int) -> str:
    if n == 1:
        return f"1 item of {name!r} is not predicted by every model and was dropped."
    return f"{n:,} items of {name!r} are not predicted by every model and were dropped."


def _join(
    name: str, predictions: Predictions, labels: Labels, gold: Any, keep: Container[Any]
) -> Joined:
    try:
        return prepare(predictions, labels, gold=gold, repeats="keep", keep=keep)
    except InputError as problem:
        raise InputError(f"model {name!r}: {problem}") from None


def model_names(predictions: Any) -> list[str]:
    if not isinstance(predictions, Mapping):
        raise InputError(
            "compare takes a mapping from model names to predictions: {'a': …, 'b': …}."
        )
    names = [str(name) for name in predictions]
    check_models(names)
    return names


def panels_beside(
    votes: Labels, codes: Array, names: Sequence[str], trained: list[bool]
) -> tuple[list[Labels], list[str]]:
    """The labels beside each model, without labelers who copy it, and what must be said; a model
    that follows them all is doubted."""
    beside = [without_copies(votes, row) for row in codes]
    said = [left_out_labeler(who, name) for name, (_, who) in zip(names, beside) if who]
    counts = votes.counts()
    for name, row, own in zip(names, codes, trained):
        said += [] if own else repeats_majority(counts, row, name)
    return [panel for panel, _ in beside], said


def without_any_copies(votes: Labels, panels: Sequence[Labels]) -> Labels:
    """The labels without labelers who copy any model: a noise model that is trusted grades all
    models at once."""
    fewest = np.min([panel.per_labeler for panel in panels], axis=0)
    return without_labelers(votes, np.flatnonzero((fewest == 0) & (votes.per_labeler > 0)))


def trained_models(
    given: str | Sequence[str] | bool | None, names: list[str], *, gold: bool
) -> list[bool]:
    """Which models learned from the panel; nothing tells them from the others without gold."""
    if given is True:
        raise InputError(
            f"`trained_on_labels=True` does not say which models: name them, "
            f"`trained_on_labels={names}` for all."
        )
    given = given or ()
    listed = [given] if isinstance(given, str) else [str(name) for name in given]
    unknown = [name for name in listed if name not in names]
    if unknown:
        hint = did_you_mean(unknown[0], names)
        raise InputError(f"trained_on_labels names {unknown[0]!r}, which is no model here.{hint}")
    trained = [name in listed for name in names]
    if not gold and len(set(trained)) > 1:
        raise NotIdentified(
            f"{listing(map(repr, listed), 3)} learned from these labels and the others did "
            "not: a model "
            "that repeats the labels' mistakes looks better than it is, and without gold "
            "nothing shows "
            "by how much. Add gold on some random items, or grade each model alone."
        )
    return trained


def slices_of(by: Any, joined: Joined, order: Order) -> Survey:
    """The slices of the items."""
    orders = joined.given, order.labels.items
    return read_survey(joined.labels.items, orders, joined.readings, by=by)


def slice_warnings(slices: Mapping[str, Array], n_models: int) -> list[str]:
    """How many comparisons are being looked at, and which slices are too small to say much."""
    pairs = len(slices) * n_models * (n_models - 1) // 2
    notes = []
    if pairs > 1:
        notes.append(
            f"{pairs} comparisons are shown: with so many the most striking one is partly "
            "luck. Slices are pooled, which tempers it; decide beforehand "
            "which slice matters."
        )
    small = [name for name, items in slices.items() if len(items) < FEW_IN_SLICE]
    if small:
        notes.append(
            f"Slice {listing(map(repr, small), 3)} has fewer than {FEW_IN_SLICE} items: it "
            "says what the others say."
        )
    return notes
