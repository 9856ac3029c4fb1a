"""Intervals of AUC and average precision, the labelers' noise known, hold the truth as often as
they say.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

import truthing as tr

TRIALS = 100


def one(design: dict[str, Any], seed: int) -> list[tuple[float, float, float]]:
    data = tr.simulate(300, 3, fallibility=0.4, seed=seed, **design)
    report = tr.grade(
        data.predictions,
        data.labels,
        scores=data.scores,
        noise=data.noise,
        prior=design["prior"],
        method="exact",
        draws=1000,
        seed=seed,
    )
    ideal = {
        "auc": roc_auc_score(data.truth, data.scores),
        "average_precision": average_precision_score(data.truth, data.scores),
    }
    return [(value, *report[name].interval(0.95)) for name, value in ideal.items()]


@pytest.mark.parametrize(
    "design",
    [
        {"prior": 0.4, "operating_point": (0.8, 0.2)},
        {"prior": 0.4, "operating_point": (0.95, 0.05)},
    ],
    ids=["ordinary", "strong"],
)
def test_coverage(design: dict[str, Any]) -> None:
    """False alarm 1e-6 for each area and side. Ten flat bins hold the strong classifier's AUC in
    about 10% of data sets.
    """
    found = np.array([one(design, seed) for seed in range(TRIALS)])
    inside = (
        (found[..., 1] - 1e-12 <= found[..., 0]) & (found[..., 0] <= found[..., 2] + 1e-12)
    ).sum(axis=0)
    low, high = stats.binom.interval(1 - 1e-6, TRIALS, 0.95)
    assert (inside >= max(low, 0.88 * TRIALS)).all()
    assert (inside <= high).all()
    width = (found[..., 2] - found[..., 1]).mean(axis=0)
    assert (width < 0.13).all()  # covering by being wide would be cheap
