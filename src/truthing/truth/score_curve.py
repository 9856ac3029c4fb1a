"""P(positive | score) as a smooth curve, learned from labels of known noise.

On the logit scale the curve is a line plus a Gaussian process in the normal score of the rank, so
nothing depends on the units of the score. The slope has a Student t prior with two degrees of
freedom: most classifiers are moderate, some are nearly perfect. Separate rates of ten bins under a
flat Dirichlet prior pull every bin towards the average: intervals of the AUC held the truth of a
strong classifier 10 times in 100 (studies/auc_coverage.py).
"""

from __future__ import annotations

import numba
import numpy as np

from truthing.class_codes import Array

CHAINS = 4
_LEVEL, _SLOPE, _BEND, _REACH, _BENDS = 3.0, 1.5, 1.0, 1.0, 5
_STEPS, _WORK = 20_000, 50_000_000  # of all chains together: steps, and steps × groups
_TAIL = 6.0


def sample_logits(
    evidence: Array, cell: Array, size: Array, *, prior: Array | None, n_draws: int, seed: int
) -> Array:
    """Draws of the log-odds of the positive class in each cell of scores (rising), draws × cells.

    ``evidence`` is log p(labels | truth) by group (columns: negative, positive). A known class
    ``prior`` says that the curve averages to it, up to which scores happened to be drawn.
    """
    weight = np.exp(evidence)
    n_cells = int(cell.max()) + 1
    count = np.bincount(cell, weights=size, minlength=n_cells)
    basis = curve_basis(count)
    share = -1.0 if prior is None else float(prior[1])
    order = np.argsort(cell, kind="stable")
    data = (weight[order], cell[order], size[order].astype(float), basis, count, share)
    start, root = _approximate(*data)
    seeds = np.random.SeedSequence(seed).generate_state(CHAINS).astype(np.int64)
    keep = -(-n_draws // CHAINS)
    # with many items the posterior is close to its approximation, and the chains need fewer steps
    thin = max(1, min(_STEPS, _WORK // len(cell)) // (CHAINS * keep))
    chains = [_chain(*data, start, root, keep, thin, s) for s in seeds]
    return np.concatenate(chains) @ basis.T


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


@numba.njit(cache=True)
def _log_posterior(weight, cell, size, basis, count, share, beta):  # type: ignore[no-untyped-def]
    chance = 1 / (1 + np.exp(-np.minimum(np.maximum(basis @ beta, -30), 30)))
    total = -0.5 * (beta @ beta) + 0.5 * beta[1] ** 2 - 1.5 * np.log1p(beta[1] ** 2)
    for g in range(len(cell)):
        p = chance[cell[g]]
        total += size[g] * np.log((1 - p) * weight[g, 0] + p * weight[g, 1] + 1e-300)
    if share >= 0:
        n = count.sum()
        mean = (count @ chance) / n
        spread = (count @ (chance - mean) ** 2) / n**2 + mean * (1 - mean) / n**2
        total -= 0.5 * (mean - share) ** 2 / spread
    return total


def _approximate(
    weight: Array, cell: Array, size: Array, basis: Array, count: Array, share: float
) -> tuple[Array, Array]:
    """The mode by Fisher scoring, and a root of the inverse information there: the scale of the
    chains' steps.
    """
    beta = np.zeros(basis.shape[1])
    best = _log_posterior(weight, cell, size, basis, count, share, beta)
    information = np.eye(len(beta))
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(basis @ beta, -30, 30)))[cell]
        positive = chance * weight[:, 1]
        slope = positive / (positive + (1 - chance) * weight[:, 0]) - chance
        gradient = basis.T @ np.bincount(cell, weights=size * slope, minlength=len(basis)) - beta
        square = np.bincount(cell, weights=size * slope**2, minlength=len(basis))
        information = basis.T @ (square[:, None] * basis) + np.eye(len(beta))
        step = np.linalg.solve(information, gradient)
        while np.abs(step).max() > 1e-4:
            value = _log_posterior(weight, cell, size, basis, count, share, beta + step)
            if value > best:
                break
            step /= 2
        else:
            break
        beta, best = beta + step, value
    return beta, np.linalg.cholesky(np.linalg.inv(information))


@numba.njit(cache=True)
def _chain(weight, cell, size, basis, count, share, mode, root, keep, thin, seed):  # type: ignore[no-untyped-def]
    """Steps by turns: anew from a heavy-tailed copy of the approximation, and a little way from
    where the chain is.
    """
    np.random.seed(seed)
    d = len(mode)
    kept = np.empty((keep, d))
    z = np.random.standard_normal(d)
    value = _log_posterior(weight, cell, size, basis, count, share, mode + root @ z)
    scale, burn = 1.5 / np.sqrt(d), 400
    for step in range(burn + keep * thin):
        anew = step % 2 == 0
        if anew:
            new = np.random.standard_normal(d) / np.sqrt(np.random.chisquare(_TAIL) / _TAIL)
            balance = (_TAIL + d) / 2 * (np.log1p((new @ new) / _TAIL) - np.log1p((z @ z) / _TAIL))
        else:
            new = z + scale * np.random.standard_normal(d)
            balance = 0.0
        proposed = _log_posterior(weight, cell, size, basis, count, share, mode + root @ new)
        if np.log(np.random.random()) < proposed - value + balance:
            z, value = new, proposed
        if step >= burn and (step - burn) % thin == thin - 1:
            kept[(step - burn) // thin] = mode + root @ z
    return kept
