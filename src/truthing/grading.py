"""grade(): labels, noise, truth, metrics and report wired together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.case import read_case
from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean, listing
from truthing.labels import Repeats
from truthing.matching import Joined, join
from truthing.metrics.counts import Tally, evaluate
from truthing.noise.base import NoiseModel, TableNoise
from truthing.noise.known import Confusion, Symmetric
from truthing.noise.learned import Learned
from truthing.papers import su_methods
from truthing.papers.su_foils import face_value
from truthing.predicted import predicted_classes
from truthing.progress import Progress, listener
from truthing.report import Report
from truthing.simulation import class_prior
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.problem import Problem, estimate_prior
from truthing.truth.question import Question

MOST_CELLS = 20_000_000  # of drawn confusion matrices together
METHODS = ("posterior", *su_methods.METHODS)


def grade(
    predictions: Any,
    labels: Any,
    *,
    gold: Any = None,
    gold_weights: Mapping[Any, float] | None = None,
    noise: Any = None,
    prior: Any = None,
    scores: Any = None,
    threshold: float | None = None,
    method: str = "posterior",
    target: str = "sample",
    positive: Any = None,
    panel_error: float | tuple[float, float] | None = None,
    repeats: Repeats = "error",
    metrics: Sequence[str] | None = None,
    draws: int = 4000,
    seed: int = 0,
    progress: bool | Progress = False,
) -> Report:
    """How good a classifier really is, although its test labels are noisy, and how sure one can be.

    ``noise=None`` learns the labelers' noise; a number, a mapping from labeler to rate or a model of `truthing.noise` says what is known.
    ``gold`` maps some items to their truth; ``panel_error`` is how often the panel may be wrong together (None: as public crowds were when
    the noise is learned, 0 when it is given).

    >>> import truthing as tr
    >>> data = tr.simulate(500, 5, prior=[0.7, 0.3], operating_point=(0.85, 0.1), fallibility=0.3, seed=1)
    >>> report = grade(data.predictions, data.labels, noise=0.15)
    >>> low, high = report["accuracy"].interval(0.95)
    >>> bool(low <= (data.predictions == data.truth).mean() <= high)
    True
    """
    _check_options(method, target, draws)
    say = listener(progress)
    joined = prepare(predictions, labels, gold=gold, scores=scores, repeats=repeats)
    panel = joined.labels
    assumptions = list(joined.said)
    place = positive_class(panel.classes, positive, assumptions)
    predicted, score = predicted_classes(joined, place, threshold, assumptions)
    for name in metrics or ():
        if name not in (
            "auc",
            "average_precision",
        ):  # a misspelt metric must not wait until everything is computed
            evaluate(
                name,
                Tally.from_confusion(np.eye(panel.n_classes)),
                classes=panel.classes,
                positive=place,
            )
    model = as_noise(noise)
    fixed = None if prior is None else as_prior(prior, panel.classes)
    weights = None if gold_weights is None else selection_weights(gold_weights, joined)
    fitting = max(100, MOST_CELLS // panel.n_classes**2)
    if draws > fitting:
        joined.warnings.append(
            f"{panel.n_classes} classes leave memory for {fitting} draws only: limits of intervals are rough."
        )
    question = Question(
        panel,
        predicted,
        joined.gold,
        fixed,
        place,
        score,
        target,
        min(draws, fitting),
        seed,
        weights,
        say,
    )
    if method == "posterior":
        outcome = _posterior(question, model, panel_error)
    else:
        say(0, f"grading by method {method}")
        outcome = _by_the_book(question, model, method, panel_error)
    return Report(
        answer=outcome.answer,
        classes=panel.classes,
        positive=place,
        items=panel.items,
        truth=outcome.truth,
        method=method,
        target=target,
        seed=seed,
        sizes=sizes(joined),
        dropped=joined.dropped,
        noise=outcome.noise
        or NoiseSummary("none", panel.labelers, None, np.full(panel.n_classes, np.nan)),
        face_value=Tally.from_confusion(face_value(panel, predicted)),
        warnings=[*joined.warnings, *outcome.warnings],
        assumptions=assumptions + outcome.assumptions,
        curves=outcome.curves,
        joint_density=outcome.joint,
        sensitivity_rule=outcome.sensitivity,
        diagnostics=outcome.diagnostics,
        shown=metrics,
    )


def _check_options(method: str, target: str, draws: int) -> None:
    if method not in METHODS:
        raise InputError(
            f"method {method!r} is not known.{did_you_mean(method, METHODS)} Choose {', '.join(METHODS)}."
        )
    check_target(target)
    if target == "population" and method != "posterior":
        raise InputError(
            f"method {method!r} speaks of these items only: use method='posterior' for target='population'."
        )
    check_draws(draws)


def check_target(target: str) -> None:
    if target not in ("sample", "population"):
        raise InputError(
            f"target {target!r} is not known: choose sample (these items) or population (new data like them)."
        )


def check_draws(draws: int) -> None:
    if draws < 100:
        raise InputError(f"{draws} draws are too few for an interval: give at least 100.")


def _posterior(question: Question, model: Any, panel_error: Any) -> Outcome:
    """The default method, and the question of what else it might have assumed kept open for `Report.sensitivity`."""
    from truthing.truth import answer, checks, known_noise
    from truthing.truth.sensitivity import sensitivity

    def again(question: Question, share: Any) -> Outcome:
        if known_noise.must_be_learned(model, question.labels):
            return answer.with_learned_noise(question, model, share)
        tables = model.tables(question.labels) if isinstance(model, TableNoise) else None
        return answer.with_known_noise(
            question, model.log_likelihood(question.labels), type(model).__name__, tables, share
        )

    if known_noise.must_be_learned(model, question.labels) and not isinstance(
        model, Symmetric | Confusion
    ):
        checks.require_identified(question.labels, question.gold)
    if panel_error is None and not known_noise.is_open(model):
        panel_error = (
            0  # what the user says about the labelers is trusted until panel_error says otherwise
        )
    outcome = again(question, panel_error)
    return replace(
        outcome, sensitivity=lambda level, progress: sensitivity(question, again, level, progress)
    )


def _by_the_book(question: Question, model: Any, method: str, panel_error: Any) -> Outcome:
    """A method of the papers; noise that is not given is learned first and then taken as known, and that is said."""
    if panel_error:
        raise InputError(
            f"method {method!r} has no panel error: it trusts the noise model. Use method='posterior'."
        )
    from truthing.truth.known_noise import is_open

    labels = question.labels
    assumptions = [
        "Labelers err independently of each other and of the classifier, given the true class."
    ]
    needs_noise = method not in ("labeler-mean", "labeler-median", "majority")
    if is_open(model):
        if needs_noise:
            from truthing.truth import checks
            from truthing.truth.consensus import Entries, fit_dawid_skene

            checks.require_identified(labels, question.gold)
            rows = fit_dawid_skene(
                Entries.of(labels).with_classifier(question.predicted), question.gold
            ).rows()[:-1]
            model = Confusion(rows)
            assumptions.append(
                "The labelers' confusion matrices were learned (pooled Dawid-Skene) and then taken as known."
            )
        else:
            model = Symmetric(0.5 * (1 - 1 / labels.n_classes))
    else:
        assumptions.append("The noise of the labelers is known exactly.")
        if isinstance(model, Symmetric) and model.range is not None:
            assumptions.append(
                f"The middle of the range {model.range[0]:g}-{model.range[1]:g} is taken for the error rate; method 'posterior' uses all of it."
            )
    log_likelihood = model.log_likelihood(labels)
    flat = np.full(labels.n_classes, 1 / labels.n_classes)
    problem = Problem(
        labels,
        question.predicted,
        question.gold,
        log_likelihood,
        flat if question.prior is None else question.prior,
        question.positive,
        question.scores,
    )
    if question.prior is None:
        problem = replace(problem, prior=estimate_prior(problem.evidence))
        if needs_noise:
            assumptions.append(
                "The class prior was estimated from the labels and then taken as known."
            )
    outcome = su_methods.run(problem, method, n_draws=question.n_draws, seed=question.seed)
    tables = model.tables(labels) if isinstance(model, TableNoise) and needs_noise else None
    summary = NoiseSummary(type(model).__name__, labels.labelers, tables, problem.prior)
    curves = su_methods.curves(problem, n_draws=question.n_draws, seed=question.seed)
    return replace(
        outcome, noise=summary, curves=curves, assumptions=assumptions + outcome.assumptions
    )


def selection_weights(chances: Mapping[Any, float], joined: Joined) -> Array:
    """Weights of gold items that were chosen with known unequal chances; together they count as their effective number."""
    known = np.flatnonzero(joined.gold >= 0)
    items = [joined.labels.items[i] for i in known]
    absent = [item for item in items if item not in chances]
    if absent:
        raise InputError(
            f"gold_weights gives no chance for gold item {listing(map(repr, absent), 3)}: give one for each gold item."
        )
    chance = np.array([float(chances[item]) for item in items])
    if ((chance <= 0) | (chance > 1)).any():
        raise InputError(
            "gold_weights holds the chance of each item to be chosen for gold: above 0 and at most 1."
        )
    weight = 1 / chance
    return weight * weight.sum() / (weight**2).sum()


def prepare(
    predictions: Any, labels: Any, *, gold: Any, scores: Any = None, repeats: Repeats = "error"
) -> Joined:
    """Whatever the caller has, read and joined."""
    models = {} if predictions is None and scores is None else {"model": predictions}
    case = read_case(labels, models, gold, scores=scores)
    return join(case.labels, case.predictions, case.gold, repeats=repeats)


def positive_class(classes: tuple[Any, ...], positive: Any, assumptions: list[str]) -> int | None:
    """The positive one of two classes; None when there are more."""
    if len(classes) < 2:
        raise InputError(
            f"only one class occurs ({listing(classes)}): with one class there is nothing to grade. Check labels and predictions."
        )
    if positive is not None and positive not in classes:
        same = [c for c in classes if str(c) == str(positive)]
        if not same:
            raise InputError(
                f"positive class {positive!r} does not occur; there are {listing(map(repr, classes))}."
            )
        positive = same[0]
    if len(classes) > 2:
        if positive is not None:
            raise InputError(
                f"positive={positive!r} is for two classes, and there are {len(classes)}: ask for recall[{positive}] and the like."
            )
        return None
    if positive is None:
        assumptions.append(
            f"The positive class is {classes[-1]!r}, the last in order; set positive= (--positive) to choose the other."
        )
        return 1
    return classes.index(positive)


def as_noise(noise: Any) -> Any:
    """A number, a range, a mapping or a model, as a model."""
    if noise is None:
        return None
    if isinstance(noise, bool):
        raise InputError("noise=True says nothing: give a rate such as 0.05.")
    if isinstance(noise, int | float):
        return Symmetric(float(noise))
    if isinstance(noise, tuple) and len(noise) == 2:
        return Symmetric((float(noise[0]), float(noise[1])))
    if isinstance(noise, Mapping):
        scalar = all(np.ndim(v) == 0 for v in noise.values())
        return Symmetric(dict(noise)) if scalar else Confusion(dict(noise))
    if isinstance(noise, NoiseModel | Learned):
        return noise
    raise InputError(
        f"noise is a {type(noise).__name__}: give a rate, a mapping from labeler to rate or matrix, or a model with log_likelihood(labels)."
    )


def as_prior(prior: Any, classes: tuple[Any, ...]) -> Array:
    """A class prior in the order of the classes."""
    if isinstance(prior, Mapping):
        unknown = [c for c in prior if c not in classes]
        if unknown:
            raise InputError(
                f"the prior names class {listing(map(repr, unknown))}, which does not occur."
            )
        prior = [prior.get(c, 0.0) for c in classes]
    share = class_prior(prior)
    if len(share) != len(classes):
        raise InputError(
            f"the prior has {len(share)} shares for {len(classes)} classes ({listing(classes)}): give one for each."
        )
    return share


def sizes(joined: Joined) -> dict[str, int]:
    labels = joined.labels
    return {
        "items": labels.n_items,
        "labelers": int((labels.per_labeler > 0).sum()),
        "labels": labels.n_labels,
        "gold": int((joined.gold >= 0).sum()),
    }
