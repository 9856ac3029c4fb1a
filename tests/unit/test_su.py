"""Su's methods against independent computations: enumeration of every answer key, simulation,
scikit-learn."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid
from sklearn import metrics as sk

import truthing as tr
from truthing.metrics.counts import Tally, evaluate
from truthing.papers.ratio import NormalRatio
from truthing.papers.su import Moments, by_ratios, find_operating_point, operating_matrix
from truthing.papers.su_curves import joint_pr, joint_roc
from truthing.papers.su_methods import METHODS
from truthing.truth.draws import DrawnAnswer, draw_confusion
from truthing.truth.exact import ExactAnswer
from truthing.truth.groups import Groups
from truthing.truth.poisson_binomial import poisson_binomial
from truthing.truth.question import Question

BINARY = (
    "accuracy",
    "error",
    "precision",
    "recall",
    "false_alarm",
    "specificity",
    "f1",
    "f_beta(2)",
)


def main_example(seed: int, n: int = 1000) -> Any:
    return tr.simulate(
        n,
        5,
        prior=[0.8, 0.2],
        operating_point=(0.8, 0.3),
        difficulty=(1, 5),
        fallibility=(0.249, 0.030, 0.387, 0.244, 0.154),
        availability=(0.727, 0.873, 0.286, 0.657, 0.232),
        seed=seed,
    )


def confusion_of(data: Any) -> np.ndarray:
    table = np.zeros((len(data.labels.classes),) * 2)
    np.add.at(table, (data.truth, data.predictions), 1)
    return table


def enumerate_posterior(
    data: Any, errors: list[float], matrix: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Every answer key of two classes and its probability, from the definition (7), (10); nothing
    of the library is used."""
    grid, n = data.labels.matrix(), len(data.truth)
    keys = np.array(list(itertools.product([0, 1], repeat=n)))
    weight = np.ones(len(keys))
    for i in range(n):
        for k, y in enumerate(keys[:, i]):
            chance = prior[y] * matrix[y, data.predictions[i]]
            for t, error in enumerate(errors):
                if grid[i, t] >= 0:
                    chance *= 1 - error if grid[i, t] == y else error
            weight[k] *= chance
    tables = np.zeros((len(keys), 2, 2))
    for i in range(n):
        tables[np.arange(len(keys)), keys[:, i], data.predictions[i]] += 1
    return tables, weight / weight.sum()


@pytest.mark.parametrize("seed", range(3))
def test_exact_equals_enumeration_of_all_answer_keys(seed: int) -> None:
    errors = [0.1, 0.25, 0.4]
    data = tr.simulate(
        10,
        3,
        prior=0.4,
        operating_point=(0.7, 0.3),
        confusion=[[[1 - e, e], [e, 1 - e]] for e in errors],
        availability=0.8,
        seed=seed,
    )
    prior, matrix = np.array([0.6, 0.4]), operating_matrix(0.75, 0.2, 1)
    tables, weight = enumerate_posterior(data, errors, matrix, prior)
    model = tr.noise.Symmetric(dict(zip(data.labels.labelers, errors)))
    question = Question(
        data.labels, data.predictions, np.full(10, -1), model.log_likelihood(data.labels), prior, 1
    )
    posterior = question.groups.posterior(matrix, prior)
    drawn = DrawnAnswer(
        (0, 1), 1, draw_confusion(posterior, question.groups, 20_000, np.random.default_rng(0))
    )
    exact = ExactAnswer((0, 1), 1, question.groups, posterior, drawn)
    for name in BINARY:
        values = evaluate(name, Tally.from_confusion(tables), classes=(0, 1), positive=1)
        known = ~np.isnan(values)
        estimate = exact.estimate(name)
        assert estimate.undefined == pytest.approx(1 - weight[known].sum(), abs=1e-12)
        assert estimate.mean == pytest.approx(
            values[known] @ weight[known] / weight[known].sum(), abs=1e-12
        )
        for value, mass in zip(estimate.values, estimate.weights):
            by_hand = (
                weight[known][np.abs(values[known] - value) < 1e-12].sum() / weight[known].sum()
            )
            assert mass == pytest.approx(by_hand, abs=1e-12)
        # 20,000 draws: five standard errors
        assert drawn.estimate(name).mean == pytest.approx(
            estimate.mean, abs=5 * estimate.std / np.sqrt(20_000) + 1e-9
        )


