"""What gold alone says, and what an answer takes from it."""

from __future__ import annotations

import numpy as np
import pytest

import truthing as tr
from truthing.metrics.estimate import credible_interval
from truthing.truth.draws import GOLD_ONLY, LITTLE, NARROWER, at_most_wider, some_by_gold
from truthing.truth.gold_alone import GoldAlone, difference_draws
from truthing.truth.link.scores import POWER, POWER_SD, weighed_by_gold


def width(draws: np.ndarray) -> float:
    low, high = credible_interval(draws, 0.95)
    return float(high - low)


def test_difference_by_gold_alone_is_the_finite_population_posterior() -> None:
    truth = np.zeros(200, dtype=np.int64)
    one, other = truth.copy(), truth.copy()
    other[:9], one[9:12] = (
        1,
        1,
    )  # on gold: nine times only the first is right, three times the other
    gold = np.where(np.arange(200) < 40, truth, -1)
    rng = np.random.default_rng(0)
    drawn = difference_draws((one, other), gold, "sample", 100_000, rng)
    a = np.array([9.5, 3.5, 28.5])
    share, total, free = a / a.sum(), a.sum(), 160
    contrast = np.array([1.0, -1.0, 0.0])
    spread = (contrast**2) @ share - (contrast @ share) ** 2
    # a Dirichlet-multinomial: variance n s (n + A) / (1 + A)
    variance = free * spread * (free + total) / (1 + total) / 200**2
    assert drawn.mean() == pytest.approx((6 + free * (contrast @ share)) / 200, abs=0.001)
    assert drawn.var() == pytest.approx(variance, rel=0.03)
    backwards = difference_draws((other, one), gold, "sample", 100_000, rng)
    assert backwards.mean() == pytest.approx(-drawn.mean(), abs=0.002)
    everything = difference_draws((one, other), truth, "sample", 50, rng)
    np.testing.assert_allclose(everything, 6 / 200)


def test_gold_alone_expects_half_of_the_predictions_right_whatever_the_number_of_classes() -> None:
    """One Dirichlet over seven classes would expect one in seven, and hold the truth rarely."""
    predicted = np.arange(350) % 7
    gold = np.full(350, -1)
    gold[:7] = predicted[:7]
    found = GoldAlone(
        tuple(range(7)), None, predicted, gold, "sample", 4000, np.random.SeedSequence(0)
    )
    assert found["precision[3]"].mean == pytest.approx((1 + 49 * 0.75) / 50, abs=0.02)


def test_tails_are_cut_where_gold_alone_is_narrower() -> None:
    rng = np.random.default_rng(1)
    ours, alone = rng.normal(0.6, 0.10, 2000), rng.normal(0.7, 0.05, 900)
    found = at_most_wider(ours, alone)
    assert 0.9 * NARROWER < width(found) / width(alone) <= NARROWER + 1e-6
    assert found.mean() == pytest.approx(ours.mean(), abs=0.01)
    order = ours.argsort()
    assert (np.diff(found[order]) >= 0).all()  # draw by draw in the same order
    np.testing.assert_array_equal(at_most_wider(alone, ours), alone)
    # the place of that width with most of the draws: of a skewed answer, its dense end
    skewed = rng.beta(9, 1, 4000)
    low, high = credible_interval(at_most_wider(skewed, 0.3 * alone), 0.95)
    assert high > 0.995
    assert high - low < NARROWER * 0.3 * width(alone) + 1e-6


def test_a_cut_is_gradual() -> None:
    """An answer a little wider than allowed hardly changes, wherever gold alone lies. Before, it
    moved half of the way to gold alone, and its mean jumped by .03."""
    rng = np.random.default_rng(2)
    alone = rng.normal(0.95, 0.025, 2000)
    ours = rng.normal(0.85, 0.025, 2000)
    for excess in (1.0, 1.01, 1.03, 1.06):
        wide = 0.85 + (ours - 0.85) * NARROWER * excess * width(alone) / width(ours)
        assert (
            np.abs(at_most_wider(wide, alone) - wide).mean() < 0.12 * excess * (excess - 1) + 1e-9
        )


