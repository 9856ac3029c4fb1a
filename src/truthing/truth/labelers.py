"""What is learned about the labelers: which noise model, and their confusion matrices with their
uncertainty.

This half of a grade shapes ``report.noise``. It sets the interval only where the user trusts the
noise model (``panel_error=0``); otherwise `answer` does, by the link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, NotConverged
from truthing.labels import Labels
from truthing.metrics.estimate import credible_interval
from truthing.noise.known import Difficulty
from truthing.noise.learned import DawidSkene, Strata
from truthing.progress import part
from truthing.truth import checks
from truthing.truth.consensus import DawidSkeneFit, Entries
from truthing.truth.counted import CountedPanel
from truthing.truth.known_noise import row_model
from truthing.truth.model_choice import choose_model
from truthing.truth.outcome import NoiseSummary
from truthing.truth.passes import expectation_pass
from truthing.truth.question import Question
from truthing.truth.samplers.bootstrap import (
    BootstrapMoments,
    bootstrap_crowd,
    error_rates,
    tables_fit,
    variational_crowd,
)
from truthing.truth.samplers.diagnostics import effective_size, split_rhat
from truthing.truth.samplers.difficulty import sample_difficulty
from truthing.truth.samplers.labelers import CrowdSamples, RowModel, sample_crowd

LARGE = 300_000  # labels above which the sampler gives way to the bootstrap
MANY_CLASSES = 60  # beyond, tables of every draw would not fit
PER_ROW = 2.0  # pseudo-items in the prior of each of the classifier's rows


@dataclass(frozen=True, eq=False)
class LearnedLabelers:
    """Draws of the labelers' tables and of the truth under one noise model, and what must be
    said about them.
    """

    samples: CrowdSamples
    noise: NoiseSummary
    assumptions: list[str]
    warnings: list[str]
    diagnostics: dict[str, Any]


def describe_labelers(
    question: Question, noise: Any, fit: DawidSkeneFit, *, trusted: bool
) -> LearnedLabelers:
    """The labelers learned by ``noise``, or by the model that predicts held-out labels best.

    ``fit`` is the consensus of everybody; ``trusted`` draws long enough to set an interval.
    """
    if noise is not None:
        return _described(question, noise, {}, fit, trusted)
    if beyond_sampling(question):
        return _described(question, DawidSkene(), {}, fit, trusted)
    noise, scores = choose_model(
        Entries.of(question.labels),
        question.predicted,
        question.seed,
        hard_items=True,
        progress=part(question.progress, 0.1, 0.2),
    )
    try:
        return _described(question, noise, scores, fit, trusted)
    except NotConverged:
        if not isinstance(noise, Difficulty | Strata):
            raise
    found = _described(question, DawidSkene(), scores, fit, trusted)
    found.warnings.append(
        f"{row_model(noise, question.labels)[1].capitalize()} predict held-out labels best, "
        "but the "
        "sampler did not converge: one confusion matrix for each labeler was used."
    )
    return found


def quick_labelers(
    question: Question, fit: DawidSkeneFit, moments: BootstrapMoments | None = None
) -> LearnedLabelers:
    """The labelers as the consensus of everybody has them, without a sampler: enough where the link
    sets the interval and no model was asked for."""
    samples = _without_sampler(question, fit, moments)
    return _told(question, DawidSkene(), {}, fit, samples, {})


def _without_sampler(
    question: Question, fit: DawidSkeneFit, moments: BootstrapMoments | None = None
) -> CrowdSamples:
    """Confusion matrices around the fit; where there is no room for one of each labeler, how often
    they err."""
    labels, n_draws = question.labels, min(question.n_draws, 1000)
    if not tables_fit(fit, labels.n_labelers, n_draws):
        return error_rates(*_hits(labels, fit), fit, n_draws, question.seed)
    return variational_crowd(
        moments or BootstrapMoments.of(fit.posterior, question.predicted),
        fit,
        n_labelers=labels.n_labelers,
        n_draws=n_draws,
        seed=question.seed,
    )


def _hits(labels: Labels | CountedPanel, fit: DawidSkeneFit) -> tuple[Array, Array]:
    """How many labels of each labeler are expected to be right, and how many there are."""
    if isinstance(labels, CountedPanel):
        n, counts = labels.n_classes, labels.engine.add(expectation_pass, fit.tables).counts
        right = np.trace(counts.reshape(-1, n, n), axis1=1, axis2=2)
        return right[: labels.n_labelers], labels.per_labeler.astype(float)
    entries = Entries.of(labels)
    sure = entries.votes * fit.posterior[entries.item, entries.label]
    right, given = (
        np.bincount(entries.rater, weights=weight, minlength=entries.n_raters)
        for weight in (sure, entries.votes)
    )
    return right, given


def beyond_sampling(question: Question) -> bool:
    return len(question.labels.item) > LARGE or question.n_classes > MANY_CLASSES


def _described(
    question: Question,
    noise: Any,
    scores: dict[str, float],
    fit: DawidSkeneFit,
    trusted: bool,
) -> LearnedLabelers:
    """By one model of the labelers; ``scores`` is why it was chosen, if it was."""
    labels = question.labels
    entries = Entries.of(labels)
    rows, name = row_model(noise, labels)
    replaced = [] if isinstance(noise, DawidSkene) or not beyond_sampling(question) else [name]
    hard_items = isinstance(noise, Difficulty)
    samples = _sample(question, entries, rows, fit, thorough=trusted, hard_items=hard_items)
    question.progress(0.9, "checking who agrees too much")
    right = np.trace(samples.counts, axis1=1, axis2=2)
    diagnostics: dict[str, Any] = {"held_out_log_score": scores} if scores else {}
    diagnostics |= convergence(right, samples.n_chains, strict=trusted)
    found = _told(question, DawidSkene() if replaced else noise, scores, fit, samples, diagnostics)
    found.warnings.extend(
        f"Beyond {LARGE:,} labels or {MANY_CLASSES} classes labelers are learned by "
        f"{found.noise.model} only: {asked} was not used."
        for asked in replaced
    )
    return found


def _told(
    question: Question,
    noise: Any,
    scores: dict[str, float],
    fit: DawidSkeneFit,
    samples: CrowdSamples,
    diagnostics: dict[str, Any],
) -> LearnedLabelers:
    """What was learned, in numbers and words."""
    labels = question.labels
    name = row_model(noise, labels)[1]
    beside = None if question.constant else question.predicted
    pairs = checks.agreement_check(labels, beside, fit)
    error = samples.error.mean(axis=0)
    warnings = checks.structure_warnings(labels, error, question.n_classes)
    warnings += checks.agreement_warnings(pairs)
    limits = None
    if samples.row_low is not None and samples.row_high is not None:
        limits = samples.row_low, samples.row_high
    summary = NoiseSummary(
        name,
        labels.labelers,
        samples.row_mean,
        samples.prior.mean(axis=0),
        limits,
        credible_interval(samples.prior, 0.95),
        samples.error,
        learned=True,
        confusion_draws=samples.rows,
        prior_draws=samples.rows_prior,
    )
    why = ", chosen by how well models predict held-out labels" if scores else ""
    assumptions = [f"The labelers' quality was learned: {name}{why}."]
    return LearnedLabelers(
        samples, summary, assumptions, warnings, {**diagnostics, "pairs": pairs[:10]}
    )


def _sample(
    question: Question,
    entries: Entries,
    rows: RowModel,
    fit: DawidSkeneFit,
    *,
    thorough: bool,
    hard_items: bool,
) -> CrowdSamples:
    """The sampler where it is affordable; the bootstrap beyond."""
    progress = part(question.progress, 0.2, 0.9)
    if beyond_sampling(question):
        if not thorough:
            return _without_sampler(question, fit)
        n_draws = question.draws_of_tables
        if fit.shared:
            raise InputError(
                f"{question.labels.n_labelers:,} labelers and {question.n_classes:,} classes are "
                "too many to trust the labels' noise model (panel_error=0): it needs a table of "
                "classes × classes for each labeler. Leave panel_error out, or merge rare classes."
            )
        return bootstrap_crowd(
            entries,
            question.predicted,
            question.gold,
            fit,
            n_draws=n_draws,
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
    """R-hat and effective sample size of the number of right predictions; no interval is
    printed from chains that disagree.
    """
    if n_chains < 2:
        return {"effective_sample_size": float(len(draws))}
    rhat, size = split_rhat(draws, n_chains), effective_size(draws, n_chains)
    if strict and rhat > 1.1:
        raise NotConverged(
            f"the chains disagree (R-hat {rhat:.2f}): the labels fit several answers to who "
            "is right. Add gold on some random items, give the error rate of a labeler you know "
            "with `noise=...`, or simplify the model (one error rate for each labeler)."
        )
    return {"rhat": rhat, "effective_sample_size": size, "chains": n_chains}
