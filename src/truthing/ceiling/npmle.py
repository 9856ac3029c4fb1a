"""The most likely distribution of class probabilities behind votes, with no form assumed (Kiefer and Wolfowitz, on given points)."""

from __future__ import annotations

import numpy as np

from truthing.coding import Array

ROUNDS = 2000


def most_likely_weights(counts: Array, times: Array, points: Array) -> Array:
    """Weight of each point: EM from equal weights, so that where votes are silent the answer stays spread out.

    >>> points = np.array([[0.1, 0.9], [0.5, 0.5], [0.9, 0.1]])
    >>> most_likely_weights(np.array([[9, 1], [1, 9]]), np.array([50, 50]), points).round(2).tolist()
    [0.5, 0.0, 0.5]
    """
    alive = np.arange(len(points))
    log = counts @ np.log(np.maximum(points, 1e-300)).T
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    weight = np.full(len(points), 1 / len(points))
    share = times / times.sum()
    for turn in range(ROUNDS):
        new = weight * ((share / (chance @ weight)) @ chance)
        change = np.abs(new - weight).max()
        weight = new
        if change < 1e-8:
            break
        if turn % 50 == 49:  # points that faded away only cost time
            keep = weight > 1e-7 / len(points)
            alive, chance, weight = alive[keep], chance[:, keep], weight[keep] / weight[keep].sum()
    full = np.zeros(len(points))
    full[alive] = weight
    return full
