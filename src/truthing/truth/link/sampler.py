"""Draws of the link, in the coordinates (λ, b, u).

Without gold they are exact draws of the prior. With gold: Laplace's method for each component of
the prior as a heavy-tailed proposal, exact importance weights, systematic resampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log, pi

import numpy as np
from scipy.special import expit, logit

from truthing.class_codes import Array
from truthing.errors import NotConverged
from truthing.truth.gold_error import GoldError, Slips
from truthing.truth.link.design import CELLS, LinkDesign, link_design, solve_intercept
from truthing.truth.link.prior import Components
from truthing.truth.link.views import Views

Blur = tuple[Array, Array]  # α, β: gold agrees with a prediction with chance α + β p
UNSURE = 0.35  # what a gold item counts in the proposal where how gold errs is not known
FREEDOM = 8.0
WIDE = 2.5  # a fifth of the proposals are this much wider, so that no corner is missed
ENOUGH = 200
FEWEST = 30
FARTHEST = 25.0  # logit of an accuracy
FORETOLD = 250  # gold counts that the prior foretells


@dataclass(frozen=True, eq=False)
class LinkDraws:
    """Draws of (a, b, u). ``flat_weight`` is the posterior weight of "gold speaks alone";
    ``surprise`` how probable so odd a gold count was before gold was seen (1: not odd)."""

    design: LinkDesign
    coefficients: Array
    effective_size: float
    flat_weight: float = 0.0
    surprise: float = 1.0
    slips: Slips | None = None  # how gold errs, draw by draw
    positions: Array | None = None  # of grades on a scale

    def chance(self) -> Array:
        """Each group's chance of a right prediction, draws × groups."""
        return np.asarray(expit(self.coefficients @ self.design.matrix.T))


def draw_link(
    views: Views,
    components: Components,
    gold: Array,
    rng: np.random.Generator,
    *,
    n_draws: int,
    gold_weights: Array | None = None,
    blocks: Sequence[Array] = (),
    split: Array | None = None,
    gold_error: GoldError | None = None,
) -> LinkDraws:
    """Posterior draws given gold (class codes, -1 unknown).

    ``gold_weights`` (one per gold item) says what each gold item counts, where gold was chosen
    with unequal chances or in clusters. ``blocks`` and ``split`` as in `link_design`;
    ``gold_error`` is for experts who err.
    """
    design = link_design(views, *components.middle, blocks, split)
    known = np.flatnonzero(gold >= 0)
    if len(known) == 0:
        drawn = prior_draws(design, components.informed, n_draws, rng)
        return LinkDraws(design, drawn, float(n_draws))
    weights = np.ones(len(known)) if gold_weights is None else gold_weights
    size = design.tally(known, weights)
    right = design.tally(known, weights * (gold[known] == views.predicted[known]))
    worth = components.worth_of_gold(float(size.sum()))
    counted = worth * size, worth * right
    slips = None
    if gold_error is None:
        for more in (1, 10, 40):  # about one case in a hundred needs more draws
            found = posterior_draws(design, components, *counted, more * n_draws, rng)
            if effective_draws(found[1]) >= ENOUGH:
                break
    else:
        found, slips = erring_draws(
            design, components, *counted, n_draws, rng, gold_error, views.n_classes
        )
    drawn, weight, which = found
    effective = effective_draws(weight)
    if effective < FEWEST:
        why = "gold and labels contradict each other strongly. Check the gold, or use"
        why += " `panel_error=0`."
        if gold_error is not None:
            why = "`gold_error=` takes more draws than fit in memory where classes are many or gold"
            why += " and labels contradict each other. Check the gold, or merge rare classes."
        raise NotConverged(
            f"the posterior was not reached (effective sample size {effective:.0f}): {why}"
        )
    place = (np.arange(n_draws) + rng.random()) / n_draws
    chosen = np.minimum(np.searchsorted(np.cumsum(weight), place), len(weight) - 1)
    chosen = rng.permutation(chosen)  # so that any part of the draws is a fair sample
    flat = float(weight[components.flat[which]].sum())
    slips = None if slips is None else slips.chosen(chosen)
    surprise = _surprise(design, components.informed, size, right, rng, slips)
    return LinkDraws(design, drawn[chosen], effective, flat, surprise, slips)


