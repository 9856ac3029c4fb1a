"""What the user says about labelers narrows the answer, unless labels or gold contradict it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truthing as tr
from truthing.truth.consensus import Entries
from truthing.truth.given_errors import given_errors
from truthing.truth.link.learned import DEFAULT
from truthing.truth.link.told import RightLabels, Told, WrongLabels, between_bounds, said_values
from truthing.truth.link.views import read_panel
from truthing.truth.question import Question
from truthing.truth.wrong_labels import of_these


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
        wrong = np.array([(label != truth).mean()])
        low, high = WrongLabels(wrong, float((label == predicted).mean())).bounds(wrong)
        assert low - 1e-12 <= (predicted == truth).mean() <= high + 1e-12


def test_items_without_such_labels_may_be_right_or_wrong() -> None:
    tenth = np.array([0.1])
    assert WrongLabels(tenth, 0.8).bounds(tenth) == pytest.approx((0.7, 0.9))
    assert WrongLabels(tenth, 0.8, covered=0.5).bounds(tenth) == pytest.approx((0.35, 0.95))


def test_normals_between_bounds_have_scipys_moments() -> None:
    from scipy.stats import truncnorm

    low, high = np.array([-1.0, 0.5, -9.0, 2.0]), np.array([1.0, 4.0, 9.0, 2.5])
    centre, scale = np.array([0.3, -0.5, 0.2, 1.0]), np.array([0.5, 1.0, 0.7, 0.4])
    found = between_bounds(low, high, centre, scale)
    exact = truncnorm((low - centre) / scale, (high - centre) / scale, centre, scale)
    assert found[0] == pytest.approx(exact.mean(), abs=0.02)
    assert found[1] == pytest.approx(exact.std(), rel=0.1)
    far, narrow = between_bounds(*np.array([[3.0], [3.1], [-40.0], [1.0]]))
    assert 3.0 <= far[0] <= 3.1
    assert narrow[0] < 0.1


def test_what_is_said_is_weighed_with_what_labels_show() -> None:
    """A rate stays where the user put it; a vague range goes where public panels were."""
    usual = RightLabels(2.0, 0.3, 5.0)
    spread = said_values(0.2, 0.03)
    assert (np.median(spread), np.quantile(spread, 0.75)) == pytest.approx((0.2, 0.222), abs=0.001)
    sharp = WrongLabels(said_values(0.2, 0.002), 0.8)
    assert sharp.values(usual) == pytest.approx(0.2, abs=0.005)
    vague = WrongLabels(said_values(0.5, 0.01, (0.0, 1.0)), 0.8)
    expected = 1 / (1 + np.exp(2.0 + 0.3 * np.random.default_rng(0).standard_t(5, 100_000)))
    assert vague.values(usual).mean() == pytest.approx(expected.mean(), abs=0.005)
    assert vague.values(usual).std() == pytest.approx(expected.std(), rel=0.15)
    assert WrongLabels(vague.said, 0.8, least=(0.3, 0.01)).values(usual).min() > 0.27
    assert WrongLabels(vague.said, 0.8, gold=(0.3, 0.01)).values(usual) == pytest.approx(
        0.3, abs=0.03
    )


def test_better_labels_make_who_agrees_better_and_who_contradicts_worse() -> None:
    labels, predicted, _ = world()
    for agreement, better in ((0.85, True), (0.15, False)):
        seen = read_panel(Entries.of(labels), predicted if better else 1 - predicted)
        known = replace(DEFAULT["people"], moved=1.5)
        usual = known.expected_labels(seen)
        moved = {}
        for wrong in (0.1, 0.35):
            share = WrongLabels(np.full(9, wrong), agreement)
            told = Told(share, share)
            assert (told.surprise(usual) > 0).all() == ((wrong == 0.1) == better)
            still = replace(known, moved=0.0)
            centre = 1.7 if better else -1.7
            moved[wrong] = [n.narrowed(seen, told, centre, 0.2)[0] for n in (still, known)]
        up = moved[0.1][1] - moved[0.1][0] > moved[0.35][1] - moved[0.35][0] + 0.1
        assert up == better


@pytest.mark.parametrize("panel", ["people", "models", None])
def test_known_errors_narrow_the_answer(panel: str | None) -> None:
    labels, predicted, truth = world()
    each = dict(enumerate((0.15, 0.2, 0.25)))
    plain = tr.grade(predicted, labels, panel=panel, draws=2000)
    right = (predicted == truth).mean()
    for noise in (0.2, each, (0.18, 0.22), tr.noise.Confusion([[0.8, 0.2], [0.2, 0.8]], weight=90)):
        told = tr.grade(predicted, labels, noise=noise, panel=panel, draws=2000)
        assert width(told) < 0.9 * width(plain)
        low, high = told["accuracy"].interval(0.95)
        assert low < right < high
        assert sum("of the labels are wrong" in a for a in told.assumptions) == 1
        assert not any("does not use it" in line for line in told.assumptions)
    assert width(tr.prevalence(labels, noise=0.2, panel=panel), 1) < 0.9 * width(
        tr.prevalence(labels, panel=panel), 1
    )


def test_the_wider_the_range_the_wider_the_answer() -> None:
    labels, predicted, _ = world()
    narrow, wide, open_range, plain = (
        tr.grade(predicted, labels, noise=noise, draws=4000)
        for noise in ((0.19, 0.21), (0.1, 0.3), (0.0, 1.0), None)
    )
    assert width(narrow) < width(wide) < width(open_range)
    assert open_range["accuracy"].interval(0.95) == pytest.approx(
        plain["accuracy"].interval(0.95), abs=0.06
    )


def test_a_range_is_taken_at_its_word() -> None:
    """What labels show moves the share within it, never out of it; few items do not matter."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 300)
    table = np.stack([truth ^ (rng.random(300) < 0.05) for _ in range(3)], axis=1)
    report = tr.grade(truth, tr.Labels.from_matrix(table), noise=(0.05, 0.05), draws=1000)
    assert any("that 5.0% (± 0.0%) of the labels are wrong:" in a for a in report.assumptions)
    assert report["accuracy"].interval(0.95)[1] > 0.99
    few = tr.Labels.from_matrix([[0, 1], [1, 1], [0, 0], [0, 0], [1, 0]])
    said = tr.grade([0, 1, 0, 0, 1], few, noise=(0.3, 0.3), draws=500)
    assert not any("`noise=`" in line for line in said.warnings)
    assert any("that 30.0% (± 0.0%) of the labels are wrong:" in a for a in said.assumptions)


