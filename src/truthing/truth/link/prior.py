"""The link from consensus to truth: what no noise model can see is the panel wrong together.

λ, the logit of the accuracy on these items, has a prior learned from public crowds: its centre is what the consensus models say, its
scale grows with the disagreement of five readings of the panel, its tails are heavy. Below it a logistic recalibration gives item i's prediction the
chance ``expit(a + b x_i + u_k)`` of being right, x_i the labelers' log-odds, k the predicted class. The prior sits on λ(a, b, u), not on a: uncertain
slopes must not leak into the level. Gold on random items enters by its exact likelihood (docs/theory.md, equations of the link).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, NotConverged
from truthing.truth.link.views import Readings

STEP = 0.1  # width of the bins of x that make groups
MOST_EFFECTS = 20  # predicted classes with an effect of their own; rarer ones share one
OUTLIER_WEIGHT, OUTLIER_VARIANCE = 0.01, 25.0
PanelError = float | tuple[float, float]
SLICES = (0.25, 0.25, 0.2, 0.15, 0.08, 0.05, 0.02)


@dataclass(frozen=True)
class LinkPrior:
    """The numbers learned from public crowds by studies/fit_link.py (leave-one-set-out ranges in docs/honesty.md)."""

    offset: float = -0.2408
    scale: float = 0.2315
    scale_per_spread: float = 1.1908
    freedom: float = 8.0
    slope: float = 0.6679
    slope_sd: float = 0.2491
    effect_sd: float = 1.0465


DEFAULT = LinkPrior()


@dataclass(frozen=True, eq=False)
class Level:
    """Prior of λ as a mixture of normals around ``centre``: its components have ``base_scale``² times ``multiples`` as variances."""

    centre: float
    base_scale: float
    multiples: Array
    weights: Array
    slope_factors: Array

    @property
    def variances(self) -> Array:
        return self.base_scale**2 * self.multiples

    @property
    def scale(self) -> float:
        return float(np.sqrt(self.variances @ self.weights))


def learned_level(readings: Readings, prior: LinkPrior = DEFAULT) -> Level:
    """The default: centre, scale and tails from public crowds."""
    scale = float(np.hypot(prior.scale, prior.scale_per_spread * readings.spread))
    multiples, weights = student_mixture(prior.freedom)
    return Level(
        prior.offset + readings.centre, scale, multiples, weights, np.maximum(multiples, 1.0)
    )


def stated_level(readings: Readings, panel_error: PanelError) -> Level:
    """A user's word: the expected |accuracy - what the model expects| is ``panel_error``, or Beta(a, b) distributed."""
    right = float(readings.posterior[np.arange(len(readings.predicted)), readings.predicted].mean())
    scale, multiples = stated_scale(right * (1 - right), panel_error)
    equal = np.full(len(multiples), 1 / len(multiples))
    return Level(float(readings.levels[1]), scale, multiples, equal, np.ones(len(multiples)))


def stated_scale(variance: float, panel_error: PanelError) -> tuple[float, Array]:
    """Scale s of a share's logit, and multiples of s² (equally likely) where ``panel_error`` is a Beta distribution.

    For a normal logit of scale s the expected difference of a share A is about s·A(1 - A)·√(2/π), which fixes s; ``variance`` is A(1 - A).
    """
    if isinstance(panel_error, tuple):
        from scipy.special import betaincinv

        a, b = panel_error
        if a <= 0 or b <= 0:
            raise InputError(
                f"panel_error={panel_error}: both numbers of a Beta distribution are above 0."
            )
        shares = np.asarray(betaincinv(a, b, (np.arange(8) + 0.5) / 8))
    else:
        if not 0 < panel_error <= 0.5:
            raise InputError(
                f"panel_error {panel_error} is outside (0, 0.5]: it is a share of items; 0 switches the link off."
            )
        shares = np.array([float(panel_error)])
    scale = float(shares.mean()) / (np.sqrt(2 / np.pi) * max(variance, 0.02))
    return max(scale, 1e-4), np.maximum(shares / shares.mean(), 1e-4) ** 2


@cache
def student_mixture(freedom: float) -> tuple[Array, Array]:
    """Student's t as seven normals of unequal variance, and one for "something else altogether"."""
    from scipy.special import gammaincinv

    edges = np.concatenate([[0], np.cumsum(SLICES)])
    multiples = []
    for low, high in pairwise(edges):
        at = low + (np.arange(2001) + 0.5) / 2001 * (high - low)
        multiples.append(np.exp(np.log(freedom / 2 / gammaincinv(freedom / 2, 1 - at)).mean()))
    weights = np.array(SLICES) * (1 - OUTLIER_WEIGHT)
    return np.append(multiples, OUTLIER_VARIANCE), np.append(weights, OUTLIER_WEIGHT)


