"""One sweep's draws of what labelers have: rows, the pool they come from, coins; and what their
next label would be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.truth.consensus import CONCENTRATIONS
from truthing.truth.samplers.draws import dirichlet, draw_from_logs

FIXED, POOLED, COIN, SHARED, OWN = range(5)
GRID = 33
POOL_WEIGHT = 10.0
LEAST = 1e-30  # what was said to be impossible happened: the least impossible wins
FIRST_POOLED = (8.0, 0.7, 8.0)  # labels that the pool is worth; mean and weight of the coins' pool


class LabelerTables(NamedTuple):
    """What is known about each labeler's rows: a kind for each, fixed tables or Dirichlet weights,
    the base of the pool, and the range of a shared rate.
    """

    kind: Array
    table: Array
    base: Array
    low: float
    high: float
    n_strata: int


class Pool(NamedTuple):
    """What labelers have in common: the pooled ``rows``, and ``shape``: their weight, and mean and
    weight of the coins.
    """

    rows: Array
    shape: Array


@dataclass(frozen=True, eq=False)
class RowModel:
    """What is known about each labeler's rows: a kind for each, fixed tables or Dirichlet weights,
    and the base of the pool.
    """

    kind: Array
    table: Array
    base: Array
    low: float = 0.0
    high: float = 1.0
    n_strata: int = 1

    @classmethod
    def learned(
        cls, n_labelers: int, n_classes: int, *, kind: int = POOLED, n_strata: int = 1
    ) -> RowModel:
        n_states = n_classes * n_strata
        return cls(
            np.full(n_labelers, kind),
            np.zeros((n_labelers, n_states, n_classes)),
            pool_base(n_classes, n_strata),
            n_strata=n_strata,
        )

    def tables(self) -> LabelerTables:
        """The same for compiled code."""
        return LabelerTables(
            self.kind.astype(np.int64),
            np.array(self.table, dtype=float, order="C"),
            np.array(self.base, dtype=float, order="C"),
            float(self.low),
            float(self.high),
            int(self.n_strata),
        )

    def pool(self) -> Pool:
        """Where the pool starts."""
        return Pool(self.base / POOL_WEIGHT, np.array(FIRST_POOLED))


def pool_base(n_classes: int, n_strata: int = 1) -> Array:
    """Prior of the pooled rows, in pseudo-labels: better than chance on average; harder strata less
    so.
    """
    right = [0.7] if n_strata == 1 else list(np.linspace(0.9, 0.55, n_strata))
    base = np.empty((n_classes * n_strata, n_classes))
    for c in range(n_classes):
        for s in range(n_strata):
            base[c * n_strata + s] = POOL_WEIGHT * (1 - right[s]) / max(n_classes - 1, 1)
            base[c * n_strata + s, c] = POOL_WEIGHT * right[s]
    return base


@njit
def update_rows(tally, tables, pool, rows):  # type: ignore[no-untyped-def]
    """Each labeler's rows given the counts of its labels in each state."""
    kind, n_strata = tables.kind, tables.n_strata
    n_labelers, n_states, n_classes = tally.shape
    concentration, coin_mean, coin_weight = pool.shape[0], pool.shape[1], pool.shape[2]
    alpha = np.empty(n_classes)
    shared_right, shared_wrong = 0.0, 0.0
    for t in range(n_labelers):
        if kind[t] == POOLED or kind[t] == OWN:
            for s in range(n_states):
                for k in range(n_classes):
                    alpha[k] = tally[t, s, k] + (
                        concentration * pool.rows[s, k]
                        if kind[t] == POOLED
                        else tables.table[t, s, k]
                    )
                dirichlet(alpha, rows[t, s])
        elif kind[t] == COIN or kind[t] == SHARED:
            right, wrong = _right_and_wrong(tally[t], n_strata)
            if kind[t] == SHARED:
                shared_right += right
                shared_wrong += wrong
            else:
                p = np.random.beta(
                    coin_weight * coin_mean + right, coin_weight * (1 - coin_mean) + wrong
                )
                _set_coin(rows[t], p, n_strata)
    if shared_right + shared_wrong > 0:
        rate = _shared_rate(shared_right, shared_wrong, tables.low, tables.high)
        for t in range(n_labelers):
            if kind[t] == SHARED:
                _set_coin(rows[t], 1 - rate, n_strata)


@njit
def _right_and_wrong(tally, n_strata):  # type: ignore[no-untyped-def]
    right, wrong = 0.0, 0.0
    for s in range(tally.shape[0]):
        for k in range(tally.shape[1]):
            if k == s // n_strata:
                right += tally[s, k]
            else:
                wrong += tally[s, k]
    return right, wrong


@njit
def _shared_rate(right, wrong, low, high):  # type: ignore[no-untyped-def]
    """An error rate that is uniform between its ends before the labels are seen, from a grid."""
    score = np.empty(GRID)
    for g in range(GRID):
        rate = min(max(low + (high - low) * (g + 0.5) / GRID, 1e-6), 1 - 1e-6)
        score[g] = wrong * math.log(rate) + right * math.log(1 - rate)
    return low + (high - low) * (draw_from_logs(score) + np.random.random()) / GRID