def prior_draws(
    design: LinkDesign, components: Components, n_draws: int, rng: np.random.Generator
) -> Array:
    """No gold: component, level, slope and effects, then the intercept that gives that level."""
    which = rng.permutation(_components(components.weight, n_draws, rng))
    level = components.centre[which] + components.sd[which] * rng.standard_normal(n_draws)
    z = rng.standard_normal((n_draws, design.matrix.shape[1] - 1))
    rest = z * _spreads(components, design)[which]
    rest[:, 0] += components.slope[which]
    return np.column_stack([_intercepts(design, level, rest), rest])


def posterior_draws(
    design: LinkDesign,
    components: Components,
    size: Array,
    right: Array,
    n_draws: int,
    rng: np.random.Generator,
    slips: Slips | None = None,
) -> tuple[Array, Array, Array]:
    """Proposals, their normalised importance weights, and the component of each."""
    seen = np.flatnonzero(size > 0)
    matrix, size, right = design.matrix[seen], size[seen], right[seen]
    spreads = _spreads(components, design)
    p = design.matrix.shape[1]
    signal, typical, blur = design.matrix[:, 1], None, None
    if slips is not None:
        expected = slips.middle().blur_groups(design.expected[None], signal, design.share)
        typical = expected[0][:, seen], expected[1][:, seen]
    trust = 1.0 if slips is None else UNSURE
    modes, factors, height = _laplace(
        design, matrix, trust * size, trust * right, components, typical
    )
    evidence = np.log(components.weight) + height
    mixed = np.exp(evidence - evidence.max())
    mixed = 0.9 * mixed / mixed.sum() + 0.1 * components.weight  # never drop a component
    mixed /= mixed.sum()
    which = _components(mixed, n_draws, rng)
    z = rng.standard_normal((n_draws, p))
    stretch = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, n_draws))
    stretch *= np.where(rng.random(n_draws) < 0.2, WIDE, 1.0)
    inverse = np.linalg.inv(factors)
    moved = np.einsum("dij,di->dj", inverse[which], z * stretch[:, None])
    place = modes[which] + moved
    level = np.clip(place[:, 0], -FARTHEST, FARTHEST)
    drawn = np.column_stack([_intercepts(design, level, place[:, 1:]), place[:, 1:]])
    if slips is not None:
        chance = expit(drawn @ design.matrix.T)
        alpha, beta = slips.blur_groups(chance, signal, design.share)
        blur = alpha[:, seen], beta[:, seen]
    target = np.log(components.weight[which])
    target += _log_likelihood(drawn @ matrix.T, size, right, blur)
    target += _log_prior(components, spreads, which, level, place[:, 1:])
    target[np.abs(place[:, 0]) > FARTHEST] = -np.inf  # beyond, a proposal stands for nothing
    radius = stretch**2 * (z**2).sum(axis=1)
    near = (1 + radius / FREEDOM) ** (-0.5 * (FREEDOM + p))
    far = (1 + radius / (WIDE**2 * FREEDOM)) ** (-0.5 * (FREEDOM + p)) * WIDE**-p
    volume = np.log(np.abs(factors.diagonal(axis1=1, axis2=2))).sum(axis=1)
    constant = lgamma((FREEDOM + p) / 2) - lgamma(FREEDOM / 2) - 0.5 * p * log(FREEDOM * pi)
    proposal = np.log(mixed[which]) + volume[which] + constant + np.log(0.8 * near + 0.2 * far)
    weight = np.exp(target - proposal - (target - proposal).max())
    return drawn, weight / weight.sum(), which


