"""The link for class shares: how frequent each class is when nobody knows how far the panel is wrong together.

The shares p of these items have a prior learned from public crowds (studies/fit_shares.py): ``p = softmax(log p₀ + s z)``. p₀ is the mean, as logits, of four
readings (votes, majority, both consensus models); a class's scale s grows with their disagreement about it and with the share of its items that are in
doubt; tails are heavy. Below the shares item i has class c with probability ``softmax_c(b log f_i(c) + β_c + u_kc)``, f the labelers' consensus, k its
most probable class, u what that class is taken for in truth, and β the tilts at which the items' chances add up to p. Gold on random items enters by its exact
likelihood; the prior is then carried to β to first order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.progress import Progress, part, silent
from truthing.truth.consensus import DawidSkeneFit, Entries, fit_dawid_skene, fit_one_coin
from truthing.truth.link.models_sampler import posterior_tilts
from truthing.truth.link.prior import DEFAULT as LINK
from truthing.truth.link.prior import STEP, PanelError, stated_scale, student_mixture
from truthing.truth.link.views import CLIP, logit, worth_of_a_vote
from truthing.truth.problem import softmax
from truthing.truth.samplers.diagnostics import effective_size

MOST_CLASSES = 10  # with an effect u of their own; rarer ones share one
MOST_GROUPS = 2000  # of items with about the same consensus; beyond, the bins are made wider
THIN, BURN = 4, 500


@dataclass(frozen=True)
class SharePrior:
    """The numbers learned from public crowds by studies/fit_shares.py (leave-one-set-out ranges in docs/honesty.md)."""

    scale: float = 0.0784
    scale_per_spread: float = 0.8675
    scale_per_doubt: float = 0.1911
    freedom: float = 8.0


DEFAULT = SharePrior()


@dataclass(frozen=True, eq=False)
class ShareReadings:
    """``levels`` are logits of each class's share under the four readings; ``consensus`` (items × classes) is discounted for dependence."""

    levels: Array
    consensus: Array
    fit: DawidSkeneFit

    @property
    def centre(self) -> Array:
        return self.levels.mean(axis=0)

    @property
    def spread(self) -> Array:
        return self.levels.std(axis=0)

    @property
    def doubt(self) -> Array:
        """What items in doubt may do to a class's share, relative to it: √(mean of f (1 - f)) / mean of f."""
        share = self.consensus.mean(axis=0)
        return np.sqrt((self.consensus * (1 - self.consensus)).mean(axis=0)) / (share + 1e-9)


def read_shares(entries: Entries, *, progress: Progress = silent) -> ShareReadings:
    """Read the panel four ways. Gold is left out on purpose: it judges the readings, so it must not shape them."""
    votes = entries.counts()
    given = votes.sum(axis=1)
    labelled = votes[given > 0]
    top = labelled == labelled.max(axis=1, keepdims=True)
    readings = [
        labelled / labelled.sum(axis=1, keepdims=True),
        top / top.sum(axis=1, keepdims=True),
    ]
    full = fit_dawid_skene(entries, progress=part(progress, 0, 0.6))
    coin = fit_one_coin(entries, progress=part(progress, 0.6, 1))
    shares = np.array([r.mean(axis=0) for r in [*readings, full.posterior, coin.posterior]])
    discount = worth_of_a_vote(given)
    consensus = (full.labelers_only(entries, discount) + coin.labelers_only(entries, discount)) / 2
    n_items = entries.n_items
    return ShareReadings(logit((shares * n_items + 0.5) / (n_items + 1)), consensus, full)


@dataclass(frozen=True, eq=False)
class ShareLevel:
    """Prior of the shares: ``softmax(log centre + √multiple · scale · z)``, multiples drawn with ``weights``."""

    centre: Array
    scale: Array
    multiples: Array
    weights: Array

    def draw(self, n_draws: int, rng: np.random.Generator) -> Array:
        component = np.searchsorted(
            np.cumsum(self.weights), (np.arange(n_draws) + rng.random(n_draws)) / n_draws
        )
        spread = (
            np.sqrt(self.multiples[np.minimum(component, len(self.weights) - 1)])[:, None]
            * self.scale
        )
        return softmax(
            np.log(self.centre) + spread * rng.standard_normal((n_draws, len(self.centre)))
        )


