"""A grade item by item: the question asked of joined data, its answer, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.asking import (
    as_noise,
    as_prior,
    calibrated,
    chosen_gold,
    fitting_draws,
    positive_class,
    sizes,
    slice_sizes,
    survey_of,
    unseen_choice,
    without_itself,
)
from truthing.by_the_book import by_the_book
from truthing.kinds import Kinds, check_metrics
from truthing.matching import Joined
from truthing.metrics.counts import Tally
from truthing.metrics.curves import cut_of
from truthing.metrics.face_value import face_value
from truthing.metrics.ordinal import face_values
from truthing.noise.known import Confusion, Symmetric
from truthing.ordering import Order, in_order
from truthing.panel_kind import panel_of
from truthing.predicted import predicted_classes, repeats_majority
from truthing.progress import Progress
from truthing.report import Report
from truthing.scale import nearest_grades
from truthing.survey.deployment import as_deployment
from truthing.survey.design import refuse_survey
from truthing.survey.together import said_together
from truthing.truth.by_calibration import answer_by_calibration
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.question import Question


def grade_items(
    held: list[Joined],
    kinds: Kinds,
    *,
    gold_weights: Any,
    gold_choice: str | None,
    calibration_set: Any,
    calibration_chosen: str | None,
    cluster: Any,
    weights: Any,
    stratum: Any,
    by: Any,
    deployment: Any,
    noise: Any,
    prior: Any,
    threshold: float | None,
    method: str,
    target: str,
    positive: Any,
    panel_error: Any,
    panel: str | None,
    trained_on_labels: bool,
    metrics: Sequence[str] | None,
    draws: int,
    seed: int,
    progress: Progress,
    **others: Any,
) -> Report:
    """Each item by itself. The case is taken out of its list, so that nobody holds its labels twice
    once they are in order."""
    joined, order = in_order(held.pop())
    assumptions = list(joined.remarks)
    place = positive_class(joined.labels.classes, positive, assumptions)
    survey = survey_of(joined, order, cluster=cluster, weights=weights, stratum=stratum, by=by)
    also = {"deployment": deployment, "gold_weights": gold_weights}
    asked = kinds.question(joined, survey.used, **also, calibration_set=calibration_set)
    joined = nearest_grades(joined, asked["values"], assumptions)
    predicted, score = predicted_classes(
        joined, place, threshold, assumptions, told=positive is not None
    )
    joined = without_itself(joined, predicted)
    if not trained_on_labels:
        joined.warnings.extend(repeats_majority(joined.labels.counts(), predicted))
    labels = joined.labels
    kind = panel_of(panel, labels.labelers, assumptions)
    among = kinds.panel(joined, kind, seed, assumptions)
    check_metrics(metrics or (), labels.classes, place)
    model = order.model(as_noise(kinds.model(noise), labels))
    order = order.let_go(model)
    fixed = None if prior is None else as_prior(prior, labels.classes)
    shares = as_deployment(deployment, labels.classes, place)
    if method != "posterior":
        told = [*survey.used, *([] if gold_choice is None else ["gold_choice"])]
        refuse_survey(told, f"by method {method!r}: use method='posterior'.")
    err = {"noise": noise, "panel_error": panel_error, "cluster": cluster, "method": method}
    joined, calibration = calibrated([joined], calibration_set, calibration_chosen, **err)
    labels = joined.labels
    chosen = chosen_gold(joined, predicted, gold_weights, gold_choice)
    assumptions += said_together(survey, chosen, calibration_set, deployment)
    if chosen.kind == "unseen":
        joined, words = unseen_choice(joined, predicted)
        joined.warnings.insert(0, words)
    question = Question(
        labels,
        predicted,
        joined.gold,
        prior=fixed,
        positive=place,
        scores=score,
        target=target,
        n_draws=fitting_draws(draws, labels.n_classes, joined.warnings),
        seed=seed,
        gold_weights=chosen.chances,
        progress=progress,
        panel=kind,
        trained_on_labels=trained_on_labels or among.own[0],
        gold_chosen=chosen,
        survey=survey,
        deployment=shares,
        **asked,
        **among.fields(0),
    )
    if calibration is not None:
        outcome = answer_by_calibration(question, calibration)
    elif method == "posterior":
        outcome = _posterior(question, model, panel_error)
    else:
        progress(0, f"grading by method {method}")
        outcome = by_the_book(question, model, method, panel_error)
    shown = kinds.shown(metrics, labels.classes, place)
    return _report(question, outcome, joined, order, assumptions, method, shown)


def _report(
    question: Question,
    outcome: Outcome,
    joined: Joined,
    order: Order,
    assumptions: list[str],
    method: str,
    metrics: Sequence[str] | None,
) -> Report:
    """What was found, in the user's order."""
    from truthing.truth.linked import gold_alone

    labels, predicted, place = question.labels, question.predicted, question.positive
    noise = outcome.noise or NoiseSummary(
        "none", labels.labelers, None, np.full(labels.n_classes, np.nan)
    )
    found = dict(outcome.diagnostics)
    if question.methods:
        found["methods"] = question.methods
    if question.gold_chosen.kind == "unseen":
        found["gold_choice"] = "unseen"
    naive, curves = face_value(labels, predicted, question.survey.weight), outcome.curves
    if question.deployment is not None:
        naive = question.deployment.at_mean(naive)
        curves = _at_deployment(question, curves)
    graded = face_values(naive, question.values)
    if graded:
        found["face_value"] = graded
    told = replace(
        outcome,
        diagnostics=found,
        curves=curves,
        truth=order.truth(outcome.truth),
        noise=order.summary(noise),
        warnings=[*joined.warnings, *outcome.warnings],
        assumptions=assumptions + outcome.assumptions,
    )
    alone = getattr(outcome.answer, "gold_alone", None)
    return Report(
        told,
        classes=labels.classes,
        positive=place,
        items=order.labels.items,
        method=method,
        target=question.target,
        seed=question.seed,
        sizes=sizes(joined),
        dropped=joined.dropped,
        face_value=Tally.from_confusion(naive),
        cut=None if place is None else cut_of(question.scores, predicted == place),
        shown=metrics,
        gold_alone=alone or (gold_alone(question) if question.n_gold else None),
        slice_sizes=slice_sizes(question),
        at_deployment=question.deployment is not None,
    )


