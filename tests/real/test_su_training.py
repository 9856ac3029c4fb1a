"""Su Section 5.4, small: from five labelers on every way of training comes close to the ideal, and
estimates close to what they estimate.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from truthing.reproduce import su_training as su


@pytest.mark.usefixtures("real_data")
def test_section_5_4_in_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draws = [su.run(seed, np.array([1.0, 5.0])) for seed in range(4)]
    assert len(draws[0][0].truth) == 88  # a quarter of 351
    assert draws[0][0].truth.sum() == 32  # of 126 bad returns
    found = su.areas(draws)
    su.regions(draws)
    ideal = np.array([tested.actual_area for tested, _ in draws])
    for method in su.METHODS:
        gap = {t: (ideal - found[method, t][:, 0]).mean() for t in su.PANELS}
        assert gap[13] < 0.025, method
        error = {t: np.abs(np.diff(found[method, t], axis=1)).mean() for t in su.PANELS}
        assert error[13] < 0.025, method
        assert error[13] < error[1] < 0.1, method
    su.pictures.draw(*draws[0], str(tmp_path))
    assert {p.name for p in tmp_path.iterdir()} == {
        f"su-figure-{n}.{kind}" for n in range(19, 24) for kind in ("png", "svg")
    }
    assert "Estimated minus actual" in capsys.readouterr().out
