"""Training: exact gradients, the limits of perfect and useless labels, equal objectives by
different routes, and every shape of input.
"""

from __future__ import annotations

import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import truthing as tr
from truthing.train import (
    JointEMClassifier,
    LabelerVotingClassifier,
    LabelEstimationClassifier,
    MMSEClassifier,
    NoisyLogisticRegression,
    NoisyNaiveBayes,
    ReplicationClassifier,
    WeakLabelsWarning,
)
from truthing.train.evidence import gather, weigh
from truthing.train.logistic import Objective

# most tests train on few, poor labels on purpose; the two that are about the warning ask for it
pytestmark = pytest.mark.filterwarnings("ignore::truthing.train.evidence.WeakLabelsWarning")
EXACT = {"tol": 1e-10, "max_iter": 5000}
ESTIMATORS = [
    MMSEClassifier(),
    MMSEClassifier(HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2), noise=0.1),
    MMSEClassifier(make_pipeline(StandardScaler(), LogisticRegression()), noise=0.1),
    ReplicationClassifier(),
    LabelEstimationClassifier(),
    LabelerVotingClassifier(),
    JointEMClassifier(),
    NoisyNaiveBayes(),
    NoisyLogisticRegression(),
    NoisyLogisticRegression("map", noise=0.1),
    NoisyLogisticRegression("mmse"),
]


