"""What a panel says about one of several classifiers, and what the user says about the panel."""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.truth.answer import GROUPS_ARE_LEARNED
from truthing.truth.consensus import Entries
from truthing.truth.labelers import PER_ROW
from truthing.truth.link.views import Views, known_views, read_panel
from truthing.truth.missing import doubted
from truthing.truth.question import Question
from truthing.truth.samplers.known import sample_known
from truthing.truth.told_views import ToldViews, told_views


def views_beside_panel(
    question: Question, noise: Any, panel_error: Any, learned: bool
) -> ToldViews:
    """``learned``: something about the labelers is left open."""
    if question.grouped and not learned:
        raise InputError(GROUPS_ARE_LEARNED)
    labels, predicted = question.labels, question.predicted
    views = read_panel(question.entries, predicted) if learned else _known(question, noise)
    about = question, noise, views, predicted, panel_error
    views, told, odd = told_views(*about, learned=learned, several=True)
    return ToldViews(doubted(views, labels.per_item, question.doubts), told, odd)


def given_question(labels: Labels, predicted: Array, gold: Array, noise: Any) -> Question:
    """About labelers whose noise is given."""
    return Question(labels, predicted, gold, noise.log_likelihood(labels))


def _known(question: Question, noise: Any) -> Views:
    """Views when the noise is given; gold must not shape them."""
    labels, predicted = question.labels, question.predicted
    asked = given_question(labels, predicted, np.full(len(predicted), -1), noise)
    groups = asked.groups
    samples = sample_known(
        groups.evidence,
        groups.predicted,
        groups.size,
        n_outcomes=labels.n_classes,
        prior=None,
        n_draws=400,
        seed=0,
        row_prior=np.full((labels.n_classes, labels.n_classes), PER_ROW / labels.n_classes),
    )
    truth, prior = samples.truth[groups.member], samples.prior.mean(axis=0)
    return known_views(Entries.of(labels), asked.evidence, truth, predicted, prior)
