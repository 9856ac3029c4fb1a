from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import truthing as tr
from truthing.papers.lam_stork import policy_left_side
from truthing.reproduce import lam_stork as paper

rates = st.floats(0, 1)
small = st.floats(0, 0.45)


def test_tables_1_and_2_are_the_printed_ones() -> None:
    assert {e: tuple(row) for e, row in paper.table_1().items()} == paper.PRINTED_1
    for rate, row in paper.table_2().items():
        assert [round(v, 1) for v in row] == pytest.approx(list(paper.PRINTED_2[rate]))


@given(rates, small)
def test_equations_1_and_2_undo_each_other(error: float, mislabeling: float) -> None:
    back = tr.true_error(tr.apparent_error(error, mislabeling).value, mislabeling)
    assert back.value == pytest.approx(error, abs=1e-9)
    assert back.raw == pytest.approx(error, abs=1e-9)


@given(rates, st.floats(0, 0.49))
def test_bounds_hold_the_true_error(error: float, mislabeling: float) -> None:
    apparent = tr.apparent_error(error, mislabeling).value
    bounds = tr.error_bounds(apparent, mislabeling)
    assert bounds.lower - 1e-9 <= error <= bounds.upper + 1e-9


def test_bounds_are_attained_by_some_dependence() -> None:
    """Two classes: mistakes never together (a = e + m), always together (a = |e - m|)."""
    e, m = 0.1, 0.04
    assert tr.error_bounds(e + m, m).lower == pytest.approx(e)
    assert tr.error_bounds(e - m, m).upper == pytest.approx(e)
    # where both are nearly always wrong, two classes leave no third answer to disagree on
    assert tr.error_bounds(0.9, 0.4).upper == pytest.approx(0.7)
    assert tr.error_bounds(0.9, 0.4, classes=3).upper == pytest.approx(1)


def test_raw_values_outside_the_range_are_said() -> None:
    result = tr.true_error(0.02, 0.05)
    assert result.clipped
    assert result.value == 0
    assert result.raw < 0
    assert "outside [0, 1]" in result.warnings[0]


def test_variance_is_that_of_simulated_counts() -> None:
    n, e, m = 400, 0.12, 0.08
    a = float(tr.apparent_error(e, m))
    draws = np.random.default_rng(0).binomial(n, a, 200_000) / n
    simulated = ((draws - m) / (1 - 2 * m)).var()
    # formula at the true e; 200,000 draws make the variance good to about 0.3%
    assert tr.true_error(a, m, n=n).variance == pytest.approx(simulated, rel=0.02)


def test_ratio_and_policy() -> None:
    assert float(tr.noisy_label_ratio(0.1, 0.0)) == 1
    assert float(tr.noisy_label_ratio(0.0, 0.1)) == float("inf")
    for e in np.linspace(0.01, 0.49, 25):
        for m in np.linspace(0.01, 0.3, 25):
            policy = tr.label_policy(e, m)
            eq4 = policy_left_side(m) > (e - 0.5) ** 2
            assert (policy.policy == "distinct") == eq4
            assert (policy.variance_distinct < policy.variance_repeat) == eq4
    assert policy_left_side(0.1655) > 0 > policy_left_side(0.1665)


@pytest.mark.parametrize("wrong", [0, 3, 20, 45])
def test_a_known_rate_gives_clopper_and_pearsons_limits(wrong: int) -> None:
    """Both tails of (1 - level) / 2, carried through Eq. 2; nowhere wider, nowhere narrower."""
    n, m = 60, 0.05
    exact = binomtest(wrong, n).proportion_ci(0.9, method="exact")
    carried = [min(max((limit - m) / (1 - 2 * m), 0), 1) for limit in exact]
    found = tr.true_error(wrong / n, m, n=n).interval(0.9)
    assert found == pytest.approx(carried, abs=1e-9)


def test_confusion_is_recovered_for_any_number_of_classes() -> None:
    rng = np.random.default_rng(1)
    for c in (2, 3, 6):
        labeler = 0.7 * np.eye(c) + 0.3 * rng.dirichlet(np.ones(c), c)
        classifier = rng.dirichlet(np.ones(c), c)
        prior = rng.dirichlet(np.ones(c))
        joint = labeler.T @ np.diag(prior) @ classifier
        found = tr.true_confusion(joint, labeler)
        np.testing.assert_allclose(found.confusion, classifier, atol=1e-10)
        np.testing.assert_allclose(found.prior, prior, atol=1e-10)
        np.testing.assert_allclose(found.recall, np.diag(classifier), atol=1e-10)
        weighted = prior[:, None] * classifier
        np.testing.assert_allclose(found.precision, np.diag(weighted) / weighted.sum(0), atol=1e-10)
        assert not found.clipped


def test_confusion_from_counts_has_intervals_and_projects() -> None:
    found = tr.true_confusion([[50, 1], [0, 40]], [[0.9, 0.1], [0.1, 0.9]])
    assert found.clipped
    assert found.warnings
    assert (found.confusion >= 0).all()
    low, high = found.interval(0.9)
    assert (low <= high).all()
    with pytest.raises(tr.InputError, match="counts"):
        tr.true_confusion([[0.5, 0.0], [0.1, 0.4]], np.eye(2)).interval()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tr.true_error(0.1, 0.5), "½"),
        (lambda: tr.true_error(0.1, 1.5), "mislabeling 1.5 is outside"),
        (lambda: tr.true_error(1.1, 0.1), "apparent 1.1 is outside"),
        (lambda: tr.true_error(0.1), "mislabeling rate is missing"),
        (lambda: tr.true_error(0.1, checked=(5, 0)), "checked"),
        (lambda: tr.true_error(0.1, 0.2, checked=(5, 50)), "contradicts"),
        (lambda: tr.true_error(0.1, 0.2).interval(), "n, the number of items"),
        (lambda: tr.label_policy(0.1, 0.6), "no better than a coin"),
        (lambda: tr.true_confusion(np.eye(2), [[0.5, 0.5], [0.5, 0.5]]), "condition number"),
        (lambda: tr.true_confusion(np.eye(2), [[0.9, 0.2], [0.1, 0.8]]), "transpose"),
        (lambda: tr.true_confusion(np.eye(2), [[0.9, 0.2], [0.2, 0.8]]), "sums to 1.1"),
        (lambda: tr.true_confusion(-np.eye(2), np.eye(2)), "negative"),
    ],
)
def test_bad_input_says_what_to_do(call: object, message: str) -> None:
    with pytest.raises(tr.TruthingError, match=message):
        call()  # type: ignore[operator]
