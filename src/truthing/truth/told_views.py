"""Views that know what the user says about labelers: how many labels are wrong, and what follows
for the accuracy, unless labels or gold contradict it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.noise.known import Symmetric
from truthing.truth.given_errors import given_errors
from truthing.truth.known_noise import must_be_learned
from truthing.truth.link.prior import kinds_of, numbers_for
from truthing.truth.link.told import RightLabels, Told
from truthing.truth.link.views import Views, read_consensus, read_panel
from truthing.truth.question import Question
from truthing.truth.wrong_labels import (
    Labelled,
    best_of,
    odd_between,
    odd_labels,
    of_these,
    people,
    spoken_of,
)

LITTLE = (
    "What `noise=` says shapes what is told of the labelers; the interval rests on {rests} and "
    "does not use it. `panel_error=0` trusts it instead."
)
PUBLIC, STATED = "how far public panels were wrong together", "the panel error that you stated"
USED = (
    "`noise=` says that {said:.1%}{known} of the labels{whose} are wrong{moved}: then {right}, "
    "however mistakes depend on each other.{usual} A rate counts as learned from 200 labels, "
    "one labeler's own from 50; a range says how well it is known; `panel_error=0` trusts all "
    "fully.{who}"
)
KNOWN, MOVED = " (± {sd:.1%})", "; with what {who} show it is {wrong:.1%} (± {sd:.1%})"
USUAL = (
    " Within that it follows public panels: it is higher where labels are better than those of "
    "labelers who agree so well usually are, and lower where they are worse."
)
WHO = " Who of the labelers is better is learned from their labels."
LEAST = 0.001  # shares that look alike are the same
ACCURACY = "accuracy most likely lies between {low:.1%} and {high:.1%}"
CONSENSUS = "the labels' consensus is most likely right on {low:.1%} to {high:.1%} of the items"
SEVERAL = "each accuracy has bounds"


class ToldViews(NamedTuple):
    """Views that know what the user said (`Views.told`), and what must be said about it."""

    views: Views
    assumptions: list[str]
    warnings: list[str]


def told_views(
    question: Question,
    noise: Any,
    views: Views,
    predicted: Array,
    panel_error: Any,
    *,
    learned: bool,
    several: bool = False,
) -> ToldViews:
    """How right predictions are as a whole is read as public panels were, from consensus models
    that are told nothing; so are single items where the same is said of every labeler, which does
    not tell who is right. A stated panel error is not narrowed. ``learned``: something about
    labelers is left open; ``several``: other classifiers are graded beside it."""
    silent = [LITTLE.format(rests=PUBLIC if panel_error is None else STATED)]
    nothing = ToldViews(views, silent if learned and noise is not None else [], [])
    if noise is None or panel_error is not None:
        return nothing
    labels = question.labels
    errors = given_errors(noise, labels, views.consensus.mean(axis=0))
    if errors is None or np.isnan(errors.label).all():
        return nothing
    plain, alike, constant = views, False, question.constant and not several
    if not must_be_learned(noise, labels):
        entries = question.entries
        plain = read_consensus(entries) if constant else read_panel(entries, predicted)
        alike = isinstance(noise, Symmetric) and not isinstance(noise.error, Mapping | Sequence)
        alike = alike and question.prior is None and not np.isnan(plain.among)
        views = plain if alike else views.with_signs_of(plain)
        predicted = plain.predicted if alike else predicted
    numbers = numbers_for(own=question.trained_on_labels or constant)
    usual = [numbers[kind].expected_labels(views) for kind in kinds_of(question.panel)]
    known = spoken_of(errors, labels)
    whole = of_these(errors, question, predicted, known)
    everyone = whole.found if known.all() else None
    best = best_of(errors, question, predicted, known, whole)
    told = Told(best.found, everyone, not np.isnan(views.among))
    odd = whole.odd or best.odd or (odd_labels(whole, usual) if told.compared else "")
    if not odd and not best.labelers.all():
        odd = odd_between(errors, question, best, usual)
    if odd:
        return ToldViews(plain, [], [odd])
    right = SEVERAL if several else CONSENSUS if constant else ACCURACY
    who = WHO if alike else ""
    return ToldViews(replace(views, told=told), [_used(best, told, usual, right, who)], [])


def _used(best: Labelled, told: Told, usual: list[RightLabels], right: str, who: str) -> str:
    """``right``: how it is said where the accuracy lies."""
    values = np.concatenate([told.values(expected) for expected in usual])
    low, high = best.found.bounds(values)
    moved = abs(values.mean() - best.wrong) > max(best.sd / 2, LEAST)
    shown = "labels" if best.found.gold is None else "labels and gold"
    return USED.format(
        said=best.wrong,
        known="" if moved else KNOWN.format(sd=best.sd),
        whose="" if best.labelers.all() else f" of {people(best)}",
        moved=MOVED.format(who=shown, wrong=values.mean(), sd=values.std()) if moved else "",
        right=right.format(low=low.min(), high=high.max()),
        usual=USUAL if told.compared else "",
        who=who,
    )