def world(
    n: int = 300, n_classes: int = 2, *, n_labelers: int = 5, error: float = 0.2, seed: int = 0
) -> Any:
    """Features, truth from a linear model, and labels of a simulated crowd with gaps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, n_classes)) * 1.5
    truth = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    wrong = rng.random((n, n_labelers)) < error
    grid = np.where(
        wrong,
        (truth[:, None] + rng.integers(1, n_classes, (n, n_labelers))) % n_classes,
        truth[:, None],
    ).astype(float)
    grid[rng.random(grid.shape) < 0.3] = np.nan
    grid[np.isnan(grid).all(axis=1), 0] = 0
    return X, truth, grid


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_scikit_learn_checks(estimator: Any) -> None:
    failed = [
        r["check_name"]
        for r in check_estimator(estimator, on_skip=None, on_fail=None)
        if r["status"] == "failed"
    ]
    assert not failed


# ---- objectives
#
#
#
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["ml", "mmse"])
@pytest.mark.parametrize("intercept", [True, False])
def test_gradients_are_exact(n_classes: int, kind: Any, intercept: bool) -> None:
    X, _, grid = world(40, n_classes)
    evidence = weigh(gather(X, grid), noise=0.25)
    target = evidence.log_likelihood if kind == "ml" else evidence.posterior
    problem = Objective(X, (kind, target), C=0.7, intercept=intercept, penalise_intercept=True)
    theta = np.random.default_rng(1).normal(size=problem.penalised.size)
    numeric = approx_fprime(theta, lambda t: problem.smooth(t)[0], 1e-7)
    np.testing.assert_allclose(problem.smooth(theta)[1], numeric, atol=1e-6)


def test_two_class_likelihood_is_the_papers_formula() -> None:
    X, _, grid = world(50)
    evidence = weigh(gather(X, grid), noise=0.25)
    a, b = np.exp(evidence.log_likelihood).T
    theta = np.array([0.5, -1.0, 2.0, 0.3])
    s = expit(X @ theta[:3] + theta[3])
    value, gradient = Objective(X, ("ml", evidence.log_likelihood), C=np.inf).smooth(theta)
    assert value == pytest.approx(-np.log(b * s + a * (1 - s)).mean(), rel=1e-12)
    slope = -s * (1 - s) * (b - a) / (b * s + a * (1 - s))
    np.testing.assert_allclose(gradient, np.append((slope @ X), slope.sum()) / 50, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_soft_target_equals_weighted_copies(n_classes: int, make: Any) -> None:
    X, _, grid = world(300, n_classes)
    direct = NoisyLogisticRegression("mmse", noise=0.2, C=0.5, **EXACT).fit(make(X), grid)
    copies = MMSEClassifier(LogisticRegression(C=0.5, **EXACT), noise=0.2).fit(make(X), grid)
    np.testing.assert_allclose(direct.coef_, copies.estimator_.coef_, atol=1e-5)
    np.testing.assert_allclose(
        direct.predict_proba(make(X)), copies.predict_proba(make(X)), atol=1e-5
    )


def test_em_with_known_noise_climbs_the_marginal_likelihood() -> None:
    """Two routes to one optimum: EM on weighted fits, L-BFGS on the marginal likelihood."""
    X, _, grid = world(400, 3)
    direct = NoisyLogisticRegression("ml", noise=0.3, C=2.0, **EXACT).fit(X, grid)
    em = JointEMClassifier(
        LogisticRegression(C=2.0, **EXACT), noise=0.3, cv=None, tol=1e-9, max_iter=500
    ).fit(X, grid)
    np.testing.assert_allclose(direct.predict_proba(X), em.predict_proba(X), atol=1e-4)


def test_lasso_matches_liblinear_and_elastic_net_is_stationary() -> None:
    X, truth, _ = world(200)
    y = truth.astype(float)
    ours = NoisyLogisticRegression(
        "mmse", C=0.05, l1_ratio=1, fit_intercept=False, noise=0.0, **EXACT
    ).fit(X, y)
    theirs = LogisticRegression(
        C=0.05, l1_ratio=1, fit_intercept=False, solver="liblinear", tol=1e-10
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    mixed = NoisyLogisticRegression("ml", C=0.05, l1_ratio=0.5, noise=0.2, **EXACT).fit(X, y)
    evidence = weigh(gather(X, y), noise=0.2)
    problem = Objective(X, ("ml", evidence.log_likelihood), C=0.05, l1_ratio=0.5)
    gradient = problem.smooth(np.append(mixed.coef_[0], mixed.intercept_))[1]
    active = np.append(mixed.coef_[0] != 0, False)
    np.testing.assert_allclose(
        gradient[active], -problem.lasso * np.sign(mixed.coef_[0][active[:-1]]), atol=1e-6
    )
    assert (np.abs(gradient[:-1]) <= problem.lasso + 1e-6).all()
    assert abs(gradient[-1]) < 1e-6


def test_map_puts_a_prior_on_the_intercept_too() -> None:
    X, _, grid = world(100)
    free = NoisyLogisticRegression("ml", C=1e-4, noise=0.1, **EXACT).fit(X + 5, grid)
    tight = NoisyLogisticRegression("map", C=1e-4, noise=0.1, **EXACT).fit(X + 5, grid)
    assert abs(tight.intercept_[0]) < 0.02 < abs(free.intercept_[0])


def test_several_starts_keep_the_best() -> None:
    X, _, grid = world(60, 3, error=0.6)
    model = NoisyLogisticRegression("ml", noise=0.62, C=np.inf, starts=6, **EXACT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without a penalty weak labels may be separable
        model.fit(X, grid)
    assert len(model.objectives_) == 6
    evidence = weigh(gather(X, grid), noise=0.62)
    problem = Objective(X, ("ml", evidence.log_likelihood), C=np.inf)
    theta = np.concatenate([model.coef_, model.intercept_[:, None]], axis=1).reshape(-1)
    assert problem.smooth(theta)[0] == pytest.approx(min(model.objectives_), rel=1e-9)


def test_naive_bayes_reaches_a_stationary_point() -> None:
    X, _, grid = world(300)
    model = NoisyNaiveBayes(noise=0.3, tol=1e-13, max_iter=5000).fit(X, grid)
    assert (np.diff(model.path_) > -1e-12).all()
    evidence = weigh(gather(X, grid), noise=0.3)

    def likelihood(theta: Any) -> float:
        mean, log_var, logit = theta[:6].reshape(2, 3), theta[6:12].reshape(2, 3), theta[12]
        density = np.exp(-0.5 * (X[:, None] - mean) ** 2 / np.exp(log_var) - 0.5 * log_var).prod(
            axis=2
        )
        return float(
            np.log(
                (np.exp(evidence.log_likelihood) * density * [expit(-logit), expit(logit)]).sum(1)
            ).mean()
        )

    at = np.concatenate(
        [
            model.theta_.ravel(),
            np.log(model.var_).ravel(),
            [np.log(model.prior_[1] / model.prior_[0])],
        ]
    )
    np.testing.assert_allclose(approx_fprime(at, likelihood, 1e-6), 0, atol=1e-5)


# ---- limits
#
#
#
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "build",
    [
        lambda inner: MMSEClassifier(inner, noise=0.0),
        lambda inner: ReplicationClassifier(inner, noise=0.0),
        lambda inner: LabelEstimationClassifier(inner, noise=0.0),
        lambda inner: JointEMClassifier(inner, noise=0.0),
        lambda inner: LabelerVotingClassifier(inner),
        lambda inner: NoisyLogisticRegression("ml", noise=0.0, **EXACT),
        lambda inner: NoisyLogisticRegression("mmse", noise=0.0, **EXACT),
    ],
)
def test_perfect_labels_are_ordinary_training(n_classes: int, build: Any) -> None:
    X, truth, _ = world(200, n_classes)
    ordinary = LogisticRegression(**EXACT)
    model = build(clone(ordinary)).fit(X, np.stack([truth] * 2, axis=1).astype(float))
    expected = ordinary.fit(X, truth)
    if isinstance(model, LabelerVotingClassifier):
        assert (model.predict(X) == expected.predict(X)).all()
    else:
        np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-5)


def test_perfect_labels_make_gaussian_naive_bayes() -> None:
    X, truth, _ = world(200, 3)
    np.testing.assert_allclose(
        NoisyNaiveBayes(noise=0.0).fit(X, truth).predict_proba(X),
        GaussianNB().fit(X, truth).predict_proba(X),
        atol=1e-10,
    )


def test_useless_labels_leave_the_prior() -> None:
    X, _, grid = world(200)
    for model in (
        MMSEClassifier(LogisticRegression(**EXACT), noise=0.5, prior=[0.7, 0.3]),
        NoisyLogisticRegression("mmse", noise=0.5, prior=[0.7, 0.3], **EXACT),
    ):
        with pytest.warns(WeakLabelsWarning, match="keeps 0%"):
            model.fit(X, grid)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.3, atol=1e-6)


def test_weak_labels_shrink_mmse_and_not_ml() -> None:
    """The documented example: share .1, one labeler wrong 3 times in 10, slope 2."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=200_000)
    truth = rng.random(len(x)) < expit(2 * x - 3.33)
    y = np.where(rng.random(len(x)) < 0.3, ~truth, truth).astype(int)
    with pytest.warns(WeakLabelsWarning, match="weak"):
        mmse = NoisyLogisticRegression("mmse", noise=0.3, prior=[0.9, 0.1], C=1e6).fit(
            x[:, None], y
        )
    assert mmse.coef_[0, 0] == pytest.approx(0.09, abs=0.02)
    assert (mmse.predict(x[:, None]) == 0).all()
    ml = NoisyLogisticRegression("ml", noise=0.3, C=1e6).fit(x[:, None], y)
    assert ml.coef_[0, 0] == pytest.approx(2, abs=0.15)


