"""The link from consensus to truth for several classifiers at once: one draw of the truth grades
them all.

Item i has class c with probability ``softmax_c(b log f_i(c) + Σ_j [classifier j says c] (θ_j +
u_jc))``, f the labelers' consensus. For one classifier this is the recalibration of `link`. The
prior sits on the levels λ_j, the logits of the accuracies: each has the centre and scale that
`link` gives it, and two are correlated as far as the right answers of their classifiers are, so
that twins cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from truthing.class_codes import Array
from truthing.truth.link.design import CELLS
from truthing.truth.link.models_sampler import (
    RIDGE,
    posterior_tilts,
    settle_levels,
    settle_scores,
    truths,
)
from truthing.truth.link.prior import Components, student_slices
from truthing.truth.link.views import CLIP, STEP
from truthing.truth.samplers.models import Regression

MOST_EFFECTS = 60  # effects u of all classifiers together; rarer classes of a classifier share one
THIN, BURN = 4, 500
ROUNDS = 3
LOOSE = 0.15  # of the draws take nothing from the model of how classifiers depend


def effects(predicted: Array, n_classes: int, size: Array | None = None) -> Array:
    """The number of the coefficient behind "classifier j says c", classifiers × classes; rare
    classes of a classifier share one. ``size`` is what each column of predictions counts.
    """
    own = min(n_classes, max(2, MOST_EFFECTS // len(predicted)))
    effect = np.empty((len(predicted), n_classes), dtype=np.int64)
    for j, guess in enumerate(predicted):
        often = np.bincount(guess, weights=size, minlength=n_classes)
        order = np.argsort(-often, kind="stable")
        effect[j, order] = j * own + np.minimum(np.arange(n_classes), own - 1)
    return effect


@dataclass(frozen=True, eq=False)
class ModelRows:
    """What classifiers say (``predicted``: classifiers × rows) and the labelers' consensus
    (``logs``: rows × classes, centred). A row is an item, or stands for ``size`` items with the
    same ``bins`` of the logs.
    """

    predicted: Array
    logs: Array
    bins: Array
    size: Array | None = None

    @classmethod
    def of(cls, predicted: Array, consensus: Array) -> ModelRows:
        """One row per item; ``consensus`` is items × classes."""
        logs = np.log(np.clip(consensus, CLIP, 1 - CLIP))
        logs -= logs.mean(axis=1, keepdims=True)
        return cls(predicted, logs, np.round(logs / STEP).astype(np.int64))

    @property
    def keys(self) -> Array:
        """ModelRows with the same key are one group."""
        return np.concatenate([self.predicted.T, self.bins], axis=1)


@dataclass(frozen=True, eq=False)
class Committee:
    """Items grouped by what the classifiers say and by the labelers' consensus: ``guess`` is groups
    × classifiers, ``logs`` groups × classes.

    ``effect`` says which tilt stands behind "classifier j says c": tilts are numbered classifier by
    classifier. ``member`` is the group of each item, or of each row that stands for several;
    ``size`` the number of items in each group.
    """

    member: Array
    size: Array
    guess: Array
    logs: Array
    effect: Array

    @classmethod
    def of(cls, rows: ModelRows) -> Committee:
        _, first, member = np.unique(rows.keys, axis=0, return_index=True, return_inverse=True)
        member, predicted = member.reshape(-1), rows.predicted
        size = np.bincount(member, weights=rows.size).astype(float)
        logs = rows.logs if rows.size is None else rows.logs * rows.size[:, None]
        mean = np.stack([np.bincount(member, weights=column) / size for column in logs.T], axis=1)
        effect = effects(predicted, logs.shape[1], rows.size)
        return cls(member, size, predicted[:, first].T.astype(np.int64), mean, effect)

    @property
    def share(self) -> Array:
        return self.size / self.size.sum()

    @property
    def n_models(self) -> int:
        return len(self.effect)

    @property
    def n_tilts(self) -> int:
        return int(self.effect.max()) + 1

    def tilt(self) -> Array:
        """The tilt at work in each group, groups × classifiers."""
        return self.effect[np.arange(self.n_models), self.guess]

    def without(self, known: Array) -> Array:
        """How many items of each group have no gold; ``known`` are those that have."""
        return np.asarray(self.size - np.bincount(self.member[known], minlength=len(self.size)))

    def free(self, known: Array) -> Array:
        """The groups' shares of the items without gold."""
        count = self.without(known)
        return np.asarray(count / max(count.sum(), 1.0))

    def chances(self, beta: Array) -> Iterator[tuple[slice, Array]]:
        """Chances of the classes in each group, draws × groups × classes, some draws of (b, tilts)
        at a time."""
        tilt, groups = self.tilt(), np.arange(len(self.guess))
        rows = max(1, CELLS // self.logs.size)
        for start in range(0, len(beta), rows):
            part = beta[start : start + rows]
            scores = part[:, :1, None] * self.logs
            for j in range(self.n_models):
                scores[:, groups, self.guess[:, j]] += part[:, 1 + tilt[:, j]]
            yield slice(start, start + len(part)), softmax(scores, axis=2)

    def right(self, beta: Array, share: Array) -> Array:
        """Each classifier's share of right predictions at each draw of (b, tilts)."""
        groups, found = np.arange(len(self.guess)), []
        for _, chance in self.chances(beta):
            right = [chance[:, groups, self.guess[:, j]] @ share for j in range(self.n_models)]
            found.append(np.stack(right, axis=1))
        return np.concatenate(found)

    def moments(self, beta: Array) -> tuple[Array, Array, Array]:
        """Each classifier's share of right predictions at ``beta`` = (b, tilts), and its
        derivatives by b and by the tilts.
        """
        guess, tilt = self.guess, self.tilt()
        scores = beta[0] * self.logs
        groups = np.arange(len(guess))
        for j in range(self.n_models):
            scores[groups, guess[:, j]] += beta[1 + tilt[:, j]]
        chance = np.exp(scores - scores.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        right = np.take_along_axis(chance, guess, axis=1)
        expected = (chance * self.logs).sum(axis=1, keepdims=True)
        by_slope = self.share @ (right * (np.take_along_axis(self.logs, guess, axis=1) - expected))
        by_tilt = np.zeros((self.n_models, self.n_tilts))
        for j in range(self.n_models):
            for k in range(self.n_models):
                both = np.where(guess[:, j] == guess[:, k], right[:, j], 0.0)
                weight = self.share * (both - right[:, j] * right[:, k])
                by_tilt[j] += np.bincount(tilt[:, k], weights=weight, minlength=self.n_tilts)
        return self.share @ right, by_slope, by_tilt


@dataclass(frozen=True, eq=False)
class TiltPrior:
    """(b, tilts) = mean + root · z, z standard normal but for the heavy tails: column 0 is the
    slope's, then the levels', then the effects'.

    The components of the tails have ``multiples`` times the variance of the levels.
    """

    mean: Array
    root: Array
    multiples: Array
    slope_multiples: Array
    weights: Array


FREEDOM = 5.0
SLOPE_SD, EFFECT_SD = 0.4, 1.0
FLAT_SD = 3.0  # of a logit that could be anything


@dataclass(frozen=True)
class ModelLevel:
    """What the link of one classifier says of its level: centre, scale, slope; how much is flat."""

    centre: float
    scale: float
    slope: float
    flat: float

    @classmethod
    def of(cls, components: Components) -> ModelLevel:
        centre, slope = components.middle
        known = components.informed
        variance = float(known.weight @ (known.sd**2 + (known.centre - centre) ** 2))
        tails = sum(weight * multiple for weight, multiple in student_slices(FREEDOM))
        flat = float(components.weight[components.gold_only].sum())
        return cls(centre, float(np.sqrt(variance / tails)), slope, flat)


def tilt_prior(committee: Committee, levels: list[ModelLevel]) -> TiltPrior:
    """Every classifier's level gets its prior; slope and class effects leave the levels where they
    are (to first order)."""
    n_models, n_tilts = committee.n_models, committee.n_tilts
    owner = np.zeros((n_tilts, n_models))
    owner[committee.effect.ravel(), np.repeat(np.arange(n_models), committee.effect.shape[1])] = 1.0
    wanted = 1 / (1 + np.exp(-np.array([level.centre for level in levels])))
    slope = float(np.mean([level.slope for level in levels]))
    theta = np.zeros(n_models)
    for _ in range(100):
        right, by_slope, by_tilt = committee.moments(np.concatenate([[slope], owner @ theta]))
        among = by_tilt @ owner
        step = np.linalg.solve(among + RIDGE * np.eye(n_models), wanted - right - RIDGE * theta)
        largest = np.abs(step).max()
        if largest < 1e-6:
            break
        theta += step * min(1.0, 1.5 / largest)
    back = owner @ np.linalg.pinv(among, rcond=1e-6, hermitian=True)
    spread = np.sqrt(np.maximum(np.diag(among), 1e-12))
    values, vectors = np.linalg.eigh(among / np.outer(spread, spread))
    scale = np.array([level.scale for level in levels])[:, None]
    # the symmetric root: signs of eigenvectors hang on the last digits of sums
    logits = scale * ((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
    effect_sd = EFFECT_SD / np.sqrt(n_models)
    root = np.zeros((1 + n_tilts, 1 + n_models + n_tilts))
    root[0, 0] = SLOPE_SD
    root[1:, 0] = -back @ by_slope * SLOPE_SD
    root[1:, 1 : 1 + n_models] = back @ ((right * (1 - right))[:, None] * logits)
    root[1:, 1 + n_models :] = effect_sd * (np.eye(n_tilts) - back @ by_tilt)
    weights, multiples = np.array(student_slices(FREEDOM)).T
    flat, width = levels[0].flat, (FLAT_SD / float(scale.mean())) ** 2
    multiples = np.append(multiples, max(width, 1.0))
    return TiltPrior(
        np.concatenate([[slope], owner @ theta]),
        root,
        multiples,
        np.minimum(np.maximum(multiples, 1.0), 9.0),
        np.append(weights * (1 - flat), flat),
    )


def draw_tilts(
    committee: Committee,
    prior: TiltPrior,
    gold: Array,
    weights: Array,
    n_draws: int,
    rng: np.random.Generator,
) -> Array:
    """Draws of (b, tilts) given gold (class codes of items, -1 unknown; ``weights`` say what each
    gold item counts).
    """
    known = np.flatnonzero(gold >= 0)
    if len(known) == 0:
        return _prior_tilts(prior, committee.n_models, n_draws, rng)
    parts = prior.mean, prior.root, committee.n_models, prior.multiples, prior.slope_multiples
    at, truth = committee.member[known], gold[known].astype(np.int64)
    seen = committee.logs[at], committee.guess[at], committee.tilt()[at], truth, weights
    seed = int(rng.integers(2**31))
    drawn = posterior_tilts(*parts, prior.weights, *seen, n_draws, THIN, BURN, seed)
    return np.asarray(drawn[rng.permutation(n_draws)])


def settle_tilts(
    committee: Committee, drawn: Array, gold: Array, wanted: Array, rng: np.random.Generator
) -> Array:
    """Draws of the tilts moved so that each classifier is right as often as its own link in `grade`
    says: ``wanted``, draws × classifiers, among the items without gold.

    How classifiers depend on each other stays: the draw with the r-th lowest share here gets the
    r-th lowest wanted one.
    """
    free = committee.free(np.flatnonzero(gold >= 0))
    ordered = np.sort(np.clip(wanted, 1e-6, 1 - 1e-6), axis=0)
    tilt = committee.tilt()
    owner = np.zeros(1 + committee.n_tilts, dtype=np.int64)
    owner[1 + tilt] = np.arange(committee.n_models)
    drawn = np.ascontiguousarray(drawn).copy()
    loose = np.flatnonzero(rng.random(len(drawn)) < LOOSE)
    for _ in range(ROUNDS):  # levels that are out of reach together settle between: match again
        # rounded: draws that are equal must not be ranked by the last digits of their sums
        right = np.round(committee.right(drawn, free), 9)
        rank = right.argsort(axis=0, kind="stable").argsort(axis=0)
        for column in rank.T:
            column[loose] = rng.permutation(column[loose])
        matched = np.take_along_axis(ordered, rank, axis=0)
        settle_levels(drawn, owner, committee.logs, committee.guess, tilt, free, matched)
    return drawn


def _prior_tilts(prior: TiltPrior, n_models: int, n: int, rng: np.random.Generator) -> Array:
    which = rng.choice(len(prior.weights), size=n, p=prior.weights / prior.weights.sum())
    scale = np.ones((n, prior.root.shape[1]))
    scale[:, 0] = np.sqrt(prior.slope_multiples[which])
    scale[:, 1 : 1 + n_models] = np.sqrt(prior.multiples[which])[:, None]
    return np.asarray(prior.mean + (scale * rng.standard_normal(scale.shape)) @ prior.root.T)


def draw_truths(committee: Committee, tilts: Array, gold: Array, seed: int) -> Array:
    """Complete answer keys, draws × items; gold items are as they are."""
    parts = (committee.logs, committee.guess, committee.tilt(), committee.member)
    return _truths(tilts, *parts, gold, seed)


def draw_scored_truths(
    committee: Committee,
    tilts: Array,
    regression: Regression,
    coefficients: Array,
    gold: Array,
    seed: int,
) -> Array:
    """Answer keys that know the scores: what ``regression`` adds (draws of its
    ``coefficients``) sharpens each item's chance, as in `ScoreAnswer.linked`.
    """
    at = committee.member
    guess = np.hstack([committee.guess[at], regression.guess])
    tilt = np.hstack([committee.tilt()[at], committee.n_tilts + regression.tilt])
    logs = committee.logs[at]
    pick = np.linspace(0, len(coefficients) - 1, len(tilts)).astype(np.int64)
    beta = np.hstack([tilts, coefficients[pick, logs.shape[1] :]])
    settle_scores(beta, committee.n_tilts, logs, guess, tilt)
    return _truths(beta, logs, guess, tilt, np.arange(len(at)), gold, seed)


def _truths(
    beta: Array, logs: Array, guess: Array, tilt: Array, member: Array, gold: Array, seed: int
) -> Array:
    out = np.empty((len(beta), len(member)), dtype=np.int16)
    truths(beta, logs, guess, tilt, member, gold.astype(np.int64), seed % 2**31, out)
    return out
