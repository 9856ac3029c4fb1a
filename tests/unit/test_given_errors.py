"""What the user says about labelers narrows the answer, unless labels or gold contradict it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import truthing as tr
from truthing.truth.given_errors import given_errors, wrong_labels
from truthing.truth.link.told import Told, told_labels, within
from truthing.truth.question import Question


def world(seed: int = 0, errors: tuple[float, ...] = (0.15, 0.2, 0.25)) -> Any:
    """Labels, predictions and truth of 400 items; labelers err as often as said."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 400)
    table = np.stack([truth ^ (rng.random(400) < e) for e in errors], axis=1)
    return tr.Labels.from_matrix(table), truth ^ (rng.random(400) < 0.12), truth


def width(report: Any, metric: Any = "accuracy") -> float:
    return float(np.ptp(report[metric].interval(0.95)))


def test_bounds_hold_however_mistakes_depend_on_each_other() -> None:
    """Every table of truths, labels and predictions of three items, three classes."""
    rng = np.random.default_rng(1)
    for _ in range(2000):
        n = int(rng.integers(3, 12))
        truth, label, predicted = rng.integers(0, 3, (3, n))
        told = Told(float((label != truth).mean()), float((label == predicted).mean()))
        low, high = told.shares
        assert low - 1e-12 <= (predicted == truth).mean() <= high + 1e-12


def test_items_without_such_labels_may_be_right_or_wrong() -> None:
    whole, half = Told(0.1, 0.8), Told(0.1, 0.8, covered=0.5)
    assert whole.shares == pytest.approx((0.7, 0.9))
    assert half.shares == pytest.approx((0.35, 0.95))


def test_a_level_stays_within_its_bounds() -> None:
    centre, scale = within(0.0, 1.0, 3.0, 2.0)
    assert centre == 1.0
    assert scale < 0.2
    assert within(-9.0, 9.0, 0.5, 0.3) == pytest.approx((0.5, 0.3), rel=0.02)
    spread = [one.wrong for one in told_labels(0.2, 0.03, 0.8)]
    assert (np.mean(spread), np.std(spread)) == pytest.approx((0.2, 0.03), rel=0.01)


@pytest.mark.parametrize("panel", ["people", "models", None])
def test_known_errors_narrow_the_answer(panel: str | None) -> None:
    labels, predicted, truth = world()
    each = dict(enumerate((0.15, 0.2, 0.25)))
    plain = tr.grade(predicted, labels, panel=panel, draws=2000)
    right = (predicted == truth).mean()
    for noise in (0.2, each, (0.18, 0.22), tr.noise.Confusion([[0.8, 0.2], [0.2, 0.8]], weight=90)):
        told = tr.grade(predicted, labels, noise=noise, panel=panel, draws=2000)
        assert width(told) < 0.8 * width(plain)
        low, high = told["accuracy"].interval(0.95)
        assert low < right < high
        assert sum("of the labels are wrong: then accuracy" in a for a in told.assumptions) == 1
        assert not any("does not use it" in line for line in told.assumptions)
    assert width(tr.prevalence(labels, noise=0.2, panel=panel), 1) < 0.8 * width(
        tr.prevalence(labels, panel=panel), 1
    )


def test_the_wider_the_range_the_wider_the_answer() -> None:
    labels, predicted, _ = world()
    widths = [
        width(tr.grade(predicted, labels, noise=noise, draws=4000))
        for noise in ((0.19, 0.21), (0.05, 0.45), (0.01, 0.6))
    ]
    assert widths[0] < widths[1] < widths[2]


def test_the_best_labelers_speak_for_all_where_they_leave_far_less_room() -> None:
    labels, predicted, truth = world(2, (0.02, 0.35, 0.4, 0.4))
    rates = {0: 0.02, 1: 0.35, 2: 0.4, 3: 0.4}
    told = tr.grade(predicted, labels, noise=rates, draws=2000)
    assert any("of the labels of 1 labeler are wrong" in line for line in told.assumptions)
    expert = tr.grade(predicted, labels, noise={0: 0.02}, draws=2000)
    for report in (told, expert):
        low, high = report["accuracy"].interval(0.95)
        assert low < (predicted == truth).mean() < high
        assert high - low < 0.12


