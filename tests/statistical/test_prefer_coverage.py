"""Coverage of `prefer` on simulated judges who lean, share mistakes and like one system.

Each case has 60 data sets and three shares in each, about 120 independent ones. A true coverage of
.85 fails the bound of .90 with probability about .93; .95 passes with probability above .99. The
long study, with real judges, is studies/preferences.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from preferences import WORLDS, World, coverage, drawn, simulate, with_gold

from truthing.metrics.estimate import Estimate
from truthing.preference.ranking import fit_davidson


@pytest.mark.parametrize(
    ("world", "golds"),
    [("two systems, ties, both orders, lean .4", 0), ("judges like one system", 10)],
)
def test_win_rates_hold_as_often_as_promised(world: str, golds: int) -> None:
    rows = [each for row in coverage(WORLDS[world], golds, 60, seed=5) for each in row]
    assert np.mean([inside for inside, *_ in rows]) >= 0.90
    if golds:
        assert max(w / a for _, w, a in rows if a > 0) < 1.25  # Monte Carlo error of both widths
        assert np.mean([w / a for _, w, a in rows if a > 0]) < 1.0
    else:
        assert np.mean([w for _, w, _ in rows]) < 0.9  # it says something


def test_strengths_hold_although_all_judges_like_one_system() -> None:
    held, world = [], World(items=40, systems=3, shared=0.3, liking=1.0)
    for n in range(40):
        rng = np.random.default_rng([9, n])
        verdicts, truth = simulate(world, rng)
        found = drawn(with_gold(verdicts, truth, 30, rng), n)
        strength, _ = fit_davidson(found.counts, found.pairs, 3)
        counted = np.stack(
            [
                np.bincount(truth[(verdicts.pair == pair).all(axis=1)], minlength=3)
                for pair in found.pairs
            ]
        )
        exact, _ = fit_davidson(counted[None].astype(float), found.pairs, 3)
        for s in range(3):
            low, high = Estimate.from_draws(strength[:, s]).interval()
            held.append(low <= exact[0, s] <= high)
    assert np.mean(held) >= 0.88