def erring_draws(
    design: LinkDesign,
    components: Components,
    size: Array,
    right: Array,
    n_draws: int,
    rng: np.random.Generator,
    gold_error: GoldError,
    n_classes: int,
) -> tuple[tuple[Array, Array, Array], Slips]:
    """Where gold errs: draws of the prior, weighed by gold, which then says little; else as
    without errors. The better of both."""
    best, much = None, CELLS // len(design.size)
    for more, by_prior in ((10, True), (2, False), (40, True), (20, False)):
        n = int(np.clip(more * n_draws, n_draws, max(much, n_draws)))
        slips = gold_error.draws(n, n_classes, rng)
        draw = prior_proposals if by_prior else posterior_draws
        found = draw(design, components, size, right, n, rng, slips)
        reached = effective_draws(found[1])
        if best is None or reached > best[0]:
            best = reached, found, slips
        if reached >= ENOUGH:
            break
    assert best is not None
    return best[1], best[2]


def prior_proposals(
    design: LinkDesign,
    components: Components,
    size: Array,
    right: Array,
    n_draws: int,
    rng: np.random.Generator,
    slips: Slips,
) -> tuple[Array, Array, Array]:
    """As `posterior_draws`, with the prior as proposal."""
    drawn, which = component_draws(design, components, n_draws, rng)
    eta = drawn @ design.matrix.T
    blur = slips.blur_groups(expit(eta), design.matrix[:, 1], design.share)
    height = _log_likelihood(eta, size, right, blur)
    weight = np.exp(height - height.max())
    return drawn, weight / weight.sum(), which


