"""Each labeler graded by the others, as `grade` grades a classifier: the panel may be wrong
together (theory.md, 14-17).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.people.confusion import linked_error
from truthing.people.drawn import SurveyedError, at_items, surveyed_error
from truthing.progress import Progress, silent
from truthing.survey.design import PLAIN, Survey
from truthing.truth.consensus import Entries
from truthing.truth.link.views import Views, read_panel

MOST = 60  # the busiest: each is a fit of its own
MOST_LABELS = 200_000
FEWEST = 20  # labels on items of which others speak too


def graded_errors(
    labels: Labels,
    gold: Array,
    *,
    panel: str | None = None,
    n_draws: int,
    seed: int,
    survey: Survey = PLAIN,
    progress: Progress = silent,
) -> dict[Any, SurveyedError]:
    """Draws of the share of wrong labels, for labelers of whom others know enough; copies must have
    been taken out.
    """
    found: dict[Any, SurveyedError] = {}
    if labels.n_labels > MOST_LABELS:
        return found
    busiest = np.argsort(-labels.per_labeler, kind="stable")[:MOST]
    busiest = busiest[labels.per_labeler[busiest] >= FEWEST]
    for done, t in enumerate(busiest):
        progress(done / len(busiest), "grading labelers by the others")
        mine = labels.labeler == t
        items = labels.item[mine]
        others = labels[items].select(
            [w for k, w in enumerate(labels.labelers) if k != t and labels.per_labeler[k] > 0]
        )
        seen = np.flatnonzero(others.per_item > 0)
        if len(seen) < FEWEST:
            continue
        others = others[seen]
        others = others.select([w for w, n in zip(others.labelers, others.per_labeler) if n > 0])
        known = gold[items[seen]]
        if others.n_labelers < 2 and not (known >= 0).any():
            continue
        readings = read_panel(Entries.of(others), labels.label[mine][seen].astype(np.int64))
        here = survey if survey.plain else at_items(survey, items[seen])
        found[labels.labelers[t]] = error_by_link(
            readings, known, panel=panel, n_draws=n_draws, seed=seed, survey=here
        )
    return found


def error_by_link(readings: Views, gold: Array, *, survey: Survey, **how: Any) -> SurveyedError:
    """Draws of how often what was predicted is wrong, as the items were drawn."""
    if survey.plain:
        return SurveyedError(linked_error(readings, gold, **how), {})
    return surveyed_error(readings, gold, survey, **how)
