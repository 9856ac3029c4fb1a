"""P(positive | score) as a smooth curve, learned from labels of known noise.

On the logit scale the curve is a line plus a Gaussian process in the normal score of the rank, so
nothing depends on the units of the score. The slope has a Student t prior with two degrees of
freedom: most classifiers are moderate, some are nearly perfect. Separate rates of ten bins under a
flat Dirichlet prior pull every bin towards the average: intervals of the AUC held the truth of a
strong classifier 10 times in 100 (studies/auc_coverage.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.randomness import generator

CHAINS = 64  # side by side, so that a step of all of them is one line of numpy
_LEVEL, _SLOPE, _BEND, _REACH, _BENDS = 3.0, 1.5, 1.0, 1.0, 5
_STEPS, _WORK = 20_000, 50_000_000  # of all chains together: steps, and steps × groups
_BURN = (20, 100)  # steps of each chain that are thrown away, fewest and most
_TAIL = 6.0


def sample_logits(
    evidence: Array, cell: Array, size: Array, *, prior: Array | None, n_draws: int, seed: int
) -> Array:
    """Draws of the log-odds of the positive class in each cell of scores (rising), draws × cells.

    ``evidence`` is log p(labels | truth) by group (columns: negative, positive). A known class
    ``prior`` says that the curve averages to it, up to which scores happened to be drawn.
    """
    n_cells = int(cell.max()) + 1
    count = np.bincount(cell, weights=size, minlength=n_cells)
    basis = curve_basis(count)
    share = None if prior is None else float(prior[1])
    curve = CurvePosterior(np.exp(evidence), cell, size.astype(float), basis, count, share)
    keep = -(-n_draws // CHAINS)
    # with many items the posterior is close to its approximation, and the chains need fewer steps
    thin = max(1, min(_STEPS, _WORK // len(cell)) // (CHAINS * keep))
    burn = int(np.clip(_WORK // len(cell) // CHAINS, *_BURN))
    return _chains(curve, keep, thin, burn, generator(seed, "curve of the score")) @ basis.T


@dataclass(frozen=True, eq=False)
class CurvePosterior:
    """What the coefficients of a curve are judged by; ``weight`` is p(labels | truth) by group."""

    weight: Array
    cell: Array
    size: Array
    basis: Array
    count: Array
    share: float | None

    def chance(self, beta: Array) -> Array:
        """Of the positive class in each cell, curves × cells."""
        return np.asarray(1 / (1 + np.exp(-np.clip(beta @ self.basis.T, -30, 30))))

    def log_posterior(self, beta: Array) -> Array:
        """Of each of several curves (rows of ``beta``)."""
        chance, slope = self.chance(beta), beta[:, 1] ** 2
        total = -0.5 * (beta**2).sum(axis=1) + 0.5 * slope - 1.5 * np.log1p(slope)
        p = np.take(chance, self.cell, axis=1)
        labels = (1 - p) * self.weight[:, 0]
        p *= self.weight[:, 1]
        labels += p
        labels += 1e-300
        total += np.log(labels, out=labels) @ self.size
        if self.share is not None:
            n = self.count.sum()
            mean = chance @ self.count / n
            spread = (chance - mean[:, None]) ** 2 @ self.count / n**2 + mean * (1 - mean) / n**2
            total -= 0.5 * (mean - self.share) ** 2 / spread
        return np.asarray(total)

    def approximate(self) -> tuple[Array, Array]:
        """The mode by Fisher scoring, and a root of the inverse information there: the scale of
        the chains' steps.
        """
        basis, cell, weight, n_cells = self.basis, self.cell, self.weight, len(self.basis)
        beta = np.zeros(basis.shape[1])
        best = self.log_posterior(beta[None])[0]
        information = np.eye(len(beta))
        for _ in range(50):
            chance = self.chance(beta)[cell]
            positive = chance * weight[:, 1]
            slope = positive / (positive + (1 - chance) * weight[:, 0]) - chance
            pull = np.bincount(cell, weights=self.size * slope, minlength=n_cells)
            square = np.bincount(cell, weights=self.size * slope**2, minlength=n_cells)
            information = basis.T @ (square[:, None] * basis) + np.eye(len(beta))
            step = np.linalg.solve(information, basis.T @ pull - beta)
            while np.abs(step).max() > 1e-4:
                value = self.log_posterior((beta + step)[None])[0]
                if value > best:
                    break
                step /= 2
            else:
                break
            beta, best = beta + step, value
        return beta, np.linalg.cholesky(np.linalg.inv(information))


def curve_basis(count: Array) -> Array:
    """Cells × functions, coefficients standard normal but the slope's: level, slope, and the
    leading shapes of a Gaussian process.
    """
    from scipy.special import ndtri

    x = ndtri((np.cumsum(count) - count / 2) / count.sum())
    kernel = _BEND**2 * np.exp(-0.5 * ((x[:, None] - x) / _REACH) ** 2)
    values, vectors = np.linalg.eigh(kernel)
    bends = vectors[:, ::-1][:, :_BENDS] * np.sqrt(np.maximum(values[::-1][:_BENDS], 0))
    return np.column_stack([np.full(len(x), _LEVEL), _SLOPE * x, bends])


def _chains(
    curve: CurvePosterior, keep: int, thin: int, burn: int, rng: np.random.Generator
) -> Array:
    """Coefficients, chain after chain. Steps by turns: anew from a heavy-tailed copy of the
    approximation, and a little way from where the chain is.
    """
    mode, root = curve.approximate()
    d = len(mode)
    kept = np.empty((CHAINS, keep, d))
    z = rng.standard_normal((CHAINS, d))
    value = curve.log_posterior(mode + z @ root.T)
    scale = 1.5 / np.sqrt(d)
    for step in range(burn + keep * thin):
        new, balance = rng.standard_normal((CHAINS, d)), np.zeros(CHAINS)
        if step % 2 == 0:
            new /= np.sqrt(rng.chisquare(_TAIL, CHAINS) / _TAIL)[:, None]
            balance = (_TAIL + d) / 2 * (_log_tail(new) - _log_tail(z))
        else:
            new = z + scale * new
        proposed = curve.log_posterior(mode + new @ root.T)
        taken = np.log(rng.random(CHAINS)) < proposed - value + balance
        z, value = np.where(taken[:, None], new, z), np.where(taken, proposed, value)
        if step >= burn and (step - burn) % thin == thin - 1:
            kept[:, (step - burn) // thin] = mode + z @ root.T
    return kept.reshape(-1, d)


def _log_tail(z: Array) -> Array:
    return np.log1p((z**2).sum(axis=1) / _TAIL)
