"""A trusted noise model (panel_error=0) and items in clusters: for new data the model's draws are
spread by the design effect, as far as items of a cluster are alike.

These items themselves are answered as without clusters. Weights, strata and slices are refused: the
noise model holds one accuracy for all items (studies/refusals.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.survey.design import PLAIN, Survey, refuse_survey
from truthing.truth.assumed import about_survey
from truthing.truth.linked import alike_seen
from truthing.truth.outcome import Outcome
from truthing.truth.question import Question

SMALLEST = 1e-12  # share of the items in a cell of the confusion matrix


def refuse_beyond_clusters(used: Sequence[str]) -> None:
    beyond = [name for name in used if name != "cluster"]
    refuse_survey(beyond, "with panel_error=0: leave panel_error out.")


def refuse_new_clusters(survey: Survey, target: str, panel_error: Any) -> None:
    """Answer keys of several models hold no likeness of items within a cluster."""
    if survey.cluster is not None and target == "population" and panel_error == 0:
        refuse_survey(["cluster"], "for new data with panel_error=0: leave panel_error out.")


def without_clusters(question: Question) -> Question:
    """What is answered first."""
    return replace(question, survey=PLAIN, deployment=None)


def over_clusters(question: Question, plain: Outcome) -> Outcome:
    """``plain`` is the answer `without_clusters`."""
    if question.scores is not None and question.target == "population":
        raise InputError(
            "scores cannot be answered for new data with `cluster=` and `panel_error=0`: leave "
            "one of them out."
        )
    together = alike_seen(question, plain.truth.argmax(axis=1))
    n_classes, counted = question.n_classes, plain.answer.confusion.draws
    if question.target == "population":
        counted = spread(counted, together.design_effect)
    answer = question.answer(counted.reshape(-1, n_classes, n_classes))
    told = [*plain.assumptions, *about_survey(question, together)]
    return replace(plain, answer=answer, assumptions=told)


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
