"""Answers from a calibration set: the classifier's confusion, class shares, and the truth that
several models share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import NEARLY
from truthing.progress import Progress
from truthing.survey.calibration import CalibrationItems
from truthing.survey.clusters import Alike, worth_in_clusters
from truthing.survey.design import Survey
from truthing.truth.assumed import about_survey
from truthing.truth.calibrated import (
    Chances,
    Setting,
    categories,
    confusion_summary,
    differs,
    draw_chances,
)
from truthing.truth.calibration_counts import consensus_of, seen_items, verdict_of
from truthing.truth.draws import DrawnAnswer
from truthing.truth.link.surveyed import redrawn
from truthing.truth.linked import alike_seen
from truthing.truth.outcome import Outcome
from truthing.truth.question import Question
from truthing.truth.scores import ScoreAnswer
from truthing.truth.sensitivity import Row, Sensitivity

STREAM = 21  # of random numbers
STRANGE = 1e-3
FEW_WEIGHTS = 4  # levels of weights, where no strata are given
SHIFTS = (-0.5, 0.0, 0.5)  # of the log-odds that the labelers' verdict is right


@dataclass(frozen=True, eq=False)
class _Prepared:
    setting: Setting
    member: Array  # the group of each graded item
    combinations: Array  # combinations × models
    assumptions: list[str]
    warnings: list[str]
    category: Array
    calibration: Array
    consensus: Array  # of the labelers about the graded items
    together: Alike | None = None  # items of one cluster


def answer_by_calibration(question: Question, items: CalibrationItems) -> Outcome:
    """The classifier graded, or the classes counted, by what the calibration set taught."""
    question.progress(0.1, "learning the labelers on the calibration set")
    ready = _prepare(question, question.predicted[None], items)
    chances = draw_chances(ready.setting, question.n_draws, question.rng(STREAM))
    told = _checked(ready, chances, items, question.classes)
    answer, slices = _answers(question, ready, chances)
    truth = chances.chance.mean(axis=0)[ready.member]
    known = np.flatnonzero(question.gold >= 0)
    truth[known] = np.eye(question.n_classes)[question.gold[known]]
    prior = chances.shares.mean(axis=0)

    def sensitivity(level: float, progress: Progress) -> Sensitivity:
        """Accuracy if the labelers are better or worse here than on the calibration set."""
        rows = []
        for shift in SHIFTS:
            moved = draw_chances(ready.setting, question.n_draws, question.rng(STREAM), shift)
            drawn, _ = _answers(question, ready, moved)
            words = "log-odds that the verdict is right, shifted"
            rows.append(Row(words, shift, drawn.estimate("accuracy"), level))
        return Sensitivity(tuple(rows), (0.0, 1.0))

    return Outcome(
        answer,
        truth,
        ready.assumptions,
        [*ready.warnings, *told],
        {"calibration_items": len(items.truth)},
        confusion_summary(question.labels, items, prior),
        _curves(question, ready, chances),
        sensitivity=sensitivity,
        slices=slices,
    )


def truths_by_calibration(
    question: Question, predicted: Array, items: CalibrationItems
) -> tuple[Array, list[str], list[str]]:
    """Answer keys, draws × items, for several models at once; assumptions and warnings."""
    gold, n_draws = question.gold, question.n_draws
    ready = _prepare(question, predicted, items)
    chances = draw_chances(ready.setting, n_draws, question.rng(STREAM))
    rng = question.rng(STREAM, 1)
    chance = _varied(ready, chances.chance, rng)
    truth = np.empty((n_draws, len(gold)), dtype=np.int16)
    for d in range(n_draws):
        edges = np.cumsum(chance[d], axis=1)[ready.member]
        truth[d] = (rng.random(len(gold))[:, None] > edges[:, :-1]).sum(axis=1)
    known = gold >= 0
    truth[:, known] = gold[known]
    return (
        truth,
        ready.assumptions,
        [*ready.warnings, *_checked(ready, chances, items, question.classes)],
    )


def _prepare(question: Question, predicted: Array, items: CalibrationItems) -> _Prepared:
    labels, gold, survey, n_classes = (
        question.labels,
        question.gold,
        question.survey,
        question.n_classes,
    )
    alone, theirs = consensus_of(labels, items.labels)
    verdict = verdict_of(labels, items)
    category, calibration, verdicts = categories(alone, theirs, items.truth, verdict)
    combinations, combination = np.unique(predicted.T, axis=0, return_inverse=True)
    combination = combination.reshape(-1)
    seen, joint = seen_items(items, combinations, calibration, len(verdicts), n_classes)
    if items.cluster is not None:
        seen = seen * worth_in_clusters(items.cluster, theirs.argmax(axis=1) == items.truth)
    n_k = len(verdicts)
    blocks, split = _blocks(survey, len(gold))
    place = (split * len(combinations) + combination) * n_k + category
    key, first, member = np.unique(place, return_index=True, return_inverse=True)
    member = member.reshape(-1)
    known = np.zeros((len(key), n_classes), dtype=np.int64)
    np.add.at(known, (member[gold >= 0], gold[gold >= 0]), 1)
    together = None
    if survey.cluster is not None:
        together = alike_seen(question, alone.argmax(axis=1))
    setting = Setting(
        n_classes,
        np.bincount(member, minlength=len(key)) - known.sum(axis=1),
        combination[first],
        category[first],
        known,
        seen,
        verdicts,
        (combinations[:, :, None] == verdicts).mean(axis=1),
        verdict is not None,
        blocks[first],
        1.0 if together is None else 1 / together.design_effect,
    )
    told = _assumed(items, joint=joint, by_verdict=verdict is not None)
    told += _about_survey(question, together)
    seen_in = category, calibration, alone, together
    return _Prepared(setting, member, combinations, told, list(items.notes), *seen_in)


def _blocks(survey: Survey, n_items: int) -> tuple[Array, Array]:
    """Codes of items whose classes may have shares of their own, and finer ones that never mix
    weights."""
    parts = list(survey.blocks)
    levels = survey.weight_levels(FEW_WEIGHTS)
    if levels is not None and survey.stratum is None:
        parts.append(levels)
    blocks = np.zeros(n_items, dtype=np.int64)
    for codes in parts:
        blocks = blocks * (codes.max() + 1) + codes
    blocks = np.unique(blocks, return_inverse=True)[1].reshape(-1)
    fine = survey.weight_levels()
    return blocks, blocks if fine is None else blocks * (fine.max() + 1) + fine


def _about_survey(question: Question, together: Alike | None) -> list[str]:
    survey, told = question.survey, []
    if survey.blocks or survey.weight is not None:
        told.append(
            "Classes may have other shares in each stratum, slice or weight; how labelers err on "
            "items of one class is taken to be the same in all."
        )
    plain = replace(survey, stratum=None, slice=None, slice_names=())
    return told + about_survey(replace(question, survey=plain), together)


def _assumed(items: CalibrationItems, *, joint: bool, by_verdict: bool) -> list[str]:
    n = len(items.truth)
    how = (
        f"The labelers' mistakes were learned on {n:,} calibration items and carried over: the "
        "same "
        "labelers, the same kind of items."
    )
    if by_verdict:
        how += (
            " The calibration items were chosen by the labelers' verdict: how often a verdict is "
            "right is taken to be the same here."
        )
    else:
        how += (
            " How often each verdict is given to items of one true class is taken to be the same "
            "here; the classes' shares may differ."
        )
    told = [how]
    if not joint:
        told.append(
            "The calibration items have no predictions: how far the classifier errs where the "
            "labelers err is taken from public panels."
        )
    return told


def _checked(
    ready: _Prepared, chances: Chances, items: CalibrationItems, classes: Sequence[Any]
) -> list[str]:
    """Do the labelers answer alike on both sets?"""
    absent = [c for k, c in enumerate(classes) if not (items.truth == k).any()]
    told = []
    if not chances.settled:
        told.append(
            "The sampler did not settle: the labelers tell the classes apart too poorly. The "
            "answer may be wrong. More calibration items, or predictions on them, would help."
        )
    if absent:
        told.append(
            f"No calibration item is {absent[0]!r}: what labelers say of such items is not known, "
            "and the answer leans on guesses about them."
        )
    if ready.setting.by_verdict:
        return told
    shares = chances.shares.mean(axis=0)
    odd = differs(ready.category, ready.calibration, items.truth, shares)
    if odd < STRANGE:
        told.append(
            f"The labelers answer otherwise here than on the calibration set (p = {odd:.1g}): its "
            "items are of another kind, and what was learned on them may not hold. See the "
            "sensitivity, or check some of these items."
        )
    return told


def _answers(
    question: Question, ready: _Prepared, chances: Chances
) -> tuple[DrawnAnswer, dict[str, DrawnAnswer]]:
    """The answer for all items, and one for each slice."""
    setting, survey = ready.setting, question.survey
    counted = _counted(question, ready, chances)
    predicted = ready.combinations[setting.combination, 0]

    def answer(groups: Any) -> DrawnAnswer:
        table = _by_prediction(counted[:, groups], predicted[groups], question.n_classes)
        return replace(question.answer(table), slack=NEARLY)

    parts = {
        name: answer(np.unique(ready.member[survey.items_of(name)])) for name in survey.slice_names
    }
    return answer(slice(None)), parts


def _counted(question: Question, ready: _Prepared, chances: Chances) -> Array:
    """Draws of how many items of each class each group holds, draws × groups × classes."""
    setting, survey, rng = ready.setting, question.survey, question.rng(STREAM, 2)
    if question.target == "sample":
        chance = _varied(ready, chances.chance, rng)
        counted = rng.multinomial(setting.size, chance) + setting.known
        if survey.weight is None:
            return np.asarray(counted, dtype=float)
        mean = np.bincount(ready.member, weights=survey.weight) / setting.total
        return np.asarray(counted * mean[:, None])
    if survey.plain:
        size = np.broadcast_to(setting.total, chances.chance.shape[:2])
        mass = rng.standard_gamma(size)
    else:
        mass = redrawn(ready.member, len(setting.size), survey, len(chances.chance), rng)
    table = mass[:, :, None] * chances.chance
    if not setting.by_verdict:
        _at_drawn_shares(table, setting, chances)
    return np.asarray(table)


def _at_drawn_shares(table: Array, setting: Setting, chances: Chances) -> None:
    """New items have the classes' shares that were drawn. The graded items' own frequencies would
    pull each draw towards the middle, as a step of EM does: intervals held .89 of the time."""
    for block in range(chances.by_block.shape[1]):
        here = setting.blocks == block
        inside = table[:, here].sum(axis=1)
        wanted = chances.by_block[:, block] * inside.sum(axis=1, keepdims=True)
        table[:, here] *= (wanted / np.maximum(inside, 1e-300))[:, None, :]


def _curves(question: Question, ready: _Prepared, chances: Chances) -> ScoreAnswer | None:
    """Curves and areas where there are scores: the calibrated chances, sharpened by what the score
    says beyond the prediction."""
    positive = question.positive
    if question.scores is None or positive is None:
        return None
    chance = np.clip(chances.chance[:, :, positive], 1e-9, 1 - 1e-9)
    consensus = np.clip(ready.consensus[:, [1 - positive, positive]], 1e-6, 1)
    return ScoreAnswer.linked(
        question.scores,
        np.log(consensus),
        question.predicted == positive,
        chance / (1 - chance),
        ready.member,
        question.gold,
        positive,
        n_draws=min(question.n_draws, 2000),
        seed=question.seed,
        target=question.target,
        weight=question.survey.weight,
        cluster=question.survey.cluster,
    )


def _varied(ready: _Prepared, chance: Array, rng: np.random.Generator) -> Array:
    """Chances of groups that vary as far as items of a cluster share mistakes."""
    if ready.together is None or ready.together.design_effect <= 1.0 + 1e-9:
        return chance
    beyond = ready.together.design_effect - 1
    weight = np.maximum(ready.setting.size / beyond - 1, 0.5)[:, None]
    drawn = np.maximum(rng.standard_gamma(chance * weight + 1e-9), 1e-300)
    return np.asarray(drawn / drawn.sum(axis=2, keepdims=True))


def _by_prediction(drawn: Array, predicted: Array, n_classes: int) -> Array:
    """Counts draws × groups × truth as draws × truth × prediction."""
    columns = [drawn[:, predicted == k].sum(axis=1) for k in range(n_classes)]
    return np.stack(columns, axis=2)
