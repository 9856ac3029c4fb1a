"""The default answer: the link from consensus to truth sets every interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import listing
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.counts import metric_names
from truthing.metrics.estimate import NEARLY, Estimate
from truthing.metrics.words import metric_words
from truthing.survey.clusters import Alike, alike, gold_worth, sharing
from truthing.truth.assumed import about_survey, assumed
from truthing.truth.draws import AnswerBesideGold, DrawnAnswer
from truthing.truth.erring_gold import (
    ErringGoldAlone,
    truth_beside_erring_gold,
    with_drawn_gold,
)
from truthing.truth.gold_alone import GoldAlone
from truthing.truth.link.counts import MOST_DENSE, confusion_draws, item_truth, population_confusion
from truthing.truth.link.many_classes import drawn_confusion
from truthing.truth.link.more_gold import MoreGold
from truthing.truth.link.prior import (
    Components,
    learned_components,
    stated_components,
)
from truthing.truth.link.sampler import LinkDraws, draw_link
from truthing.truth.link.scale_tilt import scale_positions
from truthing.truth.link.surveyed import survey_counts
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
LINK, COUNTS, GOLD, MORE_GOLD = range(4)  # streams of random numbers
CONFLICT = 0.01
MOST_NAMED = 30  # metrics that are compared with gold alone before anybody asks


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
    together = alike_items(question, views)
    question = counting_gold(question, together)
    link = draw_the_link(question, views, panel_error)
    answer, slices = _answers(question, views, link, together)
    headline, cut = _taken_from_gold(question, answer) if question.n_gold else (False, [])
    scored = question.scores is not None and question.positive is not None
    curves = _linked_scores(question, views, link) if scored else None
    found, doubts = _about_gold(question, link)
    if together is not None:
        found["clusters"] = {"correlation": together.correlation, "clusters": together.n_clusters}
    return Outcome(
        answer,
        _item_truth(question, views, link),
        [
            *assumptions,
            *assumed(question, panel_error),
            *([] if headline else cut),
            *about_survey(question, together),
        ],
        [*warnings, *doubts, *(cut if headline else [])],
        {**diagnostics, **found, "views": _named(views), "panel_error": panel_error},
        noise,
        curves,
        slices=slices,
        more_gold=_more_gold(question, views, link, panel_error),
    )


def _more_gold(
    question: Question, views: Views, link: LinkDraws, panel_error: Any
) -> MoreGold | None:
    """What more gold would do; not foretold for clusters, weights, erring gold and other shares."""
    plain = question.survey.plain and question.deployment is None and link.slips is None
    if question.constant or not plain:
        return None
    known = question.gold >= 0
    components = link_components(question, views, panel_error, own=question.trained_on_labels)
    right = int((question.gold[known] == question.predicted[known]).sum())
    return MoreGold(
        link, components, right, question.n_gold, question.target, question.seeds(MORE_GOLD)
    )


def draw_the_link(question: Question, views: Views, panel_error: Any) -> LinkDraws:
    """Draws of how often the views are right; the same draws for the same question."""
    own = question.trained_on_labels or question.constant
    return _link(question, views, link_components(question, views, panel_error, own=own))


def _answers(
    question: Question, views: Views, link: LinkDraws, together: Alike | None
) -> tuple[Any, dict[str, Any]]:
    """The answer for all items, and one for each slice."""
    rng, survey = question.rng(COUNTS), question.survey
    if survey.plain:
        drawn = _confusion(question, views, link, question.target)
        return _beside_gold(question, drawn, None), {}
    effect = 1.0
    if together is not None:
        assert survey.cluster is not None
        free = np.flatnonzero(question.gold < 0)
        effect = 1 + (sharing(survey.cluster, free) - 1) * together.correlation
    counts = [
        survey_counts(some, views, gold, rng, survey, question.target, effect)
        for some, gold in with_drawn_gold(link, views, question.gold, rng)
    ]

    def answer(items: Array | None) -> Any:
        drawn: list[Any] = [part.drawn(items) for part in counts]
        join: Any = np.concatenate if views.n_classes <= MOST_DENSE else ConfusionMatrix.joined
        return _beside_gold(question, drawn[0] if len(drawn) == 1 else join(drawn), items)

    return answer(None), {name: answer(survey.items_of(name)) for name in survey.slice_names}


def _confusion(question: Question, views: Views, link: LinkDraws, target: str) -> Any:
    """Draws of the confusion of ``views.predicted``, in numbers of items."""
    rng = question.rng(COUNTS)
    parts = with_drawn_gold(link, views, question.gold, rng)
    if views.n_classes > MOST_DENSE:
        found: Iterator[Any]
        found = (drawn_confusion(some, views, gold, rng, target) for some, gold in parts)
        return ConfusionMatrix.joined(found)
    count = confusion_draws if target == "sample" else population_confusion
    drawn = np.concatenate([count(some, views, gold, rng) for some, gold in parts]).astype(float)
    return drawn if target == "sample" else drawn * question.n_items


def _item_truth(question: Question, views: Views, link: LinkDraws) -> Array:
    if link.slips is not None:
        return truth_beside_erring_gold(link, views, question.gold)
    return item_truth(link, views, question.gold)


def _beside_gold(question: Question, confusion: Any, items: Array | None) -> Any:
    """An answer from drawn confusion matrices, never much wider than gold alone."""
    if question.constant and isinstance(confusion, ConfusionMatrix):
        confusion = confusion.all_predicted(int(question.predicted[0]))
    elif question.constant:
        counted = confusion.sum(axis=2)
        confusion = np.zeros_like(confusion)
        confusion[:, :, question.predicted[0]] = counted
    return _near_gold(question, question.answer(confusion), items, question.constant)


def _near_gold(
    question: Question, answer: DrawnAnswer, items: Array | None = None, shares: bool = False
) -> DrawnAnswer | AnswerBesideGold:
    """An answer, and where there is gold never much wider than that by itself."""
    answer, alone = replace(answer, slack=NEARLY), gold_alone(question, items)
    return AnswerBesideGold(answer, alone, shares) if alone.n_gold else answer


def _taken_from_gold(question: Question, answer: AnswerBesideGold) -> tuple[bool, list[str]]:
    """Which of the numbers shown unasked were cut, because gold alone is much narrower, and whether
    the headline is among them."""
    if question.constant:
        cuts = answer.cut_shares() if question.n_classes <= MOST_NAMED else []
        taken = [f"the share of {c}" for c, cut in zip(question.classes, cuts) if cut.any]
        headline = bool(taken)
    else:
        shown = metric_names(question.classes, question.positive)[:MOST_NAMED]
        taken = [metric_words(name) for name in shown if name != "error" and answer.cut(name).any]
        headline = answer.cut("accuracy").any
    if not taken:
        return False, []
    return headline, [
        f"For {listing(taken, MOST_NAMED)} gold with labels has a much wider interval than gold "
        "by itself. It is cut to little more than the width of gold's. On public panels such "
        "intervals held the truth in about 83% of cases, not 95%: more gold mends that."
    ]


@dataclass(frozen=True, eq=False)
class OwnLevel:
    """One of several classifiers as `grade` has it: draws of how often it is right among the items
    without gold, and its accuracy on these items (where all items count the same)."""

    free: Array
    accuracy: Estimate | None


def own_level(question: Question, views: Views, panel_error: Any) -> OwnLevel:
    """The same numbers as `grade` finds for this classifier alone; one class for every item is
    graded otherwise there (`Question.constant`), and has draws only."""
    components = link_components(question, views, panel_error, own=question.trained_on_labels)
    link = _link(question, views, components)
    free = link.design.size - link.design.tally(np.flatnonzero(question.gold >= 0))
    ours = np.asarray(link.chance() @ (free / max(free.sum(), 1.0)))
    plain = question.survey.plain and not question.constant
    if not plain and not question.n_gold:
        return OwnLevel(ours, None)
    beside = _near_gold(question, question.answer(_confusion(question, views, link, "sample")))
    if isinstance(beside, AnswerBesideGold):
        ours = beside.cut("accuracy").of(ours)
    return OwnLevel(ours, beside.estimate("accuracy") if plain else None)


def gold_alone(question: Question, items: Array | None = None) -> GoldAlone:
    """What the gold items would say without any label; of these items only."""
    here: Any = slice(None) if items is None else items
    counts, weight = question.gold_weights, question.survey.weight
    if question.gold_chosen.kind == "seen":
        seen = question.gold_chosen.weights
        assert seen is not None
        counts = seen if counts is None else seen * counts
    if counts is not None and items is not None:
        counts = counts[np.isin(np.flatnonzero(question.gold >= 0), items)]
    about = (
        question.classes,
        question.positive,
        question.predicted[here],
        question.gold[here],
        question.target,
        question.n_draws,
        question.seeds(GOLD),
        counts,
        None if weight is None else weight[here],
        question.deployment,
        question.values,
        question.size,
    )
    if question.gold_error is not None:
        return ErringGoldAlone(*about, question.gold_error)
    return GoldAlone(*about)


def alike_items(question: Question, views: Views) -> Alike | None:
    """How alike the items of a cluster are, where clusters were declared."""
    if question.survey.cluster is None:
        return None
    return alike_seen(question, views.consensus.argmax(axis=1))


def alike_seen(question: Question, seen: Array) -> Alike:
    """The same from the consensus's class of each item."""
    cluster = question.survey.cluster
    assert cluster is not None
    if not question.constant:
        return alike(cluster, seen == question.predicted, question.gold, question.predicted)
    found = [
        alike(cluster, seen == c, question.gold, np.full_like(question.predicted, c))
        for c in range(question.n_classes)
    ]
    return max(found, key=lambda each: each.correlation)