@dataclass(frozen=True, eq=False)
class Design:
    """Items grouped by predicted class and bin of x; columns of ``matrix``: level, slope, effects of classes."""

    member: Array
    size: Array
    predicted: Array
    matrix: Array
    mean: Array
    precision: Array
    chance: Array

    @property
    def share(self) -> Array:
        return self.size / self.size.sum()


def design(readings: Readings, level: Level, prior: LinkPrior = DEFAULT) -> Design:
    """Groups and their regressors, centred so that slope and class effects hardly move the level."""
    predicted, signal = readings.predicted.astype(np.int64), readings.signal
    key, member = np.unique(
        predicted * 1000 + np.round(signal / STEP).astype(np.int64) + 500, return_inverse=True
    )
    member = member.reshape(-1)
    size = np.bincount(member).astype(float)
    x = np.bincount(member, weights=signal) / size
    group_class = key // 1000
    start = _intercept(level.centre, prior.slope * x, size / size.sum())
    chance = expit(start + prior.slope * x)
    weight = size * chance * (1 - chance)
    weight /= weight.sum()
    middle = weight @ x
    columns = [np.ones(len(key)), x - middle]
    classes, frequency = np.unique(predicted, return_counts=True)
    if len(classes) > 1:
        own = np.sort(classes[np.argsort(-frequency, kind="stable")[:MOST_EFFECTS]])
        effect = np.full(readings.n_classes, len(own))
        effect[own] = np.arange(len(own))
        indicator = np.eye(len(own) + (len(classes) > len(own)))[effect[group_class]]
        columns += list((indicator - weight @ indicator).T)
    matrix = np.ascontiguousarray(np.column_stack(columns))
    mean = np.zeros(matrix.shape[1])
    mean[:2] = start + prior.slope * middle, prior.slope
    precision = np.zeros(matrix.shape[1])
    precision[1] = prior.slope_sd**-2
    precision[2:] = prior.effect_sd**-2
    return Design(member, size, group_class, matrix, mean, precision, chance)


@dataclass(frozen=True, eq=False)
class LinkDraws:
    """Draws of the recalibration; ``chance`` is each group's chance of a right prediction, draws × groups."""

    design: Design
    coefficients: Array
    effective_size: float
    gold_size: Array
    gold_right: Array

    def chance(self) -> Array:
        return expit(self.coefficients @ self.design.matrix.T)


def draw_link(
    readings: Readings,
    level: Level,
    gold: Array,
    *,
    n_draws: int,
    seed: int,
    prior: LinkPrior = DEFAULT,
    gold_weights: Array | None = None,
) -> LinkDraws:
    """Posterior draws given gold (class codes, -1 unknown); without gold these are exact draws of the prior.

    ``gold_weights`` (a weight for each gold item, mean one) corrects for gold that was chosen with known unequal chances.
    """
    from truthing.truth.link.sampler import posterior_draws, prior_draws

    shape = design(readings, level, prior)
    known = np.flatnonzero(gold >= 0)
    weights = np.ones(len(known)) if gold_weights is None else gold_weights
    right = (gold[known] == readings.predicted[known]) * weights
    groups = len(shape.size)
    gold_size = np.bincount(shape.member[known], weights=weights, minlength=groups)
    gold_right = np.bincount(shape.member[known], weights=right, minlength=groups)
    common: tuple[Any, ...] = (
        shape.matrix,
        shape.share,
        shape.mean,
        shape.precision,
        level.centre,
        level.variances,
        level.slope_factors,
        level.weights,
    )
    if len(known) == 0:
        return LinkDraws(
            shape, prior_draws(*common, n_draws, seed), float(n_draws), gold_size, gold_right
        )
    drawn, size = posterior_draws(*common, gold_size, gold_right, n_draws, seed)
    if size < 200:  # about one case in a hundred: more draws settle it
        many, size = posterior_draws(*common, gold_size, gold_right, 10 * n_draws, seed)
        drawn = many[np.random.default_rng(seed).permutation(len(many))[:n_draws]]
    if size < 30:
        raise NotConverged(
            f"the posterior of the link was not reached (effective sample size {size:.0f}): gold and labels contradict each other strongly. "
            "Check the gold, or grade with panel_error=0."
        )
    return LinkDraws(shape, drawn, size, gold_size, gold_right)


def expit(x: Any) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -700, 700))))


def _intercept(target: float, offsets: Array, share: Array) -> float:
    """The a for which the mean of expit(a + offsets) is expit(target)."""
    low, high = target - offsets.max() - 1.0, target - offsets.min() + 1.0
    wanted = float(expit(target))
    for _ in range(80):
        middle = (low + high) / 2
        if share @ expit(middle + offsets) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
