"""prevalence() of a panel on disk."""

from __future__ import annotations

from typing import Any

from truthing.arguments import as_draws, as_panel_error, as_seed
from truthing.panel_kind import panel_of
from truthing.progress import Progress, listener, part
from truthing.repeats import Repeats
from truthing.shares import Prevalence, as_prevalence, require_two_classes
from truthing.streaming.answer import answer_streamed
from truthing.streaming.held import hold
from truthing.tables.asked import UNASKED, Asked


def prevalence_streamed(
    labels: Any,
    *,
    gold: Any = None,
    panel: str | None = None,
    repeats: Repeats = "error",
    draws: int = 4000,
    engine: Any = "stream",
    progress: bool | Progress = False,
    asked: Asked = UNASKED,
    **others: Any,
) -> Prevalence:
    """`prevalence` of files that are not read into memory; arguments as there, and as
    `runs_streamed` lets them pass."""
    say = listener(progress)
    about: dict[str, Any] = {"gold": gold, "engine": engine, "asked": asked, "repeats": repeats}
    held = hold(None, labels, **about, progress=part(say, 0, 0.4))
    assumptions = list(held.remarks)
    kind = panel_of(panel, held.panel.labelers, assumptions)
    require_two_classes(held.panel.classes)
    question, outcome = answer_streamed(
        held,
        gold_weights=others.get("gold_weights"),
        gold_choice=others.get("gold_choice"),
        panel_error=as_panel_error(others.get("panel_error")),
        panel=kind,
        n_draws=as_draws(draws),
        target=others.get("target", "sample"),
        seed=as_seed(others.get("seed", 0)),
        progress=part(say, 0.4, 1),
    )
    face = held.panel.found.shares / held.panel.n_items
    warnings = [*held.warnings, *outcome.warnings]
    return as_prevalence(outcome, question, face, held.sizes, warnings, assumptions)
