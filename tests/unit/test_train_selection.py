"""Tuning and grading on dirty labels: the splitter, the scorers, and what scikit-learn does with
both.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import truthing as tr
from truthing.train import (
    LabelsKFold,
    MMSEClassifier,
    NoisyLogisticRegression,
    align_labels,
    noisy_scorer,
)

# five labels per item, each wrong 25% of the time: weak by the estimators' own measure
pytestmark = pytest.mark.filterwarnings("ignore::truthing.train.evidence.WeakLabelsWarning")


def dirty(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray, tr.Labels]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    truth = (rng.random(n) < expit(2 * X[:, 0] - X[:, 1] - 0.8)).astype(int)
    grid = np.where(rng.random((n, 5)) < 0.25, 1 - truth[:, None], truth[:, None]).astype(float)
    grid[rng.random(grid.shape) < 0.2] = np.nan
    return X, np.array(["bad", "good"])[truth], tr.Labels.from_matrix(grid).with_classes((0, 1))


def named(labels: tr.Labels) -> tr.Labels:
    return tr.Labels.from_codes(
        labels.item,
        labels.labeler,
        labels.label,
        items=labels.items,
        labelers=labels.labelers,
        classes=("bad", "good"),
    )


def test_folds_are_alike_and_complete() -> None:
    X, _, labels = dirty(203)
    folds = list(LabelsKFold(5, random_state=1).split(X, labels))
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(203))
    assert all(not set(train) & set(test) for train, test in folds)
    vote = labels.counts().argmax(axis=1)
    counts = np.array([np.bincount(vote[test], minlength=2) for _, test in folds])
    assert np.ptp(counts, axis=0).max() <= 1
    again = list(LabelsKFold(5, random_state=1).split(X, labels.matrix().astype(float)))
    assert [len(test) for _, test in again] == [len(test) for _, test in folds]
    with pytest.raises(tr.InputError, match="cannot fill"):
        list(LabelsKFold(5).split(X[:3], labels[:3]))


def test_scikit_learn_picks_items_of_labels() -> None:
    X, _, labels = dirty(50)
    X_train, X_test, train, test = train_test_split(X, labels, random_state=0)
    assert (len(train), len(test)) == (len(X_train), len(X_test))
    assert isinstance(test, tr.Labels)
    assert test.counts().sum() + train.counts().sum() == labels.counts().sum()


def test_grid_search_without_true_labels() -> None:
    X, truth, plain = dirty()
    labels = named(plain)
    model = make_pipeline(StandardScaler(), NoisyLogisticRegression(noise=0.25))
    scorer = pickle.loads(pickle.dumps(noisy_scorer("auc", noise=0.25, positive="good")))
    search = GridSearchCV(
        model, {"noisylogisticregression__C": [1e-4, 1e-2, 1.0]}, scoring=scorer, cv=LabelsKFold(4)
    )
    search.fit(X, labels)
    assert search.best_params_["noisylogisticregression__C"] > 1e-4
    actual = roc_auc_score(truth == "good", search.predict_proba(X)[:, 1])
    assert search.best_score_ == pytest.approx(actual, abs=0.05)
    matrix = GridSearchCV(
        MMSEClassifier(noise=0.25),
        {"estimator": [LogisticRegression(C=c) for c in (0.01, 1.0)]},
        scoring=noisy_scorer("accuracy", noise=0.25),
        cv=LabelsKFold(3),
    )
    grid = plain.matrix().astype(float)
    grid[grid < 0] = np.nan
    assert np.isfinite(matrix.fit(X, grid).cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("metric", "sign"), [("accuracy", 1), ("error", -1), ("f1", 1), ("macro_f1", 1), ("auc", 1)]
)
def test_scores_estimate_the_actual_metric(metric: str, sign: int) -> None:
    X, truth, plain = dirty(3000)
    labels = named(plain)
    model = NoisyLogisticRegression(noise=0.25).fit(X[:1000], labels[:1000])
    value = noisy_scorer(metric, noise=0.25)(model, X[1000:], labels[1000:])
    actual = tr.grade(
        model.predict(X[1000:]),
        tr.Labels.from_matrix(truth[1000:, None]),
        noise=0.0,
        scores=model.predict_proba(X[1000:])[:, 1],
    )[metric].mean
    assert value == pytest.approx(sign * actual, abs=0.03)


def test_cross_validation_helpers_and_the_positive_class() -> None:
    X, truth, plain = dirty()
    labels = named(plain)
    model = MMSEClassifier(LinearSVC(), noise=0.25)
    scores = cross_val_score(
        model, X, labels, cv=LabelsKFold(3), scoring=noisy_scorer("auc", noise=0.25)
    )
    other = cross_val_score(
        model, X, labels, cv=LabelsKFold(3), scoring=noisy_scorer("auc", noise=0.25, positive="bad")
    )
    np.testing.assert_allclose(scores, other, atol=0.01)
    predicted = cross_val_predict(model, X, labels, cv=LabelsKFold(3))
    assert np.mean(predicted == truth) > 0.75
    assert tr.grade(predicted, labels, noise=0.25)["accuracy"].interval(0.999)[0] <= np.mean(
        predicted == truth
    )


def test_gold_is_used_where_a_fold_has_some() -> None:
    X, truth, plain = dirty(300)
    gold = {k: truth[k] for k in range(0, 100, 3)}  # none in the second half
    model = NoisyLogisticRegression(gold=gold).fit(X, named(plain))
    scorer = noisy_scorer("accuracy", gold=gold)
    for part in (slice(0, 150), slice(150, 300)):
        actual = np.mean(model.predict(X[part]) == truth[part])
        assert scorer(model, X[part], named(plain)[part]) == pytest.approx(actual, abs=0.12)


def test_bad_requests() -> None:
    X, _, plain = dirty(60)
    model = NoisyLogisticRegression(noise=0.25).fit(X, plain)
    with pytest.raises(tr.InputError, match="acuracy"):
        noisy_scorer("acuracy", noise=0.1)(model, X, plain)
    with pytest.raises(tr.InputError, match="requires y"):
        align_labels(X, None)
    three = tr.Labels.from_matrix(np.arange(60)[:, None] % 3)
    with pytest.raises(tr.InputError, match="auc is for two classes"):
        noisy_scorer("auc", noise=0.1)(NoisyLogisticRegression(noise=0.1).fit(X, three), X, three)