@njit
def _set_coin(row, right, n_strata):  # type: ignore[no-untyped-def]
    n_states, n_classes = row.shape
    for s in range(n_states):
        for k in range(n_classes):
            row[s, k] = right if k == s // n_strata else (1 - right) / max(n_classes - 1, 1)


@njit
def update_pool(tally, tables, pool):  # type: ignore[no-untyped-def]
    """The pool given the counts: table counts of a Chinese restaurant, then a Dirichlet; κ from a
    grid; then the coins.

    In every stratum the average labeler says the true class most often: without that rule hard
    strata of two classes could change places.
    """
    kind, mean = tables.kind, pool.rows
    n_labelers, n_states, n_classes = tally.shape
    alpha, drawn = np.empty(n_classes), np.empty(n_classes)
    for s in range(n_states):
        for k in range(n_classes):
            alpha[k] = tables.base[s, k]
            weight = pool.shape[0] * mean[s, k]
            for t in range(n_labelers):
                if kind[t] == POOLED:
                    for n in range(int(tally[t, s, k])):
                        if np.random.random() * (weight + n) < weight:
                            alpha[k] += 1
        dirichlet(alpha, drawn)
        most = 0
        for k in range(1, n_classes):
            most = k if drawn[k] > drawn[most] else most
        # refusing a draw that breaks the rule is a Metropolis step: the old row stays
        if n_states == n_classes or most == s * n_classes // n_states:
            for k in range(n_classes):
                mean[s, k] = max(drawn[k], 1e-9)
    score = np.empty(len(CONCENTRATIONS))
    for j in range(len(CONCENTRATIONS)):
        value = CONCENTRATIONS[j]
        score[j] = -0.5 * math.log(value / 8) ** 2
        for t in range(n_labelers):
            if kind[t] == POOLED:
                for s in range(n_states):
                    total = 0.0
                    for k in range(n_classes):
                        total += tally[t, s, k]
                        score[j] += _log_rising(value * mean[s, k], tally[t, s, k])
                    score[j] -= _log_rising(value, total)
    pool.shape[0] = CONCENTRATIONS[draw_from_logs(score)]
    _coin_pool(tally, tables, pool)


@njit
def _log_rising(alpha, n):  # type: ignore[no-untyped-def]
    """log Γ(α + n)/Γ(α); most labelers have few labels in a state, where a product is faster than
    two gamma functions.
    """
    if n == 0:
        return 0.0
    if n > 20:
        return math.lgamma(alpha + n) - math.lgamma(alpha)
    product = alpha
    for j in range(1, int(n)):
        product *= alpha + j
    return math.log(product)


@njit
def _coin_pool(tally, tables, pool):  # type: ignore[no-untyped-def]
    """Pool of one-coin accuracies: mean and weight by a few Metropolis steps on the beta-binomial
    likelihood.
    """
    mean, weight = pool.shape[1], pool.shape[2]
    right, wrong = np.zeros(len(tally)), np.zeros(len(tally))
    for t in range(len(tally)):
        if tables.kind[t] == COIN:
            right[t], wrong[t] = _right_and_wrong(tally[t], tables.n_strata)
    for _ in range(3):
        odds = math.log(mean / (1 - mean)) + 0.5 * np.random.standard_normal()
        new_mean = 1 / (1 + math.exp(-odds))
        new_weight = weight * math.exp(0.7 * np.random.standard_normal())
        change = _coin_score(right, wrong, new_mean, new_weight) - _coin_score(
            right, wrong, mean, weight
        )
        if math.log(np.random.random()) < change:
            mean, weight = new_mean, new_weight
    pool.shape[1], pool.shape[2] = mean, weight


@njit
def _coin_score(right, wrong, mean, weight):  # type: ignore[no-untyped-def]
    a, b = weight * mean, weight * (1 - mean)
    # Beta(7, 3) on the mean (with the Jacobian of the logit walk) and a lognormal around 8 on the
    # weight
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


class Predictive(NamedTuple):
    """Pseudo-counts of each labeler's next label, their sum in each state, and whether (1 or 0) the
    labels counted so far add to them.
    """

    alpha: Array
    weight: Array
    learns: Array


@njit
def update_predictive(tables, pool, rows, predictive):  # type: ignore[no-untyped-def]
    """Rows that are not Dirichlet are taken as they are and learn nothing from the tally."""
    kind = tables.kind
    alpha, weight, learns = predictive
    for t in range(len(kind)):
        learns[t] = 1.0 if kind[t] == POOLED or kind[t] == OWN else 0.0
        for s in range(alpha.shape[1]):
            weight[t, s] = 0.0
            for k in range(alpha.shape[2]):
                if kind[t] == POOLED:
                    alpha[t, s, k] = pool.shape[0] * pool.rows[s, k]
                elif kind[t] == OWN:
                    alpha[t, s, k] = tables.table[t, s, k]
                else:
                    alpha[t, s, k] = max(rows[t, s, k], LEAST)
                weight[t, s] += alpha[t, s, k]
