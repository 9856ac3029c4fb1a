"""grade(): labels, noise, truth, metrics and report wired together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_panel_error, as_seed
from truthing.asking import (
    as_noise,
    as_prior,
    calibrated,
    chosen_gold,
    fitting_draws,
    positive_class,
    prepare,
    sizes,
    slice_sizes,
    survey_of,
    unseen_choice,
    without_itself,
)
from truthing.by_the_book import by_the_book, check_method
from truthing.errors import InputError
from truthing.kinds import Kinds, check_metrics
from truthing.matching import Joined
from truthing.metrics.counts import Tally
from truthing.metrics.curves import cut_of
from truthing.metrics.face_value import face_value
from truthing.metrics.ordinal import face_values
from truthing.multi_label.graded import grade_tags
from truthing.noise.base import TableNoise
from truthing.noise.known import Confusion, Symmetric
from truthing.ordering import Order, in_order
from truthing.panel_kind import panel_of
from truthing.predicted import predicted_classes
from truthing.progress import Progress, listener
from truthing.repeats import Repeats
from truthing.report import Report
from truthing.scale import nearest_grades
from truthing.streaming.choice import runs_streamed
from truthing.survey.deployment import as_deployment
from truthing.survey.design import refuse_survey
from truthing.survey.together import said_together
from truthing.truth.by_calibration import answer_by_calibration
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.question import Question


def grade(
    predictions: Any,
    labels: Any,
    *,
    gold: Any = None,
    gold_weights: Mapping[Any, float] | str | None = None,
    gold_choice: str | None = None,
    calibration_set: Any = None,
    calibration_chosen: str | None = None,
    gold_error: Any = None,
    scale: str | None = None,
    cut: Any = None,
    groups: Any = None,
    classifier_group: str | None = None,
    unsure: Any = None,
    skips: str | None = None,
    tags: Any = None,
    cluster: Any = None,
    weights: Any = None,
    stratum: Any = None,
    by: Any = None,
    deployment: Any = None,
    noise: Any = None,
    prior: Any = None,
    scores: Any = None,
    threshold: float | None = None,
    method: str = "posterior",
    target: str = "sample",
    positive: Any = None,
    panel_error: float | tuple[float, float] | None = None,
    panel: str | None = None,
    trained_on_labels: bool = False,
    repeats: Repeats = "error",
    metrics: Sequence[str] | None = None,
    draws: int = 4000,
    engine: Any = "auto",
    seed: int = 0,
    progress: bool | Progress = False,
) -> Report:
    """How good a classifier really is, although its test labels are noisy, and how sure one can be.

    The truth of each item is unknown; labels are evidence about it. The answer is the posterior of
    every metric against the truth.

    Parameters
    ----------
    predictions : sequence, path, data frame or Predictions
        What the classifier says: a class for each item, in the order of the labels' items or by
        name, or scores of the classes.
    labels : Labels, path, data frame or matrix
        Who said what about which item: a file, a data frame, a `Labels`, or a matrix with items in
        rows and labelers in columns.
    gold : mapping, path or data frame, optional
        Items whose truth is known, item to class. A few dozen random items narrow the interval
        most.
    gold_weights : mapping or column, optional
        Where gold items were not chosen with equal chances: item to its chance of being chosen.
    gold_error : float, tuple, mapping, path or data frame, optional
        Experts err too: the share of gold items that are wrong, a range ``(low, high)``, or a
        second expert's answers for some of the gold items. None: gold is the truth.
    scale : {"nominal", "ordinal"}, optional
        "ordinal": classes are grades in order (1 to 5). Far misses count more than near ones, and
        metrics of a scale are shown.
    cut : grade, optional
        Cut grades in two: this grade and those above it count as one class, lower ones as the
        other, in labels, predictions and gold alike.
    groups : mapping, path or data frame, optional
        Labeler to group (maker of a model, prompt, resident or consultant): labelers of one group
        share mistakes, and count less than as many others.
    classifier_group : str, optional
        The group that the classifier itself is of: its siblings' votes count less.
    unsure : value or sequence, optional
        Answers that are no class ("unsure", a refusal): they mark items as hard.
    skips : {"random", "hard"}, optional
        Why labels are missing. "hard": labelers leave out what is hard, so such items count as
        doubtful. None: by chance, with a warning where it does not look like that.
    tags : str or sequence, optional
        Several labels at once: "auto", the sign between tags (";"), or the names of all tags.
        The answer is then a `TagReport`.
    gold_choice : {"random", "seen", "unseen"}, optional
        How gold items were chosen. "seen": by what labels and predictions show, which is corrected
        for; "unseen": by anything else, so gold says nothing sure about other items. None: random
        where it looks like that, else "seen", and said.
    calibration_set : (Labels, mapping), path or data frame, optional
        Other items with known truth, labelled by the same labelers: their mistakes are learned
        there and carried over.
    calibration_chosen : {"truth", "verdict"}, optional
        How the calibration items were chosen: by true class or at random, or by what the labelers
        said. None: "truth", unless the labelers' verdicts are exactly balanced; then it is asked.
    cluster : column, sequence or mapping, optional
        Items that belong together (images of a patient, answers to a prompt) and share mistakes.
    weights : column, sequence or mapping, optional
        How many items each stands for, where items were not drawn with equal chances.
    stratum : column, sequence or mapping, optional
        Strata that the items were drawn from; their accuracy may differ.
    by : column, sequence or mapping, optional
        Slices: every metric is also given for each, partially pooled.
    deployment : float, range, sequence, mapping or Prevalence, optional
        Class shares where the classifier will be used: metrics are given for those.
    noise : float, tuple, mapping or noise model, optional
        What is known about the labelers. None: it is learned from the labels. A number is an error
        rate, ``(low, high)`` a range, a mapping goes from labeler to rate or matrix; or a model of
        `truthing.noise`.
    prior : sequence or mapping, optional
        Share of each class, if it is known. None: it is learned.
    scores : sequence, optional
        The classifier's scores of the positive class: they add curves, areas and thresholds.
    threshold : float, optional
        Items with at least this score count as predicted positive.
    method : str, default "posterior"
        The default method, or one of the papers' by name ("exact", "majority", ...).
    target : {"sample", "population"}, default "sample"
        "sample" asks about these items, "population" about new data like them.
    positive : class, optional
        The positive one of two classes. None: the last in order, and the report says so.
    panel_error : float or tuple, optional
        How often the panel may be wrong together. None: as public panels were, also where the noise
        is given. 0: never, as the papers assume. A share of items, or ``(a, b)`` of a Beta
        distribution, states it.
    panel : {"people", "models", "mixed"}, optional
        What the panel is made of. None: guessed from the labelers' names, and said.
    trained_on_labels : bool, default False
        The classifier learned from these very labels or labelers: it repeats their mistakes.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.
    metrics : sequence of str, optional
        Names of the metrics to show. None: all that apply.
    draws : int, default 4000
        Draws of the posterior.
    engine : {"auto", "memory", "stream", "dask"}, default "auto"
        Where the passes over the labels run. "stream" and "dask" (or a Dask client, or the address
        of its scheduler) read Parquet or CSV files that need not fit in memory; "auto" streams
        folders, and Parquet files of more than 20 million labels.
    seed : int, default 0
        Same seed, same answer, on any number of threads.
    progress : bool or callable, default False
        True writes what is being done to standard error; a callable gets the share done and words,
        and may stop the work by raising.

    Returns
    -------
    Report
        ``report["accuracy"]`` is an `Estimate`; ``print(report)`` is worth reading.

    Raises
    ------
    InputError
        An argument or a file cannot be used as it is; the message says what to change.
    NotIdentified
        The labels cannot answer under any amount of computing, for example one labeler of unknown
        quality and no gold.

    See Also
    --------
    prevalence : how frequent each class is; needs no predictions.
    compare : several models, one truth.

    Examples
    --------
    >>> import truthing as tr
    >>> data = tr.simulate(500, 5, prior=[0.7, 0.3], operating_point=(0.85, 0.1), fallibility=0.3,
    ...     seed=1)
    >>> report = grade(data.predictions, data.labels, noise=0.15)
    >>> low, high = report["accuracy"].interval(0.95)
    >>> bool(low <= (data.predictions == data.truth).mean() <= high)
    True
    """
    given = dict(locals())
    check_method(method, target)
    draws, seed, panel_error = as_draws(draws), as_seed(seed), as_panel_error(panel_error)
    if tags is not None:
        return grade_tags(grade, given)  # type: ignore[return-value]  # asked for by tags=
    if runs_streamed(given):
        from truthing.streaming.grade import grade_streamed

        return grade_streamed(**given)
    say = listener(progress)
    kinds = Kinds(gold_error, scale, cut, groups, classifier_group, unsure, skips)
    kinds.refuse_calibration(calibration_set)
    about: dict[str, Any] = {"repeats": repeats, "kinds": kinds, "positive": positive}
    joined, order = in_order(prepare(predictions, labels, gold=gold, scores=scores, **about))
    assumptions = list(joined.remarks)
    place = positive_class(joined.labels.classes, positive, assumptions)
    survey = survey_of(joined, order, cluster=cluster, weights=weights, stratum=stratum, by=by)
    also = {"deployment": deployment, "gold_weights": gold_weights}
    asked = kinds.question(joined, survey.used, **also, calibration_set=calibration_set)
    joined = nearest_grades(joined, asked["values"], assumptions)
    predicted, score = predicted_classes(joined, place, threshold, assumptions)
    joined = without_itself(joined, predicted)
    labels = joined.labels
    kind = panel_of(panel, labels.labelers, assumptions)
    among = kinds.panel(joined, kind, seed, assumptions)
    check_metrics(metrics or (), labels.classes, place)
    model = order.model(as_noise(kinds.model(noise)))
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
        progress=say,
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
        say(0, f"grading by method {method}")
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
        tables = model.tables(question.labels) if isinstance(model, TableNoise) else None
        given = replace(question, log_likelihood=model.log_likelihood(question.labels))
        return answer.with_known_noise(given, type(model).__name__, tables, share)

    if known_noise.must_be_learned(model, question.labels) and not isinstance(
        model, Symmetric | Confusion
    ):
        checks.require_identified(question.labels, question.gold)
    trusted = panel_error is not None and panel_error == 0
    if question.prior is not None and known_noise.is_open(model) and not trusted:
        raise InputError(
            "`prior=...` is not used when the labelers' noise is learned and the panel may be "
            "wrong together: leave it out, give the noise with `noise=...`, or trust the noise "
            "model with `panel_error=0`."
        )
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
