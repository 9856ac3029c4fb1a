"""The most likely distribution of class probabilities behind votes, with no form assumed (Kiefer
and Wolfowitz, on given points).
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array

ROUNDS = 1000
CLOSE = 0.1


def most_likely_weights(counts: Array, times: Array, points: Array) -> Array:
    """Weight of each point: EM from equal weights, stopped at the first round as likely as the last
    within a tenth of a log unit.

    The end of EM is a few spikes, which the data do not demand; where votes are silent the early
    rounds stay spread out.

    >>> points = np.array([[0.1, 0.9], [0.5, 0.5], [0.9, 0.1]])
    >>> most_likely_weights(np.array([[9, 1], [1, 9]]), np.array([50, 50]),
    ...     points).round(2).tolist()
    [0.5, 0.0, 0.5]
    """
    log = counts @ np.log(np.maximum(points, 1e-300)).T
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    weight = np.full(len(points), 1 / len(points))
    alive = np.arange(len(points))
    rounds: list[tuple[float, Array, Array]] = []
    likelihood = -np.inf
    for turn in range(ROUNDS):
        fitted = chance @ weight
        before, likelihood = likelihood, float(times @ np.log(fitted))
        rounds.append((likelihood, alive, weight))
        if likelihood - before < 1e-4:
            break
        weight = weight * ((times / times.sum() / fitted) @ chance)
        if turn % 50 == 49:  # points that faded away only cost time
            keep = weight > 1e-7 / len(points)
            alive, chance, weight = alive[keep], chance[:, keep], weight[keep] / weight[keep].sum()
    _, where, chosen = next(entry for entry in rounds if entry[0] >= rounds[-1][0] - CLOSE)
    full = np.zeros(len(points))
    full[where] = chosen
    return full
