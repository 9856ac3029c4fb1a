"""What tags have in common: averages over tags, and whether all tags of an item are right.

Each tag has a posterior of its own. Labels cannot show whether the panel is wrong in the same
direction for all tags (a lenient panel is lenient everywhere), so without gold the tags' doubts are
taken to go together completely: the interval of an average is then as wide as those of the tags on
average. Much gold shows it: the correlation, between
tags, of what labels did not explain on the gold items bounds how far doubts go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate
from truthing.randomness import generator

DRAWS = 4000
ENOUGH_GOLD = 20  # items, to say whether the tags of an item are right together
# items before gold says how far doubts go together: with 40 the link's prior still pulls all tags
# the same way, and Hamming accuracy of a lenient panel was held 7 times in 10
ENOUGH_TO_PART = 200
SUBSET_DRAWS, MOST_CELLS = 1000, 60_000_000
AT_ONCE = 1_000_000  # cells, so that memory stays small
STEPS = np.linspace(0, 1, 21)


@dataclass(frozen=True, eq=False)
class Coupling:
    """Ranks of draws, tags × draws: doubts of tags with correlation ``shared`` (1: together)."""

    shared: float
    ranks: Array

    @classmethod
    def of(cls, n_tags: int, shared: float, seed: int) -> Coupling:
        rng = generator(seed, "tags together")
        common = rng.normal(size=DRAWS)
        own = rng.normal(size=(n_tags, DRAWS))
        mixed = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
        return cls(shared, mixed.argsort(axis=1).argsort(axis=1))

    def draws(self, estimates: Sequence[Estimate]) -> Array:
        """Draws of each tag's number, tags × draws, together as far as doubts go together; NaN for
        a tag where the number is hardly ever defined.
        """
        at = (np.arange(DRAWS) + 0.5) / DRAWS
        found = np.full((len(estimates), DRAWS), np.nan)
        for t, estimate in enumerate(estimates):
            if len(estimate.values) and estimate.undefined < 0.5:
                found[t] = np.quantile(estimate.draws, at)[self.ranks[t]]
        return found

    def mean(self, estimates: Sequence[Estimate]) -> Estimate:
        """The plain (macro) average over the tags where the number is defined."""
        return Estimate.from_draws(_mean(self.draws(estimates), None), slack=_slack(estimates))

    def weighted(self, estimates: Sequence[Estimate], values: Array, weights: Array) -> Estimate:
        """A micro average: ``values`` and ``weights`` (tags × draws) are drawn together, so that a
        tag's weight belongs to its value.
        """
        at = ((np.arange(DRAWS) + 0.5) / DRAWS * values.shape[1]).astype(int)
        order = np.argsort(np.nan_to_num(values), axis=1, kind="stable")
        sorted_weights = np.take_along_axis(weights, order, axis=1)[:, at]
        told = np.take_along_axis(sorted_weights, self.ranks, axis=1)
        return Estimate.from_draws(_mean(self.draws(estimates), told), slack=_slack(estimates))


def _slack(estimates: Sequence[Estimate]) -> float:
    """Averages have intervals of the kind that their tags have."""
    return max((estimate.slack for estimate in estimates), default=1.0)


def _mean(draws: Array, weights: Array | None) -> Array:
    known = ~np.isnan(draws)
    each = known * (1.0 if weights is None else weights)
    total = each.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, draws * each, 0).sum(axis=0) / total)


def shared_doubt(surprise: Array, rng: np.random.Generator) -> float:
    """How far doubts of tags may go together: the upper limit (one-sided 95%, from redrawn items)
    of the mean correlation between tags of ``surprise`` (gold items × tags), what the truth is
    beyond what labels say. 1 where there is too little gold.
    """
    if len(surprise) < ENOUGH_TO_PART or surprise.shape[1] < 2:
        return 1.0
    found = [_correlation(surprise)]
    for _ in range(200):
        found.append(_correlation(surprise[rng.integers(0, len(surprise), len(surprise))]))
    return float(np.clip(np.quantile(found, 0.95), 0.0, 1.0))


def _correlation(surprise: Array) -> float:
    """Mean correlation of pairs of columns, by their covariances: columns without spread count
    little."""
    covariance = np.cov(surprise.T)
    spread = np.sqrt(np.diag(covariance))
    across = spread.sum() ** 2 - (spread**2).sum()
    return float((covariance.sum() - np.trace(covariance)) / across) if across > 0 else 1.0


def all_right(
    right: Array,
    accuracy: Array,
    together: Array,
    rng: np.random.Generator,
    target: str,
    slack: float = 1.0,
) -> Estimate:
    """The share of items whose tags are all right.

    ``right`` (items × tags) is the chance that each prediction is right, 0 or 1 on gold items;
    draw by draw it is moved, on the log-odds scale, to the drawn ``accuracy`` (tags × draws) of its
    tag. Given that, tags of an item are right independently (the product), or together (the
    smallest chance), or between the two: ``together`` are equally likely shares of the way.
    """
    n_items, n_tags = right.shape
    n_draws = int(np.clip(MOST_CELLS // max(n_items * n_tags, 1), 200, SUBSET_DRAWS))
    chosen = rng.integers(0, accuracy.shape[1], n_draws)
    way = rng.choice(together, n_draws)
    odds = np.log(np.clip(right, 1e-9, 1 - 1e-9) / np.clip(1 - right, 1e-9, 1 - 1e-9))
    sure = (right < 1e-6) | (right > 1 - 1e-6)
    shifts = np.empty((n_draws, n_tags))
    for t in range(n_tags):  # many draws have the same accuracy
        wanted, place = np.unique(accuracy[t, chosen], return_inverse=True)
        shifts[:, t] = _shifts(odds[:, t], right[:, t], sure[:, t], wanted)[place]
    drawn = np.empty(n_draws)
    for d in range(n_draws):
        moved = _moved(odds, right, sure, shifts[d])
        logs = np.log(np.maximum(moved, 1e-12))
        chance = np.exp((1 - way[d]) * logs.sum(axis=1) + way[d] * logs.min(axis=1))
        if target == "sample":
            drawn[d] = (rng.random(n_items) < chance).mean()
        else:
            drawn[d] = np.average(chance, weights=rng.exponential(size=n_items))
    return Estimate.from_draws(drawn, slack=slack)


def _moved(odds: Array, right: Array, sure: Array, shift: Array) -> Array:
    """Chances with log-odds moved, but for what is known; where there is no shift, as they are."""
    chance = 1 / (1 + np.exp(-np.clip(odds + shift, -30, 30)))
    return np.where(sure | np.isnan(shift), right, chance)


def _shifts(odds: Array, right: Array, sure: Array, wanted: Array) -> Array:
    """By how much to move log-odds so that the chances average to each of ``wanted``."""
    found = np.empty(len(wanted))
    at_once = max(1, AT_ONCE // max(len(odds), 1))
    for start in range(0, len(wanted), at_once):
        part = wanted[start : start + at_once]
        low, high = np.full(len(part), -12.0), np.full(len(part), 12.0)
        for _ in range(30):
            middle = (low + high) / 2
            below = _moved(odds, right, sure, middle[:, None]).mean(axis=1) < part
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found[start : start + at_once] = np.where(np.isnan(part), np.nan, middle)
    return found


def ways(right: Array, agree: Array) -> Array:
    """How far the tags of an item are right together, as equally likely shares of the way from
    independent (0) to as together as can be (1).

    ``right`` (gold items × tags) is which predictions are right, ``agree`` the share of labels that
    say so. Without enough gold nothing is known: all shares are equally likely.
    """
    if len(right) < ENOUGH_GOLD:
        return STEPS
    every = right.all(axis=1)
    chance = np.empty(right.shape)
    for t in range(right.shape[1]):
        level = (right[:, t].sum() + 0.5) / (len(right) + 1)
        some = np.clip(0.05 + 0.9 * agree[:, t], 0.02, 0.98)
        odds = np.log(some / (1 - some))
        never = np.zeros(len(some), dtype=bool)
        shift = _shifts(odds, some, never, np.array([level]))
        chance[:, t] = _moved(odds, some, never, shift)
    logs = np.log(np.clip(chance, 1e-9, 1 - 1e-9))
    likely = []
    for step in STEPS:
        together = np.exp((1 - step) * logs.sum(axis=1) + step * logs.min(axis=1))
        together = np.clip(together, 1e-9, 1 - 1e-9)
        likely.append(np.log(np.where(every, together, 1 - together)).sum())
    weight = np.exp(np.array(likely) - max(likely))
    at = (np.arange(400) + 0.5) / 400
    return np.asarray(np.interp(at, np.cumsum(weight) / weight.sum(), STEPS))
