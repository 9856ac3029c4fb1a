"""Have the chains settled? Rank-normalised split R-hat, and effective sizes of bulk and tails
(Vehtari et al. 2021).

Draws come in the order of their chains. Ranks make the answers hold for any distribution, also
without a variance.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array

TAILS = (0.05, 0.95)


def split_rhat(draws: Array, n_chains: int) -> float:
    """1 when chains agree in place and spread; above 1.05 they do not.

    >>> bool(split_rhat(np.random.default_rng(0).normal(size=4000), 4) < 1.01)
    True
    """
    halves = _halves(draws, n_chains)
    folded = np.abs(halves - np.median(halves))
    return max(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded)))


def effective_size(draws: Array, n_chains: int) -> float:
    """How many independent draws these are worth for a mean and for the ends of an interval: the
    lesser of the two.
    """
    return min(bulk_size(draws, n_chains), tail_size(draws, n_chains))


def bulk_size(draws: Array, n_chains: int) -> float:
    """How many independent draws these are worth for a mean or a median."""
    return _size(_normal_scores(_halves(draws, n_chains)))


def tail_size(draws: Array, n_chains: int) -> float:
    """How many independent draws these are worth for the 5% and the 95% quantile, the lesser of the
    two.
    """
    halves = _halves(draws, n_chains)
    return min(_size((halves <= end).astype(float)) for end in np.quantile(halves, TAILS))


def _halves(draws: Array, n_chains: int) -> Array:
    """Each chain as two: one that drifts does not agree with itself."""
    chains = np.asarray(draws, dtype=float).reshape(n_chains, -1)
    n = chains.shape[1] // 2
    return np.concatenate([chains[:, :n], chains[:, n : 2 * n]])


def _normal_scores(halves: Array) -> Array:
    """Normal quantiles of the ranks (Blom's); equal draws share their average rank."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    if np.ptp(halves) == 0:
        return halves
    rank = rankdata(halves).reshape(halves.shape)
    return np.asarray(ndtri((rank - 0.375) / (halves.size + 0.25)))


def _variances(halves: Array) -> tuple[float, float]:
    """Within chains, and of all draws together."""
    n = halves.shape[1]
    within = float(halves.var(axis=1, ddof=1).mean())
    return within, within * (n - 1) / n + float(halves.mean(axis=1).var(ddof=1))


def _rhat(halves: Array) -> float:
    within, total = _variances(halves)
    if within <= 1e-20 * total or total == 0:  # no chain moves
        return 1.0 if np.ptp(halves) == 0 else float("inf")
    return float(np.sqrt(total / within))


def _size(halves: Array) -> float:
    """Number of draws over their autocorrelation time, by Geyer's initial monotone sequence."""
    m, n = halves.shape
    within, total = _variances(halves)
    if total <= 0:
        return float(m * n)
    centred = halves - halves.mean(axis=1, keepdims=True)
    width = 1 << (2 * n - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, width, axis=1)) ** 2
    autocovariance = np.fft.irfft(spectrum, width, axis=1)[:, :n].mean(axis=0) / (n - 1)
    rho = 1 - (within - autocovariance) / total
    rho[0] = 1.0
    # sums of neighbours are positive and fall: the first that is not positive is noise and ends the
    # series
    pairs = rho[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    rest = max(float(rho[2 * stop]), 0.0) if 2 * stop < n else 0.0
    time = 2 * np.minimum.accumulate(pairs[:stop]).sum() - 1 + rest
    return float(m * n / max(time, 1 / np.log10(m * n)))
