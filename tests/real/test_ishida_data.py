from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from truthing.ceiling.bayes_error import bayes_error
from truthing.reproduce import ishida
from truthing.reproduce.ishida_synthetic import SETUPS, add_noise

CIFAR = {
    "animals": 1.173,
    "animals and bird": 0.502,
    "land": 1.554,
    "odd/even": 2.034,
    "first five": 3.261,
}
ICLR = {2017: 8.6, 2018: 10.7, 2019: 10.4, 2020: 10.3, 2021: 11.2, 2022: 11.9, 2023: 10.5}


def test_fashion_mnist_h(real_data: Path) -> None:
    result = ishida.fashion()
    assert 100 * result.paper == pytest.approx(3.478, abs=5e-4)
    low, high = result.interval(0.95)
    assert low < 0.03478 < high


def test_the_papers_half_width(real_data: Path) -> None:
    counts = np.loadtxt(real_data / "fashion_mnist_h" / "fmh_counts.csv", delimiter=",")
    share = counts[:, list(ishida.TOPS)].sum(axis=1) / counts.sum(axis=1)
    assert 100 * ishida.plain_half_width(np.minimum(share, 1 - share)) == pytest.approx(
        0.079, abs=1e-3
    )
    low, high = bayes_error(share).interval(0.95)
    assert 100 * (high - low) / 2 == pytest.approx(0.079, abs=5e-3), (
        "for many soft labels ours is the paper's"
    )


def test_cifar_splits_and_the_model(real_data: Path) -> None:
    found = ishida.cifar()
    for name, printed in CIFAR.items():
        same, test = found[name]
        assert 100 * same.paper == pytest.approx(printed, abs=6e-4)
        assert same.lower <= same.value <= same.upper
        assert same.verdict is not None
        assert test.verdict is not None
        assert same.verdict.standing == "room left"
        assert same.verdict.error > test.verdict.error, (
            "people who see thumbnails disagree more than the test labels"
        )


@pytest.mark.parametrize("year", ICLR)
def test_iclr_and_why_it_is_not_as_printed(real_data: Path, year: int) -> None:
    scores, accepted = ishida.iclr(year)
    result = bayes_error(scores=scores, decisions=accepted)
    assert 100 * result.paper == pytest.approx(ICLR[year], abs=0.06)
    stop = ishida.REPLAYED[year]
    chance = 1 / (1 + np.exp(-(stop[0] * scores + stop[1])))
    assert 100 * np.minimum(chance, 1 - chance).mean() == pytest.approx(
        ishida.PRINTED_ICLR[year][0], abs=0.11
    )
    assert chance.mean() < accepted.mean() - 0.015, (
        "the stop of the published script expects too few acceptances"
    )
    assert result.details["error_of_following_scores"] == pytest.approx(result.value, abs=0.011)


def test_synthetic_setups() -> None:
    assert 100 * SETUPS["C"].bayes_error() == pytest.approx(5.69, abs=0.005)
    assert 100 * SETUPS["D"].bayes_error() == pytest.approx(1.27, abs=0.005)
    rng = np.random.default_rng(0)
    _, c, _ = SETUPS["C"].draw(rng, 100_000)
    assert 100 * bayes_error(c).value == pytest.approx(5.69, abs=0.1)
    noise = add_noise(c, rng) - c
    assert abs(noise.mean()) < 4 * noise.std() / np.sqrt(len(noise))
    assert (np.abs(noise) <= np.minimum(c, 1 - c) + 1e-12).all()
