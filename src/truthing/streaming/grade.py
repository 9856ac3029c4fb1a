"""grade() of items that are counted in groups: on disk, or very many in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from truthing.arguments import as_draws, as_panel_error, as_seed
from truthing.asking import fitting_draws, positive_class
from truthing.kinds import check_metrics
from truthing.matching import Joined
from truthing.metrics.counts import Tally
from truthing.panel_kind import panel_of
from truthing.progress import Progress, listener, part
from truthing.repeats import Repeats
from truthing.report import Report
from truthing.streaming.answer import answer_streamed
from truthing.streaming.held import Held, hold
from truthing.streaming.in_memory import hold_in_memory
from truthing.streaming.items import StreamedItems
from truthing.streaming.state import state_in_groups
from truthing.tables.asked import UNASKED, Asked


def grade_streamed(
    predictions: Any,
    labels: Any,
    *,
    gold: Any = None,
    repeats: Repeats = "error",
    engine: Any = "stream",
    progress: bool | Progress = False,
    asked: Asked = UNASKED,
    **options: Any,
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
    return _graded(held, StreamedItems(held.shards), progress=part(say, 0.4, 1), **options)


def grade_in_groups(
    joined: Joined, by_items: Callable[[Progress], Report], *, progress: Progress, **options: Any
) -> Report:
    """`grade` of very many items in memory; ``by_items`` is the same grade item by item, for
    those who ask what else it might have assumed."""
    held = hold_in_memory(joined)
    found = _graded(held, joined.labels.items, progress=progress, **options)

    def sensitivity(level: float, progress: Progress) -> Any:
        found = by_items(part(progress, 0, 0.3))
        return found.outcome.sensitivity(level, part(progress, 0.3, 1))

    return replace(found, outcome=replace(found.outcome, sensitivity=sensitivity))


def _graded(
    held: Held,
    items: Sequence[Any],
    *,
    gold_weights: Any = None,
    gold_choice: str | None = None,
    target: str = "sample",
    positive: Any = None,
    panel_error: Any = None,
    panel: str | None = None,
    trained_on_labels: bool = False,
    metrics: Sequence[str] | None = None,
    draws: int = 4000,
    seed: int = 0,
    progress: Progress,
    **others: Any,
) -> Report:
    classes, assumptions = held.panel.classes, list(held.remarks)
    place = positive_class(classes, positive, assumptions)
    kind = panel_of(panel, held.panel.labelers, assumptions)
    check_metrics(metrics or (), classes, place)
    rough: list[str] = []
    options = {
        "positive": place,
        "target": target,
        "n_draws": fitting_draws(as_draws(draws), len(classes), rough),
        "seed": as_seed(seed),
        "panel": kind,
        "trained_on_labels": trained_on_labels,
        "panel_error": as_panel_error(panel_error),
    }
    question, outcome = answer_streamed(
        held, gold_weights=gold_weights, gold_choice=gold_choice, progress=progress, **options
    )
    adds_up = question.gold_chosen.kind == "random" and not question.constant
    told = replace(
        outcome,
        warnings=[*held.warnings, *rough, *outcome.warnings],
        assumptions=assumptions + outcome.assumptions,
        state=partial(state_in_groups, held, items, options) if adds_up else None,
    )
    return Report(
        told,
        classes=classes,
        positive=place,
        items=items,
        method="posterior",
        target=target,
        seed=seed,
        sizes=held.sizes,
        dropped=held.dropped,
        face_value=Tally.from_confusion(held.face_value),
        shown=metrics,
        gold_alone=getattr(outcome.answer, "gold_alone", None),
    )
