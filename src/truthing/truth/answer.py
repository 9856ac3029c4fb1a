"""What sets the interval: every unknown has a posterior, and each draw of the truth is a complete
answer key.

Noise given: the classifier's rows and the class prior are sampled. Noise learned and trusted
(``panel_error=0``): labelers too (`labelers`). Noise learned and not trusted, the default: the
link.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.estimate import credible_interval
from truthing.noise.base import TableNoise
from truthing.noise.steps import fix_gold
from truthing.progress import part
from truthing.truth import checks
from truthing.truth.consensus import Entries
from truthing.truth.labelers import (
    PER_ROW,
    LearnedLabelers,
    convergence,
    describe_labelers,
    quick_labelers,
)
from truthing.truth.link.counts import MOST_DENSE
from truthing.truth.link.views import known_views, read_consensus, read_panel
from truthing.truth.linked import answer_by_link
from truthing.truth.missing import doubted
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.question import Question
from truthing.truth.samplers.diagnostics import split_rhat
from truthing.truth.samplers.known import sample_known
from truthing.truth.samplers.labelers import CrowdSamples
from truthing.truth.scores import ScoreAnswer
from truthing.truth.told_views import told_views
from truthing.truth.trusted_clusters import require_trustworthy, trusted_answer

MOST_SCORED = 2000  # drawn truths given scores
ROW_DRAWS = 8
GROUPS_ARE_LEARNED = (
    "groups= needs labelers whose noise is learned, and panel_error=0 takes them for independent: "
    "leave noise and panel_error out."
)
GOLD_IS_A_LABELER = (
    "gold_error= needs the panel's own doubt, which panel_error=0 switches off: leave panel_error "
    "out, or put the expert among the labelers and say noise={'expert': 0.05}."
)
NOT_BELIEVED = "What is told of the labelers is as given; the interval does not rest on it."
FEW_CLASSES = 10  # chains that disagree are drawn five times as long while their tables are small


def with_known_noise(question: Question, noise: Any, panel_error: Any = None) -> Outcome:
    """Labelers given; only the classifier and the class prior are unknown."""
    question = replace(question, log_likelihood=noise.log_likelihood(question.labels))
    if question.grouped:
        raise InputError(GROUPS_ARE_LEARNED)
    trusted = question.certain or (panel_error is not None and panel_error == 0)
    n_draws, burn = question.n_draws, 200
    if trusted:
        require_trustworthy(question)
        n_draws = question.draws_of_tables
    elif question.n_classes > MOST_DENSE:  # only the truth's mean is needed, and rounds are slow
        n_draws, burn = min(n_draws, 40), 30
    seen = question if trusted else question.without_gold
    groups = seen.groups
    for longer in (1, 5):
        samples = sample_known(
            groups.evidence,
            groups.predicted,
            groups.size,
            n_outcomes=question.n_classes,
            row_prior=np.full(
                (question.n_classes, question.n_classes), PER_ROW / question.n_classes
            ),
            prior=question.prior,
            n_draws=longer * n_draws,
            seed=question.seed,
            burn=burn * longer,
            progress=question.progress,
        )
        right = np.trace(samples.counts, axis1=1, axis2=2)
        if split_rhat(right, samples.n_chains) < 1.05 or question.n_classes > FEW_CLASSES:
            break
    diagnostics = convergence(right, samples.n_chains, strict=trusted)
    truth = samples.truth[groups.member]
    prior = samples.prior.mean(axis=0)
    summary = NoiseSummary(
        type(noise).__name__,
        question.labels.labelers,
        noise.tables(question.labels) if isinstance(noise, TableNoise) else None,
        prior,
        prior_interval=credible_interval(samples.prior, 0.95),
    )
    assumptions = [
        "Labelers err independently of each other and of the classifier, given the true class.",
        "The noise of the labelers is as given.",
    ]
    if not trusted:
        assumptions[-1] += (
            " That they may be wrong together beyond it is allowed for, and makes most of the "
            "width: `panel_error=0` trusts the noise alone."
        )
        graded = truth.argmax(axis=1) if question.constant else question.predicted
        views = known_views(Entries.of(question.labels), seen.evidence, truth, graded, prior)
        about = question, noise, views, graded, panel_error
        views, told, doubts = told_views(*about, learned=False)
        assumptions = [*([NOT_BELIEVED] if doubts else assumptions), *told]
        views = doubted(views, question.labels.per_item, question.doubts)
        return answer_by_link(
            question, views, panel_error, summary, assumptions, doubts, diagnostics
        )
    assumptions += question.methods
    shares = samples.prior[:, :, None] * samples.rows
    confusion = samples.counts if question.target == "sample" else shares * len(question.predicted)
    curves = _score_answer(question, question.evidence)
    answer, told = trusted_answer(question, confusion, truth)
    assumptions += told
    return Outcome(answer, truth, assumptions, [], diagnostics, summary, curves)


def with_learned_noise(question: Question, noise: Any, panel_error: Any = None) -> Outcome:
    """Labelers learned from the labels; trusted only where the user says so (panel_error=0)."""
    trusted = panel_error is not None and not isinstance(panel_error, tuple) and panel_error == 0
    if trusted and question.gold_error is not None:
        raise InputError(GOLD_IS_A_LABELER)
    if trusted and question.grouped:
        raise InputError(GROUPS_ARE_LEARNED)
    if trusted:
        require_trustworthy(question)
    entries, listening = question.entries, part(question.progress, 0, 0.1)
    if question.constant:
        views = read_consensus(entries, progress=listening)
    else:
        views = read_panel(entries, question.predicted, progress=listening)
    given = question, None if trusted else noise, views, views.predicted, panel_error
    views, told, doubts = told_views(*given, learned=True)
    views = doubted(views, question.labels.per_item, question.doubts)
    if trusted or noise is not None:
        found = describe_labelers(question, noise, views.fit, trusted=trusted)
    else:
        found = quick_labelers(question, views.fit)
    if trusted:
        return answer_by_noise_model(question, found)
    assumptions, warnings = [*found.assumptions, *told], [*doubts, *found.warnings]
    about = found.noise, assumptions, warnings, found.diagnostics
    return answer_by_link(question, views, panel_error, *about)


def answer_by_noise_model(question: Question, found: LearnedLabelers) -> Outcome:
    """The noise model's own posterior: right if labelers err independently, as the user said."""
    samples = found.samples
    assumptions = [
        *found.assumptions,
        "Labelers err independently of each other and of the classifier, given the true class "
        "(panel_error=0).",
        checks.LEARNED_FROM_LABELS,
    ]
    shares = samples.prior[:, :, None] * samples.classifier
    confusion = samples.counts if question.target == "sample" else shares * len(question.predicted)
    answer, told = trusted_answer(question, confusion, samples.truth)
    return Outcome(
        answer,
        samples.truth,
        assumptions + told,
        found.warnings,
        found.diagnostics,
        found.noise,
        _learned_scores(question, samples),
    )


