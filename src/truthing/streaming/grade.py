"""The answer for a panel on disk, and the report of a grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_panel_error, as_seed
from truthing.asking import chance_weights, check_metrics, fitting_draws, positive_class
from truthing.errors import InputError
from truthing.labels import Repeats
from truthing.metrics.counts import Tally
from truthing.panel_kind import panel_of
from truthing.progress import Progress, listener, part
from truthing.report import Report
from truthing.streaming.held import Held, hold
from truthing.streaming.items import StreamedItems, StreamedTruth
from truthing.survey.gold_choice import RANDOM, GoldChoice, choice_by_strata
from truthing.tables.asked import UNASKED, Asked
from truthing.truth.link.grouped import ViewSums, view_sums
from truthing.truth.link.views import fit_both
from truthing.truth.outcome import Outcome
from truthing.truth.question import Question


def grade_streamed(
    predictions: Any,
    labels: Any,
    *,
    gold: Any = None,
    gold_weights: Any = None,
    gold_choice: str | None = None,
    target: str = "sample",
    positive: Any = None,
    panel_error: Any = None,
    panel: str | None = None,
    trained_on_labels: bool = False,
    repeats: Repeats = "error",
    metrics: Sequence[str] | None = None,
    draws: int = 4000,
    engine: Any = "stream",
    seed: int = 0,
    progress: bool | Progress = False,
    asked: Asked = UNASKED,
    **others: Any,
) -> Report:
    """`grade` of files that are not read into memory; arguments as there, and as `runs_streamed`
    lets them pass."""
    say = listener(progress)
    held = hold(
        predictions,
        labels,
        gold=gold,
        engine=engine,
        asked=asked,
        repeats=repeats,
        progress=part(say, 0, 0.4),
    )
    classes, assumptions = held.panel.classes, list(held.said)
    place = positive_class(classes, positive, assumptions)
    kind = panel_of(panel, held.panel.labelers, assumptions)
    check_metrics(metrics or (), classes, place)
    _, outcome = answer_streamed(
        held,
        panel_error=as_panel_error(panel_error),
        gold_weights=gold_weights,
        gold_choice=gold_choice,
        progress=part(say, 0.4, 1),
        positive=place,
        target=target,
        n_draws=fitting_draws(as_draws(draws), len(classes), held.warnings),
        seed=as_seed(seed),
        panel=kind,
        trained_on_labels=trained_on_labels,
    )
    told = replace(
        outcome,
        warnings=[*held.warnings, *outcome.warnings],
        assumptions=assumptions + outcome.assumptions,
    )
    return Report(
        told,
        classes=classes,
        positive=place,
        items=StreamedItems(held.stream),
        method="posterior",
        target=target,
        seed=seed,
        sizes=held.sizes,
        dropped=held.dropped,
        face_value=Tally.from_confusion(held.face_value),
        shown=metrics,
        gold_alone=getattr(outcome.answer, "gold_alone", None),
    )


def answer_streamed(
    held: Held,
    *,
    panel_error: Any,
    gold_weights: Any,
    gold_choice: str | None,
    progress: Progress,
    **asked: Any,
) -> tuple[Question, Outcome]:
    """Fit both consensus models, look once more, and hand the sums to the link. The question is one
    about rows of items."""
    from truthing.truth import checks
    from truthing.truth.labelers import quick_labelers
    from truthing.truth.linked import answer_by_link, draw_the_link

    panel = held.panel
    checks.require_identified(panel, held.gold)
    full, coin = fit_both(panel.engine, progress=part(progress, 0, 0.9))
    tables = full.tables, coin.tables
    sums: ViewSums = panel.engine.add(view_sums, *tables)
    views, number = sums.views(full)
    gold = np.append(held.gold, -1)[number]
    chosen = _chosen(held, gold_weights, gold_choice)
    constant = np.full(len(number), held.constant or 0)
    has_classifier = held.constant is None and (held.panel.found.predicted > 0).sum() > 1
    question = Question(
        panel,  # type: ignore[arg-type]
        views.predicted if has_classifier else constant,
        gold,
        gold_weights=chosen.weights,
        gold_chosen=chosen,
        progress=progress,
        size=views.size,
        **asked,
    )
    found = quick_labelers(question, full, sums.confusion)
    about = found.noise, found.assumptions, found.warnings, found.diagnostics
    outcome = answer_by_link(question, views, panel_error, *about)
    link = draw_the_link(question, views, panel_error)
    shared = *tables, np.unique(views.bin), link.chance().mean(axis=0), held.gold
    held.first.close()
    truth: Any = StreamedTruth(panel.classes, held.stream, shared)
    outcome = replace(
        outcome, truth=truth, noise=held.summary(found.noise), sensitivity=_needs_memory
    )
    return question, outcome


def _chosen(held: Held, chances: Any, asked: str | None) -> GoldChoice:
    """How gold was chosen, by the user's word or by its looks."""
    if chances is not None:
        if asked is not None:
            raise InputError("`gold_weights=` says how gold was chosen: leave `gold_choice=` out.")
        return GoldChoice("chances", chance_weights(chances, held.gold_items), asked=True)
    if not len(held.gold):
        return RANDOM
    found = held.panel.found
    strata = found.gold_strata[np.argsort(found.gold_strata[:, 0]), 1]
    choice = choice_by_strata(asked, found.strata, strata)
    held.warnings.extend(choice.warnings)
    return choice


def _needs_memory(level: float, progress: Progress) -> Any:
    raise InputError(
        "sensitivity repeats the grade on labels in memory: use engine='memory' (--engine memory)."
    )
