"""Grades on a scale: the noise model, the metrics, the cut, agreement and the facades."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import truthing as tr
from truthing.comparison.graded import graded_draws
from truthing.comparison.tallies import Redraw
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.ordinal import ordinal_metric
from truthing.noise.ordinal import ordinal_tables
from truthing.people.graded_agreement import graded_agreement


def graded(
    n_items: int = 400, n_labelers: int = 4, seed: int = 0, n_grades: int = 5
) -> tuple[tr.Labels, np.ndarray, np.ndarray]:
    """Labels, predictions and truth: labelers severe or lenient, grades 1 to 5."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_grades, n_items)
    tables = ordinal_tables(
        np.arange(n_grades - 1) + 0.5,
        rng.normal(0, 0.4, n_labelers + 1),
        rng.uniform(2.0, 5.0, n_labelers + 1),
    )
    reach = np.cumsum(tables[:, truth], axis=2)
    said = (rng.random((n_labelers + 1, n_items, 1)) > reach).sum(axis=2)
    labels = tr.Labels.from_matrix((said[:-1].T + 1).astype(object))
    return labels, said[-1] + 1, truth + 1


def test_the_mean_grade_is_a_mean_of_grades() -> None:
    """Beside gold a draw of the shares need not add up to one; a mean grade must not feel that."""
    labels, _, truth = graded(150, n_grades=4)
    gold = {i: int(truth[i]) for i in range(0, 150, 5)}
    result = tr.prevalence(labels, gold=gold, scale="ordinal", panel="people", draws=300)
    sums = result.draws.sum(axis=1)
    by_hand = result.draws @ np.arange(1, 5) / sums
    assert result.mean_score.draws == pytest.approx(by_hand)
    assert np.abs(result.mean_score.draws - 2.5).max() <= 1.5


def test_rows_decay_with_distance_and_add_up() -> None:
    rows = ordinal_tables(np.array([0.5, 1.5, 2.5]), np.array([0.0, 0.6]), np.array([3.0, 3.0]))
    assert rows.sum(axis=2) == pytest.approx(np.ones((2, 4)))
    assert (np.diff(rows[0, 0]) < 0).all()
    # whose thresholds are higher gives lower grades
    assert (rows[1] @ np.arange(4) < rows[0] @ np.arange(4)).all()


def test_the_fit_finds_who_is_severe_and_who_precise() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 5, 1500)
    severity, precision = np.array([0.6, -0.6, 0.0, 0.0]), np.array([3.0, 3.0, 1.5, 6.0])
    reach = np.cumsum(ordinal_tables(np.arange(4) + 0.5, severity, precision)[:, truth], axis=2)
    said = (rng.random((4, 1500, 1)) > reach).sum(axis=2)
    fit = tr.noise.Ordinal().fit(tr.Labels.from_matrix(said.T.astype(object)))
    assert fit.severity - fit.severity.mean() == pytest.approx(severity, abs=0.2)
    assert fit.precision[3] > 1.5 * fit.precision[2]
    assert (fit.posterior.argmax(axis=1) == truth).mean() > 0.75


def test_weighted_kappa_and_absolute_error_equal_the_definition() -> None:
    table = np.array([[20, 5, 1], [4, 15, 6], [0, 3, 30]], dtype=float)
    values = np.array([1.0, 2.0, 4.0])
    share = table / table.sum()
    distance = np.abs(values[:, None] - values)
    chance = np.outer(share.sum(axis=1), share.sum(axis=0))
    kappa = 1 - (share * distance**2).sum() / (chance * distance**2).sum()
    confusion = ConfusionMatrix.from_dense(table[None])
    assert ordinal_metric("weighted_kappa", confusion, values)[0] == pytest.approx(kappa)
    found = ordinal_metric("mean_absolute_error", confusion, values)[0]
    assert found == pytest.approx((share * distance).sum())
    assert ordinal_metric("mean_score", confusion, values)[0] == pytest.approx(
        share.sum(axis=1) @ values
    )


