"""Compiled sampling of the tilts of several classifiers (`link.models`) and of the truth given
them.
"""

from __future__ import annotations

import math

import numba
import numpy as np

# in units of accuracy: keeps tilts finite where the wanted levels are out of reach together
RIDGE = 0.004


@numba.njit(cache=True)
def _chances(beta, logs, guess, tilt, chance):  # type: ignore[no-untyped-def]
    """softmax over the classes of one group."""
    for c in range(len(chance)):
        chance[c] = beta[0] * logs[c]
    for j in range(len(guess)):
        chance[guess[j]] += beta[1 + tilt[j]]
    top, total = chance.max(), 0.0
    for c in range(len(chance)):
        chance[c] = math.exp(chance[c] - top)
        total += chance[c]
    for c in range(len(chance)):
        chance[c] /= total


@numba.njit(cache=True)
def _tilt(mean, root, n_models, multiple, slope_multiple, z, beta):  # type: ignore[no-untyped-def]
    for p in range(len(mean)):
        slope, levels, effects = root[p, 0] * z[0], 0.0, 0.0
        for k in range(1, 1 + n_models):
            levels += root[p, k] * z[k]
        for k in range(1 + n_models, len(z)):
            effects += root[p, k] * z[k]
        beta[p] = (
            mean[p] + math.sqrt(slope_multiple) * slope + math.sqrt(multiple) * levels + effects
        )


@numba.njit(cache=True, parallel=True)
def settle_levels(beta, owner, logs, guess, tilt, share, wanted):  # type: ignore[no-untyped-def]
    """Tilts of each draw shifted until every classifier is right on its ``wanted`` share."""
    for d in numba.prange(len(beta)):
        _settle(beta[d], owner, logs, guess, tilt, share, wanted[d])


@numba.njit(cache=True)
def _settle(beta, owner, logs, guess, tilt, share, wanted):  # type: ignore[no-untyped-def]
    """Newton for the shifts of the tilts (``owner`` says whose; -1: nobody's) at which every
    owner is right on the ``wanted`` share, or as near as can be.
    """
    n, chance = len(wanted), np.empty(logs.shape[1])
    shift = np.zeros(n)
    for _ in range(30):
        slope, gain = wanted - RIDGE * shift, RIDGE * np.eye(n)
        for g in range(len(share)):
            _chances(beta, logs[g], guess[g], tilt[g], chance)
            for j in range(guess.shape[1]):
                p, q = chance[guess[g, j]], owner[1 + tilt[g, j]]
                if q < 0:
                    break
                slope[q] -= share[g] * p
                for k in range(j + 1):
                    both = p if guess[g, k] == guess[g, j] else 0.0
                    gain[q, owner[1 + tilt[g, k]]] += share[g] * (both - p * chance[guess[g, k]])
        for q in range(n):
            for r in range(q):
                gain[r, q] = gain[q, r]
        step = np.linalg.solve(gain, slope)
        largest = np.abs(step).max()
        if largest > 1.5:
            step *= 1.5 / largest
        shift += step
        for p in range(1, len(beta)):
            if owner[p] >= 0:
                beta[p] += step[owner[p]]
        if largest < 1e-3:
            break


@numba.njit(cache=True, parallel=True)
def settle_scores(beta, n_tilts, logs, guess, tilt):  # type: ignore[no-untyped-def]
    """What scores say must not move how often a classifier is right in each of its classes:
    tilts are shifted until that is as it was without them.
    """
    n_items, n_models = len(guess), guess.shape[1] // 2
    owner = np.full(beta.shape[1], -1)
    owner[1 : 1 + n_tilts] = np.arange(n_tilts)
    share = np.full(n_items, 1 / n_items)
    for d in numba.prange(len(beta)):
        wanted, chance = np.zeros(n_tilts), np.empty(logs.shape[1])
        for i in range(n_items):
            _chances(beta[d], logs[i], guess[i, :n_models], tilt[i, :n_models], chance)
            for j in range(n_models):
                wanted[tilt[i, j]] += share[i] * chance[guess[i, j]]
        _settle(beta[d], owner, logs, guess, tilt, share, wanted)


@numba.njit(cache=True)
def _score(beta, logs, guess, tilt, truth, weight):  # type: ignore[no-untyped-def]
    """Log-likelihood of gold."""
    total, chance = 0.0, np.empty(logs.shape[1])
    for i in range(len(truth)):
        _chances(beta, logs[i], guess[i], tilt[i], chance)
        total += weight[i] * math.log(max(chance[truth[i]], 1e-300))
    return total


@numba.njit(cache=True)
def posterior_tilts(  # type: ignore[no-untyped-def]
    mean,
    root,
    n_models,
    multiples,
    slope_multiples,
    weights,
    logs,
    guess,
    tilt,
    truth,
    weight,
    n_draws,
    thin,
    burn,
    seed,
):
    """Gold: elliptical slice sampling of z, and the heavy-tail component by its exact
    conditional.
    """
    np.random.seed(seed)
    n = root.shape[1]
    z, other, new = np.zeros(n), np.empty(n), np.empty(n)
    out, beta, logs_of = np.empty((n_draws, len(mean))), np.empty(len(mean)), np.empty(len(weights))
    for step in range(burn + n_draws * thin):
        for q in range(len(weights)):
            _tilt(mean, root, n_models, multiples[q], slope_multiples[q], z, beta)
            logs_of[q] = math.log(weights[q]) + _score(beta, logs, guess, tilt, truth, weight)
        reach = np.cumsum(np.exp(logs_of - logs_of.max()))
        component = min(np.searchsorted(reach, np.random.random() * reach[-1]), len(weights) - 1)
        for k in range(n):
            other[k] = np.random.standard_normal()
        bar = logs_of[component] - math.log(weights[component]) + math.log(np.random.random())
        angle = np.random.random() * 2 * math.pi
        low, high = angle - 2 * math.pi, angle
        while True:
            for k in range(n):
                new[k] = z[k] * math.cos(angle) + other[k] * math.sin(angle)
            _tilt(mean, root, n_models, multiples[component], slope_multiples[component], new, beta)
            if _score(beta, logs, guess, tilt, truth, weight) > bar or high - low < 1e-9:
                break
            if angle < 0:
                low = angle
            else:
                high = angle
            angle = low + np.random.random() * (high - low)
        z[:] = new
        if step >= burn and (step - burn) % thin == 0:
            out[(step - burn) // thin] = beta
    return out


@numba.njit(cache=True, parallel=True)
def truths(tilts, logs, guess, tilt, member, gold, seed, out):  # type: ignore[no-untyped-def]
    """One answer key for each draw; the seed belongs to the draw, so threads do not matter."""
    n_groups, n_classes = logs.shape
    for d in numba.prange(len(tilts)):
        np.random.seed(seed + d)
        reach = np.empty((n_groups, n_classes))
        for g in range(n_groups):
            _chances(tilts[d], logs[g], guess[g], tilt[g], reach[g])
            for c in range(1, n_classes):
                reach[g, c] += reach[g, c - 1]
        for i in range(len(member)):
            c = gold[i]
            if c < 0:
                c, u = 0, np.random.random()
                while c < n_classes - 1 and reach[member[i], c] <= u:
                    c += 1
            out[d, i] = c