def component_draws(
    design: LinkDesign, components: Components, n_draws: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draws of the whole prior, flat components too, and the component of each."""
    which = _components(components.weight, n_draws, rng)
    level = components.centre[which] + components.sd[which] * rng.standard_normal(n_draws)
    flat = logit(np.clip(rng.random(n_draws), 1e-9, 1 - 1e-9))
    level = np.where(components.flat[which], flat, level)
    rest = rng.standard_normal((n_draws, design.matrix.shape[1] - 1))
    rest *= _spreads(components, design)[which]
    rest[:, 0] += components.slope[which]
    return np.column_stack([_intercepts(design, level, rest), rest]), which


def effective_draws(weight: Array) -> float:
    return float(1 / (weight**2).sum())


def _laplace(
    design: LinkDesign,
    matrix: Array,
    size: Array,
    right: Array,
    components: Components,
    blur: Blur | None = None,
) -> tuple[Array, Array, Array]:
    """For every component: mode in (λ, b, u), root of the curvature there (lower triangular), and
    log of the evidence."""
    n, p = len(components.weight), design.matrix.shape[1]
    spreads = _spreads(components, design)
    precision = np.column_stack([np.zeros(n), spreads**-2.0])
    beta = np.zeros((n, p))
    beta[:, 1] = components.slope
    mean = beta.copy()
    beta[:, 0] = _intercepts(design, np.clip(components.centre, -6, 6), beta[:, 1:])
    for number in range(60):
        level, gradient = _levels(design, beta)
        push, curve = _level_slope(components, level)
        pull, weight = _pull(expit(beta @ matrix.T), size, right, blur)
        slope = pull @ matrix - precision * (beta - mean)
        slope += push[:, None] * gradient
        hessian = np.einsum("qg,gi,gj->qij", weight, matrix, matrix, optimize=True)
        hessian += curve[:, None, None] * gradient[:, :, None] * gradient[:, None, :]
        hessian[:, np.arange(p), np.arange(p)] += precision
        step = np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]
        largest = np.abs(step).max(axis=1)
        step *= np.minimum(1.0, 1.5 / np.maximum(largest, 1e-300))[:, None]
        beta = beta + (step if number <= 20 else 0.5 * step)
        if largest.max() < 1e-3:
            break
    level, gradient = _levels(design, beta)
    change = np.tile(np.eye(p), (n, 1, 1))  # from (λ, b, u) to (a, b, u)
    change[:, 0] = -gradient / gradient[:, :1]
    change[:, 0, 0] = 1 / gradient[:, 0]
    lower = np.linalg.cholesky(change.transpose(0, 2, 1) @ hessian @ change)
    height = _log_likelihood(beta @ matrix.T, size, right, blur)
    height += _log_prior(components, spreads, np.arange(n), level, beta[:, 1:])
    height += 0.5 * p * log(2 * pi) - np.log(lower.diagonal(axis1=1, axis2=2)).sum(axis=1)
    return np.column_stack([level, beta[:, 1:]]), lower, height


def _levels(design: LinkDesign, beta: Array) -> tuple[Array, Array]:
    """λ(β), the logit of the mean chance over all items, and its gradient, for every row of β."""
    chance = expit(beta @ design.matrix.T)
    mean = np.clip(chance @ design.share, 1e-9, 1 - 1e-9)
    gradient = (design.share * chance * (1 - chance)) @ design.matrix
    gradient /= (mean * (1 - mean))[:, None]
    gradient[:, 0] += 1e-12
    return np.log(mean) - np.log1p(-mean), gradient


def _level_slope(components: Components, level: Array) -> tuple[Array, Array]:
    """Derivative of the log prior of λ, and (minus) its curvature."""
    chance = expit(level)
    push = np.where(components.flat, 1 - 2 * chance, (components.centre - level) / components.sd**2)
    curve = np.where(components.flat, 2 * chance * (1 - chance) + 1e-3, components.sd**-2.0)
    return push, curve


def _pull(chance: Array, size: Array, right: Array, blur: Blur | None) -> tuple[Array, Array]:
    """Derivative of gold's log likelihood by each group's log-odds, and its expected curvature."""
    if blur is None:
        return right - size * chance, size * chance * (1 - chance)
    alpha, beta = blur
    agree, change = alpha + beta * chance, beta * chance * (1 - chance)
    spread = np.maximum(agree * (1 - agree), 1e-9)
    return (right - size * agree) * change / spread, size * change**2 / spread


def _log_likelihood(eta: Array, size: Array, right: Array, blur: Blur | None = None) -> Array:
    if blur is None:
        return np.asarray(eta @ right - np.logaddexp(0, eta) @ size)
    agree = np.clip(blur[0] + blur[1] * expit(eta), 1e-9, 1 - 1e-9)
    return np.asarray(np.log(agree) @ right + np.log1p(-agree) @ (size - right))


def _log_prior(
    components: Components, spreads: Array, which: Array, level: Array, rest: Array
) -> Array:
    z = (level - components.centre[which]) / components.sd[which]
    normal = -0.5 * z**2 - np.log(components.sd[which]) - 0.5 * log(2 * pi)
    flat = level - 2 * np.logaddexp(0, level)  # the accuracy is uniform
    spread = spreads[which]
    mean = np.zeros_like(rest)
    mean[:, 0] = components.slope[which]
    others = -0.5 * (((rest - mean) / spread) ** 2).sum(axis=1) - np.log(spread).sum(axis=1)
    others -= 0.5 * rest.shape[1] * log(2 * pi)
    return np.where(components.flat[which], flat, normal) + others


def _spreads(components: Components, design: LinkDesign) -> Array:
    """Standard deviations of slope and effects, components × coefficients but the first."""
    effects = components.effect_sd[:, None] * design.relative
    return np.column_stack([components.slope_sd, effects])


def _intercepts(design: LinkDesign, level: Array, rest: Array) -> Array:
    return solve_intercept(
        np.clip(level, -FARTHEST, FARTHEST), rest @ design.matrix[:, 1:].T, design.share
    )


def _components(weight: Array, n_draws: int, rng: np.random.Generator) -> Array:
    place = (np.arange(n_draws) + rng.random(n_draws)) / n_draws
    return np.minimum(np.searchsorted(np.cumsum(weight), place), len(weight) - 1)


def _surprise(
    design: LinkDesign,
    informed: Components,
    size: Array,
    right: Array,
    rng: np.random.Generator,
    slips: Slips | None = None,
) -> float:
    """Twice the smaller tail of the prior's prediction of the number of right gold items."""
    chance = expit(prior_draws(design, informed, FORETOLD, rng) @ design.matrix.T)
    if slips is not None:
        typical = slips.middle().blur_groups(chance, design.matrix[:, 1], design.share)
        chance = typical[0] + typical[1] * chance
    expected = rng.binomial(np.round(size).astype(np.int64), chance).sum(axis=1)
    seen = round(float(right.sum()))
    below, above = (expected <= seen).mean(), (expected >= seen).mean()
    return float(min(1.0, 2 * min(below, above)))