def test_gold_is_certain() -> None:
    X, truth, grid = world(150)
    labels = tr.Labels.from_matrix(grid, items=[f"i{k}" for k in range(150)])
    gold = {f"i{k}": int(t) for k, t in enumerate(truth)}
    model = MMSEClassifier(LogisticRegression(**EXACT), noise=0.5, gold=gold).fit(X, labels)
    np.testing.assert_allclose(
        model.estimator_.coef_, LogisticRegression(**EXACT).fit(X, truth).coef_, atol=1e-5
    )
    bare = grid.copy()
    bare[:5] = np.nan  # no label, but gold: kept
    NoisyLogisticRegression(gold=gold).fit(X, tr.Labels.from_matrix(bare, items=labels.items))
    with pytest.raises(tr.InputError, match="survive splitting"):
        MMSEClassifier(gold={0: 1}).fit(X, grid)


def test_joint_em_learns_the_labelers() -> None:
    X, truth, grid = world(1500, error=0.0, n_labelers=3)
    rng = np.random.default_rng(0)
    tables = np.array(
        [[[0.9, 0.1], [0.4, 0.6]], [[0.7, 0.3], [0.1, 0.9]], [[0.6, 0.4], [0.35, 0.65]]]
    )
    for t in range(3):
        grid[:, t] = rng.random(len(truth)) < tables[t][truth, 1]
    for algorithm in ("raykar", "khetan"):
        model = JointEMClassifier(algorithm=algorithm).fit(X, grid)
        # khetan takes the classifier's decisions for the truth, so its matrices carry the
        # classifier's own errors
        assert np.abs(model.confusion_ - tables).max() < (0.06 if algorithm == "raykar" else 0.15)
        assert model.score(X, truth) > LogisticRegression().fit(X, truth).score(X, truth) - 0.02
        assert model.truth_.shape == (1500, 2)


@pytest.mark.parametrize(
    "noise",
    [
        None,
        tr.noise.DawidSkene(),
        tr.noise.OneCoin(),
        tr.noise.Strata(2),
        tr.noise.Difficulty(),
        (0.2, 0.4),
        {0: 0.3, 1: 0.3},
        dict.fromkeys(range(5), 0.3),
        tr.noise.Confusion([[0.7, 0.3], [0.3, 0.7]], weight=50),
    ],
    ids=str,
)
def test_every_noise_of_grade_trains(noise: Any) -> None:
    X, truth, grid = world(300)
    # strata want more than labels to be told apart
    gold = {k: int(truth[k]) for k in range(60)} if isinstance(noise, tr.noise.Strata) else None
    model = MMSEClassifier(noise=noise, gold=gold).fit(X, tr.Labels.from_matrix(grid))
    assert model.score(X, truth) > 0.8
    assert model.prior_.sum() == pytest.approx(1)


