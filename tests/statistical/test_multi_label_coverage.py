"""Averages over tags keep their promise on simulated tags whose mistakes go together.

The first data sets of studies/multi_label.py, so that a change shows; the study has the coverage.
"""

from __future__ import annotations

import numpy as np
import pytest

SETS = 6


@pytest.mark.parametrize(("kind", "n_gold"), [("independent", 0), ("hard items", 40)])
def test_averages_hold(kind: str, n_gold: int) -> None:
    """At .95 fewer than five of six held have probability .03 for one metric."""
    from multi_label import METRICS, once

    told = [once(kind, n_gold, seed, 300) for seed in range(SETS)]
    found = np.stack([each[0] for each in told])
    held = found[:, : len(METRICS), 0].sum(axis=0)
    assert (held >= SETS - 1).all(), dict(zip(METRICS, held))
    assert all(each[1] == 1 for each in told)  # too little gold to tell tags apart


def test_a_panel_lenient_in_all_tags_defeats_independence() -> None:
    """Tags taken for independent hold macro F1 hardly ever; taken together, mostly."""
    from multi_label import once

    found = np.stack([once("lenient panel", 0, seed, 300)[0] for seed in range(SETS)])
    together, apart = found[:, 0, 0].sum(), found[:, -1, 0].sum()
    assert together >= SETS - 1
    assert apart <= 2