def test_poisson_binomial_against_the_schoolbook() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(700)
    mass = np.ones(1)
    for q in p:
        mass = np.convolve(mass, [1 - q, q])
    found = poisson_binomial(p)
    np.testing.assert_allclose(
        found.mass, mass[found.start : found.start + len(found.mass)], atol=1e-14
    )
    grouped = poisson_binomial(np.array([0.2, 1.0, 0.0, 0.7]), np.array([900, 5, 9, 40]))
    assert grouped.mass.sum() == pytest.approx(1)
    assert grouped.support @ grouped.mass == pytest.approx(900 * 0.2 + 5 + 28)


@pytest.mark.parametrize(
    "case",
    [(0.16, 0.2, 1e-4, 1.8e-4, 1e-4), (0.02, 0.05, 3e-4, 4e-4, 3e-4), (0.5, 0.5, 1e-3, 2e-3, 1e-3)],
)
def test_ratio_density(case: tuple[float, ...]) -> None:
    ratio = NormalRatio.of(*case)
    grid = np.linspace(-40, 40, 800_001)
    # Cauchy-like tails beyond ±40 hold less than 1e-3 here
    assert trapezoid(ratio.density(grid), grid) == pytest.approx(1, abs=2e-3)
    mean_z, mean_w, var_z, var_w, cov = case
    rng = np.random.default_rng(1)
    draws = rng.multivariate_normal([mean_z, mean_w], [[var_z, cov], [cov, var_w]], size=1_000_000)
    simulated = draws[:, 0] / draws[:, 1]
    edges = np.linspace(0, 1, 41)
    share = np.histogram(simulated, edges)[0] / len(simulated)
    fine = np.linspace(0, 1, 4001)
    cumulative = np.concatenate(
        [[0], np.cumsum((ratio.density(fine)[1:] + ratio.density(fine)[:-1]) / 2 * np.diff(fine))]
    )
    expected = np.diff(cumulative[::100])
    assert np.abs(share - expected).max() < 5 * np.sqrt(expected.max() / 1e6) + 1e-5


def test_joint_densities_equal_simulated_histograms() -> None:
    moments = Moments(mean_u=0.2, mean_v=0.06, var_u=1.2e-4, var_v=0.8e-4, share=0.35)
    rng = np.random.default_rng(2)
    u, v = rng.normal(0.2, np.sqrt(1.2e-4), 400_000), rng.normal(0.06, np.sqrt(0.8e-4), 400_000)
    metrics = {
        "recall": u / (u + v),
        "false_alarm": (0.35 - u) / (1 - u - v),
        "precision": u / 0.35,
    }
    for density, names in (
        (joint_roc(moments), ("recall", "false_alarm")),
        (joint_pr(moments), ("precision", "recall")),
    ):
        x, y = (metrics[n] for n in names)
        assert density.mean == pytest.approx((x.mean(), y.mean()), abs=2e-3)
        for level in (0.5, 0.95):
            inside = density.region(level)
            i = np.clip(np.searchsorted(density.x, x), 0, len(density.x) - 1)
            j = np.clip(np.searchsorted(density.y, y), 0, len(density.y) - 1)
            assert inside[i, j].mean() == pytest.approx(level, abs=0.01)


def test_methods_agree_at_a_thousand_items() -> None:
    data = main_example(3)
    found = {
        m: tr.grade(data.predictions, data.labels, noise=data.noise, prior=[0.8, 0.2], method=m)
        for m in ("ratios", "sampling", "exact")
    }
    for name in BINARY:
        for method in ("ratios", "sampling"):
            assert found[method][name].mean == pytest.approx(found["exact"][name].mean, abs=2e-3)
            np.testing.assert_allclose(
                found[method][name].interval(), found["exact"][name].interval(), atol=5e-3
            )


def test_the_papers_shortcut_is_about_one_percent_low() -> None:
    data = main_example(4)
    question = Question(
        data.labels,
        data.predictions,
        np.full(1000, -1),
        data.noise.log_likelihood(data.labels),
        np.array([0.8, 0.2]),
        1,
    )
    integrated = find_operating_point(question, by_ratios(1)).matrix
    shortcut = find_operating_point(question, by_ratios(1, shortcut=True)).matrix
    moved = np.abs(integrated - shortcut).max()
    assert 1e-4 < moved < 0.006, "the spec measured up to .004"
    reduced = NormalRatio(a=20.0, b=40.0, r=1.0, s=0.0)
    assert reduced.shortcut_mean() / reduced.estimate().mean == pytest.approx(0.995, abs=0.006)


