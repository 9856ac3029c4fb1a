"""One sweep's draws of what labelers have: rows, the pool they come from, coins; and what their next label would be."""

from __future__ import annotations

import math

import numba
import numpy as np

from truthing.truth.consensus import CONCENTRATIONS
from truthing.truth.samplers.known import _dirichlet

FIXED, POOLED, COIN, SHARED, OWN = range(5)
GRID = 33
LEAST = 1e-30  # what was said to be impossible happened: the least impossible wins


@numba.njit(cache=True)
def update_rows(  # type: ignore[no-untyped-def]
    tally, kind, table, pool, concentration, coin_mean, coin_weight, low, high, n_strata, rows
):
    n_labelers, n_states, n_classes = tally.shape
    alpha = np.empty(n_classes)
    shared_right, shared_wrong = 0.0, 0.0
    for t in range(n_labelers):
        if kind[t] == POOLED or kind[t] == OWN:
            for s in range(n_states):
                for k in range(n_classes):
                    alpha[k] = tally[t, s, k] + (
                        concentration * pool[s, k] if kind[t] == POOLED else table[t, s, k]
                    )
                _dirichlet(alpha, rows[t, s])
        elif kind[t] == COIN or kind[t] == SHARED:
            right, wrong = 0.0, 0.0
            for s in range(n_states):
                for k in range(n_classes):
                    if k == s // n_strata:
                        right += tally[t, s, k]
                    else:
                        wrong += tally[t, s, k]
            if kind[t] == SHARED:
                shared_right += right
                shared_wrong += wrong
            else:
                p = np.random.beta(
                    coin_weight * coin_mean + right, coin_weight * (1 - coin_mean) + wrong
                )
                _set_coin(rows[t], p, n_strata)
    if shared_right + shared_wrong > 0:
        score = np.empty(GRID)
        for g in range(GRID):
            rate = min(max(low + (high - low) * (g + 0.5) / GRID, 1e-6), 1 - 1e-6)
            score[g] = shared_wrong * math.log(rate) + shared_right * math.log(1 - rate)
        weight = np.cumsum(np.exp(score - score.max()))
        g = min(np.searchsorted(weight, np.random.random() * weight[-1]), GRID - 1)
        rate = low + (high - low) * (g + np.random.random()) / GRID
        for t in range(n_labelers):
            if kind[t] == SHARED:
                _set_coin(rows[t], 1 - rate, n_strata)


@numba.njit(cache=True)
def _set_coin(row, right, n_strata):  # type: ignore[no-untyped-def]
    n_states, n_classes = row.shape
    for s in range(n_states):
        for k in range(n_classes):
            row[s, k] = right if k == s // n_strata else (1 - right) / max(n_classes - 1, 1)


@numba.njit(cache=True)
def update_pool(tally, kind, base, pool, concentration):  # type: ignore[no-untyped-def]
    """The pool given the counts: table counts of a Chinese restaurant, then a Dirichlet; κ from a grid.

    In every stratum the average labeler says the true class most often: without that rule hard strata of two classes could change places.
    """
    n_labelers, n_states, n_classes = tally.shape
    alpha, drawn = np.empty(n_classes), np.empty(n_classes)
    for s in range(n_states):
        for k in range(n_classes):
            alpha[k] = base[s, k]
            weight = concentration * pool[s, k]
            for t in range(n_labelers):
                if kind[t] == POOLED:
                    for n in range(int(tally[t, s, k])):
                        if np.random.random() * (weight + n) < weight:
                            alpha[k] += 1
        _dirichlet(alpha, drawn)
        # refusing a draw that breaks the rule is a Metropolis step: the old row stays
        if n_states == n_classes or drawn.argmax() == s * n_classes // n_states:
            pool[s] = np.maximum(drawn, 1e-9)
    score = -0.5 * np.log(CONCENTRATIONS / 8) ** 2
    for j in range(len(CONCENTRATIONS)):
        value = CONCENTRATIONS[j]
        for t in range(n_labelers):
            if kind[t] == POOLED:
                for s in range(n_states):
                    for k in range(n_classes):
                        score[j] += _log_rising(value * pool[s, k], tally[t, s, k])
                    score[j] -= _log_rising(value, tally[t, s].sum())
    weight = np.cumsum(np.exp(score - score.max()))
    return CONCENTRATIONS[
        min(np.searchsorted(weight, np.random.random() * weight[-1]), len(CONCENTRATIONS) - 1)
    ]


@numba.njit(cache=True)
def _log_rising(alpha, n):  # type: ignore[no-untyped-def]
    """log Γ(α + n)/Γ(α); most labelers have few labels in a state, where a product is faster than two gamma functions."""
    if n == 0:
        return 0.0
    if n > 20:
        return math.lgamma(alpha + n) - math.lgamma(alpha)
    product = alpha
    for j in range(1, int(n)):
        product *= alpha + j
    return math.log(product)


@numba.njit(cache=True)
def coin_pool(tally, kind, n_strata, mean, weight):  # type: ignore[no-untyped-def]
    """Pool of one-coin accuracies: mean and weight by a few Metropolis steps on the beta-binomial likelihood."""
    n_labelers, n_states, n_classes = tally.shape
    right, wrong = np.zeros(n_labelers), np.zeros(n_labelers)
    for t in range(n_labelers):
        if kind[t] == COIN:
            for s in range(n_states):
                for k in range(n_classes):
                    if k == s // n_strata:
                        right[t] += tally[t, s, k]
                    else:
                        wrong[t] += tally[t, s, k]
    for _ in range(3):
        odds = math.log(mean / (1 - mean)) + 0.5 * np.random.standard_normal()
        new_mean = 1 / (1 + math.exp(-odds))
        new_weight = weight * math.exp(0.7 * np.random.standard_normal())
        change = _coin_score(right, wrong, new_mean, new_weight) - _coin_score(
            right, wrong, mean, weight
        )
        if math.log(np.random.random()) < change:
            mean, weight = new_mean, new_weight
    return mean, weight


@numba.njit(cache=True)
def _coin_score(right, wrong, mean, weight):  # type: ignore[no-untyped-def]
    a, b = weight * mean, weight * (1 - mean)
    # Beta(7, 3) on the mean (with the Jacobian of the logit walk) and a lognormal around 8 on the weight
    score = 7 * math.log(mean) + 3 * math.log(1 - mean) - 0.5 * math.log(weight / 8) ** 2
    for t in range(len(right)):
        if right[t] + wrong[t] > 0:
            score += (
                math.lgamma(a + right[t])
                - math.lgamma(a)
                + math.lgamma(b + wrong[t])
                - math.lgamma(b)
            )
            score += math.lgamma(a + b) - math.lgamma(a + b + right[t] + wrong[t])
    return score


@numba.njit(cache=True)
def predictive(kind, table, pool, concentration, rows, learns, alpha, weight):  # type: ignore[no-untyped-def]
    """Pseudo-counts of each labeler's next label; rows that are not Dirichlet are taken as they are and learn nothing from the tally."""
    for t in range(len(kind)):
        learns[t] = 1.0 if kind[t] == POOLED or kind[t] == OWN else 0.0
        for s in range(alpha.shape[1]):
            weight[t, s] = 0.0
            for k in range(alpha.shape[2]):
                if kind[t] == POOLED:
                    alpha[t, s, k] = concentration * pool[s, k]
                else:
                    alpha[t, s, k] = table[t, s, k] if kind[t] == OWN else max(rows[t, s, k], LEAST)
                weight[t, s] += alpha[t, s, k]