def _at_deployment(question: Question, curves: Any) -> Any:
    """Curves and average precision where the two classes have other shares."""
    if curves is None or question.positive is None:
        return curves
    order = [1 - question.positive, question.positive]
    return replace(curves, shares=lambda n: question.deployed_shares(n)[:, order])


def _posterior(question: Question, model: Any, panel_error: Any) -> Outcome:
    """The default method; what else it might have assumed stays open for `Report.sensitivity`."""
    from truthing.truth import answer, checks, known_noise
    from truthing.truth.sensitivity import sensitivity

    def again(question: Question, share: Any) -> Outcome:
        if known_noise.must_be_learned(model, question.labels):
            return answer.with_learned_noise(question, model, share)
        return answer.with_known_noise(question, model, share)

    if known_noise.must_be_learned(model, question.labels) and not isinstance(
        model, Symmetric | Confusion
    ):
        checks.require_identified(question.labels, question.gold)
    trusted = panel_error is not None and panel_error == 0
    known_noise.check_prior(question.prior, model, question.labels, trusted=trusted)
    outcome = again(question, panel_error)
    adds_up = model is None and not trusted and not question.constant and question.survey.plain
    told = question.deployment, question.gold_error, question.values
    beyond: list[Any] = [*told, question.doubts, question.labeler_groups, question.siblings]
    if adds_up and question.gold_chosen.kind == "random" and all(x is None for x in beyond):
        outcome = replace(outcome, state=lambda: _state(question, panel_error))
    return replace(
        outcome, sensitivity=lambda level, progress: sensitivity(question, again, level, progress)
    )


def _state(question: Question, panel_error: Any) -> Any:
    from truthing.streaming.state import state_in_memory

    return state_in_memory(question, question.labels.labelers, panel_error)
