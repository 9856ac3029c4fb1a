"""R-hat and effective sizes against formulas written out with scipy, and against chains whose
answer is known.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import norm, rankdata

from truthing.truth.samplers.diagnostics import bulk_size, effective_size, split_rhat, tail_size


def walk(phi: float, n_chains: int, n: int, seed: int = 0) -> np.ndarray:
    """Chains with autocorrelation phi**t, started where they stay; chains × draws."""
    noise = np.random.default_rng(seed).standard_normal((n_chains, n + 500))
    return lfilter([np.sqrt(1 - phi**2)], [1, -phi], noise, axis=1)[:, 500:]


def scores(values: np.ndarray) -> np.ndarray:
    ranks = rankdata(values, method="average").reshape(values.shape)
    return norm.ppf((ranks - 3 / 8) / (values.size + 1 / 4))


def written_out_rhat(chains: np.ndarray) -> float:
    """Vehtari et al. 2021, equations 1-4, 13 and 14, with loops."""
    half = chains.shape[1] // 2
    split = np.array([part for chain in chains for part in (chain[:half], chain[half : 2 * half])])
    found = []
    for values in (split, np.abs(split - np.median(split))):
        z = scores(values)
        within = np.mean([np.var(chain, ddof=1) for chain in z])
        between = half * np.var([chain.mean() for chain in z], ddof=1)
        found.append(np.sqrt(((half - 1) / half * within + between / half) / within))
    return max(found)


def written_out_size(split: np.ndarray) -> float:
    """The same paper's equation 10, autocovariances as sums of products."""
    m, n = split.shape
    within = np.mean([np.var(chain, ddof=1) for chain in split])
    total = (n - 1) / n * within + np.var([chain.mean() for chain in split], ddof=1)

    def rho(t: int) -> float:
        if t == 0:
            return 1.0
        products = [
            ((chain[: n - t] - chain.mean()) * (chain[t:] - chain.mean())).sum() / (n - 1)
            for chain in split
        ]
        return 1 - (within - np.mean(products)) / total

    time, last, t = -1.0, np.inf, 0
    while t + 1 < n:
        pair = rho(t) + rho(t + 1)
        if pair <= 0:
            time += max(rho(t), 0.0)
            break
        last = min(last, pair)
        time += 2 * last
        t += 2
    return m * n / max(time, 1 / np.log10(m * n))


@pytest.mark.parametrize("phi", [0.0, 0.6, -0.4])
def test_equal_to_the_formulas_written_out(phi: float) -> None:
    chains = np.exp(walk(phi, 3, 200))  # skewed: plain variances would answer differently
    split = np.concatenate([chains[:, :100], chains[:, 100:]])
    assert split_rhat(chains.ravel(), 3) == pytest.approx(written_out_rhat(chains), rel=1e-9)
    assert bulk_size(chains.ravel(), 3) == pytest.approx(written_out_size(scores(split)), rel=1e-9)
    ends = [written_out_size((split <= np.quantile(split, q)) * 1.0) for q in (0.05, 0.95)]
    assert tail_size(chains.ravel(), 3) == pytest.approx(min(ends), rel=1e-9)
    assert effective_size(chains.ravel(), 3) == min(
        bulk_size(chains.ravel(), 3), tail_size(chains.ravel(), 3)
    )


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_size_of_an_autoregression_is_known(phi: float) -> None:
    """n (1 - phi) / (1 + phi) independent draws; the mean of 20 runs is within 10% (its standard
    error is below 3%).
    """
    sizes = [bulk_size(walk(phi, 4, 2500, seed).ravel(), 4) for seed in range(20)]
    assert np.mean(sizes) == pytest.approx(10_000 * (1 - phi) / (1 + phi), rel=0.1)


def test_chains_that_differ_in_place_or_in_spread_only_are_found() -> None:
    chains = walk(0.0, 4, 1000)
    assert split_rhat(chains.ravel(), 4) < 1.01
    elsewhere = chains + np.array([0, 0, 0, 1])[:, None]
    wider = chains * np.array([1, 1, 1, 3])[:, None]
    assert split_rhat(elsewhere.ravel(), 4) > 1.05
    assert split_rhat(wider.ravel(), 4) > 1.05
    drifting = chains + np.linspace(0, 2, 1000)
    assert split_rhat(drifting.ravel(), 4) > 1.05


def test_draws_without_a_variance_can_be_judged() -> None:
    cauchy = np.tan(np.pi * (norm.cdf(walk(0.0, 4, 1000)) - 0.5))
    assert split_rhat(cauchy.ravel(), 4) < 1.01
    assert 3000 < bulk_size(cauchy.ravel(), 4) < 5200


def test_constant_draws_agree() -> None:
    assert split_rhat(np.ones(400), 4) == 1
    assert effective_size(np.ones(400), 4) == 400
    stuck = np.repeat([0.0, 1.0], 200)
    assert split_rhat(stuck, 2) == np.inf
