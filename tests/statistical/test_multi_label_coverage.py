"""Averages over tags keep their promise on simulated tags whose mistakes go together."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize(("kind", "n_gold"), [("lenient panel", 0), ("hard items", 40)])
def test_averages_hold(kind: str, n_gold: int) -> None:
    """Eight data sets: at .95 fewer than six held have probability .0004 for one metric."""
    from multi_label import METRICS, once

    told = [once(kind, n_gold, seed, 300) for seed in range(100, 108)]
    found = np.stack([each[0] for each in told])
    held = found[:, : len(METRICS), 0].sum(axis=0)
    assert (held >= 6).all(), dict(zip(METRICS, held))
    wide, apart = found[:, 0, 1], found[:, -1, 1]
    shared = np.array([each[1] for each in told])
    assert (wide >= 0.95 * apart).all()
    assert (shared == 1).all() if n_gold == 0 else (shared < 1).all()
