"""A small seeded version of studies/calibration_set.py: a true coverage of .95 falls below .85 over
40 data sets with probability below .01."""

from __future__ import annotations

import numpy as np
import pytest
from calibration_set import PASS, STUDIES, N, held, lee, ppi, rogan_gladen, world


@pytest.mark.parametrize("design", ["truth", "verdict"])
def test_intervals_hold(design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibration_set.DRAWS", 250)
    study = STUDIES[f"chosen by {design}, with predictions"]
    found = np.array([study(seed) for seed in range(40)], dtype=float)
    assert (found[:, :, 0].mean(axis=0) >= 0.85).all()
    assert (found[:, :, 1].mean(axis=0) < 0.4).all()


def test_the_wrong_correction_is_seen_to_fail() -> None:
    """Methods that need another design than the one they get."""
    pytest.importorskip("ppi_py")
    for way, design in ((rogan_gladen, "verdict"), (lee, "verdict"), (ppi, "truth")):
        found = [held(*way(world(seed, design)), PASS)[0] for seed in range(60)]
        assert np.mean(found) < 0.7


def test_others_hold_by_the_design_they_need() -> None:
    pytest.importorskip("ppi_py")
    for way, design in ((lee, "truth"), (ppi, "random")):
        found = [held(*way(world(seed, design)), PASS)[0] for seed in range(60)]
        assert np.mean(found) >= 0.85


def test_lee_is_the_published_formula() -> None:
    """Worked by hand for 100 verdicts of 70% pass, and 20 of each class judged 16 and 18 right."""
    labels = np.repeat(np.arange(10) < 7, N // 10)[:, None].astype(float)
    known = np.repeat([0, 1], 20)
    said = np.concatenate([np.arange(20) >= 16, np.arange(20) < 18])[:, None].astype(float)
    low, high = lee(((None, None, labels), (known, None, said), None))
    z2 = 1.96**2
    p = (350 + z2 / 2) / (500 + z2)
    q0, q1 = 17 / 22, 19 / 22
    rate = (p + q0 - 1) / (q0 + q1 - 1)
    v0, v1 = q0 * (1 - q0) / 22, q1 * (1 - q1) / 22
    centre = rate + 2 * z2 * (-(1 - rate) * v0 + rate * v1)
    variance = p * (1 - p) / (500 + z2) + (1 - rate) ** 2 * v0 + rate**2 * v1
    half = 1.96 * np.sqrt(variance) / (q0 + q1 - 1)
    assert low == pytest.approx(centre - half)
    assert high == pytest.approx(min(1.0, centre + half))