@pytest.mark.parametrize("noise", [0.9, tr.noise.Confusion([[0.1, 0.9], [0.9, 0.1]], weight=40)])
def test_rates_that_are_refused_are_not_assumed(noise: Any) -> None:
    labels, predicted, _ = world()
    report = tr.grade(predicted, labels, noise=noise, draws=500)
    assert sum("the interval does not use `noise=`" in line for line in report.warnings) == 1
    assert not any("noise of the labelers is as given" in line for line in report.assumptions)
    assert not any("trusts it instead" in line for line in report.assumptions)


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


def test_best_labelers_whom_the_others_contradict_are_not_believed() -> None:
    labels, predicted, truth = world(0, (0.3, 0.1, 0.1, 0.1))
    rates = {0: 0.01, 1: 0.1, 2: 0.1, 3: 0.1}
    report = tr.grade(predicted, labels, noise=rates, panel="people", draws=1000)
    assert any("they differ from the others'" in line for line in report.warnings)
    low, high = report["accuracy"].interval(0.95)
    assert low < (predicted == truth).mean() < high


def test_one_poor_labeler_that_is_known_tells_little() -> None:
    labels, predicted, _ = world(0, (0.4, 0.2, 0.25))
    plain, told = (tr.grade(predicted, labels, noise=n, draws=2000) for n in (None, {0: 0.4}))
    assert told["accuracy"].interval(0.95) == pytest.approx(
        plain["accuracy"].interval(0.95), abs=0.05
    )
    assert any("of the labels of 1 labeler are wrong" in line for line in told.assumptions)


