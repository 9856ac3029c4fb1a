"""From the link's chances to confusion matrices: how many predictions are right in each group, and
which classes the wrong ones are.

The wrong predictions of class k are truly c with shares ~ Dirichlet(8 f_k(c) r_c + gold counts): f
the consensus on those items, r_c how much more frequent c is in truth than among the labels. Gold
on all items informs r, so that a class that is never true loses its mass everywhere.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.noise.steps import fix_gold
from truthing.truth.link.design import LinkDesign
from truthing.truth.link.sampler import LinkDraws
from truthing.truth.link.scale_tilt import tilt_draws
from truthing.truth.link.views import Views

CLASS_TRUST = 0.8  # items that the labels' share of a class is worth: r ~ Gamma(.8, .8)
PAIR_TRUST = 8.0  # items that f r is worth for the wrong predictions of one class
TINY = 1e-12
MOST_DENSE = 100  # classes; beyond, a table of classes × classes for each draw would not fit


def wrong_classes(link: LinkDraws, views: Views, gold: Array, rng: np.random.Generator) -> Array:
    """Shares of the true classes among the wrong predictions of each class, draws × predicted ×
    classes."""
    n_classes, predicted, design = views.n_classes, views.predicted, link.design
    likely, n_draws = likely_classes(link.design, views), len(link.coefficients)
    shares = np.zeros((n_draws, n_classes, n_classes))
    known = np.flatnonzero(gold >= 0)
    ratio = class_ratios(views, gold, n_draws, rng)
    wrong = design.size * (1 - design.expected)
    if link.positions is not None:
        ratio = ratio * _tilt(link, likely, wrong, predicted[known], gold[known], rng)
    for k in np.unique(predicted):
        if n_classes == 2:
            shares[:, k, 1 - k] = 1.0
            continue
        here = design.predicted == k
        base = wrong[here] @ likely[here] * ratio
        base /= np.maximum(base.sum(axis=1, keepdims=True), TINY)
        missed = known[(predicted[known] == k) & (gold[known] != k)]
        alpha = PAIR_TRUST * base + np.bincount(gold[missed], minlength=n_classes)
        drawn = rng.standard_gamma(np.maximum(alpha, TINY))
        drawn[:, k] = 0.0
        shares[:, k] = drawn / np.maximum(drawn.sum(axis=1, keepdims=True), 1e-300)
    return shares


def class_ratios(views: Views, gold: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """How much more frequent each class is in truth than among the labels, draws × classes."""
    known = np.flatnonzero(gold >= 0)
    counted = np.bincount(gold[known], minlength=views.n_classes)
    expected = views.consensus[known].sum(axis=0)
    drawn = rng.gamma(CLASS_TRUST + counted, size=(n_draws, views.n_classes))
    return np.asarray(drawn / (CLASS_TRUST + expected))


def _tilt(
    link: LinkDraws,
    likely: Array,
    wrong: Array,
    predicted: Array,
    gold: Array,
    rng: np.random.Generator,
) -> Array:
    """How much more frequent each grade is if the whole panel is severe or lenient, draws ×
    classes."""
    assert link.positions is not None
    n, design = likely.shape[1], link.design
    expected, missed = np.zeros((2, n, n))
    for k in np.unique(design.predicted):
        here = design.predicted == k
        expected[k] = wrong[here] @ likely[here]
    expected /= np.maximum(expected.sum(axis=1, keepdims=True), TINY)
    np.add.at(missed, (predicted, gold), 1)
    np.fill_diagonal(missed, 0)
    tilt = tilt_draws(expected, missed, link.positions, len(link.coefficients), rng)
    return np.exp(np.clip(tilt[:, None] * link.positions, -20, 20))


def likely_classes(design: LinkDesign, views: Views) -> Array:
    """What the consensus takes a group's wrong predictions for, groups × classes."""
    share = views.wrong_classes()
    if views.size is not None:
        share = share * views.size[:, None]
    likely = np.stack([design.tally(slice(None), column) for column in share.T], axis=1)
    return np.asarray(likely / design.size[:, None])


def confusion_draws(link: LinkDraws, views: Views, gold: Array, rng: np.random.Generator) -> Array:
    """Confusion counts on these items, draws × truth × prediction; gold items count as they are."""
    n_classes, design = views.n_classes, link.design
    known = np.flatnonzero(gold >= 0)
    free = np.round(design.size - design.tally(known)).astype(np.int64)
    right = rng.binomial(free, link.chance())
    shares = wrong_classes(link, views, gold, rng)
    confusion = np.zeros(shares.shape, dtype=np.int64)
    for k in np.unique(design.predicted):
        here = np.flatnonzero(design.predicted == k)
        hits = right[:, here].sum(axis=1)
        confusion[:, :, k] = multinomial(free[here].sum() - hits, shares[:, k], rng)
        confusion[:, k, k] = hits
    flat = gold[known] * n_classes + views.predicted[known]
    return confusion + np.bincount(flat, minlength=n_classes**2).reshape(n_classes, n_classes)


def population_confusion(
    link: LinkDraws, views: Views, gold: Array, rng: np.random.Generator
) -> Array:
    """Confusion shares on new data like these items: expected counts at each draw of the link,
    items redrawn (a Bayesian bootstrap of groups)."""
    shares = wrong_classes(link, views, gold, rng)
    chance, design = link.chance(), link.design
    mass = rng.gamma(design.size, size=chance.shape)
    mass /= mass.sum(axis=1, keepdims=True)
    confusion = np.zeros(shares.shape)
    for k in np.unique(design.predicted):
        here = np.flatnonzero(design.predicted == k)
        wrong = (mass[:, here] * (1 - chance[:, here])).sum(axis=1)
        confusion[:, :, k] = wrong[:, None] * shares[:, k]
        confusion[:, k, k] = (mass[:, here] * chance[:, here]).sum(axis=1)
    return confusion


def multinomial(n: Array, shares: Array, rng: np.random.Generator) -> Array:
    """One multinomial draw per row, class by class."""
    out, left = np.zeros(shares.shape, dtype=np.int64), n.copy()
    # added from the end: what 1 leaves after all others would keep few digits
    rest = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]
    last = shares.shape[1] - 1 - np.argmax(shares[:, ::-1] > 0, axis=1)
    for c in range(shares.shape[1]):
        part = np.clip(shares[:, c] / np.maximum(rest[:, c], 1e-300), 0.0, 1.0)
        part = np.where(last == c, 1.0, part)
        out[:, c] = rng.binomial(left, part)
        left = left - out[:, c]
    return out


def item_truth(link: LinkDraws, views: Views, gold: Array) -> Array:
    """Posterior of each item's class: the mean chance of a right prediction, the rest by the
    consensus."""
    right = link.chance().mean(axis=0)[link.design.member]
    return truth_of(right, views.wrong_classes(), views.predicted, gold)


def truth_of(right: Array, wrong: Array, predicted: Array, gold: Array) -> Array:
    """Rows × classes, from the chance of a right prediction and what a wrong one stands for."""
    truth = wrong * (1 - right)[:, None]
    truth[np.arange(len(predicted)), predicted] = right
    fix_gold(truth, gold)
    return truth