# ---- shapes of input


def test_labels_matrix_and_long_table_agree() -> None:
    X, _, grid = world(80, 3)
    labels = tr.Labels.from_matrix(grid)
    row, who = np.nonzero(~np.isnan(grid))
    table = pd.DataFrame({"item": row, "worker": who, "label": grid[row, who].astype(int)})
    table = table.sample(frac=1, random_state=0)
    index = [f"r{k}" for k in range(80)]
    named = table.assign(item=[index[i] for i in table["item"]])
    frame = pd.DataFrame(X, index=index, columns=["a", "b", "c"])
    wide = pd.DataFrame(grid, columns=[f"q{t}" for t in range(5)])
    listed = [[None if np.isnan(v) else int(v) for v in line] for line in grid]
    expected = NoisyLogisticRegression().fit(X, labels).coef_
    for features, given in (
        (X, grid),
        (X, table),
        (frame, named),
        (X, wide),
        (X, listed),
        (X.tolist(), labels),
    ):
        np.testing.assert_allclose(
            NoisyLogisticRegression().fit(features, given).coef_, expected, atol=1e-3
        )
    with pytest.raises(tr.InputError, match="no row of X"):
        NoisyLogisticRegression().fit(X, named)


@pytest.mark.parametrize(
    "names",
    [("no", "yes"), (False, True), (-1, 7), (0.5, 1.5), ("7", 7), ((1, 2), (3, 4))],
    ids=str,
)
def test_any_class_names(names: tuple[Any, Any]) -> None:
    X, truth, grid = world(100)
    panel = tr.Labels.from_matrix(grid)
    labels = tr.Labels.from_codes(
        panel.item,
        panel.labeler,
        panel.label,
        items=panel.items,
        labelers=panel.labelers,
        classes=names,
    )
    for model in (
        MMSEClassifier(),
        NoisyLogisticRegression(),
        NoisyNaiveBayes(),
        LabelerVotingClassifier(),
    ):
        predicted = model.fit(X, labels).predict(X)
        assert set(predicted) <= set(names)
        assert np.mean([p == names[t] for p, t in zip(predicted, truth)]) > 0.7
        assert model.predict_proba(X).shape == (100, 2)


def test_a_class_that_no_label_names_has_a_column() -> None:
    X, _, grid = world(60)
    labels = tr.Labels.from_matrix(grid, classes=[0, 1, 2])
    model = MMSEClassifier(noise=0.2, prior=[0.5, 0.5, 0.0]).fit(X, labels)
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.predict_proba(X)[:, 2] == 0).all()


def test_pipelines_inside_and_outside_agree() -> None:
    X, _, grid = world(200)
    X = X * [1, 100, 0.01] + 5
    inside = MMSEClassifier(
        make_pipeline(StandardScaler(), LogisticRegression(**EXACT)), noise=0.3
    ).fit(X, grid)
    outside = make_pipeline(
        StandardScaler(), NoisyLogisticRegression("mmse", noise=0.3, **EXACT)
    ).fit(X, grid)
    np.testing.assert_allclose(inside.predict_proba(X), outside.predict_proba(X), atol=1e-5)


def test_text_and_missing_features_are_the_inner_estimators_business() -> None:
    X, truth, grid = world(120)
    words = np.array(
        ["alpha " * int(3 + 2 * v) + "beta" if v > -1 else "gamma" for v in X[:, 0]], dtype=object
    )
    MMSEClassifier(make_pipeline(CountVectorizer(), LogisticRegression())).fit(words, grid).predict(
        words
    )
    X[::7, 1] = np.nan
    assert MMSEClassifier(HistGradientBoostingClassifier()).fit(X, grid).score(X, truth) > 0.7


def test_without_weights_rows_are_copied_and_that_is_said() -> None:
    X, truth, grid = world(200)
    with pytest.warns(
        UserWarning, match="KNeighborsClassifier takes no sample weights: trained on 10 copies"
    ):
        model = MMSEClassifier(KNeighborsClassifier(50)).fit(X, grid)
    same = ReplicationClassifier(KNeighborsClassifier(50)).fit(X, grid)
    assert (model.predict(X) == same.predict(X)).all()
    assert model.score(X, truth) > 0.8
    fine = ReplicationClassifier(LogisticRegression(C=1e9, **EXACT), copies=1000, noise=0.3).fit(
        X, grid
    )
    exact = MMSEClassifier(LogisticRegression(C=1e9, **EXACT), noise=0.3).fit(X, grid)
    np.testing.assert_allclose(fine.predict_proba(X), exact.predict_proba(X), atol=2e-3)


