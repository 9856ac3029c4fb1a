"""What sets the interval: every unknown has a posterior, and each draw of the truth is a complete answer key.

Noise given: the classifier's rows and the class prior are sampled. Noise learned and trusted
(``panel_error=0``): labelers too (`labelers`). Noise learned and not trusted, the default: the link.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import shortest_interval
from truthing.progress import part
from truthing.truth import checks
from truthing.truth.consensus import Entries
from truthing.truth.labelers import (
    PER_ROW,
    LearnedLabelers,
    convergence,
    describe_labelers,
)
from truthing.truth.link.counts import confusion_draws, item_truth, population_confusion
from truthing.truth.link.prior import LinkDraws, draw_link, learned_level, stated_level
from truthing.truth.link.shares import draw_shares, read_shares, share_level
from truthing.truth.link.views import Readings, known_readings, read_panel
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.problem import Problem
from truthing.truth.question import Question
from truthing.truth.samplers.diagnostics import split_rhat
from truthing.truth.samplers.known import sample_known
from truthing.truth.samplers.labelers import CrowdSamples
from truthing.truth.scores import ScoreAnswer

FEW_CLASSES = 10  # chains that disagree are drawn five times as long while their tables are small


def with_known_noise(
    question: Question,
    log_likelihood: Array,
    model: str,
    tables: Array | None,
    panel_error: Any = None,
) -> Outcome:
    """Labelers given; only the classifier and the class prior are unknown."""
    flat = np.full(question.n_classes, 1 / question.n_classes)
    problem = Problem(
        question.labels,
        question.predicted,
        question.gold,
        log_likelihood,
        flat if question.prior is None else question.prior,
    )
    for longer in (1, 5):
        samples = sample_known(
            problem.groups.evidence, problem.groups.predicted, problem.groups.size, n_outcomes=question.n_classes,
            row_prior=np.full((question.n_classes, question.n_classes), PER_ROW / question.n_classes),
            prior=question.prior, n_draws=longer * question.n_draws, seed=question.seed, burn=200 * longer, progress=question.progress,
        )  # fmt: skip
        right = np.trace(samples.counts, axis1=1, axis2=2)
        if split_rhat(right, samples.n_chains) < 1.05 or question.n_classes > FEW_CLASSES:
            break
    shares = samples.prior[:, :, None] * samples.rows
    confusion = samples.counts if question.target == "sample" else shares * len(question.predicted)
    diagnostics = convergence(right, samples.n_chains)
    truth = samples.truth[problem.groups.member]
    prior = samples.prior.mean(axis=0)
    summary = NoiseSummary(
        model,
        question.labels.labelers,
        tables,
        prior,
        prior_interval=shortest_interval(samples.prior, 0.95),
    )
    assumptions = [
        "Labelers err independently of each other and of the classifier, given the true class.",
        "The noise of the labelers is as given.",
    ]
    if panel_error:
        readings = known_readings(problem.evidence, truth, question.predicted, prior)
        return answer_by_link(
            question, readings, panel_error, summary, assumptions, [], diagnostics
        )
    curves = _score_answer(question, problem.evidence)
    return Outcome(question.answer(confusion), truth, assumptions, [], diagnostics, summary, curves)


def with_learned_noise(question: Question, noise: Any, panel_error: Any = None) -> Outcome:
    """Labelers learned from the labels; trusted only where the user says so (panel_error=0)."""
    views = read_panel(
        Entries.of(question.labels), question.predicted, progress=part(question.progress, 0, 0.1)
    )
    trusted = panel_error is not None and not isinstance(panel_error, tuple) and panel_error == 0
    found = describe_labelers(question, noise, views.fit, trusted=trusted)
    if trusted:
        return answer_by_noise_model(question, found)
    return answer_by_link(
        question,
        views,
        panel_error,
        found.noise,
        found.assumptions,
        found.warnings,
        found.diagnostics,
    )


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
    evidence = _labelers_evidence(Entries.of(question.labels), samples, question.gold)
    return Outcome(
        question.answer(confusion),
        samples.truth,
        assumptions,
        found.warnings,
        found.diagnostics,
        found.noise,
        _score_answer(question, evidence),
    )


def answer_by_link(
    question: Question,
    readings: Readings,
    panel_error: Any,
    summary: NoiseSummary,
    assumptions: list[str],
    warnings: list[str],
    diagnostics: dict[str, Any],
) -> Outcome:
    level = learned_level(readings) if panel_error is None else stated_level(readings, panel_error)
    warnings = warnings + (
        checks.gold_selection_warning(question.labels, question.gold)
        if question.gold_weights is None
        else []
    )
    question.progress(0.95, "drawing how far consensus and truth may part")
    link = draw_link(
        readings,
        level,
        question.gold,
        n_draws=question.n_draws,
        seed=question.seed,
        gold_weights=question.gold_weights,
    )
    if question.target == "sample":
        confusion = confusion_draws(link, readings, question.gold, question.seed).astype(float)
    else:
        confusion = population_confusion(link, readings, question.gold, question.seed) * len(
            question.predicted
        )
    diagnostics = {
        **diagnostics, "link_effective_sample_size": link.effective_size, "readings": dict(zip(READINGS, expit_list(readings.levels))),
        "level_centre": level.centre, "level_scale": level.scale, "panel_error": panel_error,
    }  # fmt: skip
    assumptions = [*assumptions, _wrong_together(question, panel_error)]
    assumptions.append(checks.LEARNED_FROM_LABELS)
    curves = None
    if question.scores is not None and question.positive is not None:
        curves = _linked_scores(question, readings, link)
    return Outcome(
        question.answer(confusion),
        item_truth(link, readings, question.gold),
        assumptions,
        warnings,
        diagnostics,
        summary,
        curves,
    )


def _wrong_together(question: Question, panel_error: Any) -> str:
    n_gold = int((question.gold >= 0).sum())
    if panel_error is None:
        said = (
            "The panel as a whole may be wrong together, as far as public crowds of people were (panels of language models can be worse: "
            "give gold); panel_error (--panel-error) changes that"
        )
    else:
        said = f"The panel as a whole may be wrong together, by your word on about {_share(panel_error):.1%} of items"
    return said + (
        f"; {n_gold} gold items were used to correct it and must be a random choice."
        if n_gold
        else "."
    )


def linked_shares(question: Question, panel_error: Any) -> Outcome:
    """How frequent each class is, learned noise and its link; the answer is a `ShareDraws`."""
    labels, entries = question.labels, Entries.of(question.labels)
    readings = read_shares(entries, progress=part(question.progress, 0, 0.8))
    question.progress(0.8, "drawing how far consensus and truth may part")
    drawn = draw_shares(
        readings, share_level(readings, panel_error), question.gold, question.gold_weights,
        target=question.target, n_draws=question.n_draws, seed=question.seed,
    )  # fmt: skip
    fit = readings.fit
    summary = NoiseSummary(
        "one confusion matrix for each labeler (Dawid-Skene)", labels.labelers, fit.rows(), np.exp(fit.log_prior), learned=True
    )  # fmt: skip
    pairs = checks.agreement_check(labels, None, fit)
    warnings = checks.structure_warnings(
        labels, summary.error_rate, question.n_classes
    ) + checks.agreement_warnings(pairs)
    if question.gold_weights is None:
        warnings += checks.gold_selection_warning(labels, question.gold)
    if question.prior is not None:
        warnings.append(
            "The class prior was not used: shares are learned from the labels. Give noise= or panel_error=0 to use it."
        )
    assumptions = [
        "The labelers' quality was learned: one confusion matrix for each labeler (pooled Dawid-Skene).",
        _wrong_together(question, panel_error),
    ]
    diagnostics = {
        "pairs": pairs[:10],
        "link_effective_sample_size": drawn.effective_size,
        "panel_error": panel_error,
    }
    return Outcome(drawn, drawn.truth, assumptions, warnings, diagnostics, summary)


READINGS = (
    "majority",
    "dawid_skene",
    "one_coin",
    "dawid_skene_labelers_only",
    "one_coin_labelers_only",
)


def expit_list(levels: Array) -> list[float]:
    return [float(1 / (1 + np.exp(-v))) for v in levels]


def _share(panel_error: Any) -> float:
    return (
        panel_error[0] / sum(panel_error) if isinstance(panel_error, tuple) else float(panel_error)
    )


def _score_answer(question: Question, evidence: Array) -> ScoreAnswer | None:
    if question.scores is None or question.positive is None:
        return None
    order = [1 - question.positive, question.positive]
    prior = None if question.prior is None else question.prior[order]
    return ScoreAnswer.lazily(
        question.scores,
        evidence[:, order],
        prior,
        n_draws=min(question.n_draws, 2000),
        seed=question.seed,
    )


def _linked_scores(question: Question, readings: Readings, link: LinkDraws) -> ScoreAnswer:
    """The link's chances, item by item, sharpened by what the score says beyond the hard prediction."""
    positive = question.positive
    assert positive is not None
    assert question.scores is not None
    chance = link.chance()
    is_positive = link.design.predicted == positive
    odds = np.where(is_positive, chance / (1 - chance + 1e-12), (1 - chance) / (chance + 1e-12))
    consensus = np.clip(readings.consensus[:, [1 - positive, positive]], 1e-6, 1)
    return ScoreAnswer.linked(
        question.scores, np.log(consensus), question.predicted == positive, odds, link.design.member, question.gold, positive,
        n_draws=min(question.n_draws, 2000), seed=question.seed,
    )  # fmt: skip


def _labelers_evidence(entries: Entries, samples: CrowdSamples, gold: Array) -> Array:
    """log p(labels | truth) at the labelers' posterior mean rows."""
    scores = entries.log_likelihood(samples.row_mean)
    known = np.flatnonzero(gold >= 0)
    scores[known] = -50.0
    scores[known, gold[known]] = 0.0
    return scores - scores.max(axis=1, keepdims=True)
