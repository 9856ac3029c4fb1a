"""Compiled sampling of the link, in the coordinates (λ, b, u): Laplace for each component of the level's prior as a heavy-tailed proposal,
exact importance weights, systematic resampling."""

from __future__ import annotations

import math

import numba
import numpy as np

FREEDOM = 8.0
WIDE = 2.5  # a fifth of the proposals are this much wider, so that no corner is missed


@numba.njit(cache=True)
def _level(matrix, share, beta, gradient):  # type: ignore[no-untyped-def]
    """λ(β) = logit of the mean chance over all items, and its gradient."""
    mean = 0.0
    gradient[:] = 0.0
    for g in range(matrix.shape[0]):
        eta = 0.0
        for k in range(matrix.shape[1]):
            eta += matrix[g, k] * beta[k]
        p = 1 / (1 + math.exp(-eta))
        mean += share[g] * p
        weight = share[g] * p * (1 - p)
        for k in range(matrix.shape[1]):
            gradient[k] += weight * matrix[g, k]
    mean = min(max(mean, 1e-9), 1 - 1e-9)
    for k in range(matrix.shape[1]):
        gradient[k] /= mean * (1 - mean)
    return math.log(mean / (1 - mean))


@numba.njit(cache=True)
def _log_likelihood(matrix, size, right, beta):  # type: ignore[no-untyped-def]
    total = 0.0
    for g in range(matrix.shape[0]):
        if size[g] > 0:
            eta = 0.0
            for k in range(matrix.shape[1]):
                eta += matrix[g, k] * beta[k]
            total += right[g] * eta - size[g] * (math.log1p(math.exp(-abs(eta))) + max(eta, 0.0))
    return total


@numba.njit(cache=True)
def _mode(matrix, share, size, right, mean, precision, centre, variance, beta):  # type: ignore[no-untyped-def]
    """Gauss-Newton for the gold's likelihood, the level's prior and that of slope and effects."""
    p = matrix.shape[1]
    gradient = np.empty(p)
    hessian = np.zeros((p, p))
    for iteration in range(60):
        level = _level(matrix, share, beta, gradient)
        slope = np.empty(p)
        hessian[:] = 0.0
        for k in range(p):
            slope[k] = (
                -precision[k] * (beta[k] - mean[k]) - (level - centre) / variance * gradient[k]
            )
            hessian[k, k] = precision[k]
        for k in range(p):
            for q in range(p):
                hessian[k, q] += gradient[k] * gradient[q] / variance
        for g in range(matrix.shape[0]):
            if size[g] > 0:
                eta = 0.0
                for k in range(p):
                    eta += matrix[g, k] * beta[k]
                chance = 1 / (1 + math.exp(-eta))
                surprise, weight = right[g] - size[g] * chance, size[g] * chance * (1 - chance)
                for k in range(p):
                    slope[k] += matrix[g, k] * surprise
                    for q in range(p):
                        hessian[k, q] += weight * matrix[g, k] * matrix[g, q]
        step = np.linalg.solve(hessian, slope)
        largest = np.abs(step).max()
        if largest > 1.5:
            step *= 1.5 / largest
        if iteration > 20:
            step *= 0.5
        beta = beta + step
        if largest < 1e-3:
            break
    return beta, hessian


@numba.njit(cache=True)
def _solve_intercept(matrix, share, beta, level, eta):  # type: ignore[no-untyped-def]
    """The intercept for which the mean chance is expit(level), the other coefficients given; the share wrong is bisected."""
    highest, lowest = -1e300, 1e300
    for g in range(matrix.shape[0]):
        eta[g] = 0.0
        for k in range(1, matrix.shape[1]):
            eta[g] += matrix[g, k] * beta[k]
        highest, lowest = max(highest, eta[g]), min(lowest, eta[g])
    low, high = level - highest - 1e-9, level - lowest + 1e-9
    wrong = 1 / (1 + math.exp(level))
    for _ in range(60):
        middle = 0.5 * (low + high)
        total = 0.0
        for g in range(matrix.shape[0]):
            total += share[g] / (1 + math.exp(middle + eta[g]))
        if total > wrong:
            low = middle
        else:
            high = middle
        if high - low < 1e-5:
            break
    return 0.5 * (low + high)


@numba.njit(cache=True)
def _component(cumulative, u):  # type: ignore[no-untyped-def]
    q = 0
    while q < len(cumulative) - 1 and cumulative[q] < u:
        q += 1
    return q


@numba.njit(cache=True)
def prior_draws(  # type: ignore[no-untyped-def]
    matrix, share, mean, precision, centre, variances, slope_factors, weights, n_draws, seed
):
    """No gold: component, λ, slope and effects from the prior, then the intercept that gives that λ."""
    np.random.seed(seed)
    p = matrix.shape[1]
    cumulative, eta = np.cumsum(weights), np.empty(matrix.shape[0])
    out = np.zeros((n_draws, p))
    for d in range(n_draws):
        q = _component(cumulative, (d + np.random.random()) / n_draws)
        level = centre + math.sqrt(variances[q]) * np.random.standard_normal()
        for k in range(1, p):
            spread = math.sqrt(slope_factors[q] if k == 1 else 1.0)
            out[d, k] = mean[k] + np.random.standard_normal() / math.sqrt(precision[k]) * spread
        out[d, 0] = _solve_intercept(matrix, share, out[d], min(max(level, -25.0), 25.0), eta)
    return out


