"""compare(): several models, one posterior of the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from truthing.case import read_case
from truthing.class_codes import Array, sort_classes
from truthing.comparison.result import Comparison, Scored, check_models
from truthing.errors import InputError, listing
from truthing.grading import (
    MOST_CELLS,
    as_noise,
    check_draws,
    check_target,
    positive_class,
    prepare,
    selection_weights,
    sizes,
)
from truthing.labels import Labels, Repeats
from truthing.matching import Joined
from truthing.metrics.counts import Tally
from truthing.papers.su_foils import face_value
from truthing.predicted import predicted_classes
from truthing.predictions import Predictions
from truthing.progress import Progress, listener

MOST_ANSWERS = 100_000_000  # drawn truths kept, draws × items
MOST_SCORED = 2000  # drawn truths given scores, as in `grade`
FEW_IN_SLICE = 5


def compare(
    predictions: Mapping[str, Any],
    labels: Any,
    *,
    gold: Any = None,
    gold_weights: Mapping[Any, float] | None = None,
    noise: Any = None,
    threshold: float | None = None,
    target: str = "sample",
    positive: Any = None,
    panel_error: float | tuple[float, float] | None = None,
    repeats: Repeats = "error",
    by: Mapping[Any, Any] | Sequence[Any] | None = None,
    draws: int = 4000,
    seed: int = 0,
    progress: bool | Progress = False,
) -> Comparison:
    """Which model is better, although the labels are noisy: ``predictions`` maps names of models to what `grade` takes.

    All models are graded by the same draws of the truth, so differences are paired, and nothing is assumed about how the models' mistakes
    depend on each other. ``by`` maps items to slices. Other arguments are those of `grade`.

    >>> import truthing as tr
    >>> data = tr.simulate(300, 4, prior=[0.6, 0.4], operating_point=(0.9, 0.1), fallibility=0.3, seed=1)
    >>> other = np.where(np.arange(300) % 5 == 0, 1 - data.truth, data.truth)
    >>> result = compare({"a": data.predictions, "b": other}, data.labels, noise=0.15)
    >>> result.difference("accuracy").probability_better > 0.9
    True
    """
    from truthing.truth.several_models import shared_truth

    if not isinstance(predictions, Mapping):
        raise InputError(
            "compare takes a mapping from model names to predictions: {'a': …, 'b': …}."
        )
    names = [str(name) for name in predictions]
    check_models(names)
    check_target(target)
    check_draws(draws)
    say = listener(progress)
    joined = join_models(dict(zip(names, predictions.values())), labels, gold, repeats)
    panel = joined[0].labels
    assumptions = list(dict.fromkeys(said for j in joined for said in j.said))
    place = positive_class(panel.classes, positive, assumptions)
    columns = [predicted_classes(j, place, threshold, assumptions) for j in joined]
    codes = np.stack([c[0] for c in columns]).astype(np.int64)
    warnings = list(dict.fromkeys(w for j in joined for w in j.warnings))
    fitting = max(
        100, min(MOST_ANSWERS // panel.n_items, MOST_CELLS // (len(names) * panel.n_classes))
    )
    if draws > fitting:
        warnings.append(
            f"{panel.n_items:,} items leave memory for {fitting} draws only: limits of intervals are rough."
        )
    weights = None if gold_weights is None else selection_weights(gold_weights, joined[0])
    ask = partial(
        shared_truth, panel, codes, joined[0].gold, as_noise(noise), panel_error,
        gold_weights=weights, n_draws=min(draws, fitting), seed=seed, say=say,
    )  # fmt: skip
    found = ask()
    slices = {} if by is None else slices_of(by, panel)
    if slices:
        warnings += slice_warnings(slices, len(names))
    scored = None
    scores = [c[1] for c in columns if c[1] is not None]
    if len(scores) == len(names):
        votes = panel.counts()[:, place] / np.maximum(panel.per_item, 1)
        every = np.stack(scores)
        scored = Scored(
            every,
            votes,
            partial(ask, scores=every, positive=place, n_draws=min(draws, fitting, MOST_SCORED)),
        )
    return Comparison(
        tuple(names), panel.classes, place, found.truth, codes, target, seed, sizes(joined[0]), joined[0].dropped,
        tuple(Tally.from_confusion(face_value(panel, c)) for c in codes), slices, [*warnings, *found.warnings],
        [*dict.fromkeys(assumptions), *found.assumptions], found.diagnostics, scored,
    )  # fmt: skip


def join_models(
    predictions: Mapping[str, Any], labels: Any, gold: Any, repeats: Repeats
) -> list[Joined]:
    """Every model joined with the labels, on the items that all of them have and in one list of classes."""
    case = read_case(labels, predictions, gold)
    absent = [name for name in predictions if name not in case.models]
    if absent:
        raise InputError(
            f"model {absent[0]!r} has no predictions and cannot be compared: give labels or scores for each."
        )
    gold = case.gold
    bare = prepare(None, case.labels, gold=gold, repeats=repeats)
    panel = bare.labels
    known = case.models
    alone = [_join(name, p, panel, gold) for name, p in known.items()]
    common = set(alone[0].labels.items).intersection(*(j.labels.items for j in alone[1:]))
    if not common:
        raise InputError(
            f"models {listing(map(repr, predictions))} have no labeled item in common: a comparison needs items that all of them predicted."
        )
    classes = sort_classes({(type(c), c): c for j in alone for c in j.labels.classes}.values())
    chosen = [i for i, item in enumerate(panel.items) if item in common]
    shared = panel[np.array(chosen)].with_classes(classes)
    joined = [_join(name, p, shared, gold) for name, p in known.items()]
    lost = {name: len(j.labels.items) - len(common) for name, j in zip(predictions, alone)}
    said = [
        f"{n:,} items of {name!r} are not predicted by every model and were dropped."
        for name, n in lost.items()
        if n
    ]
    joined[0].warnings.extend([*bare.warnings, *said])
    return joined


def _join(name: str, predictions: Predictions, labels: Labels, gold: Any) -> Joined:
    try:
        return prepare(predictions, labels, gold=gold, repeats="keep")
    except InputError as problem:
        raise InputError(f"model {name!r}: {problem}") from None


def slices_of(by: Mapping[Any, Any] | Sequence[Any], labels: Labels) -> dict[str, Array]:
    """Places of the items in each slice, by the slice's name."""
    if isinstance(by, Mapping):
        texts = {str(k): v for k, v in by.items()}
        named = [by.get(item, texts.get(str(item))) for item in labels.items]
        if all(n is None for n in named):
            raise InputError("by= names no item that is graded: give a mapping from item to slice.")
    else:
        named = list(by)
        if len(named) != labels.n_items:
            raise InputError(
                f"by= has {len(named):,} values for {labels.n_items:,} compared items: give one for each, or a mapping from item to slice."
            )
    texts_of = np.array(["(none)" if n is None else str(n) for n in named], dtype=object)
    return {name: np.flatnonzero(texts_of == name) for name in sorted(set(texts_of))}


def slice_warnings(slices: Mapping[str, Array], n_models: int) -> list[str]:
    """How many comparisons are being looked at, and which slices are too small to say much."""
    pairs = len(slices) * n_models * (n_models - 1) // 2
    said = []
    if pairs > 1:
        said.append(
            f"{pairs} comparisons are shown: with so many the most striking one is partly luck. Slices are pooled, which tempers it; decide beforehand "
            "which slice matters."
        )
    small = [name for name, items in slices.items() if len(items) < FEW_IN_SLICE]
    if small:
        said.append(
            f"Slice {listing(map(repr, small), 3)} has fewer than {FEW_IN_SLICE} items: it says what the others say."
        )
    return said
