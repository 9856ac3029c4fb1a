"""A small seeded version of studies/calibration_set.py: a true coverage of .95 falls below .85 over
40 data sets with probability below .01."""

from __future__ import annotations

import numpy as np
import pytest
from calibration_set import STUDIES


@pytest.mark.parametrize("design", ["truth", "verdict"])
def test_intervals_hold(design: str) -> None:
    study = STUDIES[f"chosen by {design}, with predictions"]
    found = np.array([study(seed) for seed in range(40)], dtype=float)
    assert (found[:, :, 0].mean(axis=0) >= 0.85).all()
    assert (found[:, :, 1].mean(axis=0) < 0.4).all()


def test_the_wrong_correction_is_seen_to_fail() -> None:
    study = STUDIES["Rogan-Gladen, chosen by verdict"]
    assert np.mean([study(seed)[0][0] for seed in range(60)]) < 0.85
