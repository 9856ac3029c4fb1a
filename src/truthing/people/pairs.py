"""Pairs of labelers who agree more, or less, than their own qualities allow; judged without their
own vote on the truth.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.noise.steps import repeat
from truthing.truth.checks import agreement_check
from truthing.truth.consensus import DawidSkeneFit, Entries, fit_dawid_skene

# z ignores that the others' belief may be wrong; at .01 up to 8% of honest panels were suspected
UNLIKELY = 0.001
SMALL_PANEL = range(
    5, 13
)  # labelers: enough others to judge a pair, few enough pairs to judge each by its own others
ENOUGH, MOST_ITEMS = 10, 4000
STEPS = 30  # of EM, for each labeler of a pair


@dataclass(frozen=True)
class Pair:
    """Two labelers who agree more, or less, than their own qualities allow; ``p`` is corrected for
    the number of pairs looked at.
    """

    first: Any
    second: Any
    items: int
    observed: float
    expected: float
    z: float
    p: float

    @property
    def repeated(self) -> float:
        """Share of answers that one would have to copy from the other to explain the agreement (0
        where they contradict).
        """
        return max(0.0, (self.observed - self.expected) / max(1 - self.expected, 1e-9))

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "repeated": self.repeated}

    def __str__(self) -> str:
        agreement = (
            f"agree on {self.observed:.0%} of {self.items} items where independence gives "
            f"{self.expected:.0%} (p = {self.p:.2g})"
        )
        if self.z > 0:
            return (
                f"{self.first} and {self.second} {agreement}: as if {self.repeated:.0%} of the "
                "answers were copied or mistakes shared."
            )
        return f"{self.first} and {self.second} {agreement}: they read the task differently."


def unusual_pairs(labels: Labels, gold: Array, fit: DawidSkeneFit) -> list[Pair]:
    """Pairs whose agreement independence does not explain, the strongest copies first.

    In a small panel two who copy carry the consensus with them, and their agreement explains
    itself: there each pair is judged by a consensus of the others alone. In a large one, by the
    others' opinion under the common fit.
    """
    active = int((labels.per_labeler > 0).sum())
    if active in SMALL_PANEL:
        found = _left_out(labels, gold)
    else:
        found = agreement_check(labels, None, fit, gold=gold)
    return sorted(
        (Pair(**pair) for pair in found if pair["p"] < UNLIKELY), key=lambda pair: -pair.z
    )


def _left_out(labels: Labels, gold: Array) -> list[dict[str, Any]]:
    """Every pair against the consensus of the others (docs/labelers.md, 12)."""
    if labels.n_items > MOST_ITEMS:
        chosen = np.sort(np.random.default_rng(0).permutation(labels.n_items)[:MOST_ITEMS])
        labels, gold = labels[chosen], gold[chosen]
    grid = labels.matrix()
    found: list[dict[str, Any]] = []
    for a, b in combinations(np.flatnonzero(labels.per_labeler > 0), 2):
        both = (grid[:, a] >= 0) & (grid[:, b] >= 0)
        if both.sum() < ENOUGH:
            continue
        others = labels.select([name for t, name in enumerate(labels.labelers) if t not in (a, b)])
        belief = fit_dawid_skene(Entries.of(others), gold).posterior
        rows = [_own_rows(belief[grid[:, t] >= 0], grid[grid[:, t] >= 0, t]) for t in (a, b)]
        expected = belief[both] @ (rows[0] * rows[1]).sum(axis=1)
        agreed = grid[both, a] == grid[both, b]
        surprise = (agreed.sum() - expected.sum()) / math.sqrt(
            max((expected * (1 - expected)).sum(), 1e-9)
        )
        found.append(
            {
                "first": labels.labelers[a],
                "second": labels.labelers[b],
                "items": int(both.sum()),
                "observed": float(agreed.mean()),
                "expected": float(expected.mean()),
                "z": float(surprise),
            }
        )
    for pair in found:
        pair["p"] = min(1.0, len(found) * math.erfc(abs(pair["z"]) / math.sqrt(2)))
    return found


def _own_rows(belief: Array, label: Array) -> Array:
    """A labeler's confusion matrix by maximum likelihood, where the others' belief is the prior of
    each item (EM).
    """
    n_classes = belief.shape[1]
    answer = np.eye(n_classes)[label]
    # a little pull towards the diagonal keeps rare classes in place
    pull = np.full((n_classes, n_classes), 0.5) + np.eye(n_classes) * (0.5 + n_classes)
    pull /= pull.sum(axis=1, keepdims=True)

    def step(rows: Array) -> Array:
        weight = belief * rows[:, label].T
        weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        counts = weight.T @ answer + pull
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    return repeat(step, pull, most=STEPS)
