"""The default method: every unknown has a posterior, and each draw of the truth is a complete answer key.

Noise known: the classifier's rows and the class prior are sampled (gibbs). Noise learned and trusted (panel_error=0): labelers too
(samplers.labelers; at large sizes a weighted bootstrap of the variational fit). Noise learned and not trusted, the default: the link.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import NotConverged
from truthing.metrics.estimate import shortest_interval
from truthing.noise.known import Difficulty
from truthing.noise.learned import DawidSkene, Strata
from truthing.progress import part
from truthing.truth import checks
from truthing.truth.consensus import Entries
from truthing.truth.known_noise import row_model
from truthing.truth.link.counts import confusion_draws, item_truth, population_confusion
from truthing.truth.link.prior import LinkDraws, draw_link, learned_level, stated_level
from truthing.truth.link.shares import draw_shares, read_shares, share_level
from truthing.truth.link.views import Readings, known_readings, read_panel
from truthing.truth.model_choice import choose_model
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.problem import Problem
from truthing.truth.question import Question
from truthing.truth.samplers.bootstrap import bootstrap_crowd, variational_crowd
from truthing.truth.samplers.diagnostics import effective_size, split_rhat
from truthing.truth.samplers.difficulty import sample_difficulty
from truthing.truth.samplers.known import sample_known
from truthing.truth.samplers.labelers import CrowdSamples, RowModel, sample_crowd
from truthing.truth.scores import ScoreAnswer

LARGE = 300_000  # labels above which the sampler gives way to the bootstrap
MANY_CLASSES = 60  # beyond, tables of every draw would not fit
FEW_CLASSES = 10  # chains that disagree are drawn five times as long while their tables are small
PER_ROW = 2.0  # pseudo-items in the prior of each of the classifier's rows


# ---- noise known ----------------------------------------------------------------------------------------------------


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
        return _linked(question, readings, panel_error, summary, assumptions, [], diagnostics)
    curves = _score_answer(question, problem.evidence)
    return Outcome(question.answer(confusion), truth, assumptions, [], diagnostics, summary, curves)


# ---- noise learned --------------------------------------------------------------------------------------------------


def with_learned_noise(question: Question, noise: Any, panel_error: Any = None) -> Outcome:
    """Labelers learned from the labels; trusted only where the user says so (panel_error=0)."""
    if noise is not None:
        return _learned(question, noise, {}, panel_error)
    if _beyond_sampling(question):
        return _learned(question, DawidSkene(), {}, panel_error)
    entries, listening = Entries.of(question.labels), part(question.progress, 0, 0.1)
    noise, scores = choose_model(
        entries, question.predicted, question.seed, hard_items=True, progress=listening
    )
    try:
        return _learned(question, noise, scores, panel_error)
    except NotConverged:
        if not isinstance(noise, Difficulty | Strata):
            raise
    outcome = _learned(question, DawidSkene(), scores, panel_error)
    outcome.warnings.append(
        f"{row_model(noise, question.labels)[1].capitalize()} predict held-out labels best, but the sampler did not converge: one confusion matrix for "
        "each labeler was used."
    )
    return outcome


def _beyond_sampling(question: Question) -> bool:
    return len(question.labels.item) > LARGE or question.n_classes > MANY_CLASSES


def _learned(question: Question, noise: Any, scores: dict[str, float], panel_error: Any) -> Outcome:
    """By one model of the labelers; ``scores`` is why it was chosen, if it was."""
    labels = question.labels
    entries = Entries.of(labels)
    progress = question.progress
    readings = read_panel(entries, question.predicted, progress=part(progress, 0.1, 0.2))
    rows, name = row_model(noise, labels)
    replaced = [] if isinstance(noise, DawidSkene) or not _beyond_sampling(question) else [name]
    if replaced:
        name = row_model(DawidSkene(), labels)[1]
    trusted = panel_error is not None and not isinstance(panel_error, tuple) and panel_error == 0
    hard_items = isinstance(noise, Difficulty)
    samples = _sample(question, entries, rows, readings, thorough=trusted, hard_items=hard_items)
    progress(0.9, "checking who agrees too much")
    right = np.trace(samples.counts, axis1=1, axis2=2)
    diagnostics: dict[str, Any] = {"held_out_log_score": scores} if scores else {}
    diagnostics |= convergence(right, samples.n_chains, strict=trusted)
    pairs = checks.agreement_check(labels, question.predicted, readings.fit)
    diagnostics["pairs"] = pairs[:10]
    error = samples.error.mean(axis=0)
    warnings = checks.structure_warnings(
        labels, error, question.n_classes
    ) + checks.agreement_warnings(pairs)
    warnings += [
        f"Beyond {LARGE:,} labels or {MANY_CLASSES} classes labelers are learned by {name} only: {asked} was not used."
        for asked in replaced
    ]
    summary = NoiseSummary(
        name, labels.labelers, samples.row_mean, samples.prior.mean(axis=0), (samples.row_low, samples.row_high),
        shortest_interval(samples.prior, 0.95), samples.error, learned=True,
        confusion_draws=samples.rows, prior_draws=samples.rows_prior,
    )  # fmt: skip
    assumptions = [
        f"The labelers' quality was learned: {name}{', chosen by how well models predict held-out labels' if scores else ''}."
    ]
    if not trusted:
        return _linked(question, readings, panel_error, summary, assumptions, warnings, diagnostics)
    assumptions += [
        "Labelers err independently of each other and of the classifier, given the true class (panel_error=0).",
        checks.LEARNED_FROM_LABELS,
    ]
    shares = samples.prior[:, :, None] * samples.classifier
    confusion = samples.counts if question.target == "sample" else shares * len(question.predicted)
    curves = _score_answer(question, _labelers_evidence(entries, samples, question.gold))
    return Outcome(
        question.answer(confusion),
        samples.truth,
        assumptions,
        warnings,
        diagnostics,
        summary,
        curves,
    )


def _sample(
    question: Question,
    entries: Entries,
    rows: RowModel,
    readings: Readings,
    *,
    thorough: bool,
    hard_items: bool,
) -> CrowdSamples:
    """The sampler where it is affordable; the bootstrap beyond."""
    progress = part(question.progress, 0.2, 0.9)
    if _beyond_sampling(question):
        if not thorough:
            return variational_crowd(
                question.predicted,
                readings.fit,
                n_draws=min(question.n_draws, 1000),
                seed=question.seed,
            )
        return bootstrap_crowd(
            entries,
            question.predicted,
            question.gold,
            readings.fit,
            n_draws=question.n_draws,
            seed=question.seed,
            progress=progress,
        )
    n_draws, burn = (question.n_draws, 500) if thorough else (min(question.n_draws, 600), 100)
    common: dict[str, Any] = {
        "prior": question.prior,
        "row_weight": PER_ROW / question.n_classes,
        "seed": question.seed,
        "progress": progress,
    }

    def draw(size: int, warm_up: int) -> CrowdSamples:
        if hard_items:
            return sample_difficulty(
                entries,
                question.predicted,
                question.n_classes,
                question.gold,
                n_draws=size,
                burn=warm_up,
                **common,
            )
        return sample_crowd(
            entries,
            question.predicted,
            question.n_classes,
            question.gold,
            rows,
            n_draws=size,
            burn=warm_up,
            **common,
        )

    samples = draw(n_draws, burn)
    right = np.trace(samples.counts, axis1=1, axis2=2)
    if thorough and (
        split_rhat(right, samples.n_chains) > 1.03 or effective_size(right, samples.n_chains) < 300
    ):
        samples = draw(5 * n_draws, 6 * burn)
    return samples


def convergence(draws: Array, n_chains: int, *, strict: bool = True) -> dict[str, Any]:
    """R-hat and effective sample size of the number of right predictions; no interval is printed from chains that disagree."""
    if n_chains < 2:
        return {"effective_sample_size": float(len(draws))}
    rhat, size = split_rhat(draws, n_chains), effective_size(draws, n_chains)
    if strict and rhat > 1.1:
        raise NotConverged(
            f"the chains disagree (R-hat {rhat:.2f}): the labels support several stories about who is right. Add gold on some random items, "
            "give the error rate of a labeler you know (noise=), or simplify the model (noise=tr.noise.OneCoin())."
        )
    return {"rhat": rhat, "effective_sample_size": size}


# ---- the link -------------------------------------------------------------------------------------------------------


def _linked(
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


# ---- scores ---------------------------------------------------------------------------------------------------------


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