def share_level(
    readings: ShareReadings, panel_error: PanelError | None = None, prior: SharePrior = DEFAULT
) -> ShareLevel:
    """Learned from public crowds, or a user's word: then shares are expected to be off by ``panel_error`` of the items altogether."""
    n_classes = readings.levels.shape[1]
    # the logit of a share moves with its own z and against the others': by C / (C - 1) times the variance of one
    own = np.sqrt(1 - 1 / n_classes)
    if panel_error is None:
        parts = [
            np.full(n_classes, prior.scale),
            prior.scale_per_spread * readings.spread,
            prior.scale_per_doubt * readings.doubt,
        ]
        multiples, weights = student_mixture(prior.freedom)
        return ShareLevel(
            _shares(readings.centre), own * np.linalg.norm(parts, axis=0), multiples, weights
        )
    centre = _shares(readings.levels[2])
    scale, multiples = stated_scale(float((centre * (1 - centre)).sum() / 2), panel_error)
    return ShareLevel(
        centre,
        np.full(n_classes, own * scale),
        multiples,
        np.full(len(multiples), 1 / len(multiples)),
    )


def _shares(levels: Array) -> Array:
    shares = 1 / (1 + np.exp(-levels))
    return np.asarray(shares / shares.sum())


@dataclass(frozen=True, eq=False)
class ShareDraws:
    """Draws of the shares, the posterior of every item's class, and how many independent draws they are worth."""

    shares: Array
    truth: Array
    effective_size: float