@pytest.mark.parametrize(
    "method",
    [
        "ratios",
        "sampling",
        "exact",
        "estimated-labels",
        "labeler-mean",
        "majority",
        "no-predictions",
    ],
)
def test_perfect_labelers_give_scikit_learn(method: str) -> None:
    data = tr.simulate(200, 2, prior=0.4, operating_point=(0.8, 0.2), confusion=np.eye(2), seed=5)
    report = tr.grade(data.predictions, data.labels, noise=0.0, prior=[0.6, 0.4], method=method)
    assert report["accuracy"].mean == pytest.approx(
        sk.accuracy_score(data.truth, data.predictions), abs=1e-12
    )
    assert report["precision"].mean == pytest.approx(
        sk.precision_score(data.truth, data.predictions), abs=1e-12
    )
    assert report["recall"].mean == pytest.approx(
        sk.recall_score(data.truth, data.predictions), abs=1e-12
    )
    assert report["f1"].mean == pytest.approx(sk.f1_score(data.truth, data.predictions), abs=1e-12)
    assert report["mcc"].mean == pytest.approx(
        sk.matthews_corrcoef(data.truth, data.predictions), abs=1e-12
    )
    actual = sk.confusion_matrix(data.truth, data.predictions)
    assert report.confusion.mean == pytest.approx(actual, abs=1e-9)
    low, high = report["recall"].interval()
    assert high - low == pytest.approx(0, abs=1e-12)


def test_an_uninformative_labeler_changes_nothing() -> None:
    data = main_example(6, n=300)
    panel = data.labels
    extra = np.random.default_rng(0).integers(0, 2, panel.n_items)
    wider = tr.Labels.from_matrix(
        np.column_stack([np.where(panel.matrix() < 0, np.nan, panel.matrix()), extra]),
        labelers=[*panel.labelers, "guess"],
    )
    rates = dict.fromkeys(panel.labelers, 0.2)
    for method in ("ratios", "exact"):
        first = tr.grade(data.predictions, panel, noise=rates, prior=[0.8, 0.2], method=method)
        second = tr.grade(
            data.predictions, wider, noise={**rates, "guess": 0.5}, prior=[0.8, 0.2], method=method
        )
        for name in BINARY:
            assert first[name].mean == pytest.approx(second[name].mean, abs=1e-9)


def test_permutations_permute_the_answer() -> None:
    data = main_example(7, n=400)
    base = tr.grade(data.predictions, data.labels, noise=0.2, prior=[0.8, 0.2], method="exact")
    order = np.random.default_rng(0).permutation(400)
    shuffled = tr.grade(
        data.predictions[order], data.labels[order], noise=0.2, prior=[0.8, 0.2], method="exact"
    )
    panel = data.labels.select(list(reversed(data.labels.labelers)))
    relabeled = tr.grade(data.predictions, panel, noise=0.2, prior=[0.8, 0.2], method="exact")
    swapped = tr.Labels.from_matrix(
        np.where(data.labels.matrix() < 0, np.nan, 1 - data.labels.matrix())
    )
    mirrored = tr.grade(
        1 - data.predictions, swapped, noise=0.2, prior=[0.2, 0.8], method="exact", positive=0
    )
    for name in BINARY:
        for other in (shuffled, relabeled, mirrored):
            assert other[name].mean == pytest.approx(base[name].mean, abs=1e-9)
            np.testing.assert_allclose(other[name].interval(), base[name].interval(), atol=1e-9)