def counting_gold(question: Question, together: Alike | None) -> Question:
    """The question with what each gold item counts, where gold came in clusters."""
    if together is None or not question.n_gold:
        return question
    cluster = question.survey.cluster
    assert cluster is not None
    worth = gold_worth(cluster, question.gold, together, question.target)
    if worth > 1 - 1e-9:
        return question
    counts = np.ones(question.n_gold) if question.gold_weights is None else question.gold_weights
    return replace(question, gold_weights=counts * worth)


def link_components(question: Question, views: Views, panel_error: Any, *, own: bool) -> Components:
    if panel_error is not None:
        return stated_components(views, panel_error)
    return learned_components(views, question.panel, own=own)


def _link(question: Question, views: Views, components: Components) -> LinkDraws:
    found = draw_link(
        views,
        components,
        question.gold,
        question.rng(LINK),
        n_draws=question.n_draws,
        gold_weights=question.gold_weights,
        blocks=_blocks(question),
        split=question.survey.weight_levels(),
        gold_error=question.gold_error,
    )
    return replace(found, positions=scale_positions(question.values))


def _blocks(question: Question) -> list[Array]:
    """Codes of items that may have effects of their own."""
    seen = question.gold_chosen.strata
    return [*question.survey.blocks, *([] if seen is None else [seen])]


