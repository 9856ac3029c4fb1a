from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

import truthing as tr
from truthing.metrics.estimate import Estimate, credible_interval


def test_density_of_a_beta() -> None:
    grid = np.linspace(0, 1, 2001)
    beta = stats.beta(8, 4)
    estimate = Estimate.from_density(grid, beta.pdf(grid))
    assert estimate.mean == pytest.approx(beta.mean(), abs=1e-5)
    assert estimate.mode == pytest.approx(7 / 10, abs=1e-3)
    low, high = estimate.interval(0.9)
    assert beta.cdf(high) - beta.cdf(low) == pytest.approx(0.9, abs=1e-3)
    assert beta.pdf(low) == pytest.approx(beta.pdf(high), rel=0.02), (
        "highest density: equal height at both ends"
    )


def test_draws_agree_with_the_density() -> None:
    beta = stats.beta(8, 4)
    estimate = Estimate.from_draws(beta.rvs(40_000, random_state=1))
    exact = Estimate.from_density(np.linspace(0, 1, 2001), beta.pdf(np.linspace(0, 1, 2001)))
    np.testing.assert_allclose(estimate.interval(0.95), exact.interval(0.95), atol=0.01)
    assert estimate.mode == pytest.approx(0.7, abs=0.03)
    grid, density = estimate.density()
    assert trapezoid(density, grid) == pytest.approx(1, abs=0.01)


def test_atoms_interval_holds_its_level_and_is_shortest() -> None:
    n = 30
    values = np.arange(n + 1) / n
    weights = stats.binom.pmf(np.arange(n + 1), n, 0.3)
    estimate = Estimate.from_atoms(values, weights)
    low, high = estimate.interval(0.95)
    inside = weights[(values >= low - 1e-9) & (values <= high + 1e-9)].sum()
    assert inside >= 0.95
    shorter = [
        weights[i : j + 1].sum()
        for i in range(n + 1)
        for j in range(i, n + 1)
        if values[j] - values[i] < high - low - 1e-9
    ]
    assert max(shorter) < 0.95
    assert estimate.mode == pytest.approx(9 / 30)


def test_undefined_draws_are_counted() -> None:
    estimate = Estimate.from_draws([0.5, np.nan, 0.7, np.nan])
    assert estimate.undefined == pytest.approx(0.5)
    assert estimate.mean == pytest.approx(0.6)
    nothing = Estimate.from_draws([np.nan])
    assert str(nothing) == "undefined"
    assert np.isnan(nothing.interval(0.9)).all()


def test_levels_are_checked() -> None:
    with pytest.raises(tr.InputError, match="level 95"):
        Estimate.from_draws([0.1, 0.2]).interval(95)


def test_intervals_of_many_columns() -> None:
    draws = np.random.default_rng(0).normal(size=(5000, 3)) * [1, 2, 3]
    low, high = credible_interval(draws, 0.95)
    np.testing.assert_allclose((high - low) / [1, 2, 3], 2 * 1.96, rtol=0.06)


@pytest.mark.parametrize(
    ("n", "level", "held"), [(20, 0.95, 19), (20, 0.9, 18), (21, 0.95, 20), (7, 0.5, 4)]
)
def test_an_interval_holds_its_share_of_the_draws(n: int, level: float, held: int) -> None:
    """At least the level and no draw more; draws spread evenly leave no doubt about the width."""
    draws = np.arange(n) ** 1.001
    low, high = credible_interval(draws, level)
    assert ((draws >= low) & (draws <= high)).sum() == held
    assert held / n >= level > (held - 1) / n


def test_an_interval_is_nearly_the_shortest_with_tails_as_equal_as_that_allows() -> None:
    """Against a search over all windows, for a posterior that falls from its left end."""
    draws = np.sort(np.random.default_rng(2).exponential(size=400))
    windows = [(draws[i + 379] - draws[i], i) for i in range(21)]
    allowed = [i for width, i in windows if width <= 1.05 * min(windows)[0]]
    first = min(allowed, key=lambda i: abs(i - 10))
    assert 0 < first < 10  # neither the shortest nor the central one
    assert credible_interval(draws, 0.95, slack=1.05) == (draws[first], draws[first + 379])
    shortest = min(windows)[1]
    assert credible_interval(draws, 0.95) == (draws[shortest], draws[shortest + 379])


def test_quantiles_of_atoms_are_even() -> None:
    estimate = Estimate.from_atoms([0.1, 0.5, 0.9], [0.25, 0.5, 0.25])
    values, counts = np.unique(estimate.draws, return_counts=True)
    assert values == pytest.approx([0.1, 0.5, 0.9])
    assert counts.tolist() == [1000, 2000, 1000]
    assert estimate.probability_above(0.5) == pytest.approx(0.25)


def test_a_flat_posterior_has_its_interval_in_the_middle() -> None:
    low, high = credible_interval(np.arange(101.0), 0.5)
    assert (low + high) / 2 == pytest.approx(50, abs=1)