def test_gold_and_known_noise() -> None:
    data = main_example(8, n=300)
    gold = data.gold(300)
    report = tr.grade(data.predictions, data.labels, noise=0.2, gold=gold, method="exact")
    assert report["accuracy"].mean == pytest.approx(
        (data.truth == data.predictions).mean(), abs=1e-12
    )
    half = tr.grade(data.predictions, data.labels, noise=0.2, gold=data.gold(150), method="exact")
    none = tr.grade(data.predictions, data.labels, noise=0.2, method="exact")
    assert 0 < half["accuracy"].std < none["accuracy"].std


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "case",
    [
        "no positives predicted",
        "no negatives predicted",
        "one item",
        "error 0 and 1",
        "prior 0",
        "chance line",
    ],
)
def test_edge_cases(method: str, case: str) -> None:
    labels = tr.Labels.from_matrix(
        [[0, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]], labelers=["a", "b", "c"]
    )
    predictions, noise, prior = [0, 1, 0, 1, 1, 0], {"a": 0.2, "b": 0.2, "c": 0.2}, [0.5, 0.5]
    if case == "no positives predicted":
        predictions = [0] * 6
    elif case == "no negatives predicted":
        predictions = [1] * 6
    elif case == "one item":
        labels, predictions = labels[[0]], [0]
    elif case == "error 0 and 1":
        labels = tr.Labels.from_matrix(
            [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]], labelers=["a", "b"]
        )
        noise = {"a": 0.0, "b": 1.0}
    elif case == "prior 0":
        prior = [1.0, 0.0]
    elif case == "chance line":
        predictions = [0, 1, 0, 1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = tr.grade(predictions, labels, noise=noise, prior=prior, method=method, draws=300)
        for name in ("accuracy", "precision", "recall", "false_alarm", "f1", "mcc"):
            estimate = report[name]
            if len(estimate.values):
                low, high = estimate.interval()
                assert -1 <= low <= high <= 1
                assert np.isfinite(estimate.mean)
            else:
                assert estimate.undefined == 1
        assert np.isfinite(report.truth).all()
        assert np.isfinite(report.confusion.mean).all()
    if case == "no positives predicted" and method in ("ratios", "exact", "sampling"):
        assert len(report["precision"].values) == 0


def test_contradictions_are_clear_errors() -> None:
    labels = tr.Labels.from_matrix([[0, 1], [1, 1]], labelers=["a", "b"])
    with pytest.raises(tr.InputError, match="item 0: its labels are impossible"):
        tr.grade([0, 1], labels, noise=0.0)
    with pytest.raises(tr.InputError, match="gold says 0"):
        tr.grade([0, 1], labels, noise={"a": 0.0, "b": 0.3}, gold={1: 0})


def test_a_thousand_classes() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 1000, 300)
    grid = np.where(rng.random((300, 3)) < 0.8, truth[:, None], rng.integers(0, 1000, (300, 3)))
    labels = tr.Labels.from_matrix(grid, classes=range(1000))
    predicted = np.where(rng.random(300) < 0.7, truth, rng.integers(0, 1000, 300))
    for method in ("sampling", "exact"):
        report = tr.grade(
            predicted, labels, noise=0.2, prior=np.full(1000, 1e-3), method=method, draws=200
        )
        assert abs(report["accuracy"].mean - (predicted == truth).mean()) < 0.06
        assert report.confusion.mean.shape == (1000, 1000)


def test_four_classes_one_versus_rest_is_exact() -> None:
    data = tr.simulate(300, 4, prior=[0.2, 0.3, 0.1, 0.4], fallibility=0.3, seed=9)
    exact = tr.grade(data.predictions, data.labels, noise=0.225, method="exact", draws=40_000)
    drawn = exact.outcome.answer.drawn
    for name in ("accuracy", "precision[1]", "recall[2]", "false_alarm[0]", "f1[3]"):
        assert exact[name].mean == pytest.approx(
            drawn.estimate(name).mean, abs=5 * exact[name].std / 200
        )
    with pytest.raises(tr.InputError, match="two classes"):
        tr.grade(data.predictions, data.labels, noise=0.2, method="ratios")


def test_noise_models_and_joint_tables() -> None:
    data = tr.simulate(150, 2, prior=0.5, confusion=[[0.8, 0.2], [0.2, 0.8]], seed=1)
    labels = data.labels
    independent = np.einsum("ya,yb->yab", [[0.8, 0.2], [0.2, 0.8]], [[0.8, 0.2], [0.2, 0.8]])
    models = [
        0.2,
        {"w1": 0.2, "w2": 0.2},
        tr.noise.Confusion([[0.8, 0.2], [0.2, 0.8]]),
        tr.noise.Joint(["w1", "w2"], independent),
        tr.noise.Difficulty(0.0, 0.4),
    ]

    class Mine:
        def log_likelihood(self, labels: tr.Labels) -> np.ndarray:
            return tr.noise.Symmetric(0.2).log_likelihood(labels)

    found = [
        tr.grade(data.predictions, labels, noise=m, prior=[0.5, 0.5], method="exact")[
            "accuracy"
        ].mean
        for m in [*models, Mine()]
    ]
    np.testing.assert_allclose(found, found[0], atol=1e-9)
    copies = np.einsum("ya,ab->yab", [[0.8, 0.2], [0.2, 0.8]], np.eye(2)) * 0.9 + independent * 0.1
    agree = (labels.matrix() == 1).all(axis=1)
    sure = {
        name: tr.grade(
            data.predictions, labels, noise=model, prior=[0.5, 0.5], method="no-predictions"
        ).truth[agree, 1]
        for name, model in (("independent", 0.2), ("copied", tr.noise.Joint(["w1", "w2"], copies)))
    }
    assert sure["independent"] == pytest.approx(16 / 17)
    assert (sure["copied"] < 0.85).all(), "a copied label is hardly new evidence"


def test_groups_lose_nothing() -> None:
    data = main_example(1, n=200)
    evidence = data.noise.log_likelihood(data.labels)
    groups = Groups.of(evidence, data.predictions)
    np.testing.assert_allclose(groups.evidence[groups.member], evidence)
    np.testing.assert_array_equal(groups.predicted[groups.member], data.predictions)
    assert groups.size.sum() == 200