def _about_gold(question: Question, link: LinkDraws) -> tuple[dict[str, Any], list[str]]:
    """Diagnostics of the link, and what must be said where gold contradicts the panel."""
    found: dict[str, Any] = {"link_effective_sample_size": link.effective_size}
    if not question.n_gold:
        return found, []
    found |= {"gold_speaks_alone": link.flat_weight, "gold_surprise": link.surprise}
    found["gold_choice"] = question.gold_chosen.kind
    sentences = []
    if link.surprise < CONFLICT:
        sentences.append(
            "Gold contradicts what such labels say on public panels "
            f"(a count so odd had probability {max(link.surprise, 0.002):.1g}): the answer "
            "leans on "
            "gold. Check that gold is a random choice, or expect that this panel is unusual."
        )
    return found, sentences


def _named(views: Views) -> dict[str, float]:
    shares = 1 / (1 + np.exp(-views.levels))
    return {"agreement": views.agreement, **dict(zip(VIEWS, map(float, shares)))}


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
        question.gold if link.slips is None else np.full_like(question.gold, -1),
        positive,
        n_draws=min(question.n_draws, 2000),
        seed=question.seed,
        target=question.target,
        gold_weights=question.gold_weights,
        weight=question.survey.weight,
        cluster=question.survey.cluster,
    )
