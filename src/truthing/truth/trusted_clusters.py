"""A trusted noise model (panel_error=0) and items in clusters: for new data, answer keys are drawn
item by item and counted over clusters that are drawn anew.

These items themselves are answered as without clusters. Weights, strata and slices are refused: the
noise model holds one accuracy for all items, and weighted keys held .80 (studies/refusals.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.survey.design import refuse_survey
from truthing.truth.assumed import about_survey
from truthing.truth.link.surveyed import redrawn
from truthing.truth.linked import alike_seen
from truthing.truth.outcome import Outcome
from truthing.truth.question import Question
from truthing.truth.several_models import trusted_truth

STREAM = 23  # of random numbers


def refuse_beyond_clusters(used: Sequence[str]) -> None:
    beyond = [name for name in used if name != "cluster"]
    refuse_survey(beyond, "with panel_error=0: leave panel_error out.")


def over_clusters(question: Question, model: Any, plain: Outcome) -> Outcome:
    """``plain`` is the answer without clusters."""
    cluster = question.survey.cluster
    if cluster is None:
        return plain
    together = alike_seen(question, plain.truth.argmax(axis=1))
    told = [*plain.assumptions, *about_survey(question, together)]
    if question.target == "sample":
        return replace(plain, assumptions=told)
    if question.scores is not None:
        raise InputError(
            "scores cannot be answered for new data with `cluster=` and `panel_error=0`: leave "
            "one of them out."
        )
    keys = trusted_truth(question, model)
    counted = _counted(keys, question)
    return replace(plain, answer=question.answer(counted), assumptions=told)


def _counted(keys: Array, question: Question) -> Array:
    """Draws of the confusion matrix on new clusters, draws × truth × prediction."""
    n_items, n_classes = len(question.predicted), question.n_classes
    rng = question.rng(STREAM)
    table = np.empty((len(keys), n_classes, n_classes))
    for d, key in enumerate(keys):
        mass = redrawn(np.arange(n_items), n_items, question.survey, 1, rng)[0]
        cells = key.astype(np.int64) * n_classes + question.predicted
        table[d] = np.bincount(cells, mass, n_classes**2).reshape(n_classes, n_classes)
    return table