def test_few_labels_of_strangers_change_little() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    table = np.stack([truth ^ (rng.random(300) < 0.25) for _ in range(3)], axis=1).astype(object)
    predicted = truth ^ (rng.random(300) < 0.1)
    stranger = np.full((300, 1), None)
    stranger[0, 0] = 1
    known = dict.fromkeys("abc", 0.25)
    panels = (table, "abc"), (np.concatenate([table, stranger], axis=1), "abcx")
    alone, beside = (
        tr.grade(predicted, tr.Labels.from_matrix(m, labelers=list(w)), noise=known, draws=2000)
        for m, w in panels
    )
    assert beside["accuracy"].interval(0.95) == pytest.approx(
        alone["accuracy"].interval(0.95), abs=0.03
    )


@pytest.mark.parametrize("noise", [(0.0, 0.0), {0: 1e-9, 1: 1e-9}, {0: 0.05}, {0: 0.05, 1: 0.05}])
def test_rates_of_nothing_and_labelers_without_labels(noise: Any) -> None:
    table = [[0, 0, None], [1, 1, None]] * 40 + [[0, 1, None]]
    predicted = [row[0] for row in table[:-10]] + [1 - row[0] for row in table[-10:]]
    report = tr.grade(predicted, tr.Labels.from_matrix(table), noise=noise, draws=500)
    low, high = report["accuracy"].interval(0.95)
    assert 0 <= low < high <= 1
    impossible = noise == (0.0, 0.0)
    assert any("does not use `noise=`" in line for line in report.warnings) == impossible


@pytest.mark.parametrize("noise", [0.02, (0.01, 0.03), {0: 0.02, 1: 0.02, 2: 0.02}])
def test_labels_that_contradict_what_was_said(noise: Any) -> None:
    labels, predicted, _ = world()
    report = tr.grade(predicted, labels, noise=noise, draws=500)
    assert any("two labels of one item" in line for line in report.warnings)
    plain = tr.grade(predicted, labels, draws=500)
    assert width(report) > 0.8 * width(plain)
    models = {"a": predicted, "b": 1 - predicted}
    found = tr.compare(models, labels, noise=noise, draws=400)
    assert sum("two labels of one item" in line for line in found.warnings) == 1


def test_rates_far_too_high_are_not_believed() -> None:
    labels, predicted, truth = world(0, (0.04, 0.04, 0.04))
    report = tr.grade(predicted, labels, noise=0.4, panel="people", draws=1000)
    assert any("where public panels agreed so often" in line for line in report.warnings)
    low, high = report["accuracy"].interval(0.95)
    assert low < (predicted == truth).mean() < high


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_a_classifier_far_worse_than_its_panel_holds(share: float) -> None:
    """Nearly always 1: what public panels tell of good classifiers must not be stretched to it."""
    held = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = (rng.random(300) < share).astype(int)
        table = np.stack([truth ^ (rng.random(300) < 0.1) for _ in range(3)], axis=1)
        predicted = np.ones(300, dtype=int)
        predicted[0] = 0
        labels = tr.Labels.from_matrix(table)
        report = tr.grade(predicted, labels, noise=0.1, panel="people", draws=500)
        low, high = report["accuracy"].interval(0.95)
        held += low <= (predicted == truth).mean() <= high
    assert held >= 18


