"""Class shares under the link: the prior adds up, gold is used as it should be, and nothing depends on the order of classes."""

from __future__ import annotations

import numpy as np
import pytest

import truthing as tr
from truthing.truth.consensus import Entries
from truthing.truth.link.shares import Groups, _tilts, draw_shares, read_shares, share_level


def crowd(n: int = 300, seed: int = 3) -> tuple[tr.Labels, np.ndarray]:
    data = tr.simulate(n, 4, prior=[0.5, 0.3, 0.2], fallibility=0.5, seed=seed)
    return data.labels, data.truth


def test_the_chances_of_items_add_up_to_the_centre_of_the_prior_and_effects_leave_them_there() -> (
    None
):
    readings = read_shares(Entries.of(crowd()[0]))
    level, groups = share_level(readings), Groups.of(readings.consensus)
    tilts, root = _tilts(groups, level)
    share = groups.size / groups.size.sum()
    assert share @ groups.chance(tilts) == pytest.approx(level.centre, abs=1e-6)
    moves = (
        np.array([share @ groups.chance(tilts + 1e-4 * column) for column in root.T]) - level.centre
    )
    assert np.abs(moves[0]).max() < 1e-7  # the slope
    assert np.abs(moves[4:]).max() < 1e-7  # the effects
    expected = (np.diag(level.centre) - np.outer(level.centre, level.centre)) * level.scale * 1e-4
    assert np.allclose(moves[1:4].T, expected, atol=1e-7)  # a share's own logit


def test_gold_is_weighed_as_importance_sampling_weighs_it() -> None:
    labels, truth = crowd(120)
    readings = read_shares(Entries.of(labels))
    gold = np.where(np.arange(120) < 12, truth, -1)
    level, groups = share_level(readings), Groups.of(readings.consensus)
    tilts, root = _tilts(groups, level)
    rng = np.random.default_rng(0)
    component = rng.choice(len(level.weights), 40_000, p=level.weights)
    z = rng.standard_normal((40_000, len(tilts)))
    z[:, 0] *= np.sqrt(np.maximum(level.multiples[component], 1))
    z[:, 1:4] *= np.sqrt(level.multiples[component])[:, None]
    drawn = tilts + z @ root.T
    chance = np.array([groups.chance(t) for t in drawn[:, :]])
    weight = np.exp(np.log(chance[:, groups.member[:12], truth[:12]]).sum(axis=1))
    rest = chance[:, groups.member[12:]].sum(axis=1) + np.bincount(truth[:12], minlength=3)
    found = draw_shares(readings, level, gold, None, target="sample", n_draws=8000, seed=1)
    assert found.shares.mean(axis=0) == pytest.approx(weight @ rest / weight.sum() / 120, abs=0.004)
    assert np.array_equal(found.truth[:12].argmax(axis=1), truth[:12])


def test_the_order_of_classes_does_not_matter() -> None:
    labels, _ = crowd()
    turned = tr.Labels.from_long(labels.item, labels.labeler, (labels.label + 1) % 3)
    here, there = read_shares(Entries.of(labels)), read_shares(Entries.of(turned))
    assert share_level(there).centre == pytest.approx(
        np.roll(share_level(here).centre, 1), abs=1e-4
    )
    assert share_level(there).scale == pytest.approx(np.roll(share_level(here).scale, 1), abs=1e-3)


def test_more_gold_is_narrower_and_new_data_are_wider() -> None:
    labels, truth = crowd(400)

    def width(**options: object) -> float:
        low, high = tr.prevalence(labels, draws=2000, **options)[0].interval()
        return high - low

    some, many = ({i: int(truth[i]) for i in range(n)} for n in (40, 200))
    assert width(gold=many) < width(gold=some) < width()
    assert width(gold=many) < width(gold=many, target="population")
    assert width(panel_error=0.02) < width(panel_error=0.1) < width(panel_error=0.3)


def test_fifty_classes_with_gold() -> None:
    rng = np.random.default_rng(0)
    truth = np.minimum(rng.geometric(0.1, 600) - 1, 49)
    grid = np.where(rng.random((600, 3)) < 0.8, truth[:, None], rng.integers(0, 50, (600, 3)))
    result = tr.prevalence(
        tr.Labels.from_matrix(grid, classes=range(50)),
        gold={i: int(truth[i]) for i in range(60)},
        draws=500,
    )
    low, high = result[0].interval(0.999)
    assert low <= (truth == 0).mean() <= high
    assert result.draws.sum(axis=1) == pytest.approx(1.0)


def test_a_class_prior_that_is_not_used_is_said() -> None:
    labels, _ = crowd(100)
    assert any(
        "prior was not used" in w
        for w in tr.prevalence(labels, prior=[0.5, 0.3, 0.2], draws=200).warnings
    )