def test_weighted_kappa_equals_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    table = np.zeros((1, 4, 4))
    np.add.at(table[0], (a, b), 1)
    ours = ordinal_metric("weighted_kappa", ConfusionMatrix.from_dense(table), np.arange(4.0))[0]
    assert ours == pytest.approx(metrics.cohen_kappa_score(a, b, weights="quadratic"))


def test_grade_shows_the_metrics_of_a_scale() -> None:
    labels, predicted, truth = graded()
    report = tr.grade(predicted, labels, scale="ordinal", panel="people", draws=500)
    assert {"weighted_kappa", "mean_absolute_error", "mean_score"} <= set(report.metrics)
    low, high = report["mean_absolute_error"].interval(0.95)
    assert low <= np.abs(predicted - truth).mean() <= high
    low, high = report["mean_score"].interval(0.95)
    assert low <= truth.mean() <= high
    assert 0 < report.at_face_value("mean_absolute_error") < 2
    assert "scale" in report.noise.model


def test_rate_gives_the_mean_grade_and_compare_the_metrics() -> None:
    labels, predicted, truth = graded()
    shares = tr.prevalence(labels, scale="ordinal", panel="people", draws=500)
    low, high = shares.mean_score.interval(0.95)
    assert low <= truth.mean() <= high
    assert "mean_score" in shares.to_dict()
    rough = np.clip(truth + np.random.default_rng(1).integers(-2, 3, 400), 1, 5)
    found = tr.compare(
        {"a": predicted, "b": rough}, labels, scale="ordinal", panel="people", draws=400
    )
    difference = found.difference("mean_absolute_error")
    true = np.abs(predicted - truth).mean() - np.abs(rough - truth).mean()
    low, high = difference.interval(0.95)
    assert low <= true <= high
    assert difference.probability_better > 0.9  # less is better
    assert found.draws("weighted_kappa").shape == (400, 2)


def test_a_cut_is_the_same_as_cutting_everything_first() -> None:
    labels, predicted, truth = graded()
    gold = {i: int(truth[i]) for i in range(0, 400, 10)}
    report = tr.grade(predicted, labels, gold=gold, cut=3, panel="people", draws=500)
    assert report.classes == ("below 3", "3 or above")
    two = tr.Labels.from_matrix((labels.matrix() + 1 >= 3).astype(int))
    other = {i: int(c >= 3) for i, c in gold.items()}
    plain = tr.grade((predicted >= 3).astype(int), two, gold=other, panel="people", draws=500)
    assert report["recall"].mean == pytest.approx(plain["recall"].mean)
    assert any("Grades are cut at 3" in said for said in report.assumptions)
    assert tr.prevalence(labels, cut=3, panel="people", draws=300)["3 or above"].mean > 0.4


def test_a_reader_has_a_roc_and_a_threshold() -> None:
    labels, predicted, _ = graded()
    report = tr.grade(predicted, labels, cut=3, threshold=4, panel="people", draws=500)
    assert report["auc"].mean > 0.8  # predicted grades rank the items
    sensitive = tr.grade(predicted, labels, cut=3, panel="people", draws=500)
    assert report["recall"].mean < sensitive["recall"].mean


def test_gold_of_two_classes_names_them() -> None:
    labels, predicted, truth = graded()
    gold = {i: "malignant" if truth[i] >= 4 else "benign" for i in range(0, 400, 8)}
    report = tr.grade(predicted, labels, gold=gold, cut=4, panel="people", draws=300)
    assert report.classes == ("benign", "malignant")
    assert report.positive == 1


def test_scores_on_the_scale_become_the_nearest_grade() -> None:
    labels, predicted, _ = graded()
    scores = predicted + np.random.default_rng(0).uniform(-0.45, 0.45, 400)
    report = tr.grade(
        None, labels, scores=scores, scale="ordinal", panel="people", draws=300, seed=1
    )
    plain = tr.grade(predicted, labels, scale="ordinal", panel="people", draws=300, seed=1)
    assert report["accuracy"].mean == pytest.approx(plain["accuracy"].mean)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": 3}, "cut=3"),
        ({"cut": 9}, "all grades on one side"),
        ({"scale": "cubic"}, "choose 'ordinal'"),
    ],
)
def test_what_cannot_be_done_is_refused(options: dict[str, Any], words: str) -> None:
    labels, predicted, _ = graded()
    with pytest.raises(tr.InputError, match=words):
        tr.grade(predicted, labels, scores=predicted.astype(float), **options)


