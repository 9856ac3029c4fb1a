"""compare() of a panel on disk: items are counted in groups, not drawn one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_panel_error, as_seed, check_target
from truthing.asking import MOST_CELLS, positive_class
from truthing.comparison.models import check_classes, model_names, trained_models
from truthing.comparison.result import Comparison
from truthing.errors import InputError, listing
from truthing.metrics.counts import Tally
from truthing.metrics.estimate import NEARLY
from truthing.panel_kind import panel_of
from truthing.progress import Progress, listener, part
from truthing.repeats import Repeats
from truthing.streaming.answer import ask_streamed
from truthing.streaming.held import Held, hold
from truthing.tables.asked import UNASKED, Asked
from truthing.truth import checks
from truthing.truth.link.grouped_models import RowSums, row_sums


def compare_streamed(
    predictions: Mapping[str, Any],
    labels: Any,
    *,
    gold: Any = None,
    trained_on_labels: str | Sequence[str] | bool | None = (),
    repeats: Repeats = "error",
    engine: Any = "stream",
    progress: bool | Progress = False,
    asked: Asked = UNASKED,
    **how: Any,
) -> Comparison:
    """`compare` of files that are not read into memory; arguments as there, and as `runs_streamed`
    lets them pass."""
    names, say = model_names(predictions), listener(progress)
    trained_models(trained_on_labels, names, gold=gold is not None)
    given: dict[str, Any] = {"gold": gold, "engine": engine, "asked": asked, "repeats": repeats}
    with ExitStack() as opened:
        held = _held(predictions, labels, say, opened, **given)
        return _compared(held, names, trained_on_labels, say, **how)


def _compared(
    held: Sequence[Held],
    names: list[str],
    trained_on_labels: str | Sequence[str] | bool | None,
    say: Progress,
    *,
    gold_weights: Any = None,
    gold_choice: str | None = None,
    target: str = "sample",
    positive: Any = None,
    panel_error: Any = None,
    panel: str | None = None,
    draws: int = 4000,
    seed: int = 0,
    **others: Any,
) -> Comparison:
    from truthing.truth.several_models import agreement_words, draw_models

    check_target(target)
    first, panel_error = held[0], as_panel_error(panel_error)
    classes = first.panel.classes
    trained = trained_models(trained_on_labels, names, gold=len(first.gold) > 0)
    check_classes(len(classes))
    assumptions = list(dict.fromkeys(remark for each in held for remark in each.remarks))
    place = positive_class(classes, positive, assumptions)
    kind = panel_of(panel, first.panel.labelers, assumptions)
    draws = min(as_draws(draws), max(100, MOST_CELLS // (len(names) * len(classes))))
    seen = []
    for number, (each, own) in enumerate(zip(held, trained)):
        at = 0.4 + 0.4 * number / len(held)
        found = ask_streamed(
            each,
            gold_weights=gold_weights,
            gold_choice=gold_choice,
            progress=part(say, at, at + 0.4 / len(held)),
            positive=place,
            n_draws=draws,
            seed=as_seed(seed),
            panel=kind,
            trained_on_labels=own,
        )
        if gold_weights is None and len(each.gold):
            gold_choice = found.question.gold_chosen.kind  # as the first model shows it
        question = replace(found.question, predicted=found.views.predicted)
        seen.append(replace(found, question=question))
    say(0.85, "counting what the models say together")
    sums: RowSums = first.panel.engine.add(row_sums, *(t for each in seen for t in each.tables))
    rows, number_of = sums.rows()
    known = np.append(first.gold, -1)[number_of]
    drawn = draw_models(
        [each.question for each in seen],
        [each.views for each in seen],
        rows,
        known,
        panel_error,
        only_counts=True,
    )
    pairs = [
        checks.agreement_check(each.panel, found.question.predicted, found.full)
        for each, found in zip(held, seen)
    ]
    return Comparison(
        tuple(names),
        classes,
        place,
        drawn.truth,
        rows.predicted,
        target,
        as_seed(seed),
        first.sizes,
        first.dropped,
        tuple(Tally.from_confusion(each.face_value) for each in held),
        warnings=[
            *dict.fromkeys(w for each in held for w in each.warnings),
            *(w for name, each in zip(names, held) for w in _copied(name, each)),
            *agreement_words(pairs),
            *drawn.warnings,
        ],
        assumptions=[*dict.fromkeys(assumptions), *drawn.assumptions],
        diagnostics=drawn.diagnostics,
        pairs=drawn.pairs,
        slack=NEARLY,
        size=rows.size,
        accuracies=drawn.accuracies,
    )


def _copied(name: str, held: Held) -> list[str]:
    """Labelers who are a copy of a model keep their vote in streams."""
    copies = [held.labelers[t] for t in held.twins]
    if not copies or held.constant is not None:
        return []
    return [
        f"{listing(map(repr, copies), 3)} among the labelers: exactly what model {name!r} says. "
        "Streams keep such labels; `engine='memory'` leaves them out where that model is graded."
    ]


def _held(
    predictions: Mapping[str, Any], labels: Any, say: Progress, opened: ExitStack, **about: Any
) -> list[Held]:
    """The panel beside each model, the first beside all: they must have the same items. What is
    ``opened`` is closed at the end."""
    held: list[Held] = []
    for number, (name, given) in enumerate(predictions.items()):
        at = 0.4 * number / len(predictions)
        listen = part(say, at, at + 0.4 / len(predictions))
        try:
            held.append(hold(given, labels, **about, progress=listen, among_others=True))
        except InputError as problem:
            about_model = "prediction" in str(problem)
            raise InputError(f"model {name!r}: {problem}" if about_model else problem) from None
        if number == 0:
            opened.callback(held[0].first.close)
            about["engine"] = getattr(held[0].first, "client", "stream")  # one cluster for all
    first, names = held[0], list(predictions)
    for name, other in zip(names[1:], held[1:]):
        if other.panel.classes != first.panel.classes:
            raise InputError(
                f"models {names[0]!r} and {name!r} do not name the same classes: use "
                "`engine='memory'`."
            )
        if not _same_items(first, other):
            raise InputError(
                f"models {names[0]!r} and {name!r} do not predict the same items: keep the items "
                "that both have, or use `engine='memory'`."
            )
    together = first.shards.beside([other.shards for other in held[1:]])
    return [first.over(together), *held[1:]]


def _same_items(one: Held, other: Held) -> bool:
    pairs = list(zip(one.shards.shards, other.shards.shards))
    if len(one.shards.shards) != len(other.shards.shards):
        return False
    if any((a.number, a.n_items) != (b.number, b.n_items) for a, b in pairs):
        return False
    return all(a.items().equals(b.items()) for a, b in pairs)
