"""Votes that are missing for a reason: do labelers skip what is hard, and what if they do?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.truth.link.views import Views, agreeing_pairs

SURE = 1e-3  # chance of a false alarm
UNSURE = 0.5  # share of an unsure vote that could be for any class
MOST = 400  # labelers looked at
FEWEST = 30  # items with and without a label of a labeler


@dataclass(frozen=True)
class Skipping:
    """Dissent among the others on items that labelers skip, and on items that they label."""

    skipped: float
    labelled: float
    p: float

    @property
    def suspicious(self) -> bool:
        return self.p < SURE and self.skipped > self.labelled

    def warning(self) -> str:
        return (
            f"Labelers skip what others dispute: dissent is {self.skipped:.0%} on items that a "
            f"labeler left out and {self.labelled:.0%} on those it labeled (p = {self.p:.1g}). "
            "Missing labels were taken for chance; `skips='hard'` takes such items for harder."
        )


def skipping(labels: Labels) -> Skipping | None:
    """Whether missing labels go with dispute: for each labeler, pairwise dissent of the others on
    the items it skipped against those it labeled, pooled over labelers."""
    if labels.anonymous or labels.n_labelers < 3:
        return None
    votes = labels.counts().astype(float)
    total = votes.sum(axis=1)
    dissent = 1 - agreeing_pairs(votes)
    difference, weight, on_skipped, on_labelled = [], [], [], []
    for t in range(min(labels.n_labelers, MOST)):
        mine = labels.labeler == t
        item = labels.item[mine]
        own = np.zeros(labels.n_items, dtype=bool)
        own[item] = True
        others = votes[item].copy()
        others[np.arange(len(item)), labels.label[mine]] -= 1
        left = total[item] - 1
        seen = 1 - agreeing_pairs(others)[left >= 2]
        out = dissent[~own & (total >= 2)]
        if len(seen) < FEWEST or len(out) < FEWEST:
            continue
        variance = seen.var() / len(seen) + out.var() / len(out)
        if variance <= 0:
            continue
        difference.append(out.mean() - seen.mean())
        weight.append(1 / variance)
        on_skipped.append(out.mean())
        on_labelled.append(seen.mean())
    if not difference:
        return None
    pull = np.array(weight)
    z = float(pull @ np.array(difference) / math.sqrt(pull.sum()))
    # labelers see the same items: their comparisons are not independent
    z /= math.sqrt(1 + 0.3 * (len(weight) - 1))
    p = math.erfc(abs(z) / math.sqrt(2))
    share = pull / pull.sum()
    return Skipping(float(share @ np.array(on_skipped)), float(share @ np.array(on_labelled)), p)


def skipped_votes(labels: Labels) -> Array:
    """How many of the panel left each item out: of those who label most items where there are
    such, else compared with an item's usual number of labels."""
    busy = labels.per_labeler >= 0.5 * labels.n_items
    if busy.sum() >= 2:
        given = np.bincount(labels.item[busy[labels.labeler]], minlength=labels.n_items)
        return np.asarray(np.maximum(busy.sum() - given, 0))
    return np.asarray(np.maximum(np.median(labels.per_item) - labels.per_item, 0))


def doubted(views: Views, given: Array, doubts: Array | None) -> Views:
    """Views in which an unsure or skipped vote counts as half a vote like the item's others and
    half a vote for any class: it tells that the item is hard."""
    if doubts is None or not doubts.any():
        return views
    moved = UNSURE * doubts / np.maximum(given + doubts, 1)
    everyone, chance = np.arange(len(moved)), 1 / views.n_classes
    agreed = views.consensus[everyone, views.predicted]
    lost = float((moved * (agreed - chance)).mean())
    shares = np.clip(expit(views.levels) - lost, 1e-6, 1 - 1e-6)
    consensus = (1 - moved)[:, None] * views.consensus + (moved * chance)[:, None]
    return replace(
        views,
        levels=logit(shares),
        agreement=float(np.clip(views.agreement - lost, 1e-6, 1 - 1e-6)),
        signal=views.signal * (1 - moved),
        consensus=consensus,
    )


def harder(right: Array, doubtful: Array, factor: float) -> float:
    """How the mean of ``right`` (chances of items) moves if the odds of the doubtful ones are
    ``factor`` times as large."""
    odds = right[doubtful] / np.maximum(1 - right[doubtful], 1e-12) * factor
    return float((odds / (1 + odds) - right[doubtful]).sum() / max(len(right), 1))