def test_some_draws_know_only_gold() -> None:
    ours, alone = np.zeros(10_000), np.ones(500)
    for n_gold in (10, 100):
        found = some_by_gold(ours, alone, n_gold)
        assert found.mean() == pytest.approx(GOLD_ONLY * n_gold / (n_gold + LITTLE), abs=0.001)
    np.testing.assert_array_equal(some_by_gold(ours, alone, 0), ours)
    np.testing.assert_array_equal(some_by_gold(ours, np.empty(0), 50), ours)


def compared(seed: int = 0, **options: object) -> tuple[tr.Comparison, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 300)
    noisy = [np.where(rng.random(300) < e, 1 - truth, truth) for e in (0.25, 0.3, 0.3, 0.1, 0.45)]
    labels = tr.Labels.from_matrix(np.stack(noisy[:3], axis=1))
    gold = {i: int(truth[i]) for i in range(15)}
    return tr.compare({"a": noisy[3], "b": noisy[4]}, labels, gold=gold, **options), truth


def test_a_difference_reads_the_same_from_both_sides() -> None:
    found, _ = compared(draws=500)
    for metric in ("accuracy", "error", "f1"):
        one = found.difference(metric, "a", "b")
        other = found.difference(metric, "b", "a")
        np.testing.assert_allclose(one.values, -other.values, atol=1e-12)
        assert one.probability_better + other.probability_better == pytest.approx(1)
        best = found.probability_best(metric)
        assert best["a"] == pytest.approx(one.probability_better)
        assert found.probability_better(metric)[0, 1] == pytest.approx(one.probability_better)
    error, accuracy = found.difference("error"), found.difference("accuracy")
    np.testing.assert_allclose(np.sort(error.values), np.sort(-accuracy.values), atol=1e-12)


def test_a_difference_is_not_pushed_to_the_end_of_what_is_possible() -> None:
    """Gold on nine items where the models differ, the first right on all nine: both accuracies then
    lean apart, and their difference must still leave room for the second being right sometimes."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 400)
    one = np.where(rng.random(400) < 0.08, 1 - truth, truth)
    other = np.where(rng.random(400) < 0.55, 1 - truth, truth)
    labels = tr.Labels.from_matrix(
        np.stack([np.where(rng.random(400) < 0.3, 1 - truth, truth) for _ in range(3)], axis=1)
    )
    apart = np.flatnonzero((one == truth) & (other != truth))[:9]
    same = np.flatnonzero((one == truth) & (other == truth))[:1]
    gold = {int(i): int(truth[i]) for i in [*apart, *same]}
    found = tr.compare({"a": one, "b": other}, labels, gold=gold, draws=1000)
    low, high = found.difference("accuracy").interval(0.95)
    assert high - low > 0.05
    assert low <= (one == truth).mean() - (other == truth).mean() <= high


def test_gold_weighs_the_power_of_scores_as_numerical_integration_does() -> None:
    """Two cells of scores, odds of 4 and of a quarter, links that say nothing."""
    known = np.full(60, -1)
    known[:20], known[20:24], known[30:44], known[44:50] = 1, 0, 0, 1
    outcome = np.repeat([0, 1], 30)
    base, tilt = np.ones((3000, 1)), np.tile([4.0, 0.25], (3000, 1))
    rng = np.random.default_rng(0)
    found_base, found = weighed_by_gold(
        base, tilt, np.zeros(60, dtype=np.int64), outcome, known, rng, np.ones(60)
    )
    power = np.linspace(-3, 4, 4001)
    logit = power * np.log(4.0)
    agree, against = 20 + 14, 4 + 6  # gold items that go with the score's part, and against it
    log_mass = -agree * np.logaddexp(0, -logit) - against * np.logaddexp(0, logit)
    log_mass -= 0.5 * ((power - POWER) / POWER_SD) ** 2
    mass = np.exp(log_mass - log_mass.max())
    mass /= mass.sum()
    mean = float(mass @ power)
    sd = float(np.sqrt(mass @ (power - mean) ** 2))
    drawn = np.log(found[:, 0]) / np.log(4.0)
    assert drawn.mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(1000))
    assert drawn.std() == pytest.approx(sd, rel=0.1)
    np.testing.assert_allclose(found_base, 1.0)
    same, unchanged = weighed_by_gold(
        base, tilt, outcome * 0, outcome, np.full(60, -1), rng, np.ones(60)
    )
    np.testing.assert_array_equal(same, base)
    np.testing.assert_array_equal(unchanged, tilt)
