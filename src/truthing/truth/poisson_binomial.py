"""The exact distribution of a sum of independent Bernoulli variables, by divide and conquer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array

_BLOCK = 64
_NEGLIGIBLE = 1e-17


@dataclass(frozen=True)
class Counts:
    """A distribution on the whole numbers ``start``, ``start`` + 1, …"""

    start: int
    mass: Array

    @property
    def support(self) -> Array:
        return self.start + np.arange(len(self.mass))

    def trimmed(self, tail: float = _NEGLIGIBLE) -> Counts:
        """Without ends whose mass is negligible."""
        kept = np.flatnonzero(self.mass > tail * self.mass.max())
        return Counts(self.start + int(kept[0]), self.mass[kept[0] : kept[-1] + 1])

    def plus(self, other: Counts) -> Counts:
        """The sum of two independent counts."""
        return Counts(self.start + other.start, _convolve(self.mass, other.mass)).trimmed()

    def mirrored(self, total: int) -> Counts:
        """The distribution of ``total`` minus the count."""
        return Counts(total - self.start - len(self.mass) + 1, self.mass[::-1])


def poisson_binomial(probability: Array, size: Array | None = None) -> Counts:
    """Number of successes among independent trials; ``size`` trials share each probability.

    >>> poisson_binomial(np.array([0.5, 0.5])).mass.tolist()
    [0.25, 0.5, 0.25]
    """
    probability = np.asarray(probability, dtype=float)
    size = (
        np.ones(len(probability), dtype=np.int64)
        if size is None
        else np.asarray(size, dtype=np.int64)
    )
    certain = int(size[probability >= 1].sum())
    random = (probability > 0) & (probability < 1) & (size > 0)
    probability, size = probability[random], size[random]
    large = size > 4 * _BLOCK
    parts = [_bernoullis(np.repeat(probability[~large], size[~large]))]
    parts += [_binomial(int(n), float(p)) for n, p in zip(size[large], probability[large])]
    parts.sort(key=lambda part: len(part.mass))
    while len(parts) > 1:  # smallest with smallest keeps the transforms short
        merged = [a.plus(b) for a, b in zip(parts[::2], parts[1::2])]
        parts = merged + ([parts[-1]] if len(parts) % 2 else [])
    return Counts(parts[0].start + certain, parts[0].mass / parts[0].mass.sum())


def _bernoullis(probability: Array) -> Counts:
    n = len(probability)
    if n == 0:
        return Counts(0, np.ones(1))
    blocks = -(-n // _BLOCK)
    padded = np.pad(probability, (0, blocks * _BLOCK - n)).reshape(blocks, _BLOCK)
    mass = np.zeros((blocks, _BLOCK + 1))
    mass[:, 0] = 1.0
    for j in range(_BLOCK):  # the schoolbook recursion, on all blocks at once
        p = padded[:, j : j + 1]
        mass[:, 1:] = mass[:, 1:] * (1 - p) + mass[:, :-1] * p
        mass[:, 0] *= 1 - p[:, 0]
    while len(mass) > 1:
        if len(mass) % 2:
            rest = np.zeros_like(mass[:1])
            rest[0, 0] = 1.0
            mass = np.concatenate([mass, rest])
        mass = _convolve_rows(mass[::2], mass[1::2])
    return Counts(0, mass[0, : n + 1]).trimmed()


def _binomial(n: int, p: float) -> Counts:
    from scipy.special import gammaln, xlog1py, xlogy

    spread = 9 * np.sqrt(n * p * (1 - p)) + 40
    low, high = max(0, int(n * p - spread)), min(n, int(n * p + spread) + 1)
    k = np.arange(low, high + 1)
    log_mass = (
        gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p)
    )
    return Counts(low, np.exp(log_mass)).trimmed()


def _convolve(a: Array, b: Array) -> Array:
    if min(len(a), len(b)) <= 2 * _BLOCK:
        return np.convolve(a, b)
    return _convolve_rows(a[None], b[None])[0]


def _convolve_rows(a: Array, b: Array) -> Array:
    if a.shape[1] <= 2 * _BLOCK + 1 and len(a) == 1:
        return np.convolve(a[0], b[0])[None]
    from scipy.fft import irfft, next_fast_len, rfft

    width = a.shape[1] + b.shape[1] - 1
    fast = next_fast_len(width, real=True)
    product = irfft(rfft(a, fast, axis=1) * rfft(b, fast, axis=1), fast, axis=1)[:, :width]
    return np.maximum(product, 0.0)
