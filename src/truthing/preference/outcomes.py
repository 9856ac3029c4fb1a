"""How often each system is truly better, pair by pair: draws of the outcomes of all comparisons.

A judge who saw the first system first and the same judge who saw it second are two raters with
confusion matrices of their own (pooled with all others), so that a lean to a position is learned
and taken out. What all judges get wrong together is the link's: the chance that their consensus is
right has a wide prior around that of public panels, and a level of its own for each outcome. Each
pair of systems is corrected by its own gold only, for judges may like one system more than another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate
from truthing.preference.verdicts import Verdicts
from truthing.randomness import generator
from truthing.truth.consensus import Entries
from truthing.truth.link.prior import Components, learned_components, stated_components
from truthing.truth.link.sampler import LinkDraws, draw_link
from truthing.truth.link.views import Views, read_consensus

# Wider than the link of `grade`, chosen after looking at LLMBar and at simulated judges who like
# one system (studies/preferences.py): level, slope and outcomes' effects, and what gold counts.
LEVEL_SD, SLOPE_SD, EFFECT_SD, TEMPER = 1.0, 0.6, 3.0, 0.75
SPLIT = 2.0  # items that the judges' word on "if not this, then which?" is worth
ENOUGH_GOLD = 10  # of a pair, to hold its intervals against gold alone
NARROWER = 1.1  # times gold alone's width: never more
SHARED = 0.5  # of the variance of a pair's doubt is a liking for one of its systems anywhere


@dataclass(frozen=True, eq=False)
class Outcomes:
    """``counts`` is draws × pairs × (first better, second better, tie), in comparisons;
    ``shares`` the same as shares, each no wider than gold alone allows.
    """

    pairs: tuple[tuple[int, int], ...]
    sizes: Array  # comparisons of each pair
    n_gold: Array
    counts: Array
    shares: Array
    face_value: Array  # pairs × 3
    surprise: Array  # of each pair's gold: how probable so odd a count was before


def draw_outcomes(
    verdicts: Verdicts,
    *,
    panel: str | None,
    panel_error: Any,
    target: str,
    n_draws: int,
    seed: int,
) -> Outcomes:
    """Draws of the true outcomes of every pair of systems, given all verdicts and gold."""
    pairs, place = np.unique(verdicts.pair, axis=0, return_inverse=True)
    place = place.reshape(-1)
    counts, surprise = [], []
    for p in range(len(pairs)):
        here = np.flatnonzero(place == p)
        gold = verdicts.gold[here]
        views = read_consensus(_entries(verdicts, here))
        prior = _prior(views, panel, panel_error)
        rng = generator(seed, "outcomes", p)
        link = draw_link(views, prior, gold, rng, n_draws=n_draws)
        counts.append(count(link, views, gold, target, rng))
        surprise.append(link.surprise)
    known = tuple((int(a), int(b)) for a, b in pairs)
    together = np.stack(counts, axis=1)
    if len(pairs) > 1:
        together = _liked_alike(together, known, len(verdicts.systems), generator(seed, "liking"))
    shares = together / np.bincount(place)[:, None]
    rng = generator(seed, "gold alone")
    for p in range(len(pairs)):
        _hold_against_gold(shares[:, p], verdicts.gold[place == p], target, rng)
    return Outcomes(
        known,
        np.bincount(place),
        np.bincount(place, weights=verdicts.gold >= 0).astype(int),
        together,
        shares,
        _face_value(verdicts, place, len(pairs)),
        np.array(surprise),
    )


def _entries(verdicts: Verdicts, here: Array) -> Entries:
    """The verdicts on some comparisons; a judge in each order is a rater of its own."""
    number = np.full(verdicts.n_comparisons, -1)
    number[here] = np.arange(len(here))
    rows = np.flatnonzero(number[verdicts.comparison] >= 0)
    used, rater = np.unique(verdicts.judge[rows] * 2 + verdicts.swapped[rows], return_inverse=True)
    return Entries(
        number[verdicts.comparison[rows]].astype(np.int64),
        rater.reshape(-1).astype(np.int64),
        verdicts.outcome[rows].astype(np.int64),
        np.ones(len(rows)),
        len(here),
        len(used),
        3 if verdicts.has_ties else 2,
    )


def _prior(views: Views, panel: str | None, panel_error: Any) -> Components:
    if panel_error is not None:
        return stated_components(views, panel_error)
    found = learned_components(views, panel, own=True)
    return found._replace(
        temper=(TEMPER, TEMPER),
        sd=np.hypot(found.sd, LEVEL_SD),
        slope_sd=np.maximum(found.slope_sd, SLOPE_SD),
        effect_sd=np.maximum(found.effect_sd, EFFECT_SD),
    )


def count(
    link: LinkDraws, views: Views, gold: Array, target: str, rng: np.random.Generator
) -> Array:
    """Outcomes of one pair in comparisons, draws × 3.

    Where the consensus says k, each group's right ones are drawn; the others fall to the other
    outcomes by shares ~ Dirichlet(`SPLIT` · what the judges say of them + gold).
    """
    chance, design = link.chance(), link.design
    total = np.zeros((len(chance), 3))
    known = gold >= 0
    for k in np.unique(views.predicted):
        chosen = views.predicted == k
        here = np.flatnonzero(design.predicted == k)
        if target == "sample":
            free = np.round(design.size - design.tally(known))[here].astype(np.int64)
            right = rng.binomial(free, chance[:, here]).sum(axis=1).astype(float)
            wrong = free.sum() - right
            right += (gold[chosen] == k).sum()
        else:
            mass = rng.gamma(design.size[here], size=(len(chance), len(here)))
            right = (mass * chance[:, here]).sum(axis=1)
            wrong = mass.sum(axis=1) - right
        total[:, k] += right
        others = [c for c in range(views.n_classes) if c != k]
        missed = np.array([(gold[chosen] == c).sum() for c in others], dtype=float)
        base = views.consensus[chosen][:, others].sum(axis=0) + 1e-3 * chosen.sum()
        share = rng.dirichlet(SPLIT * base / base.sum() + missed, len(chance))
        if target == "population":
            total[:, others] += wrong[:, None] * share
            continue
        part = rng.binomial(wrong.astype(np.int64), share[:, 0])
        total[:, others[0]] += part + missed[0]
        if len(others) > 1:
            total[:, others[1]] += wrong - part + missed[1]
    return total * (len(gold) / total.sum(axis=1, keepdims=True))


def _hold_against_gold(shares: Array, gold: Array, target: str, rng: np.random.Generator) -> None:
    """Where gold alone is narrower by a tenth, ours are drawn together around their mean until it
    is not, outcome by outcome and in place.

    Gold alone's own interval instead would cover less: it is narrow where its few items happen to
    agree. Ours keep a centre that knows all verdicts.
    """
    seen = gold[gold >= 0]
    if len(seen) < ENOUGH_GOLD:
        return
    for kind, hits in enumerate(np.bincount(seen, minlength=3)):
        ours = shares[:, kind]
        alone = share_draws(int(hits), len(seen), len(gold), target, len(ours), rng)
        ratio = NARROWER * _width(alone) / max(_width(ours), 1e-12)
        shares[:, kind] = ours.mean() + min(ratio, 1.0) * (ours - ours.mean())


def share_draws(
    hits: int, n_gold: int, n_items: int, target: str, n_draws: int, rng: np.random.Generator
) -> Array:
    """A share of all comparisons as gold alone knows it: ``hits`` of ``n_gold``."""
    share = rng.beta(hits + 0.5, n_gold - hits + 0.5, n_draws)
    if target == "population":
        return np.asarray(share)
    return np.asarray((hits + rng.binomial(n_items - n_gold, share)) / n_items)


def _width(draws: Array) -> float:
    low, high = Estimate.from_draws(draws).interval(0.95)
    return high - low


def _liked_alike(
    counts: Array, pairs: tuple[tuple[int, int], ...], n_systems: int, rng: np.random.Generator
) -> Array:
    """The same draws of each pair in another order: judges who like a system like it in all pairs.

    Drawn independently, such mistakes would average out in a ranking, and they do not. Each pair's
    own intervals do not change.
    """
    n_draws = len(counts)
    liking = rng.standard_normal((n_draws, n_systems))
    out = counts.copy()
    for p, (a, b) in enumerate(pairs):
        shared = (liking[:, a] - liking[:, b]) * np.sqrt(SHARED / 2)
        score = shared + np.sqrt(1 - SHARED) * rng.standard_normal(n_draws)
        ahead = counts[:, p, 0] - counts[:, p, 1]
        out[np.argsort(score), p] = counts[np.argsort(ahead, kind="stable"), p]
    return out


def _face_value(verdicts: Verdicts, place: Array, n_pairs: int) -> Array:
    """Mean share of the verdicts on a comparison, over the comparisons of each pair."""
    flat = verdicts.comparison * 3 + verdicts.outcome
    votes = np.bincount(flat, minlength=3 * verdicts.n_comparisons).reshape(-1, 3).astype(float)
    votes /= np.maximum(votes.sum(axis=1, keepdims=True), 1)
    sums = np.stack([np.bincount(place, votes[:, k], n_pairs) for k in range(3)], axis=1)
    return np.asarray(sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-12))
