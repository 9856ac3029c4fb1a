"""Rows in another order: the same answer to the last digit, in the user's own order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import truthing as tr
from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.matching import as_gold, as_predictions, join
from truthing.ordering import in_order

DATA = tr.simulate(
    90, 5, prior=[0.6, 0.4], operating_point=(0.85, 0.2), fallibility=[0.1, 0.2, 0.3, 0.4, 0.5],
    availability=0.7, seed=3,
)  # fmt: skip
NAMES = [f"item {(37 * i) % 90}" for i in range(90)]  # not in the order of their names
PEOPLE = ["zoe", "ana", "kim", "bob", "lea"]
PREDICTED = dict(zip(NAMES, DATA.predictions))
SCORES = dict(zip(NAMES, np.round(DATA.scores, 3)))
GOLD = dict(zip(NAMES[:12], DATA.truth))
RATES = dict(zip(PEOPLE, (0.05, 0.1, 0.15, 0.2, 0.25)))


def rows(seed: int) -> Labels:
    """The same rows, shuffled."""
    labels = DATA.labels
    order = np.random.default_rng(seed).permutation(len(labels.label))
    return Labels.from_long(
        [NAMES[i] for i in labels.item[order]],
        [PEOPLE[t] for t in labels.labeler[order]],
        labels.label[order],
    )


ONE, OTHER = rows(1), rows(2)


def by_item(report: Any, labels: Labels) -> dict[Any, Array]:
    return dict(zip(labels.items, report.truth))


def by_labeler(noise: Any) -> dict[Any, Array]:
    return dict(zip(noise.labelers, noise.confusion))


def same(one: dict[Any, Array], other: dict[Any, Array]) -> bool:
    return set(one) == set(other) and all(np.array_equal(one[k], other[k]) for k in one)


@pytest.mark.parametrize(
    "options",
    [
        {"noise": RATES, "gold": GOLD},
        {"noise": RATES, "method": "sampling"},
        {"panel_error": 0},
        {"gold": GOLD, "gold_weights": {item: 0.2 + 0.05 * k for k, item in enumerate(GOLD)}},
    ],
    ids=["given", "paper", "trusted", "link"],
)
def test_grade(options: dict[str, Any]) -> None:
    assert ONE.items != OTHER.items
    assert ONE.labelers != OTHER.labelers
    asked = {**options, "draws": 300, "seed": 5}
    one, other = (tr.grade(PREDICTED, labels, **asked) for labels in (ONE, OTHER))
    for name in ("accuracy", "recall", "f1"):
        assert np.array_equal(one[name].draws, other[name].draws)
    assert one.items == ONE.items
    assert one.noise.labelers == ONE.labelers
    assert same(by_item(one, ONE), by_item(other, OTHER))
    assert same(by_labeler(one.noise), by_labeler(other.noise))
    assert one.warnings == other.warnings


def test_rate_compare_and_labelers() -> None:
    asked: dict[str, Any] = {"noise": RATES, "draws": 300}
    rates = [tr.prevalence(labels, **asked) for labels in (ONE, OTHER)]
    assert np.array_equal(rates[0].draws, rates[1].draws)
    assert same(by_item(rates[0], ONE), by_item(rates[1], OTHER))
    models = {"a": PREDICTED, "b": {item: 1 - p for item, p in PREDICTED.items()}}
    slices = {item: item[-1] for item in NAMES}
    found = [tr.compare(models, labels, by=slices, **asked) for labels in (ONE, OTHER)]
    assert np.array_equal(found[0].truth, found[1].truth)
    assert same(found[0].slices, found[1].slices)
    people = [tr.labelers(labels, **asked) for labels in (ONE, OTHER)]
    assert people[0].labelers == ONE.labelers
    assert people[0].to_frame().sort("labeler").equals(people[1].to_frame().sort("labeler"))


def test_slices_by_position_follow_the_users_order() -> None:
    asked: dict[str, Any] = {"noise": 0.2, "draws": 300}
    models = {"a": PREDICTED, "b": {item: 1 - p for item, p in PREDICTED.items()}}
    slices = {item: item[-1] for item in NAMES}
    by_name = tr.compare(models, ONE, by=slices, **asked)
    by_place = tr.compare(models, ONE, by=[slices[item] for item in ONE.items], **asked)
    assert same(by_name.slices, by_place.slices)


class OwnScores:
    """A user's model that knows its items by position."""

    def __init__(self, labels: Labels, scores: Array) -> None:
        self.labels, self.scores = labels, scores

    def log_likelihood(self, labels: Labels) -> Array:
        assert labels.items == self.labels.items
        return self.scores


