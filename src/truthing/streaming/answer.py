"""The answer for items in groups: the link, fed with sums over shards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from truthing.asking import chance_weights, gold_of_one_class
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.progress import Progress, part
from truthing.streaming.held import Held
from truthing.streaming.items import StreamedTruth
from truthing.survey.gold_choice import (
    N_STRATA,
    RANDOM,
    GoldChoice,
    check_choice,
    choice_by_strata,
)
from truthing.truth.consensus import DawidSkeneFit
from truthing.truth.counted import CountedPanel
from truthing.truth.link.grouped import ViewSums, truth_rows, view_sums
from truthing.truth.link.views import Views, fit_both
from truthing.truth.outcome import Outcome
from truthing.truth.passes import Tables
from truthing.truth.question import Question


@dataclass(frozen=True, eq=False)
class AskedRows:
    """A question about rows of items, and what both consensus models say about them; ``groups`` is
    the group of each row."""

    question: Question
    views: Views
    groups: Array
    sums: ViewSums
    full: DawidSkeneFit
    tables: tuple[Tables, Tables]


def ask_streamed(
    held: Held,
    *,
    gold_weights: Any,
    gold_choice: str | None,
    progress: Progress,
    **asked: Any,
) -> AskedRows:
    """Fit both consensus models and look once more."""
    from truthing.truth import checks

    panel = held.panel
    checks.require_identified(panel, held.gold)
    full, coin = fit_both(panel.engine, progress=part(progress, 0, 0.9))
    tables = full.tables, coin.tables
    sums: ViewSums = panel.engine.add(view_sums, *tables)
    views, groups, number = sums.views(full)
    gold = np.append(held.gold, -1)[number]
    chosen = _chosen(held, gold_weights, gold_choice)
    if chosen.kind == "seen":
        chosen = replace(chosen, strata=groups % (N_STRATA * panel.n_classes))
    constant = np.full(len(number), held.constant or 0)
    has_classifier = held.constant is None and (held.panel.found.predicted > 0).sum() > 1
    question = Question(
        panel,  # type: ignore[arg-type]
        views.predicted if has_classifier else constant,
        gold,
        gold_weights=chosen.weights if chosen.kind == "chances" else None,
        gold_chosen=chosen,
        progress=progress,
        size=views.size,
        **asked,
    )
    return AskedRows(question, views, groups, sums, full, tables)


def answer_streamed(
    held: Held,
    *,
    panel_error: Any,
    progress: Progress,
    **asked: Any,
) -> tuple[Question, Outcome]:
    """The sums over shards, handed to the link. The question is one about rows of items."""
    from truthing.truth.labelers import quick_labelers
    from truthing.truth.linked import answer_by_link, draw_the_link

    panel, seen = held.panel, ask_streamed(held, progress=progress, **asked)
    question, views, groups = seen.question, seen.views, seen.groups
    found = quick_labelers(question, seen.full, seen.sums.confusion)
    about = found.noise, found.assumptions, found.warnings, found.diagnostics
    outcome = answer_by_link(question, views, panel_error, *about)
    link = draw_the_link(question, views, panel_error)
    codes, first = np.unique(groups, return_index=True)
    right = link.chance().mean(axis=0)[link.design.member[first]]
    shared = *seen.tables, codes, right, held.gold
    held.first.close()
    truth: Any
    if held.stream is None:
        truth = cache(partial(_truth_in_memory, panel, shared, held.places))
    else:
        truth = StreamedTruth(panel.classes, held.stream, shared)
    outcome = replace(
        outcome, truth=truth, noise=held.summary(found.noise), sensitivity=_needs_memory
    )
    return question, outcome


def _truth_in_memory(panel: CountedPanel, shared: tuple[Any, ...], places: Array) -> Array:
    """The posterior of each item's class, in the user's order."""
    truth = np.empty((len(places), panel.n_classes))
    first = 0
    for rows in panel.engine.map(truth_rows, *shared):
        truth[places[first : first + len(rows)]] = rows
        first += len(rows)
    return truth


def _chosen(held: Held, chances: Any, asked: str | None) -> GoldChoice:
    """How gold was chosen, by the user's word or by its looks."""
    if chances is not None:
        if asked is not None:
            raise InputError("`gold_weights=` says how gold was chosen: leave `gold_choice=` out.")
        return GoldChoice("chances", chance_weights(chances, held.gold_items), asked=True)
    check_choice(asked)
    if not len(held.gold):
        return RANDOM
    found = held.panel.found
    strata = found.gold_strata[np.argsort(found.gold_strata[:, 0]), 1]
    choice = choice_by_strata(asked, found.strata, strata)
    if choice.kind == "seen" and held.constant is not None:
        raise InputError(
            "gold is not a random choice and one class is predicted for every item: that needs the "
            "labels in memory, use `engine='memory'`."
        )
    held.warnings.extend(choice.warnings)
    if asked is None:
        held.warnings.extend(gold_of_one_class(held.panel, held.gold))
    return choice


def _needs_memory(level: float, progress: Progress) -> Any:
    raise InputError("sensitivity repeats the grade on labels in memory: use `engine='memory'`.")
