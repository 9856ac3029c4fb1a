"""The answer for a panel on disk, and the report of a grade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.asking import MOST_CELLS, chance_weights, check_metrics, positive_class
from truthing.errors import InputError
from truthing.labels import Repeats
from truthing.metrics.counts import Tally
from truthing.panel_kind import panel_of
from truthing.progress import Progress, part
from truthing.report import Report
from truthing.streaming.held import Held, hold
from truthing.streaming.items import StreamedItems, StreamedTruth
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
    gold_weights: Mapping[Any, float] | None = None,
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
    progress: Progress,
    asked: Asked = UNASKED,
) -> Report:
    """`grade` of files that are not read into memory; arguments as there, already checked."""
    from truthing.truth.linked import gold_alone

    held = hold(
        predictions,
        labels,
        gold=gold,
        engine=engine,
        asked=asked,
        repeats=repeats,
        progress=part(progress, 0, 0.4),
    )
    classes, assumptions = held.panel.classes, list(held.said)
    place = positive_class(classes, positive, assumptions)
    kind = panel_of(panel, held.panel.labelers, assumptions)
    check_metrics(metrics or (), classes, place)
    fitting = max(100, MOST_CELLS // len(classes) ** 2)
    if draws > fitting:
        held.warnings.append(
            f"{len(classes)} classes leave memory for {fitting} draws only: limits of "
            "intervals are rough."
        )
    question, outcome = answer_streamed(
        held,
        panel_error=panel_error,
        gold_weights=gold_weights,
        progress=part(progress, 0.4, 1),
        positive=place,
        target=target,
        n_draws=min(draws, fitting),
        seed=seed,
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
        gold_alone=gold_alone(question) if question.n_gold else None,
    )


def answer_streamed(
    held: Held,
    *,
    panel_error: Any,
    gold_weights: Mapping[Any, float] | None,
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
    weights = None if gold_weights is None else chance_weights(gold_weights, held.gold_items)
    constant = np.full(len(number), held.constant or 0)
    has_classifier = held.constant is None and (held.panel.found.predicted > 0).sum() > 1
    question = Question(
        panel,  # type: ignore[arg-type]
        views.predicted if has_classifier else constant,
        gold,
        gold_weights=weights,
        progress=progress,
        size=views.size,
        **asked,
    )
    found = quick_labelers(question, full, sums.confusion)
    about = found.noise, found.assumptions, found.warnings, found.diagnostics
    outcome = answer_by_link(question, views, panel_error, *about)
    link = draw_the_link(question, views, panel_error)
    shared = *tables, np.unique(views.bin), link.chance().mean(axis=0), held.gold
    truth: Any = StreamedTruth(panel.classes, held.stream, shared)
    outcome = replace(
        outcome, truth=truth, noise=held.summary(found.noise), sensitivity=_needs_memory
    )
    return question, outcome


def _needs_memory(level: float, progress: Progress) -> Any:
    raise InputError(
        "sensitivity repeats the grade on labels in memory: use engine='memory' (--engine memory)."
    )