@numba.njit(cache=True)
def _log_prior(beta, mean, precision, level, centre, variance, factor):  # type: ignore[no-untyped-def]
    total = -0.5 * (level - centre) ** 2 / variance - 0.5 * math.log(variance * factor)
    for k in range(1, len(beta)):
        total -= 0.5 * (beta[k] - mean[k]) ** 2 * precision[k] / (factor if k == 1 else 1.0)
    return total


@numba.njit(cache=True)
def _proposals(matrix, share, mean, precision, centre, variances, factors, weights, size, right):  # type: ignore[no-untyped-def]
    """For each component: mode in (λ, b, u), Cholesky factor of the curvature there, its log determinant, Laplace evidence."""
    n, p = len(variances), matrix.shape[1]
    modes, factorised = np.empty((n, p)), np.empty((n, p, p))
    evidence, determinant = np.empty(n), np.empty(n)
    gradient, beta = np.empty(p), mean.copy()
    for q in range(n):
        adjusted = precision.copy()
        adjusted[1] /= factors[q]  # an odd level allows an odd slope
        beta, hessian = _mode(
            matrix, share, size, right, mean, adjusted, centre, variances[q], beta
        )
        level = _level(matrix, share, beta, gradient)
        change = np.eye(p)
        change[0, 0] = 1 / gradient[0]
        for k in range(1, p):
            change[0, k] = -gradient[k] / gradient[0]
        lower = np.linalg.cholesky(change.T @ hessian @ change)
        determinant[q] = 0.0
        for k in range(p):
            determinant[q] += 2 * math.log(lower[k, k])
        prior = _log_prior(beta, mean, precision, level, centre, variances[q], factors[q])
        evidence[q] = (
            math.log(weights[q])
            + _log_likelihood(matrix, size, right, beta)
            + prior
            - 0.5 * determinant[q]
        )
        modes[q] = beta
        modes[q, 0] = level
        factorised[q] = lower
    return modes, factorised, determinant, evidence


@numba.njit(cache=True)
def posterior_draws(  # type: ignore[no-untyped-def]
    matrix, share, mean, precision, centre, variances, factors, weights, size, right, n_draws, seed
):
    """Draws given gold, and their effective number."""
    np.random.seed(seed)
    p = matrix.shape[1]
    modes, factorised, determinant, evidence = _proposals(
        matrix, share, mean, precision, centre, variances, factors, weights, size, right
    )
    mixed = np.exp(evidence - evidence.max())
    mixed = 0.9 * mixed / mixed.sum() + 0.1 * weights / weights.sum()  # never drop a component
    cumulative, eta = np.cumsum(mixed), np.empty(matrix.shape[0])
    drawn, log_weight = np.empty((n_draws, p)), np.empty(n_draws)
    for d in range(n_draws):
        q = _component(cumulative, (d + np.random.random()) / n_draws)
        stretch = math.sqrt(FREEDOM / np.random.chisquare(FREEDOM))
        if np.random.random() < 0.2:
            stretch *= WIDE
        x, square = np.empty(p), 0.0
        for k in range(p):
            z = np.random.standard_normal()
            square += z * z
            x[k] = z * stretch
        lower = factorised[q]
        for k in range(p - 1, -1, -1):
            for other in range(k + 1, p):
                x[k] -= lower[other, k] * x[other]
            x[k] /= lower[k, k]
        beta = modes[q] + x
        level = min(max(beta[0], -25.0), 25.0)
        beta[0] = _solve_intercept(matrix, share, beta, level, eta)
        target = math.log(weights[q]) + _log_likelihood(matrix, size, right, beta)
        target += _log_prior(beta, mean, precision, level, centre, variances[q], factors[q])
        radius = stretch * stretch * square
        near = (1 + radius / FREEDOM) ** (-0.5 * (FREEDOM + p))
        far = (1 + radius / (WIDE * WIDE * FREEDOM)) ** (-0.5 * (FREEDOM + p)) * WIDE ** (-p)
        proposal = math.log(mixed[q]) + 0.5 * determinant[q] + math.log(0.8 * near + 0.2 * far)
        drawn[d] = beta
        log_weight[d] = target - proposal
    share_of = np.exp(log_weight - log_weight.max())
    share_of /= share_of.sum()
    effective = 1 / (share_of * share_of).sum()
    out, reached, j, offset = np.empty((n_draws, p)), np.cumsum(share_of), 0, np.random.random()
    for d in range(n_draws):
        while j < n_draws - 1 and reached[j] < (d + offset) / n_draws:
            j += 1
        out[d] = drawn[j]
    return out, effective
