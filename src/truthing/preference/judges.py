"""What each judge does beside judging: leans to a position, changes its mind with the order, ties.

Each is a share of that judge's verdicts, judges pooled: θ_j ~ Beta(κ m, κ (1 - m)), κ on a grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate
from truthing.preference.verdicts import TIED, Verdicts, twice
from truthing.randomness import generator

SPREADS = 2.0 ** np.arange(0, 11)
DRAWS = 4000


@dataclass(frozen=True, eq=False)
class Judge:
    """One judge. ``first``: share of decided verdicts for the answer shown first (half: no lean);
    ``changes``: share of comparisons seen in both orders on which the two verdicts differ.
    """

    verdicts: int
    ties: float
    first: Estimate | None
    changes: Estimate | None


def look_at_judges(verdicts: Verdicts, seed: int) -> Mapping[Any, Judge]:
    """Every judge's habits, as far as these verdicts show them."""
    n = len(verdicts.judges)
    first = _lean(verdicts, seed)
    one, other = twice(verdicts)
    both = np.bincount(verdicts.judge[one], minlength=n)
    differ = verdicts.outcome[one] != verdicts.outcome[other]
    changed = np.bincount(verdicts.judge[one], weights=differ, minlength=n)
    changes = pooled_shares(changed, both, generator(seed, "changes"))
    given = np.bincount(verdicts.judge, minlength=n)
    tied = np.bincount(verdicts.judge, weights=verdicts.outcome == TIED, minlength=n)
    return {
        name: Judge(
            int(given[j]),
            float(tied[j] / max(given[j], 1)),
            first[j] if first else None,
            changes[j] if both[j] else None,
        )
        for j, name in enumerate(verdicts.judges)
    }


def _lean(verdicts: Verdicts, seed: int) -> list[Estimate] | None:
    """Share of the first shown among decided verdicts, on comparisons that a judge saw in both
    orders; where there are none, on all, if both systems of a pair are shown first about equally
    often. None: a lean to a position and a liking for a system cannot be told apart.
    """
    n = len(verdicts.judges)
    one, other = twice(verdicts)
    rows = np.concatenate([one, other])
    if not len(rows):
        if not mixed_orders(verdicts):
            return None
        rows = np.arange(len(verdicts.outcome))
    rows = rows[verdicts.outcome[rows] != TIED]
    for_first = verdicts.outcome[rows] == verdicts.swapped[rows].astype(int)
    given = np.bincount(verdicts.judge[rows], minlength=n)
    hits = np.bincount(verdicts.judge[rows], weights=for_first, minlength=n)
    return pooled_shares(hits, given, generator(seed, "lean"))


def mixed_orders(verdicts: Verdicts) -> bool:
    """Each system of each pair is shown first in at least a third of the verdicts."""
    pair = verdicts.pair[verdicts.comparison]
    _, place = np.unique(pair, axis=0, return_inverse=True)
    place = place.reshape(-1)
    share = np.bincount(place, weights=verdicts.swapped) / np.bincount(place)
    return bool(((share > 1 / 3) & (share < 2 / 3)).all())


def pooled_shares(hits: Array, given: Array, rng: np.random.Generator) -> list[Estimate]:
    """A share for each judge, shrunk towards all judges as much as their spread asks for."""
    mean = (hits.sum() + 0.5) / (given.sum() + 1)
    a, b = SPREADS * mean, SPREADS * (1 - mean)
    fits = betaln(a[:, None] + hits, b[:, None] + given - hits) - betaln(a, b)[:, None]
    score = fits.sum(axis=1)
    weight = np.exp(score - score.max())
    which = rng.choice(len(SPREADS), DRAWS, p=weight / weight.sum())
    # the judges' common mean is not known exactly either
    centre = rng.beta(hits.sum() + 0.5, given.sum() - hits.sum() + 0.5, DRAWS)
    centre = np.clip(centre, 1e-6, 1 - 1e-6)
    size = SPREADS[which]
    return [
        Estimate.from_draws(rng.beta(size * centre + h, size * (1 - centre) + g - h))
        for h, g in zip(hits, given)
    ]
