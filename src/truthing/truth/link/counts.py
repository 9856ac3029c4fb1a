"""From the link's chances to confusion matrices: how many predictions are right in each group, and which classes the wrong ones are."""

from __future__ import annotations

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.truth.link.prior import LinkDraws
from truthing.truth.link.views import Readings

TRUST_IN_CLASSES = 2.0  # pseudo-items behind the models' distribution over classes, given that the prediction is wrong


def confusion_draws(link: LinkDraws, readings: Readings, gold: Array, seed: int) -> Array:
    """Confusion counts on these items, draws × truth × prediction; gold items are counted as they are."""
    n_classes = readings.n_classes
    known = np.flatnonzero(gold >= 0)
    held = np.bincount(link.design.member[known], minlength=len(link.design.size))
    free = (link.design.size - held).astype(np.int64)
    likely, tilt = wrong_classes(link, readings, gold, np.random.default_rng(seed))
    drawn = _draw(link.chance(), free, link.design.predicted, likely, tilt, n_classes, seed)
    flat = gold[known] * n_classes + readings.predicted[known]
    return drawn + np.bincount(flat, minlength=n_classes**2).reshape(n_classes, n_classes)


def wrong_classes(
    link: LinkDraws, readings: Readings, gold: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Per group the models' distribution over wrong classes; per draw and predicted class a tilt of it that gold has shaped."""
    n_classes, predicted = readings.n_classes, readings.predicted
    share = readings.consensus + 1e-4
    share[np.arange(len(predicted)), predicted] = 0.0
    share /= share.sum(axis=1, keepdims=True)
    member, size = link.design.member, link.design.size
    likely = (
        np.stack(
            [
                np.bincount(member, weights=share[:, c], minlength=len(size))
                for c in range(n_classes)
            ],
            axis=1,
        )
        / size[:, None]
    )
    tilt = np.ones((len(link.coefficients), n_classes, n_classes))
    if n_classes == 2:
        return likely, tilt
    wrong = size * (1 - link.design.chance)
    known = np.flatnonzero(gold >= 0)
    for k in np.unique(predicted):
        here = link.design.predicted == k
        average = wrong[here] @ likely[here]
        average /= average.sum()
        alpha = TRUST_IN_CLASSES * average
        missed = known[(predicted[known] == k) & (gold[known] != k)]
        alpha += np.bincount(gold[missed], minlength=n_classes)
        possible = np.flatnonzero(alpha > 0)
        tilt[:, k, possible] = (
            np.maximum(rng.dirichlet(alpha[possible], len(tilt)), 1e-12) / average[possible]
        )
    return likely, tilt


@numba.njit(cache=True)
def _draw(chance, free, predicted, likely, tilt, n_classes, seed):  # type: ignore[no-untyped-def]
    np.random.seed(seed)
    n_draws, n_groups = chance.shape
    confusion = np.zeros((n_draws, n_classes, n_classes), dtype=np.int64)
    p = np.empty(n_classes)
    for d in range(n_draws):
        for g in range(n_groups):
            if free[g] == 0:
                continue
            k = predicted[g]
            right = np.random.binomial(free[g], chance[d, g])
            confusion[d, k, k] += right
            left, total = free[g] - right, 0.0
            for c in range(n_classes):
                p[c] = 0.0 if c == k else likely[g, c] * tilt[d, k, c]
                total += p[c]
            for c in range(n_classes):
                if left <= 0:
                    break
                if p[c] > 0:
                    here = (
                        left
                        if p[c] >= total * (1 - 1e-12)
                        else np.random.binomial(left, min(p[c] / total, 1.0))
                    )
                    confusion[d, c, k] += here
                    left -= here
                    total -= p[c]
    return confusion


def population_confusion(link: LinkDraws, readings: Readings, gold: Array, seed: int) -> Array:
    """Confusion shares on new data like these items: expected counts at each draw of the link, items redrawn (a Bayesian bootstrap of groups)."""
    rng = np.random.default_rng(seed)
    likely, tilt = wrong_classes(link, readings, gold, rng)
    chance, predicted, n_classes = link.chance(), link.design.predicted, readings.n_classes
    mass = rng.gamma(link.design.size, size=chance.shape)
    mass /= mass.sum(axis=1, keepdims=True)
    confusion = np.zeros((len(chance), n_classes, n_classes))
    for g in range(len(predicted)):
        k = predicted[g]
        spread = likely[g] * tilt[:, k]
        spread[:, k] = 0.0
        spread /= spread.sum(axis=1, keepdims=True)
        confusion[:, :, k] += (mass[:, g] * (1 - chance[:, g]))[:, None] * spread
        confusion[:, k, k] += mass[:, g] * chance[:, g]
    return confusion


def item_truth(link: LinkDraws, readings: Readings, gold: Array) -> Array:
    """Posterior of each item's class: the mean chance of a right prediction, the rest by the models' classes."""
    n_classes, predicted = readings.n_classes, readings.predicted
    right = link.chance().mean(axis=0)[link.design.member]
    other = readings.consensus + 1e-4
    other[np.arange(len(predicted)), predicted] = 0.0
    truth = other / other.sum(axis=1, keepdims=True) * (1 - right)[:, None]
    truth[np.arange(len(predicted)), predicted] = right
    known = np.flatnonzero(gold >= 0)
    truth[known] = np.eye(n_classes)[gold[known]]
    return truth