def _score_answer(
    question: Question, evidence: Array, n_draws: int = MOST_SCORED, part: int = 0
) -> ScoreAnswer | None:
    if question.scores is None or question.positive is None:
        return None
    order = [1 - question.positive, question.positive]
    return ScoreAnswer.lazily(
        question.scores,
        evidence[:, order],
        None if question.prior is None else question.prior[order],
        n_draws=min(question.n_draws, n_draws),
        seed=question.seed + part,
        target=question.target,
    )


def _learned_scores(question: Question, samples: CrowdSamples) -> ScoreAnswer | None:
    """Several draws of the labelers' rows in turn: their mean alone would hide what is not
    known.
    """
    entries = Entries.of(question.labels)
    if samples.row_mean is None:
        return None
    rows = [samples.row_mean]
    if samples.rows is not None:
        rows = list(samples.rows[np.linspace(0, len(samples.rows) - 1, ROW_DRAWS).astype(int)])
    parts = [
        _score_answer(
            question,
            _labelers_evidence(entries, table, question.gold),
            max(100, MOST_SCORED // len(rows)),
            number,
        )
        for number, table in enumerate(rows)
    ]
    found = [part for part in parts if part is not None]
    return ScoreAnswer.together(found) if found else None


def _labelers_evidence(entries: Entries, rows: Array, gold: Array) -> Array:
    """log p(labels | truth) for labelers with these rows; gold items are certain."""
    scores = entries.log_likelihood(rows)
    fix_gold(scores, gold, logs=True)
    return scores - scores.max(axis=1, keepdims=True)
