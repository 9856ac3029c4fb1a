from __future__ import annotations

import numpy as np
import pytest

import truthing as tr


def test_rates_come_out_as_asked() -> None:
    """100,000 items: rates within five standard errors (false alarm below 1e-5 in all)."""
    data = tr.simulate(
        100_000,
        3,
        prior=[0.7, 0.3],
        operating_point=(0.8, 0.3),
        difficulty=0.1,
        fallibility=(0.0, 0.2, 0.5),
        availability=(1, 0.5, 0.3),
        seed=2,
    )
    truth, predicted = data.truth, data.predictions
    se = 5 * 0.5 / np.sqrt(30_000 * 0.3)
    assert abs(predicted[truth == 1].mean() - 0.8) < se
    assert abs(predicted[truth == 0].mean() - 0.3) < se
    grid = data.labels.matrix()
    for t, phi in enumerate((0.0, 0.2, 0.5)):
        seen = grid[:, t] >= 0
        expected = (0.1 - 0.1 * phi + phi) / 2
        assert abs((grid[seen, t] != truth[seen]).mean() - expected) < se
    assert abs((grid[:, 1] >= 0).mean() - 0.5) < se
    assert (data.labels.per_item > 0).all()
    assert ((data.scores > 0.5) == (predicted == 1)).all()


def test_confusion_matrices_and_many_classes() -> None:
    table = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.0, 0.3, 0.7]])
    data = tr.simulate(
        60_000,
        2,
        prior=[0.2, 0.3, 0.5],
        operating_point=table,
        confusion=table,
        classes=["a", "b", "c"],
        seed=1,
    )
    codes = {"a": 0, "b": 1, "c": 2}
    truth = np.array([codes[t] for t in data.truth])
    for y in range(3):
        shares = np.bincount(data.labels.matrix()[truth == y, 0], minlength=3) / (truth == y).sum()
        np.testing.assert_allclose(shares, table[y], atol=0.02)


def test_dependence_keeps_error_rates() -> None:
    """Shared difficulty and copying make mistakes common; shared difficulty leaves each labeler's
    rate alone.
    """
    plain, shared, copied = (
        tr.simulate(50_000, 2, prior=0.5, fallibility=0.4, seed=3, **options)
        for options in ({}, {"shared_difficulty": 0.8}, {"copying": 0.8})
    )
    for data, together in (
        (plain, 0.04),
        (shared, 0.04 + 0.64 * 0.16),
        (copied, 0.2 * 0.04 + 0.8 * 0.2),
    ):
        wrong = data.labels.matrix() != data.truth[:, None]
        np.testing.assert_allclose(wrong.mean(axis=0), 0.2, atol=0.01)
        assert wrong.all(axis=1).mean() == pytest.approx(together, abs=0.01)


def test_same_seed_same_data() -> None:
    first, second, other = (tr.simulate(50, 2, prior=0.3, seed=s) for s in (1, 1, 2))
    assert first.labels == second.labels
    assert not np.array_equal(first.truth, other.truth)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": [0.5, 0.6]}, "sum to one"),
        ({"prior": 0.5, "copying": 2}, "copying 2"),
        ({"prior": 0.5, "fallibility": 1.2}, "between 0 and 1"),
        ({"prior": 0.5, "confusion": [[0.9, 0.2], [0.1, 0.8]]}, "transpose"),
        ({"prior": 0.5, "confusion": np.eye(2), "fallibility": 0.1}, "not both"),
        ({"prior": 0.5, "availability": 0}, "somebody"),
    ],
)
def test_bad_arguments(options: dict[str, object], message: str) -> None:
    with pytest.raises(tr.InputError, match=message):
        tr.simulate(10, 2, **options)