def test_one_poor_labeler_that_is_known_tells_nothing() -> None:
    labels, predicted, _ = world()
    plain, told = (tr.grade(predicted, labels, noise=n, draws=500) for n in (None, {0: 0.4}))
    assert told["accuracy"].interval(0.95) == plain["accuracy"].interval(0.95)
    assert any("does not use it" in line for line in told.assumptions)


@pytest.mark.parametrize("noise", [0.02, (0.01, 0.03), {0: 0.02, 1: 0.02, 2: 0.02}])
def test_labels_that_contradict_what_was_said(noise: Any) -> None:
    labels, predicted, _ = world()
    report = tr.grade(predicted, labels, noise=noise, draws=500)
    assert any("two labels of one item differ in" in line for line in report.warnings)
    plain = tr.grade(predicted, labels, draws=500)
    assert width(report) > 0.8 * width(plain)
    models = {"a": predicted, "b": 1 - predicted}
    found = tr.compare(models, labels, noise=noise, draws=400)
    assert sum("two labels of one item differ in" in line for line in found.warnings) == 1


def test_gold_that_contradicts_what_was_said() -> None:
    labels, predicted, truth = world(3, (0.15, 0.15, 0.15))
    gold = {i: int(truth[i]) for i in np.random.default_rng(0).permutation(400)[:60]}
    report = tr.grade(predicted, labels, noise=0.4, gold=gold, draws=500)
    assert any("on 60 gold items are" in line for line in report.warnings)
    assert not any("of the labels are wrong" in line for line in report.assumptions)
    agreed = tr.grade(predicted, labels, noise=0.15, gold=gold, draws=500)
    assert any("of the labels are wrong" in line for line in agreed.assumptions)


def test_models_are_told_the_same_together_and_alone() -> None:
    labels, predicted, truth = world()
    models = {"a": predicted, "b": truth}
    found = tr.compare(models, labels, noise=0.2, draws=2000, seed=1)
    for name, said in models.items():
        alone = tr.grade(said, labels, noise=0.2, draws=2000, seed=1)["accuracy"]
        assert found.estimate(name, "accuracy").mean == pytest.approx(alone.mean, abs=0.005)
    assert sum("each accuracy has bounds" in line for line in found.assumptions) == 1


def test_a_stated_panel_error_is_not_narrowed() -> None:
    labels, predicted, _ = world()
    stated = tr.grade(predicted, labels, noise=0.2, panel_error=0.1, draws=500)
    assert not any("lies between" in line for line in stated.assumptions)


def test_what_noise_models_say_of_single_labels() -> None:
    labels = tr.Labels.from_matrix([[0, 1], [1, 1], [0, 0]])
    half = np.array([0.5, 0.5])
    hard = given_errors(tr.noise.Difficulty([0.0, 0.5, 1.0], [0.2, 0.2]), labels, half)
    assert hard is not None
    assert hard.label == pytest.approx([0.1, 0.1, 0.3, 0.3, 0.5, 0.5])
    lopsided = tr.noise.Confusion([[0.9, 0.1], [0.3, 0.7]])
    found = given_errors(lopsided, labels, np.array([0.75, 0.25]))
    assert found is not None
    assert found.label == pytest.approx(0.75 * 0.1 + 0.25 * 0.3)
    assert given_errors(tr.noise.DawidSkene(), labels, half) is None
    question = Question(labels, np.array([0, 1, 0]), np.full(3, -1))
    said = wrong_labels(hard, question, question.predicted)
    assert said is not None
    assert said.wrong == pytest.approx(0.3)
    assert said.agreement == pytest.approx(np.mean([0.5, 1.0, 1.0]))