def draw_shares(
    readings: ShareReadings,
    level: ShareLevel,
    gold: Array,
    gold_weights: Array | None,
    *,
    target: str,
    n_draws: int,
    seed: int,
) -> ShareDraws:
    """Posterior draws given gold (class codes, -1 unknown); without gold these are draws of the prior."""
    rng = np.random.default_rng(seed)
    groups = Groups.of(readings.consensus)
    tilts, root = _tilts(groups, level)
    known = np.flatnonzero(gold >= 0)
    n_items, n_classes = readings.consensus.shape
    if len(known) == 0:
        shares = level.draw(n_draws, rng)
        if target == "population":
            shares = rng.standard_gamma(n_items * shares + 1e-9)
        return ShareDraws(
            shares / shares.sum(axis=1, keepdims=True),
            groups.chance(tilts)[groups.member],
            float(n_draws),
        )
    at = groups.member[known]
    everyone = np.tile(np.arange(n_classes), (len(known), 1))
    weights = np.ones(len(known)) if gold_weights is None else gold_weights
    drawn = posterior_tilts(
        tilts, root, n_classes, level.multiples, np.maximum(level.multiples, 1.0), level.weights, groups.logs[at],
        np.hstack([everyone, everyone]), np.hstack([everyone, n_classes + groups.effect[groups.top[at]]]),
        gold[known].astype(np.int64), weights, n_draws, THIN, BURN, seed,
    )  # fmt: skip
    if target == "population":
        mass = rng.standard_gamma(groups.size, size=(n_draws, len(groups.size)))
        mass /= mass.sum(axis=1, keepdims=True)
        shares = np.stack([row @ groups.chance(tilt) for tilt, row in zip(drawn, mass)])
    else:
        free = groups.size - np.bincount(at, minlength=len(groups.size))
        counts = _counts(drawn, groups.logs, groups.effect[groups.top], free, seed)
        shares = (counts + np.bincount(gold[known], minlength=n_classes)) / n_items
    truth = np.mean([groups.chance(tilt) for tilt in drawn[:: max(n_draws // 200, 1)]], axis=0)[
        groups.member
    ]
    truth[known] = np.eye(n_classes)[gold[known]]
    return ShareDraws(shares, truth, min(effective_size(column, 1) for column in shares.T))


@dataclass(frozen=True, eq=False)
class Groups:
    """Items with about the same consensus together: each item's group, and a group's size, mean logs and most probable class.

    ``effect`` numbers the u of each most probable class and true class.
    """

    member: Array
    size: Array
    logs: Array
    top: Array
    effect: Array

    @classmethod
    def of(cls, consensus: Array) -> Groups:
        logs = np.log(np.clip(consensus, CLIP, 1 - CLIP))
        logs -= logs.mean(axis=1, keepdims=True)
        # one random number for each cell of the lattice: sorting numbers is much faster than sorting rows
        mix = np.random.default_rng(0).integers(1, 1 << 62, logs.shape[1]) | 1
        step = STEP
        while True:
            cell = np.round(logs / step).astype(np.int64) @ mix
            _, member, size = np.unique(cell, return_inverse=True, return_counts=True)
            if len(size) <= MOST_GROUPS:
                break
            step *= 2
        mean = np.stack([np.bincount(member, weights=column) / size for column in logs.T], axis=1)
        top = mean.argmax(axis=1)
        own = np.empty(logs.shape[1], dtype=np.int64)
        frequency = np.bincount(top, weights=size, minlength=len(own))
        own[np.argsort(-frequency, kind="stable")] = np.minimum(
            np.arange(len(own)), MOST_CLASSES - 1
        )
        return cls(member, size, mean, top, own[:, None] * (own.max() + 1) + own)

    def chance(self, tilts: Array) -> Array:
        """Groups × classes at (b, β, u)."""
        n_classes = self.logs.shape[1]
        return softmax(
            tilts[0] * self.logs
            + tilts[1 : 1 + n_classes]
            + tilts[1 + n_classes + self.effect[self.top]]
        )


def _tilts(groups: Groups, level: ShareLevel) -> tuple[Array, Array]:
    """(b, β, u) at the centre of the prior, and the root of their covariance: to first order slope and u leave the shares alone."""
    share, n_classes, n_effects = (
        groups.size / groups.size.sum(),
        groups.logs.shape[1],
        groups.effect.max() + 1,
    )
    tilts = np.concatenate([[LINK.slope], np.zeros(n_classes + n_effects)])
    for _ in range(100):
        chance = groups.chance(tilts)
        mean = share @ chance
        weighted = share[:, None] * chance
        back = np.linalg.pinv(np.diag(mean) - chance.T @ weighted, rcond=1e-9, hermitian=True)
        step = back @ (level.centre - mean)
        tilts[1 : 1 + n_classes] += step * min(1.0, 1.5 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-6:
            break
    by_slope = (weighted * (groups.logs - (chance * groups.logs).sum(axis=1, keepdims=True))).sum(
        axis=0
    )
    by_effect = np.zeros((n_classes, n_effects))
    for k in range(n_classes):
        here = groups.top == k
        moved = np.diag(weighted[here].sum(axis=0)) - chance[here].T @ weighted[here]
        np.add.at(by_effect.T, groups.effect[k], moved)
    root = np.zeros((len(tilts), len(tilts)))
    classes, effects = slice(1, 1 + n_classes), slice(1 + n_classes, None)
    effect_sd = LINK.effect_sd / np.sqrt(
        2
    )  # one class against another: the difference of two u has the sd of the link's effects
    root[0, 0] = LINK.slope_sd
    root[classes, 0] = -back @ by_slope * LINK.slope_sd
    root[classes, classes] = back @ (np.diag(mean) - np.outer(mean, mean)) * level.scale
    root[classes, effects] = -effect_sd * back @ by_effect
    root[effects, effects] = effect_sd * np.eye(n_effects)
    return tilts, root


@numba.njit(cache=True, parallel=True)
def _counts(tilts, logs, effect, free, seed):  # type: ignore[no-untyped-def]
    """Items of each class among those without gold; the seed belongs to the draw, so threads do not matter."""
    n_groups, n_classes = logs.shape
    out = np.zeros((len(tilts), n_classes), dtype=np.int64)
    for d in numba.prange(len(tilts)):
        np.random.seed(seed + d)
        chance = np.empty(n_classes)
        for g in range(n_groups):
            for c in range(n_classes):
                chance[c] = (
                    tilts[d, 0] * logs[g, c]
                    + tilts[d, 1 + c]
                    + tilts[d, 1 + n_classes + effect[g, c]]
                )
            chance[:] = np.exp(chance - chance.max())
            left, total = free[g], chance.sum()
            for c in range(n_classes):
                if left <= 0:
                    break
                last = c == n_classes - 1 or chance[c] >= total * (1 - 1e-12)
                here = left if last else np.random.binomial(left, chance[c] / total)
                out[d, c] += here
                left -= here
                total -= chance[c]
    return out
