"""Coverage of the ceiling's intervals, unbiasedness of Eq. 4, 6 and 8, the bias of Eq. 5, and the
paper's propositions.

Small seeded versions of studies/ceiling.py. A test of coverage fails with probability below 1e-6
each if the level is held; what they catch is a gross loss of level (below about 80%), what is finer
the study shows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import truthing as tr

Draw = Callable[[np.random.Generator, int], np.ndarray]
SHAPES: dict[str, tuple[Draw, float]] = {
    "two values": (lambda rng, n: rng.choice([0.1, 0.9], n), 0.1),
    "uniform": (lambda rng, n: rng.random(n), 0.25),
    "rarely unsure": (lambda rng, n: np.where(rng.random(n) < 0.95, 0.0, 0.4), 0.02),
    "all at 0.4": (lambda rng, n: np.full(n, 0.4), 0.4),
}
PRIOR = {"two values": 0.5, "uniform": 0.5, "rarely unsure": 0.02, "all at 0.4": 0.4}


def least(trials: int, level: float = 0.95) -> float:
    return float(stats.binom.ppf(1e-6, trials, level) / trials)


@pytest.mark.parametrize("name", SHAPES)
def test_soft_signed_and_positive(name: str) -> None:
    shape, beta = SHAPES[name]
    rng = np.random.default_rng(4)
    held = []
    for n in (50, 1000):
        for _ in range(80):
            c = shape(rng, n)
            more = shape(rng, 8 * n) if name != "rarely unsure" else np.full(8 * n, 0.4)
            positive = more[rng.random(8 * n) < more][:n]
            results = [
                tr.bayes_error(c),
                tr.bayes_error(hard=(rng.random(n) < c).astype(int), signs=c > 0.5),
                tr.bayes_error(positive_confidence=positive, prior=PRIOR[name]),
            ]
            limits = [result.interval(0.95) for result in results]
            held += [low - 1e-9 <= beta <= high + 1e-9 for low, high in limits]
    assert np.mean(held) >= least(len(held))


def test_soft_labels_by_the_hundred_thousand() -> None:
    """At n = 10⁵ both sides: the level is held, and the width is the central limit theorem's within
    2%.
    """
    rng = np.random.default_rng(5)
    held, ratio = 0, []
    for _ in range(60):
        c = rng.random(100_000)
        low, high = tr.bayes_error(c).interval(0.95)
        held += low <= 0.25 <= high
        ratio.append((high - low) / (2 * 1.96 * np.minimum(c, 1 - c).std() / np.sqrt(100_000)))
    assert held / 60 >= least(60)
    assert np.mean(ratio) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("name", ["two values", "uniform", "all at 0.4"])
def test_votes(name: str) -> None:
    shape, beta = SHAPES[name]
    rng = np.random.default_rng(7)
    held, around = [], []
    for m in (1, 2, 3, 5, 10, 50):
        for _ in range(15):
            k = rng.binomial(m, shape(rng, 400))
            result = tr.bayes_error(counts=np.stack([m - k, k], axis=1))
            low, high = result.interval(0.95)
            held.append(low <= beta <= high)
            around.append(low <= result.lower <= result.upper <= high)
    assert np.mean(held) >= least(len(held))
    assert np.mean(around) > 0.5, "the limits lie around the identified interval"


def test_votes_of_varying_number_and_of_several_classes() -> None:
    rng = np.random.default_rng(1)
    trials = 16
    held = np.zeros(2)
    truth = float((1 - np.random.default_rng(0).dirichlet([0.5] * 3, 400_000).max(axis=1)).mean())
    for _ in range(trials):
        size = rng.integers(1, 6, 500)
        k = rng.binomial(size, rng.random(500))
        low, high = tr.bayes_error(counts=np.stack([size - k, k], axis=1)).interval(0.95)
        held[0] += low <= 0.25 <= high
        low, high = tr.bayes_error(
            counts=rng.multinomial(3, rng.dirichlet([0.5] * 3, 300))
        ).interval(0.95)
        held[1] += low <= truth <= high
    assert (held / trials >= least(trials)).all()


def test_unbiased_and_biased() -> None:
    """Eq. 4, 6 and 8 are on the mark within four Monte Carlo errors; Eq. 5 is below it by many."""
    rng = np.random.default_rng(2)
    found: dict[str, list[float]] = {"4": [], "5": [], "6": [], "8": []}
    for _ in range(400):
        c = rng.random(200)
        k = rng.binomial(3, c) / 3
        found["4"].append(tr.bayes_error(c).paper)
        found["5"].append(tr.bayes_error(noisy=k).paper)
        found["6"].append(tr.bayes_error(noisy=k, signs=c > 0.5).paper)
        positive = np.sqrt(rng.random(200))  # uniform c, given that the item is positive
        found["8"].append(tr.bayes_error(positive_confidence=positive, prior=0.5).paper)
    for equation, values in found.items():
        error = np.std(values) / np.sqrt(len(values))
        if equation == "5":
            assert np.mean(values) == pytest.approx(1 / 6, abs=5 * error), (
                "for uniform c three labels show min(u, 1 - u) = 1/6"
            )
            assert np.mean(values) < 0.25 - 20 * error
        else:
            assert np.mean(values) == pytest.approx(0.25, abs=4 * error)


def test_the_propositions_hold() -> None:
    """Prop. 3.2, 3.5 and 4.3 are violated at most at rate δ (here 0.2; they are loose, so far
    less).
    """
    rng = np.random.default_rng(3)
    trials, outside = 500, np.zeros(3)
    for _ in range(trials):
        c = rng.choice([0.0, 0.5], 50)
        hard = (rng.random(50) < c).astype(int)
        positive = np.full(50, 0.5)
        results = [
            (tr.bayes_error(c), 0.25),
            (tr.bayes_error(hard=hard, signs=c > 0.5), 0.25),
            (tr.bayes_error(positive_confidence=positive, prior=0.25), 0.25),
        ]
        outside += [abs(result.paper - beta) > result.bound(0.8) for result, beta in results]
    assert (outside / trials <= stats.binom.ppf(1 - 1e-6, trials, 0.2) / trials).all()


@pytest.mark.parametrize("n", [100, 1000])
def test_calibrated_scores(n: int) -> None:
    def curve(s: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-3 * s + 1))

    c = curve(np.random.default_rng(0).normal(size=1_000_000))
    beta = float(np.minimum(c, 1 - c).mean())
    rng = np.random.default_rng(n)
    trials, held = 100, 0
    for _ in range(trials):
        s = rng.normal(size=n)
        low, high = tr.bayes_error(scores=s, decisions=rng.random(n) < curve(s)).interval(0.95)
        held += low <= beta <= high
    assert held / trials >= least(trials)