def _tables(labels: Labels) -> Array:
    return np.stack([[[1 - RATES[w], RATES[w]], [RATES[w], 1 - RATES[w]]] for w in labels.labelers])


@pytest.mark.parametrize(
    "positional",
    [
        lambda labels: tr.noise.Confusion(_tables(labels)),
        lambda labels: tr.noise.Difficulty(
            np.zeros(labels.n_items), [2 * RATES[w] for w in labels.labelers]
        ),
        lambda labels: OwnScores(labels, tr.noise.Symmetric(RATES).log_likelihood(labels)),
    ],
    ids=["matrices", "difficulty", "own model"],
)
def test_what_is_said_by_position_is_said_of_the_users_order(
    positional: Callable[[Labels], Any],
) -> None:
    trust = {"panel_error": 0, "draws": 300}  # an own model does not say how many labels are wrong
    by_name = tr.grade(PREDICTED, ONE, noise=RATES, **trust)
    by_place = tr.grade(PREDICTED, ONE, noise=positional(ONE), **trust)
    assert by_place.truth == pytest.approx(by_name.truth, abs=1e-9)


def test_sequences_follow_the_users_order() -> None:
    """Predictions and scores without names are aligned with labels.items."""
    named = tr.grade(PREDICTED, ONE, scores=SCORES, noise=RATES, draws=300)
    bare = tr.grade(
        [PREDICTED[i] for i in ONE.items],
        ONE,
        scores=[SCORES[i] for i in ONE.items],
        noise=RATES,
        draws=300,
    )
    assert np.array_equal(named["accuracy"].draws, bare["accuracy"].draws)
    assert np.array_equal(named["auc"].draws, bare["auc"].draws)


@pytest.mark.parametrize(
    "names", [["b", "a", "c"], [3, 1, 2], ["a", 1, (2, 3)], [2**70, 1, 5]], ids=str
)
def test_names_of_any_kind(names: list[Any]) -> None:
    matrix = np.array([[0, 1], [1, 1], [0, 0]])
    labels = Labels.from_matrix(matrix, items=names, labelers=["q", "p"])
    gold = {names[0]: 0}
    joined = join(labels, as_predictions([0, 1, 0], labels), as_gold(gold))
    inside, order = in_order(joined)
    places = {name: i for i, name in enumerate(inside.labels.items)}
    assert sorted(places, key=places.__getitem__) == [names[i] for i in order.items]
    assert inside.labels.labelers == ("p", "q")
    for i, name in enumerate(names):
        assert inside.labels.matrix()[places[name]].tolist() == matrix[i][::-1].tolist()
        assert inside.predicted is not None
        assert inside.predicted[places[name]] == [0, 1, 0][i]
        assert inside.gold[places[name]] == (0 if i == 0 else -1)


def test_contradictions_that_are_kept_have_no_order() -> None:
    """A labeler who says both: whichever line comes first, the same entries inside."""
    found = []
    for said in ([0, 1, 1, 0], [1, 0, 0, 1]):
        labels = Labels.from_long(["b", "b", "a", "a"], ["w", "w", "w", "w"], said)
        inside, _ = in_order(join(labels, None, None, repeats="keep"))
        found.append(
            (inside.labels.items, inside.labels.item.tolist(), inside.labels.label.tolist())
        )
    assert found[0] == found[1] == (("a", "b"), [0, 0, 1, 1], [0, 1, 0, 1])
