"""Labelers of kinds: judges of one maker, one model under several prompts, residents beside
consultants. Labelers of a group share mistakes, so their votes count for less than as many others'.

Chance-corrected agreement of two independent labelers is the product of what each shares with the
truth, c_gh = s_g s_h. Agreement across groups gives s; within a group, what exceeds s_g² is shared,
ρ_g = (c_gg - s_g²) / (1 - s_g²). Each of n votes of a group on an item counts 1 / (1 + (n - 1) ρ_g).
What all groups share no labels can show; there the error correlation of public panels stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.metrics.estimate import Estimate

BLOCKS = 40  # of items, resampled for the interval
REDRAWN = 400
MOST_SHARED = 0.95
FEW = 200.0  # pairs of labels that the expectation "nothing is shared beyond ρ = .2" is worth
EXPECTED = 0.2
# Beta distribution of the error correlation of labelers of different groups, over public panels:
# mean .25 for people, .3 for language models, sd .2 (studies/labeler_groups.py)
ACROSS = {"people": (1.1, 3.3), "models": (1.1, 2.6), None: (1.1, 3.0)}


@dataclass(frozen=True, eq=False)
class LabelerGroups:
    """``member`` is the group of each labeler; ``shared`` draws of ρ, draws × groups, the first row
    the estimate."""

    names: tuple[str, ...]
    member: Array
    shared: Array
    labels_of: Array  # items × groups: how many labels
    across: Array  # draws of the error correlation across groups
    told: bool = True  # is there agreement across groups to compare with?

    @property
    def likeness(self) -> Array:
        """ρ of each group."""
        return np.asarray(self.shared[0])

    def votes(self, labels: Labels) -> Array:
        """What each label counts."""
        group = self.member[labels.labeler]
        count = self.labels_of[labels.item, group]
        return np.asarray(labels.weight / (1 + (count - 1) * self.likeness[group]))

    @cached_property
    def labels_per_item(self) -> float:
        total = self.labels_of.sum(axis=1)
        return float(total[total > 0].mean())

    @cached_property
    def effective_size(self) -> Estimate:
        """How many independent labels an item's labels are worth, on average."""
        labelled = self.labels_of[self.labels_of.sum(axis=1) > 0]
        kinds, size = np.unique(labelled, axis=0, return_counts=True)
        total, within = kinds.sum(axis=1), kinds * np.maximum(kinds - 1, 0)
        worth = []
        for rho, across in zip(self.shared[1:], self.across):
            pairs = across * (total**2 - total) + (1 - across) * (within @ rho)
            worth.append((total**2 / (total + pairs)) @ size / size.sum())
        return Estimate.from_draws(np.array(worth), support=(0.0, self.labels_per_item))

    def words(self) -> str:
        low, high = self.effective_size.interval(0.95)
        several = sum(int((self.member == g).sum() > 1) for g in range(len(self.names)))
        return (
            f"Labelers of one group share mistakes ({several} groups of two or more), and all "
            f"groups some: {self.labels_per_item:.1f} labels per item are worth about "
            f"{self.effective_size.mean:.1f} independent ones (95% interval {low:.1f} to "
            f"{high:.1f})."
        )

    def warnings(self) -> list[str]:
        if self.told:
            return []
        return [
            "All labelers are of one group: nothing shows how far they share mistakes, and the "
            "group changes nothing."
        ]


def as_members(groups: Mapping[Any, Any], labels: Labels) -> tuple[tuple[str, ...], Array]:
    """Names of the groups, and the group of each labeler; who is in none is a group alone."""
    known = {str(name): str(group) for name, group in groups.items()}
    here = [str(name) for name in labels.labelers]
    if not any(name in known for name in here):
        raise InputError(
            f"groups= names {listing(map(repr, known), 3)}, none of them a labeler here; there are "
            f"{listing(map(repr, here), 3)}."
        )
    own = [known.get(name, f"{name} (alone)") for name in here]
    names = tuple(dict.fromkeys(own))
    return names, np.array([names.index(name) for name in own], dtype=np.int64)


def learn_groups(
    groups: Mapping[Any, Any], labels: Labels, rng: np.random.Generator, kind: str | None = None
) -> LabelerGroups:
    """How far the labelers of each group share mistakes."""
    names, member = as_members(groups, labels)
    n_groups = len(names)
    flat = labels.item.astype(np.int64) * n_groups + member[labels.labeler]
    count = np.bincount(flat, weights=labels.weight, minlength=labels.n_items * n_groups)
    count = count.reshape(labels.n_items, n_groups)
    across = rng.beta(*ACROSS.get(kind, ACROSS[None]), REDRAWN)
    if n_groups < 2:
        return LabelerGroups(names, member, np.zeros((2, n_groups)), count, across, told=False)
    agree, pairs, chance = _blocks(labels, flat, count, n_groups, rng)
    weight = np.vstack([np.ones(len(agree)), rng.dirichlet(np.ones(len(agree)), REDRAWN)])
    shared = [
        _shared(np.tensordot(w, agree, 1), np.tensordot(w, pairs, 1), chance)
        for w in weight * len(agree) / weight.sum(axis=1, keepdims=True)
    ]
    return LabelerGroups(names, member, np.array(shared), count, across)


def _blocks(
    labels: Labels, flat: Array, count: Array, n_groups: int, rng: np.random.Generator
) -> tuple[Array, Array, float]:
    """Agreeing pairs and pairs of labels between groups, blocks × groups × groups; and how often
    two labels agree by chance."""
    n_items = labels.n_items
    block = rng.permutation(n_items) % min(BLOCKS, n_items)
    n_blocks = int(block.max()) + 1
    agree, pairs = np.zeros((2, n_blocks, n_groups, n_groups))
    for c in range(labels.n_classes):
        here = labels.label == c
        votes = np.bincount(
            flat[here], weights=labels.weight[here], minlength=n_items * n_groups
        ).reshape(n_items, n_groups)
        for b in range(n_blocks):
            part = votes[block == b]
            agree[b] += part.T @ part - np.diag(part.sum(axis=0))
    for b in range(n_blocks):
        part = count[block == b]
        pairs[b] = part.T @ part - np.diag(part.sum(axis=0))
    share = labels.per_class / max(labels.per_class.sum(), 1)
    return agree, pairs, float((share**2).sum())


def _shared(agree: Array, pairs: Array, chance: float) -> Array:
    """ρ of each group, drawn towards `EXPECTED` where there are few pairs."""
    beyond = (agree / np.maximum(pairs, 1e-9) - chance) / max(1 - chance, 1e-9)
    weight = pairs * (1 - np.eye(len(pairs)))
    start = np.sqrt(np.clip((weight * beyond).sum() / max(weight.sum(), 1e-9), 0.02, 0.98))
    quality = np.full(len(pairs), start)
    for _ in range(60):
        new = (weight * beyond) @ quality / np.maximum(weight @ quality**2, 1e-9)
        new = np.where(weight.sum(axis=1) > 0, new, start)
        quality = np.clip(0.5 * (quality + new), 0.05, 0.98)
    own = np.diag(pairs)
    found = (np.diag(beyond) - quality**2) / (1 - quality**2)
    found = (own * found + FEW * EXPECTED) / (own + FEW)
    return np.asarray(np.clip(np.where(own > 0, found, 0.0), 0.0, MOST_SHARED))