def test_certain_rows_are_not_copied() -> None:
    seen: list[int] = []

    class Counting(DecisionTreeClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.append(len(X))
            return super().fit(X, y, sample_weight=sample_weight)

    X, _, grid = world(100, 4)
    MMSEClassifier(Counting(), noise=0.2).fit(X, grid)
    grid[50:] = grid[50:, :1].copy()
    labels = tr.Labels.from_matrix(np.where(np.isnan(grid), 0, grid))
    MMSEClassifier(Counting(), noise=0.2, gold=dict.fromkeys(range(50, 100), 1)).fit(X, labels)
    assert seen[0] == 400
    assert seen[1] == 250


# ---- bad input
#
#
#
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [MMSEClassifier(), NoisyLogisticRegression(), NoisyNaiveBayes(), LabelerVotingClassifier()],
    ids=str,
)
def test_bad_input(estimator: Any) -> None:
    X, _, grid = world(30)
    with pytest.raises(ValueError, match="inconsistent numbers of samples: 29 rows and 30 items"):
        estimator.fit(X[:-1], grid)
    with pytest.raises(ValueError, match="one class only"):
        estimator.fit(X, np.zeros((30, 2)))
    with pytest.raises(ValueError, match="no item has a label"):
        estimator.fit(X, np.full((30, 2), np.nan))
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        estimator.fit(holed, grid)
    gaps = grid.copy()
    gaps[:4] = np.nan
    with pytest.warns(UserWarning, match="No label for 4 of 30 items"):
        model = clone(estimator).fit(X, gaps)
    np.testing.assert_allclose(
        model.predict_proba(X), clone(estimator).fit(X[4:], gaps[4:]).predict_proba(X), atol=1e-9
    )


def test_plain_targets_of_every_kind() -> None:
    X, truth, _ = world(60)
    words = np.where(truth == 1, "yes", "no")
    expected = NoisyLogisticRegression(noise=0.1).fit(X, words).coef_
    for y in (
        words.tolist(),
        tuple(words),
        pd.Series(words),
        pd.Series(words, dtype="category"),
        truth == 1,
        truth * 2.0,
    ):
        np.testing.assert_allclose(NoisyLogisticRegression(noise=0.1).fit(X, y).coef_, expected)
    with pytest.warns(UserWarning, match="No label for 1 of 60 items"):
        NoisyLogisticRegression(noise=0.1).fit(X, [None, *words[1:]])


def test_torch_is_asked_for_by_name_only() -> None:
    """A plain request for torch brings gigabytes of GPU libraries: only the extra of that name
    makes it, and pins nothing.
    """
    extras = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())[
        "project"
    ]["optional-dependencies"]
    assert extras["torch"] == ["torch>=2.2"]
    assert not any("torch" in wanted for name in ("all", "dev", "train") for wanted in extras[name])


def test_other_bad_input() -> None:
    X, _, grid = world(30)
    with pytest.raises(tr.InputError, match="needs predict_proba"):
        JointEMClassifier(LinearSVC()).fit(X, grid)
    assert not hasattr(MMSEClassifier(RidgeClassifier()).fit(X, grid), "predict_proba")
    MMSEClassifier(SVC()).fit(X, grid).decision_function(X)
    with pytest.raises(tr.InputError, match="objective 'mle'"):
        NoisyLogisticRegression("mle").fit(X, grid)  # type: ignore[arg-type]
    with pytest.raises(tr.InputError, match="copies=1"):
        ReplicationClassifier(copies=1).fit(X, grid)
    with pytest.raises(tr.InputError, match="anonymous"):
        LabelerVotingClassifier().fit(X, tr.Labels.from_counts(np.ones((30, 2), dtype=int)))
    with pytest.warns(UserWarning, match="labels are taken as correct"):
        NoisyLogisticRegression().fit(X, np.arange(30) % 2)
    twice = tr.Labels.from_long([0, 0, *range(1, 30)], ["a"] * 31, [0, 1, *[0, 1] * 14, 0])
    with pytest.raises(tr.InputError, match="says both"):
        NoisyLogisticRegression(noise=0.1).fit(X, twice)
    NoisyLogisticRegression(noise=0.1, repeats="first").fit(X, twice)