def test_labels_say_where_in_a_range_the_rate_lies() -> None:
    labels, predicted, _ = world()
    report = tr.grade(predicted, labels, noise=(0.02, 0.3), draws=500)
    said = next(line for line in report.assumptions if "of the labels are wrong" in line)
    found = re.search(r"with what labels show it is ([\d.]+)% \(± ([\d.]+)%\)", said)
    assert found is not None
    wrong, sd = (float(number) / 100 for number in found.groups())
    assert (
        0.15 < wrong < 0.27
    )  # .2 are, and pairs of labels show it; the middle of the range is .16
    assert 0.005 < sd < 0.28 / np.sqrt(12)
    shares = tr.prevalence(labels, noise=0.2, draws=500).assumptions
    assert any("then the labels' consensus is most likely right" in line for line in shares)


def test_gold_that_contradicts_what_was_said() -> None:
    labels, predicted, truth = world(3, (0.15, 0.15, 0.15))
    gold = {i: int(truth[i]) for i in np.random.default_rng(0).permutation(400)[:60]}
    for more in ({}, {"gold_weights": dict.fromkeys(gold, 0.15)}):
        report = tr.grade(predicted, labels, noise=0.5, gold=gold, draws=500, **more)
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


@pytest.mark.parametrize("noise", [0.1, {0: 0.1, 1: 0.1, 2: 0.1}, (0.08, 0.12)])
def test_a_classifier_that_always_says_the_same_is_graded_alike_everywhere(noise: Any) -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random(300) < 0.1).astype(int)
    table = np.stack([truth ^ (rng.random(300) < 0.1) for _ in range(3)], axis=1)
    labels, always = tr.Labels.from_matrix(table), np.ones(300, dtype=int)
    told = {"noise": noise, "panel": "people", "seed": 1}
    share = tr.prevalence(labels, **told)[1].interval(0.95)
    alone = tr.grade(always, labels, **told)["accuracy"].interval(0.95)
    beside = tr.compare({"always": always, "truth": truth}, labels, **told)
    assert alone == pytest.approx(share, abs=0.01)
    assert beside.estimate("always", "accuracy").interval(0.95) == pytest.approx(share, abs=0.06)


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
    uneven = tr.Labels.from_matrix([[0, None], [1, 1], [0, None]])
    question = Question(uneven, np.array([1, 1, 0]), np.full(3, -1))
    hard = given_errors(tr.noise.Difficulty([0.0, 0.5, 1.0], [0.2, 0.2]), uneven, half)
    assert hard is not None
    said = of_these(hard, question, question.predicted, np.ones(2, dtype=bool))
    assert said.wrong == pytest.approx(0.3)
    assert said.found.agreement == pytest.approx(np.mean([0.0, 1.0, 1.0]))


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ({0: None}, "noise says None about labeler 0"),
        ({0: "a tenth"}, "noise says 'a tenth' about labeler 0"),
        ({"0": 0.1}, "noise names '0', none of them of the labelers"),
        ({}, "noise names none of the labelers"),
    ],
)
def test_rates_of_nobody_and_rates_that_are_none(noise: Any, message: str) -> None:
    labels, predicted, truth = world()
    for ask in (
        lambda: tr.grade(predicted, labels, noise=noise),
        lambda: tr.prevalence(labels, noise=noise),
        lambda: tr.compare({"a": predicted, "b": truth}, labels, noise=noise),
        lambda: tr.labelers(labels, noise=noise),
    ):
        with pytest.raises(tr.InputError, match=message):
            ask()


def test_a_file_with_two_rates_for_one_labeler(tmp_path: Path) -> None:
    from truthing.cli.parse import noise

    place = tmp_path / "rates.csv"
    place.write_text("labeler,error\na,0.15\nb,0.1\na,0.15\n")
    assert noise(str(place)) == {"a": 0.15, "b": 0.1}
    place.write_text("labeler,error\na,0.15\na,0.05\n")
    with pytest.raises(tr.InputError, match=r"gives labeler 'a' two rates, 0.15 and 0.05: keep"):
        noise(str(place))
