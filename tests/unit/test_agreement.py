"""Coefficients of agreement against published worked examples and scikit-learn; their intervals
over simulated items."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, t

import truthing as tr
from truthing.people.agreement import Coefficient, cohen_kappa, conger_kappa

# Fleiss (1971): six psychiatrists, thirty patients, five diagnoses
PSYCHIATRISTS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""
# Krippendorff (2011), also in Gwet (2014): four observers, twelve units, missing data
OBSERVERS = ("123321412***", "1233224125*3", "*3332342251*", "12332441251*")


def krippendorffs_example() -> tr.Labels:
    rows = [[None if c == "*" else int(c) for c in line] for line in OBSERVERS]
    return tr.Labels.from_matrix(np.array(rows, dtype=object).T)


def test_fleiss_1971() -> None:
    counts = np.array([[int(c) for c in patient] for patient in PSYCHIATRISTS.split()])
    found = tr.agreement(tr.Labels.from_counts(counts))
    assert found["fleiss_kappa"].value == pytest.approx(0.430, abs=5e-4)
    assert found["fleiss_kappa"].observed == pytest.approx(0.5556, abs=5e-4)
    assert found["fleiss_kappa"].chance == pytest.approx(0.2199, abs=5e-4)
    assert "cohen_kappa" not in found


def test_krippendorff_and_gwet_with_missing_data() -> None:
    found = tr.agreement(krippendorffs_example())
    assert found["krippendorff_alpha"].value == pytest.approx(0.743, abs=5e-4)
    assert found["gwet_ac1"].value == pytest.approx(0.77544, abs=5e-6)
    assert found["fleiss_kappa"].value == pytest.approx(0.76117, abs=5e-6)


def test_conger_with_missing_data() -> None:
    """The value is that of the package irrCAC for the same data, the error that of leaving out one
    item after the other."""
    assert tr.agreement(krippendorffs_example())["conger_kappa"].value == pytest.approx(
        0.76207, abs=5e-6
    )
    labels = tr.simulate(80, 4, prior=[0.6, 0.4], fallibility=0.4, availability=0.7, seed=1).labels
    left = np.array(
        [conger_kappa(labels[np.setdiff1d(np.arange(80), [i])]).value for i in range(80)]
    )
    by_hand = np.sqrt(79 / 80 * ((left - left.mean()) ** 2).sum())
    assert conger_kappa(labels).error == pytest.approx(by_hand, rel=0.03)


def test_two_abstractors() -> None:
    """The table in the documentation of irrCAC (Gwet 2014): Cohen .7964 ± .0589, AC1 .8493 ± .0432,
    α .7973 ± .0591."""
    table = {(0, 0): 13, (1, 1): 20, (1, 2): 7, (2, 1): 4, (2, 2): 56}
    found = tr.agreement(
        tr.Labels.from_matrix([pair for pair, n in table.items() for _ in range(n)])
    )
    for name, value, error in (
        ("cohen_kappa", 0.7964094, 0.05891),
        ("gwet_ac1", 0.8493305, 0.04322),
        ("krippendorff_alpha", 0.7972585, 0.05905),
    ):
        assert found[name].value == pytest.approx(value, abs=1e-7)
        assert found[name].error == pytest.approx(error, rel=0.02)


def test_conger_of_two_labelers_is_cohens() -> None:
    labels = tr.simulate(200, 2, prior=[0.6, 0.4], fallibility=0.4, seed=2).labels
    cohen, conger = tr.agreement(labels)["cohen_kappa"], conger_kappa(labels)
    assert conger.value == pytest.approx(cohen.value, abs=1e-12)
    assert conger.error == pytest.approx(cohen.error, rel=0.01)


def test_cohen_is_scikit_learns() -> None:
    from sklearn.metrics import cohen_kappa_score

    data = tr.simulate(300, 2, prior=[0.5, 0.3, 0.2], fallibility=0.4, availability=0.8, seed=1)
    grid = data.labels.matrix()
    both = (grid >= 0).all(axis=1)
    mine = tr.agreement(data.labels)["cohen_kappa"]
    assert mine.value == pytest.approx(cohen_kappa_score(grid[both, 0], grid[both, 1]), abs=1e-12)
    assert mine.n_items == both.sum()


def test_error_is_the_jackknife() -> None:
    """Against leaving out one item after the other by hand."""
    labels = krippendorffs_example()
    whole = tr.agreement(labels)["krippendorff_alpha"]
    usable = np.flatnonzero(labels.per_item > 1)
    left = [
        tr.agreement(labels[np.setdiff1d(np.arange(12), [i])])["krippendorff_alpha"].value
        for i in usable
    ]
    n = len(usable)
    assert whole.error == pytest.approx(
        np.sqrt((n - 1) / n * ((left - np.mean(left)) ** 2).sum()), abs=1e-12
    )


def test_always_agreed_is_not_certain() -> None:
    found = tr.agreement(tr.Labels.from_matrix([[0, 0], [1, 1]] * 10))
    for value in found.values():
        low, high = value.interval(0.95)
        assert value.value == pytest.approx(1)
        assert 0.6 < low < 0.9
        assert high == 1


def test_no_pair_no_agreement() -> None:
    with pytest.raises(tr.InputError, match="two labels"):
        tr.agreement(tr.Labels.from_matrix([[0], [1]]))
    codes = np.array([0, 0, 0])
    assert np.isnan(cohen_kappa(codes, codes, 2).value), (
        "one class only: chance explains everything"
    )


def test_intervals_hold_the_coefficient_of_the_population() -> None:
    """300 samples of 60 items; false alarm 1e-6 for each coefficient at a true coverage of .93 or
    more."""
    options = {"prior": [0.7, 0.3], "fallibility": 0.25, "difficulty": (1, 4), "availability": 0.8}
    actual = tr.agreement(tr.simulate(100_000, 4, **options, seed=1).labels)
    held = dict.fromkeys(actual, 0)
    for seed in range(300):
        for name, value in tr.agreement(
            tr.simulate(60, 4, **options, seed=100 + seed).labels
        ).items():
            low, high = value.interval(0.95)
            held[name] += low <= actual[name].value <= high
    for name, number in held.items():
        assert binom.ppf(1e-6, 300, 0.93) <= number <= binom.ppf(1 - 1e-6, 300, 0.97), (
            name,
            number,
        )


def test_the_interval_is_students() -> None:
    """Of few items the degrees of freedom show: n - 1 for n items."""
    for n in (3, 5, 12):
        value = Coefficient(0.6, 0.5, 0.01, n)
        half = t(n - 1).ppf(0.95) * 0.01
        assert value.interval(0.9) == pytest.approx((0.2 - half, 0.2 + half))


def test_a_table_of_rows_is_not_taken_for_a_matrix() -> None:
    said = {"x": "aab", "y": "abb", "z": "bbb"}
    rows = [(i, f"w{t}", c) for i, word in said.items() for t, c in enumerate(word)]
    table = pl.DataFrame(rows, schema=["item", "labeler", "label"], orient="row")
    matrix = tr.Labels.from_matrix([list(word) for word in said.values()])
    assert tr.agreement(table)["fleiss_kappa"].value == pytest.approx(
        tr.agreement(matrix)["fleiss_kappa"].value
    )