def test_words_without_an_order_are_refused() -> None:
    labels = tr.Labels.from_matrix([["good", "bad"], ["fair", "fair"], ["bad", "good"]])
    with pytest.raises(tr.InputError, match="classes="):
        tr.grade(["good", "fair", "bad"], labels, scale="ordinal")
    with pytest.raises(tr.InputError, match="classes="):
        tr.grade(["good", "fair", "bad"], labels, cut="fair")


def test_ordinal_alpha_equals_the_published_example() -> None:
    """Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C: .815."""
    gap = None
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    labels = tr.Labels.from_matrix(np.array(rows, dtype=object).T)
    found = graded_agreement(labels, np.arange(1.0, 6.0))
    assert found["ordinal_alpha"].value == pytest.approx(0.815, abs=0.001)


def test_weighted_kappa_of_labelers_is_in_the_report() -> None:
    labels, _, _ = graded(n_items=150)
    report = tr.labelers(labels, scale="ordinal", draws=200)
    assert 0 < report.agreement["weighted_kappa"].value < 1
    assert report.agreement["ordinal_alpha"].value > report.agreement["krippendorff_alpha"].value


def test_a_cut_from_a_form_is_the_same_grade() -> None:
    labels, predicted, _ = graded(n_items=80)
    report = tr.grade(predicted, labels, cut=3.0, panel="people", draws=200)
    assert report.classes == ("below 3", "3 or above")


def test_grades_of_several_models_with_weights_and_deployment_equal_repeated_items() -> None:
    """An item of weight 3 counts as three items."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, (5, 30))
    given, weight = rng.integers(0, 4, (2, 30)), rng.integers(1, 4, 30)
    values = np.array([1.0, 2.0, 3.0, 5.0])
    repeated = np.repeat(np.arange(30), weight)
    for metric in ("mean_score", "mean_absolute_error", "weighted_kappa"):
        weighted = graded_draws(metric, truth, given, values, Redraw("sample", 0, weight))
        about = truth[:, repeated], given[:, repeated], values
        assert weighted == pytest.approx(graded_draws(metric, *about, Redraw("sample", 0)))
    shares = np.tile([0.0, 0.5, 0.0, 0.5], (5, 1))
    found = graded_draws("mean_score", truth, given, values, Redraw("sample", 0, weight), shares)
    assert found == pytest.approx(np.full((5, 2), 3.5))


def test_grades_of_several_models_on_new_clusters() -> None:
    """Twenty clusters that are all right or all wrong vary as twenty items do."""
    truth = np.zeros((4000, 200), dtype=int)
    cluster = np.repeat(np.arange(20), 10)
    given = np.stack([cluster % 2, cluster % 2])
    how = Redraw("population", 0, None, cluster)
    found = graded_draws("mean_absolute_error", truth, given, np.array([0.0, 1.0]), how)[:, 0]
    assert found.mean() == pytest.approx(0.5, abs=0.01)
    assert found.std() == pytest.approx(0.5 / np.sqrt(21), rel=0.05)


def test_compare_takes_weights_with_grades() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 5, 120)
    votes = np.clip(truth[:, None] + rng.choice([-1, 0, 1], (120, 4), p=[0.1, 0.8, 0.1]), 1, 4)
    off = np.where(np.arange(120) < 60, truth, np.clip(truth + 1, 1, 4))
    about: Any = {"scale": "ordinal", "panel": "people", "draws": 300}
    models, labels = {"a": truth, "b": off}, tr.Labels.from_matrix(votes)
    plain = tr.compare(models, labels, **about)
    easy = tr.compare(models, labels, weights=np.where(np.arange(120) < 60, 9.0, 1.0), **about)
    name = "mean_absolute_error"
    assert easy.estimate("b", name).mean < plain.estimate("b", name).mean - 0.1
