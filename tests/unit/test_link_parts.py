"""Parts of the link, each alone: what gold counts, slope, flat components, spread of the views,
agreement among labelers.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit, logit

import truthing as tr
from truthing.truth.consensus import DawidSkeneFit, Entries
from truthing.truth.link.design import link_design
from truthing.truth.link.prior import (
    DEFAULT,
    Components,
    learned_components,
    stated_components,
)
from truthing.truth.link.sampler import draw_link, prior_draws
from truthing.truth.link.views import Views, read_consensus, read_panel


def views(signal: np.ndarray) -> Views:
    """Items that are all predicted 0, of which labels say ``signal``."""
    n, chance = len(signal), expit(signal)
    table = np.stack([chance, 1 - chance], axis=1)
    none = np.zeros((0, 2, 2))
    fit = DawidSkeneFit(table, none, np.log([0.5, 0.5]), none, np.eye(2), 1.0)
    levels = np.full(5, logit(chance.mean()))
    return Views(np.zeros(n, dtype=np.int64), 2, levels, 0.8, signal, table, table, fit)


def test_gold_counts_once() -> None:
    """Gold that speaks alone on equal items is Beta(k + 1/2, n - k + 1/2)."""
    columns = ([1e-9, 1.0], [False, True], [1, 1], [1, 1], [0, 0], [1e-3] * 2, [1e-3] * 2)
    components = Components(*map(np.array, columns), np.array([False, True]))
    gold = np.full(100, -1)
    gold[:15], gold[15:20] = 0, 1
    seen = views(np.full(100, 1.0))
    link = draw_link(seen, components, gold, np.random.default_rng(0), n_draws=4000)
    share = link.chance() @ link.design.share
    spread = np.sqrt(15.5 * 5.5 / 21**2 / 22)
    assert share.mean() == pytest.approx(15.5 / 21, abs=6 * spread / np.sqrt(4000))
    assert share.std() == pytest.approx(spread, rel=0.08)


def test_scarce_gold_counts_less() -> None:
    """As docs/theory.md says: a gold item of language models from .9 to 1, of people .95."""
    seen = views(np.linspace(-2, 3, 80))
    models, people = (learned_components(seen, kind) for kind in ("models", "people"))
    worth = [models.worth_of_gold(n) for n in (10, 25, 40, 50, 200)]
    assert worth == pytest.approx([0.9, 0.9, 0.96, 1.0, 1.0])
    assert {people.worth_of_gold(n) for n in (10, 200)} == {0.95}
    assert learned_components(seen, None).worth_of_gold(10) == pytest.approx(0.925)
    assert models.between == people.between == 0.9  # for differences


def test_items_that_labels_doubt_are_doubted() -> None:
    seen = views(np.linspace(-2, 3, 80))
    columns = ([0.7, 0.3], [False, False], [1.0, 1.0], [0.5, 1.0], [0.6, 0.8], [0.3, 0.3], [1, 1])
    components = Components(*map(np.array, columns), np.array([False, False]))
    design = link_design(seen, *components.middle)
    slope = prior_draws(design, components, 4000, np.random.default_rng(0))[:, 1]
    assert slope.mean() == pytest.approx(0.66, abs=6 * slope.std() / np.sqrt(4000))


@pytest.mark.parametrize("make", [learned_components, lambda seen: stated_components(seen, 0.1)])
def test_gold_may_always_speak_alone(make) -> None:  # type: ignore[no-untyped-def]
    found = make(views(np.linspace(-2, 3, 80)))
    assert found.weight.sum() == pytest.approx(1)
    assert found.weight[found.flat].sum() > 0.01
    assert found.gold_only[found.flat].all()


def test_a_classifier_may_be_better_than_its_panel() -> None:
    """Without gold the level is as expected; where 24 of 25 gold items are right, it may be that
    high."""
    seen = views(np.linspace(-2, 3, 200))
    found = learned_components(seen, "models")
    better = found.gold_only & ~found.flat
    assert found.weight[better].sum() == pytest.approx(0.1)
    level = found.middle[0]
    assert found.centre[better] == pytest.approx(level + 2)
    assert found.informed.centre == pytest.approx(level)
    gold = np.where(np.arange(200) % 8 == 0, 0, -1)
    gold[8] = 1
    without = found._replace(weight=np.where(better, 1e-12, found.weight))
    high = [
        float((link.chance() @ link.design.share > 0.95).mean())
        for prior in (found, without)
        for link in [draw_link(seen, prior, gold, np.random.default_rng(0), n_draws=4000)]
    ]
    assert high[0] > high[1] + 0.03


def test_people_may_be_wrong_together_like_language_models() -> None:
    """Without gold a panel of people is one of people; gold may say that it is no better than
    language models (tests/statistical/test_link_coverage.py shows what that is for)."""
    seen = views(np.linspace(0, 4, 200))
    people, models = (learned_components(seen, kind) for kind in ("people", "models"))
    assert people.weight.sum() == pytest.approx(1)
    assert people.weight[people.gold_only].sum() > 0.35
    assert set(models.centre) < set(people.centre)
    assert people.informed.centre == pytest.approx(people.middle[0])
    assert abs(people.middle[0] - models.middle[0]) > 0.05
    theirs = np.isin(people.centre, models.centre)
    assert people.gold_only[theirs].all()


def test_views_that_differ_leave_more_doubt() -> None:
    one = views(np.linspace(-2, 3, 80))
    other = replace(one, levels=one.levels + np.array([-1, -0.5, 0, 0.5, 1]))
    known, doubted = (learned_components(seen, "people") for seen in (one, other))
    assert (doubted.informed.sd > 1.05 * known.informed.sd).all()


def test_agreement_among_labelers_is_fleiss_kappa() -> None:
    """Pairs counted one by one, and tr.agreement where every item has as many labels."""
    rng = np.random.default_rng(3)
    matrix = rng.integers(0, 3, (60, 5))
    matrix[:40] = matrix[:40, :1]
    labels = tr.Labels.from_matrix(matrix)
    seen = read_panel(Entries.of(labels), matrix[:, 0])
    pairs = [float(a == b) for row in matrix for a, b in combinations(row, 2)]
    assert seen.among == pytest.approx(np.mean(pairs), abs=1e-12)
    assert seen.accord == pytest.approx(tr.agreement(labels)["fleiss_kappa"].value, abs=1e-12)
    assert read_consensus(Entries.of(labels)).among == seen.among


def test_votes_that_count_less_agree_as_often() -> None:
    labels = tr.Labels.from_matrix(np.random.default_rng(4).integers(0, 2, (50, 4)))
    whole = Entries.of(labels)
    half = replace(whole, votes=np.full(len(whole.item), 0.5))
    predicted = np.zeros(50, dtype=np.int64)
    one, other = (read_panel(entries, predicted) for entries in (whole, half))
    assert (one.among, one.by_chance) == pytest.approx((other.among, other.by_chance))


def test_items_with_one_label_show_no_accord() -> None:
    labels = tr.Labels.from_matrix(np.random.default_rng(5).integers(0, 2, (50, 1)))
    seen = read_panel(Entries.of(labels), np.zeros(50, dtype=np.int64))
    assert (seen.accord, seen.distance) == (0.0, 0.0)
    assert np.isfinite(learned_components(seen, "models").sd).all()


def test_models_that_disagree_among_themselves_leave_more_doubt() -> None:
    """Agreement with such a panel says less: the level lies nearer to even odds, and is wider."""
    one = replace(views(np.linspace(-2, 3, 80)), among=0.8)
    known, doubted = (
        learned_components(replace(one, by_chance=chance), "models") for chance in (0.5, 0.78)
    )
    assert (doubted.informed.sd > 1.05 * known.informed.sd).all()
    assert (doubted.centre < known.centre - 0.1).all()
    far = learned_components(replace(one, among=0.95, by_chance=0.8), "models")
    near = learned_components(replace(one, among=0.8, by_chance=0.2), "models")
    assert far.sd[0] > near.sd[0]  # as alike among themselves, but not with the predictions


def test_few_labels_per_item_leave_more_doubt_about_models() -> None:
    """Three judges held .90 without gold before, whole panels .97 (docs/honesty.md)."""
    matrix = np.random.default_rng(6).integers(0, 2, (60, 4)).astype(object)
    matrix[:20, 3] = None
    seen = read_panel(Entries.of(tr.Labels.from_matrix(matrix)), np.zeros(60, dtype=np.int64))
    assert seen.per_item == pytest.approx((40 * 4 + 20 * 3) / 60)
    few, many = (replace(seen, per_item=n) for n in (3.0, 100.0))
    wide, narrow = (DEFAULT["models"].level(views)[1] for views in (few, many))
    assert 1.2 < wide / narrow < np.sqrt((1 + 3 / 3) / (1 + 3 / 100))
    assert DEFAULT["people"].level(few)[1] == pytest.approx(DEFAULT["people"].level(many)[1])
