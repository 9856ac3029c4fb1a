"""Ranking of several systems: Bradley–Terry with ties (Davidson 1970), fitted to every draw of the
true outcomes.

P(i better than j) : P(j better) : P(tie) = e^{s_i} : e^{s_j} : ν e^{(s_i + s_j)/2}, Σ s = 0. Half a
win for each side of every pair that was compared keeps strengths finite where one always wins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truthing.class_codes import Array

HALF_WIN = 0.5
STEPS, NEAR = 100, 1e-8
CELLS = 2_000_000  # worked on at once


def connected(n_systems: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Groups of systems that comparisons join; one group: they can be ranked."""
    group = list(range(n_systems))
    for a, b in pairs:
        old, new = group[b], group[a]
        group = [new if g == old else g for g in group]
    return [[s for s in range(n_systems) if group[s] == g] for g in dict.fromkeys(group)]


def fit_davidson(
    counts: Array,
    pairs: Sequence[tuple[int, int]],
    n_systems: int,
    *,
    ties: bool | None = None,
) -> tuple[Array, Array]:
    """Strengths (draws × systems, mean 0) and log ν (draws; -inf without any tie).

    ``counts`` is draws × pairs × 3. Newton's method on many draws at once; the likelihood is
    concave in (s, log ν).

    >>> strength, _ = fit_davidson(np.array([[[60.0, 30.0, 10.0]]]), [(0, 1)], 2)
    >>> strength.round(2).tolist()
    [[0.34, -0.34]]
    """
    counts = np.asarray(counts, dtype=float)
    ties = bool((counts[:, :, 2] > 0).any()) if ties is None else ties
    rows = max(1, CELLS // (len(pairs) * 3 * (n_systems + 1)))
    if len(counts) > rows:
        pieces = range(0, len(counts), rows)
        parts = [fit_davidson(counts[i : i + rows], pairs, n_systems, ties=ties) for i in pieces]
        return np.concatenate([s for s, _ in parts]), np.concatenate([v for _, v in parts])
    wins = counts + np.array([HALF_WIN, HALF_WIN, HALF_WIN if ties else 0.0])
    n_draws, p = len(wins), n_systems + ties
    design = np.zeros((len(pairs), 3, p))  # log weight of each outcome is linear in (s, log ν)
    for k, (a, b) in enumerate(pairs):
        design[k, 0, a] = design[k, 1, b] = 1.0
        design[k, 2, [a, b]] = 0.5
        if ties:
            design[k, 2, -1] = 1.0
    total = wins.sum(axis=2)
    theta = np.zeros((n_draws, p))
    level = np.zeros((p, p))
    level[:n_systems, :n_systems] = 1.0  # fixes the sum of the strengths at 0
    for _ in range(STEPS):
        weight = np.einsum("kop,dp->dko", design, theta)
        if not ties:
            weight[:, :, 2] = -np.inf
        chance = np.exp(weight - weight.max(axis=2, keepdims=True))
        chance /= chance.sum(axis=2, keepdims=True)
        slope = np.einsum("dko,kop->dp", wins - total[:, :, None] * chance, design)
        mean = np.einsum("dko,kop->dkp", chance, design)
        second = np.einsum("dk,dko,kop,koq->dpq", total, chance, design, design, optimize=True)
        second -= np.einsum("dk,dkp,dkq->dpq", total, mean, mean, optimize=True)
        slope[:, :n_systems] -= theta[:, :n_systems].sum(axis=1, keepdims=True)
        step = np.linalg.solve(second + level, slope[:, :, None])[:, :, 0]
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=1), 1e-300))[:, None]
        theta = theta + step
        if np.abs(step).max() < NEAR:
            break
    strength = theta[:, :n_systems]
    strength = strength - strength.mean(axis=1, keepdims=True)
    return strength, theta[:, -1] if ties else np.full(n_draws, -np.inf)


def ranks(strength: Array, rng: np.random.Generator) -> Array:
    """1 is best, draws × systems; equal strengths are put in random order."""
    keys = np.stack([rng.random(strength.shape), -np.round(strength, 9)])
    order = np.lexsort(keys, axis=1)
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(1, strength.shape[1] + 1)[None, :], axis=1)
    return place
