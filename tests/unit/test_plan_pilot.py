"""What a plan learns from a pilot: the classifier as its labels have it, and whether its labelers
err independently."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import truthing as tr
from truthing.planning.panel import PanelBelief
from truthing.planning.pilot import likeliest_joint
from truthing.planning.widths import Goal
from truthing.truth.consensus import Entries
from truthing.truth.link.views import Views, read_panel


def test_likeliest_joint_is_the_maximum() -> None:
    rng = np.random.default_rng(3)
    logs, predicted, gold = (
        np.log(rng.dirichlet([1, 1, 1], size=80)),
        rng.integers(3, size=80),
        np.full(80, -1),
    )
    gold[:9] = rng.integers(3, size=9)
    told = np.exp(logs)
    told[:9] = np.eye(3)[gold[:9]]

    def loss(score: np.ndarray) -> float:  # the pseudo-counts are the prior that keeps cells open
        joint = np.exp(score - np.logaddexp.reduce(score)).reshape(3, 3)
        fit = np.log((told * joint[:, predicted].T).sum(axis=1)).sum()
        return -float(fit + 0.5 / 9 * np.log(joint).sum())

    found = likeliest_joint(logs, predicted, gold)
    assert found.sum() == pytest.approx(1)
    assert loss(np.log(found).ravel()) == pytest.approx(minimize(loss, np.zeros(9)).fun, abs=2e-3)


@pytest.fixture(scope="module")
def panel() -> Views:
    data = tr.simulate(300, 4, prior=0.4, operating_point=(0.85, 0.2), fallibility=0.3, seed=6)
    return read_panel(Entries.of(data.labels), data.predictions)


def believed(panel: Views, gold: np.ndarray) -> PanelBelief:
    return PanelBelief.of(
        panel, Goal("accuracy", "sample", 0.95, False).link_level(panel), gold, seed=0
    )


def test_gold_tells_whether_labelers_err_independently(panel: Views) -> None:
    none = np.full(300, -1)
    assert believed(panel, none).independent == pytest.approx(0.5)
    rng, as_modelled, together = np.random.default_rng(1), none.copy(), none.copy()
    wrong = rng.random(40) < panel.posterior[:40, 0]
    as_modelled[:40] = wrong == 0
    together[:40] = np.where(
        rng.random(40) < 0.4, 1 - panel.posterior[:40].argmax(axis=1), as_modelled[:40]
    )
    assert believed(panel, as_modelled).independent > 0.6
    assert believed(panel, together).independent < 0.01


def test_few_made_up_sets_hold_the_share_of_independent_ones(panel: Views) -> None:
    belief = believed(panel, np.full(300, -1))
    for share in (0.0, 0.3, 0.5, 0.79, 1.0):
        sets = [replace(belief, independent=share).is_independent(number) for number in range(18)]
        assert abs(sum(sets) - 18 * share) <= 0.5
