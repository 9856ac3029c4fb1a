"""A trusted noise model (`panel_error=0`, `noise=0`) and items in clusters: for new data the
model's draws are spread by the design effect, as far as items of a cluster are alike.

These items themselves are answered as without clusters. Weights, strata and slices are refused: the
noise model holds one accuracy for all items (studies/refusals.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.survey.design import Survey, refuse_survey
from truthing.truth.assumed import about_survey
from truthing.truth.draws import DrawnAnswer
from truthing.truth.linked import alike_seen
from truthing.truth.question import Question

SMALLEST = 1e-12  # share of the items in a cell of the confusion matrix


def beyond_clusters(used: Sequence[str]) -> list[str]:
    """What a trusted noise model does not take."""
    return [name for name in used if name != "cluster"]


def refuse_beyond_clusters(used: Sequence[str]) -> None:
    refuse_survey(
        beyond_clusters(used),
        "with `panel_error=0` or `noise=0`, which trust the labels: leave that out.",
    )


def refuse_new_clusters(survey: Survey, target: str, panel_error: Any) -> None:
    """Answer keys of several models hold no likeness of items within a cluster."""
    if survey.cluster is not None and target == "population" and panel_error == 0:
        refuse_survey(["cluster"], "for new data with panel_error=0: leave panel_error out.")


def require_trustworthy(question: Question) -> None:
    """Refuse, before anything is drawn, what a trusted noise model cannot answer."""
    survey = question.survey
    refuse_beyond_clusters(survey.used)
    if survey.cluster is None or question.scores is None or question.target == "sample":
        return
    raise InputError(
        "AUC and other results of scores are not available for new data where `cluster=` is given "
        "and the labels are trusted (`panel_error=0`, `noise=0`): leave one of them out, or the "
        "scores."
    )


def trusted_answer(
    question: Question, counts: Array, truth: Array
) -> tuple[DrawnAnswer, list[str]]:
    """The noise model's draws of the confusion matrix as an answer, and what clusters make it
    assume."""
    if question.survey.cluster is None:
        return question.answer(counts), []
    together = alike_seen(question, truth.argmax(axis=1))
    if question.target == "population":
        flat = counts.reshape(len(counts), -1)
        counts = spread(flat, together.design_effect).reshape(counts.shape)
    return question.answer(counts), about_survey(question, together)


def spread(counts: Array, effect: float) -> Array:
    """Draws × cells whose log-ratios vary ``effect`` times as much about their means.

    >>> drawn = np.random.default_rng(0).dirichlet([30, 70], 4000)
    >>> wide = spread(drawn, 4.0)
    >>> one, other = (np.log(x[:, 0] / x[:, 1]).std() for x in (wide, drawn))
    >>> round(float(one / other), 6)
    2.0
    """
    total = counts.sum(axis=1, keepdims=True)
    logs = np.log(np.maximum(counts / total, SMALLEST))
    middle = logs.mean(axis=0)
    wide = np.exp(middle + np.sqrt(effect) * (logs - middle))
    return np.asarray(wide / wide.sum(axis=1, keepdims=True) * total)
