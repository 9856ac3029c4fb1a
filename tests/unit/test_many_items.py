"""What is done differently for many items must not change the answer."""

from __future__ import annotations

import numpy as np
import pytest

from truthing.metrics.curves import Curve
from truthing.papers.su_curves import SweptCurves
from truthing.truth import draws, scores
from truthing.truth.draws import DrawnAnswer, LateDraws, draw_confusion
from truthing.truth.groups import Groups, across
from truthing.truth.scores import ScoreAnswer


def made_up(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores and evidence of two classes, every item's evidence its own."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    ratio = rng.normal(np.where(truth, 1.0, -1.0), 1.5)
    return rng.standard_normal(n) + 1.2 * truth, np.stack(
        [np.minimum(-ratio, 0), np.minimum(ratio, 0)], axis=1
    )


def test_counts_drawn_at_once_have_the_moments_of_items_drawn_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    score, evidence = made_up(2000)
    groups = Groups.of(evidence, (score > 0.6).astype(np.int64))
    posterior = groups.posterior(np.array([[0.7, 0.3], [0.3, 0.7]]), np.array([0.7, 0.3]))
    one_by_one = draw_confusion(posterior, groups, 20_000, np.random.default_rng(1)).draws
    monkeypatch.setattr(draws, "_MANY", 100)
    at_once = draw_confusion(posterior, groups, 20_000, np.random.default_rng(2)).draws
    spread = one_by_one.std(axis=0)
    # five standard errors of a mean and of a standard deviation over 20,000 draws: false alarm
    # below 1e-5
    assert (
        np.abs(at_once.mean(axis=0) - one_by_one.mean(axis=0)).max()
        < 5 * np.sqrt(2 / 20_000) * spread.max()
    )
    assert np.abs(at_once.std(axis=0) / spread - 1).max() < 5 / np.sqrt(20_000)
    assert (at_once.sum(axis=1) == 2000).all()


def test_draws_are_made_when_asked_and_once() -> None:
    made = []

    def make() -> DrawnAnswer:
        made.append(1)
        score, evidence = made_up(50)
        groups = Groups.of(evidence, (score > 0.6).astype(np.int64))
        posterior = groups.posterior(np.full((2, 2), 0.5), np.array([0.7, 0.3]))
        return DrawnAnswer(
            (0, 1), 1, draw_confusion(posterior, groups, 100, np.random.default_rng(0))
        )

    late = LateDraws(make)
    assert made == []
    first, second = late.estimate("mcc"), late.estimate("mcc")
    assert -1 < first.mean < 1  # not NaN
    np.testing.assert_array_equal(first.values, second.values)
    assert late.confusion.mean.sum() == pytest.approx(50)
    assert made == [1]


def test_a_curve_does_not_wait_for_its_area() -> None:
    score, evidence = made_up(200)
    curves = SweptCurves(score, evidence, np.array([0.7, 0.3]), 200, 0)
    curve = curves.roc()
    assert isinstance(curve, Curve)
    assert "areas" not in vars(curves)
    assert curve.area is not None
    assert curve.area.mean == pytest.approx(curves.estimate("auc").mean)


def test_rounded_evidence_leaves_the_areas_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    score, evidence = made_up(3000)
    arguments = {"prior": np.array([0.7, 0.3]), "n_draws": 2000, "seed": 3}
    fine = ScoreAnswer.lazily(score, evidence, **arguments)
    monkeypatch.setattr(scores, "MOST_GROUPS", 100)
    coarse = ScoreAnswer.lazily(score, evidence, **arguments)
    for name in ("auc", "average_precision"):
        a, b = fine.estimate(name), coarse.estimate(name)
        assert abs(a.mean - b.mean) < 0.15 * a.std
        assert abs(b.std / a.std - 1) < 0.12


@pytest.mark.parametrize("width", [1, 2, 8, 9, 40])
def test_across(width: int) -> None:
    table = np.random.default_rng(0).standard_normal((50, width))
    assert np.array_equal(across(np.maximum, table), table.max(axis=1))
    assert np.allclose(across(np.add, table), table.sum(axis=1), rtol=1e-14, atol=1e-14)
