"""The default answer: the link from consensus to truth sets every interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.counts import metric_names
from truthing.truth import checks
from truthing.truth.draws import AnswerBesideGold
from truthing.truth.gold_alone import GoldAlone, share_draws
from truthing.truth.link.counts import confusion_draws, item_truth, population_confusion
from truthing.truth.link.prior import (
    DEFAULT,
    OWN_LABELS,
    Components,
    learned_components,
    stated_components,
)
from truthing.truth.link.sampler import LinkDraws, draw_link
from truthing.truth.link.views import Views
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.question import Question
from truthing.truth.scores import ScoreAnswer

VIEWS = (
    "majority",
    "dawid_skene",
    "one_coin",
    "dawid_skene_labelers_only",
    "one_coin_labelers_only",
)
LINK, COUNTS, GOLD = range(3)  # streams of random numbers
CONFLICT = 0.01
MOST_NAMED = 30  # metrics that are compared with gold alone before anybody asks
PANELS = {
    "people": "as far as public panels of people were",
    "models": "as far as public panels of language models were",
}


def answer_by_link(
    question: Question,
    views: Views,
    panel_error: Any,
    noise: NoiseSummary,
    assumptions: list[str],
    warnings: list[str],
    diagnostics: dict[str, Any],
) -> Outcome:
    """What the labels say about the predictions, as far as such labels were right on public panels.

    Where ``views`` are about the consensus (`Question.constant`), the truth is counted and the one
    predicted class graded with it: its accuracy is a class's share.
    """
    question.progress(0.95, "drawing how far the panel may be wrong together")
    link = draw_the_link(question, views, panel_error)
    confusion = _confusion(question, views, link)
    if question.constant:
        counted = confusion.sum(axis=2)
        confusion = np.zeros_like(confusion)
        confusion[:, :, question.predicted[0]] = counted
    answer: Any = question.answer(confusion)
    by_gold: list[str] = []
    if question.n_gold and question.gold_weights is None:
        answer = AnswerBesideGold(answer, gold_alone(question))
        by_gold = _taken_from_gold(question, answer)
    curves = None
    if question.scores is not None and question.positive is not None:
        curves = _linked_scores(question, views, link)
    found, said = _about_gold(question, link)
    return Outcome(
        answer,
        item_truth(link, views, question.gold),
        [*assumptions, *assumed(question, panel_error), *by_gold],
        [*warnings, *said],
        {**diagnostics, **found, "views": _named(views), "panel_error": panel_error},
        noise,
        curves,
    )


def draw_the_link(question: Question, views: Views, panel_error: Any) -> LinkDraws:
    """Draws of how often the views are right; the same draws for the same question."""
    own = question.trained_on_labels or question.constant
    return _link(question, views, link_components(question, views, panel_error, own=own))


def _taken_from_gold(question: Question, answer: AnswerBesideGold) -> list[str]:
    """Which of the metrics shown unasked are those of gold alone."""
    shown = metric_names(question.classes, question.positive)[:MOST_NAMED]
    taken = [name for name in shown if answer.takes_gold(name)]
    if not taken:
        return []
    return [f"Gold alone gives the narrower interval, and the value, of {', '.join(taken)}."]


def chance_draws(question: Question, views: Views, panel_error: Any) -> Array:
    """Draws of how often the prediction is right among the items without gold, as `grade` has
    it.
    """
    components = link_components(question, views, panel_error, own=question.trained_on_labels)
    link = _link(question, views, components)
    free = link.design.size - link.design.tally(np.flatnonzero(question.gold >= 0))
    ours = link.chance() @ (free / max(free.sum(), 1.0))
    if not question.n_gold or question.gold_weights is not None:
        return np.asarray(ours)
    answer = question.answer(_confusion(question, views, link))
    beside = AnswerBesideGold(answer, gold_alone(question))
    if not beside.takes_gold("accuracy"):
        return np.asarray(ours)
    known = question.gold >= 0
    right = int((question.gold[known] == question.predicted[known]).sum())
    size = question.n_gold, question.n_items, "population", len(ours)
    return share_draws(right, *size, question.rng(GOLD))


def gold_alone(question: Question) -> GoldAlone:
    """What the gold items would say without any label."""
    return GoldAlone(
        question.classes,
        question.positive,
        question.predicted,
        question.gold,
        question.target,
        question.n_draws,
        question.seeds(GOLD),
        question.size,
    )


def link_components(question: Question, views: Views, panel_error: Any, *, own: bool) -> Components:
    if panel_error is not None:
        return stated_components(views, panel_error)
    return learned_components(views, question.panel, OWN_LABELS if own else DEFAULT)


def _link(question: Question, views: Views, components: Components) -> LinkDraws:
    return draw_link(
        views,
        components,
        question.gold,
        question.rng(LINK),
        n_draws=question.n_draws,
        gold_weights=question.gold_weights,
    )


def _confusion(question: Question, views: Views, link: LinkDraws) -> Array:
    """Draws of the confusion of ``views.predicted``."""
    rng = question.rng(COUNTS)
    if question.target == "sample":
        return confusion_draws(link, views, question.gold, rng).astype(float)
    return population_confusion(link, views, question.gold, rng) * views.n_items


def shares_by_gold(question: Question) -> Array:
    """Draws of the class shares that gold alone knows, draws × classes."""
    rng = question.rng(GOLD)
    counted = np.bincount(question.gold[question.gold >= 0], minlength=question.n_classes)
    size = question.n_gold, question.n_items, question.target, question.n_draws
    return np.stack([share_draws(int(hits), *size, rng) for hits in counted], axis=1)


def _about_gold(question: Question, link: LinkDraws) -> tuple[dict[str, Any], list[str]]:
    """Diagnostics of the link, and what must be said where gold contradicts the panel."""
    found: dict[str, Any] = {"link_effective_sample_size": link.effective_size}
    if not question.n_gold:
        return found, []
    found |= {"gold_speaks_alone": link.flat_weight, "gold_surprise": link.surprise}
    said = []
    if question.gold_weights is None:
        said += checks.gold_selection_warning(question.labels, question.gold)
    if link.surprise < CONFLICT:
        said.append(
            "Gold contradicts what such labels say on public panels "
            f"(a count so odd had probability {max(link.surprise, 0.002):.1g}): the answer "
            "leans on "
            "gold. Check that gold is a random choice, or expect that this panel is unusual."
        )
    return found, said


def assumed(question: Question, panel_error: Any) -> list[str]:
    if panel_error is None:
        unknown = "as far as public panels of people and of language models were (kind not known)"
        how = f"{PANELS.get(str(question.panel), unknown)}; panel_error (--panel-error) changes it"
    else:
        how = f"by your word on about {_share(panel_error):.1%} of items"
    found = [f"The panel as a whole may be wrong together, {how}."]
    if question.n_gold:
        gold = f"{question.n_gold} gold items correct it"
        chosen = "were chosen with the chances given" if question.gold_weights is not None else ""
        found.append(f"{gold}: they {chosen or 'must be a random choice'}.")
    if question.trained_on_labels:
        found.append("The classifier learned from these labels and repeats some of their mistakes.")
    else:
        found.append(checks.LEARNED_FROM_LABELS)
    return found


def _named(views: Views) -> dict[str, float]:
    shares = 1 / (1 + np.exp(-views.levels))
    return {"agreement": views.agreement, **dict(zip(VIEWS, map(float, shares)))}


def _share(panel_error: Any) -> float:
    if isinstance(panel_error, tuple):
        return float(panel_error[0] / sum(panel_error))
    return float(panel_error)


def _linked_scores(question: Question, views: Views, link: LinkDraws) -> ScoreAnswer:
    """The link's chances, item by item, sharpened by what the score says beyond the prediction."""
    positive = question.positive
    assert positive is not None
    assert question.scores is not None
    chance = link.chance()
    odds = np.where(
        link.design.predicted == positive,
        chance / (1 - chance + 1e-12),
        (1 - chance) / (chance + 1e-12),
    )
    consensus = np.clip(views.consensus[:, [1 - positive, positive]], 1e-6, 1)
    return ScoreAnswer.linked(
        question.scores,
        np.log(consensus),
        views.predicted == positive,
        odds,
        link.design.member,
        question.gold,
        positive,
        n_draws=min(question.n_draws, 2000),
        seed=question.seed,
        target=question.target,
    )
