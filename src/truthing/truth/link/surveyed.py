"""Confusion matrices of items that were drawn in clusters, by stratum or with weights, for all
items together and for each slice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from truthing.class_codes import Array
from truthing.metrics.confusion import ConfusionMatrix
from truthing.survey.design import Survey
from truthing.truth.link.counts import MOST_DENSE, multinomial, wrong_classes
from truthing.truth.link.many_classes import many_confusion
from truthing.truth.link.sampler import LinkDraws
from truthing.truth.link.views import Views

CELLS = 20_000_000  # draws × clusters worked on at once


@dataclass(frozen=True, eq=False)
class SurveyCounts:
    """Masses of right and wrong predictions, draws × groups; counted items count by their
    weight."""

    link: LinkDraws
    views: Views
    gold: Array
    weight: Array  # of each item
    right: Array
    wrong: Array
    wrong_items: Array | None  # how many items the wrong mass stands for; None: a mass of new data
    wrong_classes: Array | None  # None: too many classes
    rng: np.random.Generator

    def drawn(self, items: Array | None = None) -> Array | ConfusionMatrix:
        """Draws of the confusion matrix, of very many classes without its cells."""
        if self.wrong_classes is not None:
            return self.confusion(items, self.wrong_classes)
        masses = self.right, self.wrong, self.wrong_items, self.weight
        return many_confusion(self.link, self.views, self.gold, self.rng, *masses, items)

    def confusion(self, items: Array | None, wrong_classes: Array) -> Array:
        """Draws of the confusion matrix, draws × truth × prediction; of these items only, where
        groups hold no others."""
        design, n_classes = self.link.design, self.views.n_classes
        inside = np.ones(len(design.size), dtype=bool)
        known = np.flatnonzero(self.gold >= 0)
        if items is not None:
            inside = np.zeros(len(design.size), dtype=bool)
            inside[design.member[items]] = True
            known = np.intersect1d(known, items)
        table = np.zeros((len(self.right), n_classes, n_classes))
        for k in np.unique(design.predicted[inside]):
            here = np.flatnonzero(inside & (design.predicted == k))
            mass, shares = self.wrong[:, here].sum(axis=1), wrong_classes[:, k]
            if self.wrong_items is not None:
                counted = self.wrong_items[:, here].sum(axis=1)
                drawn = multinomial(counted, shares, self.rng)
                shares = drawn / np.maximum(counted, 1)[:, None]
            table[:, :, k] = mass[:, None] * shares
            table[:, k, k] = self.right[:, here].sum(axis=1)
        if self.wrong_items is None:
            return table
        flat = self.gold[known] * n_classes + self.views.predicted[known]
        seen = np.bincount(flat, weights=self.weight[known], minlength=n_classes**2)
        return np.asarray(table + seen.reshape(n_classes, n_classes))


def survey_counts(
    link: LinkDraws,
    views: Views,
    gold: Array,
    rng: np.random.Generator,
    survey: Survey,
    target: str,
    design_effect: float = 1.0,
) -> SurveyCounts:
    """``design_effect`` of the items without gold: how much more their number of right predictions
    varies than with items drawn one by one."""
    design, chance = link.design, link.chance()
    weight = np.ones(len(views.predicted)) if survey.weight is None else survey.weight
    shares = wrong_classes(link, views, gold, rng) if views.n_classes <= MOST_DENSE else None
    if target == "sample":
        free = np.round(design.size - design.tally(np.flatnonzero(gold >= 0))).astype(np.int64)
        right = rng.binomial(free, varied(chance, free, design_effect, rng))
        mean = design.tally(slice(None), weight) / design.size
        wrong = free - right
        masses = right * mean, wrong * mean, wrong
        return SurveyCounts(link, views, gold, weight, *masses, shares, rng)
    mass = redrawn(design.member, len(design.size), survey, len(link.coefficients), rng)
    return SurveyCounts(
        link, views, gold, weight, mass * chance, mass * (1 - chance), None, shares, rng
    )


def varied(chance: Array, size: Array, effect: float, rng: np.random.Generator) -> Array:
    """Chances of groups that vary so much that a binomial count is ``effect`` times as variable."""
    if effect <= 1.0 + 1e-9:
        return chance
    weight = np.maximum(size / (effect - 1) - 1, 0.5)
    return np.asarray(rng.beta(chance * weight + 1e-9, (1 - chance) * weight + 1e-9))


def redrawn(
    member: Array, n_groups: int, survey: Survey, n_draws: int, rng: np.random.Generator
) -> Array:
    """Masses of groups of items on new data, draws × groups: a Bayesian bootstrap of clusters (of
    items where there are none), within each stratum where strata are given."""
    n_items = len(member)
    weight = np.ones(n_items) if survey.weight is None else survey.weight
    if survey.cluster is None:
        size = np.bincount(member, minlength=n_groups)
        mean = np.bincount(member, weights=weight, minlength=n_groups) / size
        mass = rng.gamma(size, size=(n_draws, n_groups)) * mean
    else:
        n_clusters = int(survey.cluster.max()) + 1
        held = coo_array((weight, (survey.cluster, member)), shape=(n_clusters, n_groups)).tocsr()
        mass = np.empty((n_draws, n_groups))
        rows = max(1, CELLS // n_clusters)
        for start in range(0, n_draws, rows):
            stop = min(start + rows, n_draws)
            mass[start:stop] = rng.standard_exponential((stop - start, n_clusters)) @ held
    if survey.stratum is not None:
        of_group = np.zeros(n_groups, dtype=np.int64)
        of_group[member] = survey.stratum
        for stratum in range(int(survey.stratum.max()) + 1):
            here, share = of_group == stratum, weight[survey.stratum == stratum].sum() / n_items
            total = np.maximum(mass[:, here].sum(axis=1, keepdims=True), 1e-300)
            mass[:, here] *= share / total
    return np.asarray(mass / mass.sum(axis=1, keepdims=True) * n_items)
