"""Answer keys for several classifiers of which only counts are kept: items are too many to draw
them one by one, and groups of items that look alike say as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.truth.link.counts import multinomial
from truthing.truth.link.models import Committee

Counts = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class CountedKeys:
    """``parts`` are draws of (b, tilts), each with gold as these draws take it."""

    committee: Committee
    parts: Sequence[tuple[Array, Array]]
    seed: int

    def count(self, target: str) -> Counts:
        """Right (draws × models × classes), truth (draws × classes) and predicted (draws × models ×
        classes). For new data, items are redrawn by a Bayesian bootstrap: n items of a group and
        class weigh Gamma(n) together.
        """
        rng = np.random.default_rng(self.seed)
        found = [
            self._some(chance, gold, target, rng)
            for tilts, gold in self.parts
            for _, chance in self.committee.chances(tilts)
        ]
        right, truth, given = (np.concatenate(part) for part in zip(*found))
        return right, truth, given

    def _some(self, chance: Array, gold: Array, target: str, rng: np.random.Generator) -> Counts:
        committee, known = self.committee, np.flatnonzero(gold >= 0)
        n_draws, n_groups, n_classes = chance.shape
        free = np.round(committee.without(known)).astype(np.int64)
        drawn = multinomial(np.tile(free, n_draws), chance.reshape(-1, n_classes), rng)
        items = drawn.reshape(chance.shape).astype(float)
        seen = committee.member[known] * n_classes + gold[known]
        items += np.bincount(seen, minlength=n_groups * n_classes).reshape(n_groups, n_classes)
        if target == "population":
            items = rng.standard_gamma(items)
        guessed = np.eye(n_classes)[committee.guess]
        right = np.einsum("dgc,gjc->djc", items, guessed, optimize=True)
        given = np.einsum("dg,gjc->djc", items.sum(axis=2), guessed, optimize=True)
        return right, items.sum(axis=1), given
