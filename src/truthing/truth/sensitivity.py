"""How the headline moves with what was assumed: panel error, dependence of labelers, a
classifier that repeats the labels' mistakes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate
from truthing.noise.steps import fix_gold
from truthing.progress import Progress, part, silent
from truthing.truth.consensus import Entries
from truthing.truth.groups import Groups
from truthing.truth.labelers import PER_ROW
from truthing.truth.link.views import Views, read_panel
from truthing.truth.missing import harder, skipped_votes
from truthing.truth.outcome import Outcome
from truthing.truth.question import Question
from truthing.truth.samplers.known import sample_known
from truthing.truth.trusted_clusters import beyond_clusters

PANEL_ERRORS = (0.0, 0.01, 0.02, 0.05, 0.1)
DEPENDENCES = (0.0, 0.1, 0.2, 0.4)
HARDER = (1.0, 0.5, 0.25)
SHARED = (0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Row:
    """One assumption at one value (NaN: as learned from public panels), and what accuracy
    becomes; ``low`` and ``high`` at ``level``.
    """

    assumption: str
    value: float
    estimate: Estimate
    level: float

    @property
    def mean(self) -> float:
        return self.estimate.mean

    @property
    def low(self) -> float:
        return self.estimate.interval(self.level)[0]

    @property
    def high(self) -> float:
        return self.estimate.interval(self.level)[1]


@dataclass(frozen=True)
class Sensitivity:
    """Accuracy under each assumption, and the frame that needs none (Lam & Stork Section 6)."""

    rows: tuple[Row, ...]
    bounds: tuple[float, float]

    def at(self, level: float) -> Sensitivity:
        """The same with limits at another level."""
        return replace(self, rows=tuple(replace(row, level=level) for row in self.rows))

    def __str__(self) -> str:
        lines = [f"{'assumption':<44}{'value':>8}   accuracy"]
        lines += [
            f"{r.assumption:<44}{'–' if np.isnan(r.value) else f'{r.value:.2f}':>8}   "
            f"{r.mean:.3f} ({r.low:.3f} to {r.high:.3f})"
            for r in self.rows
        ]
        lines.append(
            "whatever the dependence, if the consensus is as good as the model says: "
            f"{self.bounds[0]:.3f} to {self.bounds[1]:.3f}"
        )
        return "\n".join(lines)


def sensitivity(
    question: Question,
    again: Callable[[Question, Any], Outcome],
    level: float = 0.95,
    progress: Progress = silent,
) -> Sensitivity:
    """``again(question, panel_error)`` repeats the grading under another panel error."""
    rows = []
    question = replace(question, scores=None)  # the accuracy needs no curves
    # a trusted noise model takes neither gold that errs nor groups, weights, strata and slices
    untrusted = question.gold_error is not None or question.grouped
    shares = PANEL_ERRORS[bool(untrusted or beyond_clusters(question.survey.used)) :]
    runs = [*shares, None]

    def graded(panel_error: float | None) -> Outcome:
        done = runs.index(panel_error)
        asked = replace(question, progress=part(progress, done / len(runs), (done + 1) / len(runs)))
        return again(asked, panel_error)

    for share in shares:
        found = graded(share).answer.estimate("accuracy")
        rows.append(Row("panel wrong together on this share of items", share, found, level))
    usual = graded(None)
    found = usual.answer.estimate("accuracy")
    rows.append(Row("panel wrong together as public panels are", float("nan"), found, level))
    entries = question.entries
    readings = read_panel(entries, question.predicted)
    # these speak of these items as they are: beside another question they would mislead
    plain = question.survey.plain and question.deployment is None and question.target == "sample"
    for rho in DEPENDENCES if plain else ():
        found = _discounted(question, entries, readings, rho)
        rows.append(Row("labelers' dependence (n labels count less)", rho, found, level))
    rows += _harder(question, usual, level)
    apart, wrong = _consensus_rates(readings)
    for share in SHARED if plain else ():
        # disagreement a with a consensus wrong at rate m: e = a - m + 2 m s when a share s of its
        # mistakes is the classifier's too
        error = float(np.clip(apart - wrong + 2 * wrong * share, 0, 1))
        rows.append(
            Row(
                "consensus mistakes that the classifier repeats",
                share,
                Estimate.exactly(1 - error),
                level,
            )
        )
    frame = max(0.0, 1 - apart - wrong), min(1.0, 1 - abs(apart - wrong))
    return Sensitivity(tuple(rows), frame if plain else (0.0, 1.0))


def _harder(question: Question, found: Outcome, level: float) -> list[Row]:
    """Items that labelers left out or were unsure of, harder than their labels show."""
    doubts = skipped_votes(question.labels) if question.doubts is None else question.doubts
    doubtful = (doubts > 0) & (question.gold < 0)
    if not doubtful.any() or doubtful.all():
        return []
    right = found.truth[np.arange(question.n_items), question.predicted]
    drawn = found.answer.estimate("accuracy").draws
    rows = []
    for factor in HARDER:
        moved = np.clip(drawn + harder(right, doubtful, factor), 0, 1)
        what = "odds of items left out or unsure, times"
        rows.append(Row(what, factor, Estimate.from_draws(moved), level))
    return rows


def _discounted(question: Question, entries: Entries, readings: Views, rho: float) -> Estimate:
    """The model's own posterior with the labelers' rows as learned and each item's votes
    discounted.
    """
    votes = np.bincount(entries.item, weights=entries.votes, minlength=entries.n_items)
    discount = 1 / (1 + (np.maximum(votes, 1) - 1) * rho)
    evidence = (
        np.log(np.maximum(readings.fit.labelers_only(entries, discount), 1e-300))
        - readings.fit.log_prior
    )
    if question.gold_error is None:
        fix_gold(evidence, question.gold, logs=True)
    groups = Groups.of(evidence - evidence.max(axis=1, keepdims=True), question.predicted)
    n = question.n_classes
    samples = sample_known(
        groups.evidence,
        groups.predicted,
        groups.size,
        n_outcomes=n,
        row_prior=np.full((n, n), PER_ROW / n),
        prior=question.prior,
        n_draws=1000,
        seed=question.seed,
    )
    return Estimate.from_draws(np.trace(samples.counts, axis1=1, axis2=2) / len(question.predicted))


def _consensus_rates(readings: Views) -> tuple[float, float]:
    """How often prediction and consensus differ, and how often the model expects the consensus
    to be wrong.
    """
    best: Array = readings.posterior.argmax(axis=1)
    return float((best != readings.predicted).mean()), float(
        1 - readings.posterior.max(axis=1).mean()
    )
