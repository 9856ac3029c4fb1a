"""The paper's methods by name: from a problem to an answer, the items' posterior, and what has to
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
from truthing.truth.problem import Problem

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
    problem: Problem, method: str, *, n_draws: int, seed: int, shortcut: bool = False
) -> Outcome:
    """One of `METHODS` on a problem."""
    rng = np.random.default_rng(seed)
    if method in ("ratios", "sampling", "exact"):
        return _plug_in(problem, method, n_draws, rng, shortcut)
    if method in ("estimated-labels", "labels-no-predictions"):
        return _estimated_labels(problem, iterate=method == "estimated-labels")
    if method in ("labeler-mean", "labeler-median"):
        matrices = su_foils.labeler_matrices(problem.labels, problem.predicted)
        answer: Any = su_foils.PointAnswer(
            problem.classes, problem.positive, matrices, method.removeprefix("labeler-")
        )
        return Outcome(
            answer,
            _no_predictions(problem),
            ["Each labeler's labels are taken for the truth, and the results averaged."],
        )
    if method == "no-predictions":
        posterior = problem.groups.posterior(_flat(problem), problem.prior)
        drawn = _late(problem, posterior, n_draws, rng)
        answer = ExactAnswer(problem.classes, problem.positive, problem.groups, posterior, drawn)
        return Outcome(
            answer,
            posterior[problem.groups.member],
            ["What the predictions say about the truth is ignored (Su's third foil)."],
        )
    if method == "prior-average":
        confusion, truth = su_foils.average_over_prior(problem, n_draws, rng)
        answer = DrawnAnswer(problem.classes, problem.positive, confusion)
        return Outcome(
            answer,
            truth[problem.groups.member],
            ["The operating point is averaged over a uniform prior, not over its posterior."],
        )
    if method == "majority":
        matrix, ties = su_foils.majority_matrix(problem.labels, problem.predicted, problem.gold)
        warnings = (
            [f"{ties:,} items have a tied vote; each tied class counts in equal parts."]
            if ties
            else []
        )
        answer = su_foils.PointAnswer(problem.classes, problem.positive, matrix[None])
        return Outcome(
            answer,
            _no_predictions(problem),
            ["The most frequent label is taken for the truth."],
            warnings,
        )
    raise InputError(f"method {method!r} is not known: choose posterior, {', '.join(METHODS)}.")


def curves(problem: Problem, *, n_draws: int, seed: int) -> Any:
    """Curves of a two-class problem with scores; their compiled loops are loaded only for that."""
    if problem.scores is None or problem.positive is None:
        return None
    from truthing.papers.su_curves import SweptCurves

    order = [1 - problem.positive, problem.positive]
    return SweptCurves(
        problem.scores, problem.evidence[:, order], problem.prior[order], min(n_draws, 2000), seed
    )


def _plug_in(
    problem: Problem, method: str, n_draws: int, rng: np.random.Generator, shortcut: bool
) -> Outcome:
    if method == "ratios" and problem.positive is None:
        raise InputError(
            f"method 'ratios' is for two classes, and there are {problem.n_classes}: use "
            "'sampling', 'exact' or 'posterior'."
        )
    if method == "sampling":
        # the paper's M, until many classes make it pointless: an entry's Monte Carlo error is below
        # .5/√M
        paper = 5000 if problem.n_classes == 2 else 2500 * problem.n_classes
        update = su.by_sampling(paper if problem.n_classes <= 8 else 1000, rng)
    elif problem.positive is not None:
        update = su.by_ratios(problem.positive, shortcut=shortcut)
    else:
        update = su.by_expectation
    point = su.find_operating_point(problem, update)
    posterior = problem.groups.posterior(point.matrix, problem.prior)
    drawn = _late(problem, posterior, n_draws, rng)
    warnings = (
        []
        if point.converged
        else [f"The operating point still moved after {point.iterations} iterations."]
    )
    answer: Any = drawn
    joint = None
    if method == "exact":
        answer = ExactAnswer(problem.classes, problem.positive, problem.groups, posterior, drawn)
    elif method == "ratios" and problem.positive is not None:
        answer = su.RatioAnswer(problem.classes, problem.positive, problem.groups, posterior, drawn)
        joint = _closed_joint(answer.moments(problem.positive))
    diagnostics = {
        "iterations": point.iterations,
        "converged": point.converged,
        "operating_point": point.matrix.tolist(),
    }
    return Outcome(
        answer, posterior[problem.groups.member], [PLUG_IN], warnings, diagnostics, joint=joint
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


def _estimated_labels(problem: Problem, *, iterate: bool) -> Outcome:
    point = su.find_operating_point(
        problem, su.by_estimated_labels, most=su.MOST_ITERATIONS if iterate else 0
    )
    posterior = problem.groups.posterior(point.matrix, problem.prior)
    matrix = su.expected_counts(problem.groups, su.most_probable(posterior))
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
        su_foils.PointAnswer(problem.classes, problem.positive, matrix[None]),
        posterior[problem.groups.member],
        assumptions,
        warnings,
        diagnostics,
    )


def _late(problem: Problem, posterior: Array, n_draws: int, rng: np.random.Generator) -> LateDraws:
    return LateDraws(
        lambda: DrawnAnswer(
            problem.classes,
            problem.positive,
            draw_confusion(posterior, problem.groups, n_draws, rng),
        )
    )


def _flat(problem: Problem) -> Array:
    return np.full((problem.n_classes, problem.n_classes), 1 / problem.n_classes)


def _no_predictions(problem: Problem) -> Array:
    return problem.groups.posterior(_flat(problem), problem.prior)[problem.groups.member]
