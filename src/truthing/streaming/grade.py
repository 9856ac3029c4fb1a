"""grade() of a panel on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from truthing.arguments import as_draws, as_panel_error, as_seed
from truthing.asking import fitting_draws, positive_class
from truthing.kinds import check_metrics
from truthing.metrics.counts import Tally
from truthing.panel_kind import panel_of
from truthing.progress import Progress, listener, part
from truthing.repeats import Repeats
from truthing.report import Report
from truthing.streaming.answer import answer_streamed
from truthing.streaming.held import hold
from truthing.streaming.items import StreamedItems
from truthing.streaming.state import state_on_disk
from truthing.tables.asked import UNASKED, Asked


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
    classes, assumptions = held.panel.classes, list(held.remarks)
    place = positive_class(classes, positive, assumptions)
    kind = panel_of(panel, held.panel.labelers, assumptions)
    check_metrics(metrics or (), classes, place)
    options = {
        "positive": place,
        "target": target,
        "n_draws": fitting_draws(as_draws(draws), len(classes), held.warnings),
        "seed": as_seed(seed),
        "panel": kind,
        "trained_on_labels": trained_on_labels,
        "panel_error": as_panel_error(panel_error),
    }
    question, outcome = answer_streamed(
        held,
        gold_weights=gold_weights,
        gold_choice=gold_choice,
        progress=part(say, 0.4, 1),
        **options,
    )
    adds_up = question.gold_chosen.kind == "random" and not question.constant
    told = replace(
        outcome,
        warnings=[*held.warnings, *outcome.warnings],
        assumptions=assumptions + outcome.assumptions,
        state=(lambda: state_on_disk(held, options)) if adds_up else None,
    )
    return Report(
        told,
        classes=classes,
        positive=place,
        items=StreamedItems(held.shards),
        method="posterior",
        target=target,
        seed=seed,
        sizes=held.sizes,
        dropped=held.dropped,
        face_value=Tally.from_confusion(held.face_value),
        shown=metrics,
        gold_alone=getattr(outcome.answer, "gold_alone", None),
    )
