"""grade(): labels, noise, truth, metrics and report wired together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from truthing.coding import Array
from truthing.errors import InputError, NotIdentified, listing
from truthing.joining import Joined, as_gold, as_predictions, join
from truthing.labels import Labels, Repeats
from truthing.metrics.counts import Tally
from truthing.noise.base import NoiseModel, TableNoise
from truthing.noise.known import Confusion, Symmetric
from truthing.papers import testing
from truthing.papers.su_foils import face_value
from truthing.report import NoiseSummary, Report
from truthing.simulation import class_prior
from truthing.tables import read_gold, read_labels, read_predictions
from truthing.truth.problem import Problem, estimate_prior

INDEPENDENT = "Labelers err independently of each other and of the classifier, given the true class."


def grade(
    predictions: Any,
    labels: Any,
    *,
    gold: Any = None,
    noise: Any = None,
    prior: Any = None,
    scores: Any = None,
    threshold: float | None = None,
    method: str = "ratios",
    target: str = "sample",
    positive: Any = None,
    repeats: Repeats = "error",
    metrics: Sequence[str] | None = None,
    draws: int = 4000,
    seed: int = 0,
) -> Report:
    """How good a classifier really is, although its test labels are noisy.

    >>> import truthing as tr
    >>> data = tr.simulate(500, 5, prior=[0.7, 0.3], operating_point=(0.85, 0.1), fallibility=0.3, seed=1)
    >>> report = grade(data.predictions, data.labels, noise=0.15, method="exact")
    >>> low, high = report["accuracy"].interval(0.95)
    >>> bool(low <= (data.predictions == data.truth).mean() <= high)
    True
    """
    if method not in testing.METHODS:
        raise InputError(f"method {method!r} is not known: choose {', '.join(testing.METHODS)}.")
    if target not in ("sample", "population"):
        raise InputError(
            f"target {target!r} is not known: choose sample (these items) or population (new data like them)."
        )
    joined = prepare(predictions, labels, gold=gold, scores=scores, repeats=repeats)
    labels = joined.labels
    assumptions: list[str] = []
    place = positive_class(labels.classes, positive, assumptions)
    predicted, score = predicted_classes(joined, place, threshold, assumptions)
    if predicted is None:
        raise InputError("no predictions: give predictions, or scores with a threshold.")
    model = as_noise(noise)
    if model is None:
        raise NotIdentified(
            f"method {method!r} needs noise=: a rate, a mapping from labeler to rate, or a model from tr.noise."
        )
    log_likelihood = model.log_likelihood(labels)
    fixed = None if prior is None else as_prior(prior, labels.classes)
    problem = Problem(
        labels,
        predicted,
        joined.gold,
        log_likelihood,
        fixed if fixed is not None else np.full(labels.n_classes, 1 / labels.n_classes),
        place,
        score,
    )
    if fixed is None:
        problem = Problem(
            labels, predicted, joined.gold, log_likelihood, estimate_prior(problem.evidence), place, score
        )
        assumptions.append("The class prior was estimated from the labels and then taken as known.")
    outcome = testing.run(problem, method, n_draws=draws, seed=seed)
    tables = model.tables(labels) if isinstance(model, TableNoise) else None
    summary = NoiseSummary(type(model).__name__, labels.labelers, tables, problem.prior)
    assumptions += [INDEPENDENT, "The noise of the labelers is known exactly.", *outcome.assumptions]
    return Report(
        answer=outcome.answer,
        classes=labels.classes,
        positive=place,
        items=labels.items,
        truth=outcome.truth,
        method=method,
        target=target,
        seed=seed,
        sizes=sizes(joined),
        dropped=joined.dropped,
        noise=summary,
        face_value=Tally.from_confusion(face_value(labels, predicted)),
        warnings=[*joined.warnings, *outcome.warnings],
        assumptions=assumptions,
        curves=testing.curves(problem, n_draws=draws, seed=seed),
        joint_density=outcome.joint,
        diagnostics=outcome.diagnostics,
        shown=metrics,
    )


def prepare(predictions: Any, labels: Any, *, gold: Any, scores: Any = None, repeats: Repeats = "error") -> Joined:
    """Whatever the caller has, read and joined."""
    labels = labels if isinstance(labels, Labels) else _labels(labels)
    predictions = read_predictions(predictions) if isinstance(predictions, str | Path) else predictions
    gold = read_gold(gold) if isinstance(gold, str | Path) else gold
    return join(labels, as_predictions(predictions, labels, scores), as_gold(gold), repeats=repeats)


def _labels(labels: Any) -> Labels:
    if isinstance(labels, str | Path) or hasattr(labels, "columns"):
        return read_labels(labels)
    return Labels.from_matrix(labels)


def positive_class(classes: tuple[Any, ...], positive: Any, assumptions: list[str]) -> int | None:
    """The positive one of two classes; None when there are more."""
    if len(classes) < 2:
        raise InputError(
            f"only one class occurs ({listing(classes)}): with one class there is nothing to grade. Check labels and predictions."
        )
    if positive is not None and positive not in classes:
        same = [c for c in classes if str(c) == str(positive)]
        if not same:
            raise InputError(f"positive class {positive!r} does not occur; there are {listing(map(repr, classes))}.")
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


def predicted_classes(
    joined: Joined, positive: int | None, threshold: float | None, assumptions: list[str]
) -> tuple[Array | None, Array | None]:
    """Hard predictions (given, or cut from scores) and the positive class's scores."""
    scores, predicted = joined.scores, joined.predicted
    column = scores
    if scores is not None and scores.ndim == 2:
        if predicted is None and threshold is None:
            predicted = scores.argmax(axis=1)
            assumptions.append("The predicted class is the one with the highest score.")
        column = scores[:, positive] if positive is not None else None
    if threshold is not None:
        if column is None or positive is None:
            raise InputError("a threshold needs scores of two classes.")
        predicted = np.where(column >= threshold, positive, 1 - positive)
        assumptions.append(
            f"Items with a score of at least {threshold:g} count as predicted {joined.labels.classes[positive]!r}."
        )
    if column is not None and positive is None:
        column = None
    if predicted is None and column is not None:
        raise InputError("scores without predictions need a threshold: give threshold= (--threshold).")
    return predicted, column


def as_noise(noise: Any) -> NoiseModel | None:
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
    if isinstance(noise, NoiseModel):
        return noise
    raise InputError(
        f"noise is a {type(noise).__name__}: give a rate, a mapping from labeler to rate or matrix, or a model with log_likelihood(labels)."
    )


def as_prior(prior: Any, classes: tuple[Any, ...]) -> Array:
    """A class prior in the order of the classes."""
    if isinstance(prior, Mapping):
        unknown = [c for c in prior if c not in classes]
        if unknown:
            raise InputError(f"the prior names class {listing(map(repr, unknown))}, which does not occur.")
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
