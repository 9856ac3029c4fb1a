"""Has the sampler settled? Split R-hat and effective sample size (Gelman et al., Bayesian Data Analysis, 3rd ed., 11.4-11.5)."""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array


def split_rhat(draws: Array, n_chains: int) -> float:
    """1 when chains agree; above 1.05 they do not.

    >>> bool(split_rhat(np.random.default_rng(0).normal(size=4000), 4) < 1.01)
    True
    """
    halves = _halves(draws, n_chains)
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean()
    if within <= 0:
        return 1.0 if np.ptp(halves) == 0 else float("inf")
    between = n * halves.mean(axis=1).var(ddof=1)
    return float(np.sqrt((within * (n - 1) / n + between / n) / within))


def effective_size(draws: Array, n_chains: int) -> float:
    """How many independent draws these are worth."""
    halves = _halves(draws, n_chains)
    m, n = halves.shape
    centred = halves - halves.mean(axis=1, keepdims=True)
    width = 1 << (2 * n - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, width, axis=1)) ** 2
    autocovariance = np.fft.irfft(spectrum, width, axis=1)[:, :n].mean(axis=0) / n
    within = halves.var(axis=1, ddof=1).mean()
    total = within * (n - 1) / n + halves.mean(axis=1).var(ddof=1)
    if total <= 0:
        return float(m * n)
    rho = 1 - (within - autocovariance * n / (n - 1)) / total
    pairs = rho[1 : 2 * ((n - 1) // 2) + 1].reshape(-1, 2).sum(axis=1)
    # Geyer: sums of neighbouring autocorrelations are positive; the first that is not ends the series
    stop = int(np.argmax(pairs < 0)) if (pairs < 0).any() else len(pairs)
    return float(
        min(
            m * n / (1 + 2 * pairs[:stop].sum()) if 1 + 2 * pairs[:stop].sum() > 0 else m * n,
            m * n * np.log10(m * n),
        )
    )


def _halves(draws: Array, n_chains: int) -> Array:
    chains = np.asarray(draws, dtype=float).reshape(n_chains, -1)
    n = chains.shape[1] // 2
    return np.concatenate([chains[:, :n], chains[:, n : 2 * n]])
