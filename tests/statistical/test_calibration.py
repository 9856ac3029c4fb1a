"""Simulation-based calibration in small: ranks of true values among posterior draws are uniform
(false alarm 1e-6 a histogram).
"""

from __future__ import annotations

import numpy as np
import pytest
from calibration import ranks, uniformity


@pytest.mark.parametrize(("n_items", "n_labelers", "n_classes"), [(30, 3, 2), (40, 4, 4)])
def test_ranks_are_uniform(n_items: int, n_labelers: int, n_classes: int) -> None:
    for name, rank in ranks(120, n_items, n_labelers, n_classes, seed=1).items():
        counts, p = uniformity(rank)
        assert p > 1e-6, f"{name}: {counts}"
        # a posterior twice too narrow puts a third of the ranks into the two outer tenths: 120
        # trials would see it
        assert (rank < 0.1).mean() + (rank > 0.9).mean() < 0.36, name


def test_the_check_can_fail() -> None:
    rng = np.random.default_rng(0)
    too_narrow = 0.5 + np.clip(rng.normal(0, 0.6, 120), -0.5, 0.5)
    assert uniformity(too_narrow)[1] < 1e-6
