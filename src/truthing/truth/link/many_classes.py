"""From the link's chances to confusion counts where classes are so many that a table of classes ×
classes for each draw would not fit: only its diagonal, its margins and its mean are kept.

The model is that of `counts`. Counts of wrong predictions come from Pólya's urn, masses from
Sethuraman's broken stick: both are draws of the same Dirichlet distribution that need no number for
each pair of classes.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.counts import Tally
from truthing.randomness import compiled_seeds
from truthing.truth.link.counts import (
    MOST_DENSE,
    PAIR_TRUST,
    class_ratios,
    confusion_draws,
    likely_classes,
    population_confusion,
)
from truthing.truth.link.sampler import LinkDraws
from truthing.truth.link.views import Views

REST = 1e-3  # of the stick, given to one class


def many_confusion(
    link: LinkDraws,
    views: Views,
    gold: Array,
    rng: np.random.Generator,
    right: Array,
    wrong: Array,
    wrong_items: Array | None,
    weight: Array | None = None,
    items: Array | None = None,
) -> ConfusionMatrix:
    """Draws of the confusion counts; ``right`` and ``wrong`` are masses, draws × groups.

    ``wrong_items`` is how many items the wrong mass stands for (None: a mass of new data, where
    gold items do not count as they are). Of ``items`` only, where groups hold no others.
    """
    design, n_classes, predicted = link.design, views.n_classes, views.predicted
    inside = np.ones(len(design.size), dtype=bool)
    known = np.flatnonzero(gold >= 0)
    here = known
    if items is not None:
        inside = np.zeros(len(design.size), dtype=bool)
        inside[design.member[items]] = True
        here = np.intersect1d(known, items)
    classes, place = np.unique(design.predicted, return_inverse=True)
    of_class = np.zeros((len(design.size), len(classes)))
    of_class[np.arange(len(design.size)), place] = inside
    base = np.zeros((len(classes), n_classes))
    np.add.at(
        base, place, (design.size * (1 - design.expected))[:, None] * likely_classes(design, views)
    )
    missed = known[predicted[known] != gold[known]]
    missed = missed[np.argsort(predicted[missed], kind="stable")]
    start = np.searchsorted(predicted[missed], np.append(classes, n_classes))
    hits, mass = right @ of_class, wrong @ of_class
    counted = np.full(mass.shape, -1.0) if wrong_items is None else wrong_items @ of_class
    truth, mean = np.zeros((len(right), n_classes)), np.zeros((n_classes, n_classes))
    seeds = compiled_seeds(int(rng.integers(2**31)), len(right), "wrong classes")
    ratio = class_ratios(views, gold, len(right), rng)
    _spread(
        classes,
        base,
        ratio,
        start,
        gold[missed].astype(np.int64),
        mass,
        np.round(counted).astype(np.int64),
        seeds,
        truth,
        mean,
    )
    diagonal, given = np.zeros(truth.shape), np.zeros(truth.shape)
    diagonal[:, classes], given[:, classes] = hits, hits + mass
    truth += diagonal
    mean /= len(right)
    mean[classes, classes] += hits.mean(axis=0)
    if wrong_items is not None:
        counts = np.ones(len(gold)) if weight is None else weight
        seen = np.zeros((n_classes, n_classes))
        np.add.at(seen, (gold[here], predicted[here]), counts[here])
        diagonal += np.diagonal(seen)
        truth += seen.sum(axis=1)
        given += seen.sum(axis=0)
        mean += seen
    return ConfusionMatrix.from_margins(Tally(diagonal, truth, given), mean)


def drawn_confusion(
    link: LinkDraws, views: Views, gold: Array, rng: np.random.Generator, target: str = "sample"
) -> Array | ConfusionMatrix:
    """Confusion counts on these items or on as many new ones: draws × truth × prediction, or
    without cells where classes are very many."""
    n_items, design, chance = len(gold), link.design, link.chance()
    if views.n_classes <= MOST_DENSE:
        if target == "sample":
            return confusion_draws(link, views, gold, rng).astype(float)
        return population_confusion(link, views, gold, rng) * n_items
    if target == "sample":
        free = np.round(design.size - design.tally(np.flatnonzero(gold >= 0))).astype(np.int64)
        right = rng.binomial(free, chance)
        return many_confusion(link, views, gold, rng, right, free - right, free - right)
    mass = rng.gamma(design.size, size=chance.shape)
    mass *= n_items / mass.sum(axis=1, keepdims=True)
    return many_confusion(link, views, gold, rng, mass * chance, mass * (1 - chance), None)


@njit
def _pick(cumulative, start, stop, missed):  # type: ignore[no-untyped-def]
    """A class from the Dirichlet's mean: what the consensus says, and gold that was missed."""
    n_gold = stop - start
    if np.random.random() * (PAIR_TRUST + n_gold) < n_gold:
        return missed[start + int(np.random.random() * n_gold)]
    at = np.searchsorted(cumulative, np.random.random() * cumulative[-1], side="right")
    return min(at, len(cumulative) - 1)


@njit
def _spread(  # type: ignore[no-untyped-def]
    classes, base, ratio, start, missed, mass, counted, seeds, truth, mean
):
    """Adds the wrong mass of every draw and predicted class to its true classes."""
    n_classes = base.shape[1]
    cumulative = np.empty(n_classes)
    urn = np.empty(max(counted.max(), 1), dtype=np.int64)
    for d in range(len(mass)):
        np.random.seed(seeds[d])
        for j in range(len(classes)):
            if mass[d, j] <= 0:
                continue
            total = 0.0
            for c in range(n_classes):
                total += base[j, c] * ratio[d, c]
                cumulative[c] = total
            trust = PAIR_TRUST + start[j + 1] - start[j]
            if counted[d, j] >= 0:
                each = mass[d, j] / counted[d, j]
                for i in range(counted[d, j]):
                    before = np.random.random() * (trust + i) - trust
                    if before >= 0:
                        urn[i] = urn[min(int(before), i - 1)]
                    else:
                        urn[i] = _pick(cumulative, start[j], start[j + 1], missed)
                    truth[d, urn[i]] += each
                    mean[urn[i], classes[j]] += each
                continue
            left = mass[d, j]
            while left > 0:
                part = left * (1 - np.random.random() ** (1 / trust))
                part = left if left < REST * mass[d, j] else part
                c = _pick(cumulative, start[j], start[j + 1], missed)
                truth[d, c] += part
                mean[c, classes[j]] += part
                left = 0.0 if part == left else left - part
