"""Which items became gold: a random choice, a choice by what was seen, or by something unseen.

Gold chosen by what was seen (labels, predictions) can be corrected: within a stratum of what was
seen, gold is a random choice (verification bias; Begg & Greenes 1983). The link then gives each
stratum an effect of its own, and for gold alone each item counts by the inverse of its stratum's
share of gold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.labels import Labels

CHOICES = ("random", "seen", "unseen")
N_STRATA = 4  # for each predicted class
STRANGE = 1e-3  # a random choice looks so odd once in a thousand data sets
SIMULATED, MOST_SIMULATED = 5000, 1_000_000  # random choices; items of which they are drawn
FEWEST = 5.0  # gold and other items that a stratum is expected to hold


@dataclass(frozen=True, eq=False)
class GoldChoice:
    """``kind`` random, seen, unseen or chances; ``weights`` of the gold items, together as many as
    they are worth; ``strata`` of all items by what was seen; ``uncovered`` the share of items in
    strata without gold."""

    kind: str
    weights: Array | None = None
    strata: Array | None = None
    probability: float = 1.0
    uncovered: float = 0.0
    asked: bool = False

    @property
    def chances(self) -> Array | None:
        """Weights of the link's likelihood: only chances that the user gave."""
        return self.weights if self.kind == "chances" else None

    @property
    def words(self) -> str:
        """What was taken for granted."""
        if self.kind == "chances":
            return "they were chosen with the chances given"
        if self.kind == "seen":
            return (
                "they are taken as chosen by what labels and predictions show, at random among "
                "items that look alike"
            )
        return "they must be a random choice"

    @property
    def warnings(self) -> list[str]:
        told = []
        if self.kind == "seen" and not self.asked:
            told.append(
                f"Gold is not a random choice (p = {self.probability:.1g}): items that labels and "
                "predictions show as alike have it unequally often. The answer corrects for that, "
                "as if gold were random among items that look alike. If it was chosen by anything "
                "else, say `gold_choice='unseen'`; if you know the chances, give `gold_weights=`."
            )
        elif self.kind == "random" and self.probability < STRANGE:
            told.append(
                f"Gold does not look like a random choice (p = {self.probability:.1g}), but was "
                "taken as one, as `gold_choice='random'` says."
            )
        if self.kind == "seen" and self.uncovered > 0.005:
            told.append(
                f"{self.uncovered:.0%} of the items look like no gold item: what is said of them "
                "rests on the labels alone."
            )
        return told


RANDOM = GoldChoice("random")


def gold_choice(
    asked: str | None, labels: Labels, predicted: Array | None, gold: Array
) -> GoldChoice:
    """As the user says, else as the data look. Of several classifiers (``predicted``: rows) the one
    tells beside which gold looks least like a random choice."""
    check_choice(asked)
    known = gold >= 0
    if not known.any():
        return RANDOM
    if asked == "unseen":
        return GoldChoice("unseen", asked=True)
    votes, looks = labels.counts().astype(float), []
    for row in [None] if predicted is None else np.atleast_2d(predicted):
        strata = seen_strata(votes, row)
        found = choice_by_strata(asked, np.bincount(strata).astype(float), strata[known])
        looks.append(replace(found, strata=strata) if found.kind == "seen" else found)
    return min(looks, key=lambda look: look.probability)


def check_choice(asked: str | None) -> None:
    if asked is not None and asked not in CHOICES:
        raise InputError(
            f"gold_choice {asked!r} is not known.{did_you_mean(str(asked), CHOICES)} Choose "
            "random, seen (by labels or predictions) or unseen (by anything else)."
        )


def choice_by_strata(asked: str | None, size: Array, strata: Array) -> GoldChoice:
    """The same from the number of items in each stratum, and the strata of the gold items; the
    strata of all items are for the caller to add."""
    held = np.bincount(strata, minlength=len(size)).astype(float)
    probability = 1.0 if held.sum() == size.sum() else oddity(size, held)
    if asked == "random" or (asked is None and probability >= STRANGE):
        return GoldChoice("random", probability=probability, asked=asked is not None)
    weight = (size / np.maximum(held, 1))[strata]
    weight *= weight.sum() / (weight**2).sum()
    uncovered = float(size[held == 0].sum() / size.sum())
    return GoldChoice("seen", weight, None, probability, uncovered, asked is not None)


def seen_strata(votes: Array, predicted: Array | None) -> Array:
    """Items that look alike: by the prediction (or the most frequent label) and by how many labels
    agree with it, none, fewer than half, more, or all. ``votes`` are items × classes."""
    total = np.maximum(votes.sum(axis=1), 1)
    answer = votes.argmax(axis=1) if predicted is None else predicted
    share = votes[np.arange(len(votes)), answer] / total
    agreed = np.select([share <= 0, share < 0.5, share < 1], [0, 1, 2], 3)
    return np.asarray(answer * N_STRATA + agreed, dtype=np.int64)


def oddity(size: Array, held: Array) -> float:
    """How probable strata with so unequal shares of gold are under a random choice: ``held`` of
    ``size`` items are gold. A chi-squared test; where strata are sparse, its distribution is
    simulated, or of very many items sparse strata are taken together."""
    from scipy.special import chdtrc

    share = held.sum() / size.sum()
    sparse = size * min(share, 1 - share) < FEWEST
    if sparse.any() and size.sum() <= MOST_SIMULATED:
        return _simulated_oddity(size[size > 0], held[size > 0])
    size = np.append(size[~sparse], size[sparse].sum())
    held = np.append(held[~sparse], held[sparse].sum())
    kept = size * min(share, 1 - share) >= FEWEST
    if kept.sum() < 2:
        return 1.0
    size, held = size[kept], held[kept]
    share = held.sum() / size.sum()
    spread: Any = size * share * (1 - share)
    return float(chdtrc(len(size) - 1, ((held - size * share) ** 2 / spread).sum()))


def _simulated_oddity(size: Array, held: Array) -> float:
    rng, whole = np.random.default_rng(0), np.round(size).astype(np.int64)
    drawn = rng.multivariate_hypergeometric(
        whole, round(float(held.sum())), SIMULATED, method="marginals"
    )
    expected = size * held.sum() / size.sum()
    odd = ((drawn - expected) ** 2 / expected).sum(axis=1)
    seen = float(((held - expected) ** 2 / expected).sum())
    return float((1 + (odd >= seen - 1e-9).sum()) / (1 + SIMULATED))


def bounds(gold: Array, predicted: Array) -> tuple[float, float]:
    """What accuracy can be at all when nothing is known about the items without gold."""
    known = gold >= 0
    right = float((gold[known] == predicted[known]).sum())
    return right / len(gold), (right + float((~known).sum())) / len(gold)
