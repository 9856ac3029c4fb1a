from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics as sk

import truthing as tr
from truthing.metrics.counts import Tally, evaluate, known_metrics

confusions = (
    st.integers(2, 4)
    .flatmap(lambda c: arrays(np.int64, (c, c), elements=st.integers(0, 5)))
    .filter(lambda m: m.sum() > 0)
)


def expand(confusion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    truth, predicted = np.indices(confusion.shape)
    return np.repeat(truth.ravel(), confusion.ravel()), np.repeat(
        predicted.ravel(), confusion.ravel()
    )


@settings(max_examples=150, deadline=None)
@given(confusions, st.sampled_from([0.0, 1.0, np.nan]))
def test_equal_to_scikit_learn(confusion: np.ndarray, zero: float) -> None:
    truth, predicted = expand(confusion)
    n_classes = len(confusion)
    tally = Tally.from_confusion(confusion)

    def ours(name: str) -> float:
        return float(
            evaluate(
                name, tally, classes=range(n_classes), positive=n_classes - 1, zero_division=zero
            )
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ours("accuracy") == pytest.approx(sk.accuracy_score(truth, predicted))
        assert ours("mcc") == pytest.approx(sk.matthews_corrcoef(truth, predicted))
        assert ours("balanced_accuracy") == pytest.approx(
            sk.balanced_accuracy_score(truth, predicted)
        )
        kappa = evaluate("kappa", tally, classes=range(n_classes), zero_division=np.nan)
        np.testing.assert_allclose(
            kappa, sk.cohen_kappa_score(truth, predicted), atol=1e-12, equal_nan=True
        )
        everything = {"zero_division": zero}
        for average in ("macro", "micro", "weighted"):
            for name, function in (
                ("precision", sk.precision_score),
                ("recall", sk.recall_score),
                ("f1", sk.f1_score),
            ):
                theirs = function(truth, predicted, average=average, **everything)
                if average == "weighted" and np.isnan(zero):
                    # scikit-learn's weights there count classes that have no value; ours do not
                    continue
                np.testing.assert_allclose(
                    ours(f"{average}_{name}"),
                    theirs,
                    atol=1e-12,
                    equal_nan=True,
                    err_msg=f"{average}_{name}",
                )
        for k in range(n_classes):
            both = {"labels": [k], "average": None, **everything}
            assert_same(ours(f"precision[{k}]"), sk.precision_score(truth, predicted, **both)[0])
            assert_same(ours(f"recall[{k}]"), sk.recall_score(truth, predicted, **both)[0])
            assert_same(
                ours(f"f_beta(2)[{k}]"), sk.fbeta_score(truth, predicted, beta=2, **both)[0]
            )


def assert_same(ours: float, theirs: float) -> None:
    np.testing.assert_allclose(ours, theirs, atol=1e-12, equal_nan=True)


@given(confusions)
def test_vectorised_over_draws(confusion: np.ndarray) -> None:
    draws = np.stack([confusion, confusion.T + 1, confusion + 2])
    for name in known_metrics():
        together = evaluate(
            name, Tally.from_confusion(draws), classes=range(len(confusion)), positive=0
        )
        alone = [
            evaluate(name, Tally.from_confusion(d), classes=range(len(confusion)), positive=0)
            for d in draws
        ]
        np.testing.assert_allclose(together, alone)


@given(confusions, st.integers(1, 3))
def test_permuting_classes_moves_their_metrics_and_no_other(
    confusion: np.ndarray, shift: int
) -> None:
    """Classes are moved in a ring, never left in place (of two classes: swapped)."""
    n = len(confusion)
    order = np.roll(np.arange(n), 1 + shift % (n - 1))
    assert (order != np.arange(n)).all()
    moved = confusion[np.ix_(order, order)]
    for name in ("precision", "recall", "f1"):
        before, after = (
            [evaluate(f"{name}[{k}]", Tally.from_confusion(m), classes=range(n)) for k in range(n)]
            for m in (confusion, moved)
        )
        np.testing.assert_allclose(np.array(before)[order], after, atol=1e-12)
    for name in ("accuracy", "mcc", "kappa", "balanced_accuracy", "macro_f1", "weighted_recall"):
        a, b = (
            evaluate(name, Tally.from_confusion(m), classes=range(len(m)))
            for m in (confusion, moved)
        )
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_binary_rates() -> None:
    tally = Tally.from_confusion([[70, 30], [4, 16]])
    found = {
        n: float(evaluate(n, tally, classes=["n", "p"], positive=1))
        for n in ("false_alarm", "specificity", "recall", "precision", "error")
    }
    assert found == pytest.approx(
        {
            "false_alarm": 0.3,
            "specificity": 0.7,
            "recall": 0.8,
            "precision": 16 / 46,
            "error": 34 / 120,
        }
    )


def test_unknown_names_get_a_hint() -> None:
    tally = Tally.from_confusion(np.eye(2))
    with pytest.raises(tr.InputError, match="Did you mean 'accuracy'"):
        evaluate("acuracy", tally, classes=[0, 1])
    with pytest.raises(tr.InputError, match="no class is called 'cat'"):
        evaluate("recall[cat]", tally, classes=["cats", "dogs"])
    with pytest.raises(tr.InputError, match="needs a class"):
        evaluate("recall", tally, classes=["a", "b", "c"])
