"""The paper's methods by name: from a question to an answer, the items' posterior, and what has to
be said.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.joint import JointDensity
from truthing.papers import su, su_foils
from truthing.truth.draws import DrawnAnswer, LateDraws, draw_confusion
from truthing.truth.exact import ExactAnswer
from truthing.truth.outcome import Outcome
from truthing.truth.question import Question

METHODS = (
    "ratios",
    "sampling",
    "exact",
    "estimated-labels",
    "labeler-mean",
    "labeler-median",
    "no-predictions",
    "labels-no-predictions",
    "prior-average",
    "majority",
)
PLUG_IN = (
    "The operating point is estimated and then taken as known, so intervals are narrower than "
    "they should be; method 'posterior' does not do that."
)


def run(
    question: Question, method: str, *, n_draws: int, seed: int, shortcut: bool = False
) -> Outcome:
    """One of `METHODS` on a question."""
    rng = np.random.default_rng(seed)
    if method in ("ratios", "sampling", "exact"):
        return _plug_in(question, method, n_draws, rng, shortcut)
    if method in ("estimated-labels", "labels-no-predictions"):
        return _estimated_labels(question, iterate=method == "estimated-labels")
    if method in ("labeler-mean", "labeler-median"):
        matrices = su_foils.labeler_matrices(question.labels, question.predicted)
        answer: Any = su_foils.PointAnswer(
            question.classes, question.positive, matrices, method.removeprefix("labeler-")
        )
        return Outcome(
            answer,
            _no_predictions(question),
            ["Each labeler's labels are taken for the truth, and the results averaged."],
        )
    if method == "no-predictions":
        posterior = question.groups.posterior(_flat(question), question.class_prior)
        drawn = _late(question, posterior, n_draws, rng)
        answer = ExactAnswer(question.classes, question.positive, question.groups, posterior, drawn)
        return Outcome(
            answer,
            posterior[question.groups.member],
            ["What the predictions say about the truth is ignored (Su's third foil)."],
        )
    if method == "prior-average":
        confusion, truth = su_foils.average_over_prior(question, n_draws, rng)
        answer = DrawnAnswer(question.classes, question.positive, confusion)
        return Outcome(
            answer,
            truth[question.groups.member],
            ["The operating point is averaged over a uniform prior, not over its posterior."],
        )
    if method == "majority":
        matrix, ties = su_foils.majority_matrix(question.labels, question.predicted, question.gold)
        warnings = (
            [f"{ties:,} items have a tied vote; each tied class counts in equal parts."]
            if ties
            else []
        )
        answer = su_foils.PointAnswer(question.classes, question.positive, matrix[None])
        return Outcome(
            answer,
            _no_predictions(question),
            ["The most frequent label is taken for the truth."],
            warnings,
        )
    raise InputError(f"method {method!r} is not known: choose posterior, {', '.join(METHODS)}.")


def curves(question: Question, *, n_draws: int, seed: int) -> Any:
    """Curves of a two-class question with scores; their compiled loops are loaded only for that."""
    if question.scores is None or question.positive is None:
        return None
    from truthing.papers.su_curves import SweptCurves

    order = [1 - question.positive, question.positive]
    return SweptCurves(
        question.scores,
        question.evidence[:, order],
        question.class_prior[order],
        min(n_draws, 2000),
        seed,
    )


def _plug_in(
    question: Question, method: str, n_draws: int, rng: np.random.Generator, shortcut: bool
) -> Outcome:
    if method == "ratios" and question.positive is None:
        raise InputError(
            f"method 'ratios' is for two classes, and there are {question.n_classes}: use "
            "'sampling', 'exact' or 'posterior'."
        )
    if method == "sampling":
        # the paper's M, until many classes make it pointless: an entry's Monte Carlo error is below
        # .5/√M
        paper = 5000 if question.n_classes == 2 else 2500 * question.n_classes
        update = su.by_sampling(paper if question.n_classes <= 8 else 1000, rng)
    elif question.positive is not None:
        update = su.by_ratios(question.positive, shortcut=shortcut)
    else:
        update = su.by_expectation
    point = su.find_operating_point(question, update)
    posterior = question.groups.posterior(point.matrix, question.class_prior)
    drawn = _late(question, posterior, n_draws, rng)
    warnings = (
        []
        if point.converged
        else [f"The operating point still moved after {point.iterations} iterations."]
    )
    answer: Any = drawn
    joint = None
    if method == "exact":
        answer = ExactAnswer(question.classes, question.positive, question.groups, posterior, drawn)
    elif method == "ratios" and question.positive is not None:
        answer = su.RatioAnswer(
            question.classes, question.positive, question.groups, posterior, drawn
        )
        joint = _closed_joint(answer.moments(question.positive))
    diagnostics = {
        "iterations": point.iterations,
        "converged": point.converged,
        "operating_point": point.matrix.tolist(),
    }
    return Outcome(
        answer, posterior[question.groups.member], [PLUG_IN], warnings, diagnostics, joint=joint
    )


def _closed_joint(moments: su.Moments) -> Any:
    def joint(first: str, second: str) -> JointDensity | None:
        from truthing.papers.su_curves import joint_pr, joint_roc

        if moments.var_u <= 0 or moments.var_v <= 0:
            return None
        if (first, second) == ("recall", "false_alarm"):
            return joint_roc(moments)
        return joint_pr(moments) if (first, second) == ("precision", "recall") else None

    return joint


def _estimated_labels(question: Question, *, iterate: bool) -> Outcome:
    point = su.find_operating_point(
        question, su.by_estimated_labels, most=su.MOST_ITERATIONS if iterate else 0
    )
    posterior = question.groups.posterior(point.matrix, question.class_prior)
    matrix = su.expected_counts(question.groups, su.most_probable(posterior))
    warnings = (
        []
        if point.converged or not iterate
        else [f"The estimated labels still changed after {point.iterations} iterations."]
    )
    assumptions = [
        "The most probable class of each item is taken for its truth; no uncertainty is left."
    ]
    diagnostics = {
        "iterations": point.iterations,
        "converged": point.converged,
        "operating_point": point.matrix.tolist(),
    }
    return Outcome(
        su_foils.PointAnswer(question.classes, question.positive, matrix[None]),
        posterior[question.groups.member],
        assumptions,
        warnings,
        diagnostics,
    )


def _late(
    question: Question, posterior: Array, n_draws: int, rng: np.random.Generator
) -> LateDraws:
    return LateDraws(
        lambda: DrawnAnswer(
            question.classes,
            question.positive,
            draw_confusion(posterior, question.groups, n_draws, rng),
        )
    )


def _flat(question: Question) -> Array:
    return np.full((question.n_classes, question.n_classes), 1 / question.n_classes)


def _no_predictions(question: Question) -> Array:
    return question.groups.posterior(_flat(question), question.class_prior)[question.groups.member]
