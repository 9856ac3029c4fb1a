"""Parts of the link, each alone: what gold counts, slope, flat components, the views' spread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from truthing.truth.consensus import DawidSkeneFit
from truthing.truth.link.design import link_design
from truthing.truth.link.prior import Components, learned_components, stated_components
from truthing.truth.link.sampler import draw_link, prior_draws
from truthing.truth.link.views import Views


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
    components = Components(*map(np.array, columns))
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
    assert (models.between, people.between) == (0.8, 0.95)  # for differences


def test_items_that_labels_doubt_are_doubted() -> None:
    seen = views(np.linspace(-2, 3, 80))
    columns = ([0.7, 0.3], [False, False], [1.0, 1.0], [0.5, 1.0], [0.6, 0.8], [0.3, 0.3], [1, 1])
    components = Components(*map(np.array, columns))
    design = link_design(seen, *components.middle)
    slope = prior_draws(design, components, 4000, np.random.default_rng(0))[:, 1]
    assert slope.mean() == pytest.approx(0.66, abs=6 * slope.std() / np.sqrt(4000))


@pytest.mark.parametrize("make", [learned_components, lambda seen: stated_components(seen, 0.1)])
def test_gold_may_always_speak_alone(make) -> None:  # type: ignore[no-untyped-def]
    found = make(views(np.linspace(-2, 3, 80)))
    assert found.weight.sum() == pytest.approx(1)
    assert found.weight[found.flat].sum() > 0.01


def test_views_that_differ_leave_more_doubt() -> None:
    one = views(np.linspace(-2, 3, 80))
    other = replace(one, levels=one.levels + np.array([-1, -0.5, 0, 0.5, 1]))
    known, doubted = (learned_components(seen, "people") for seen in (one, other))
    assert (doubted.sd[~doubted.flat] > 1.05 * known.sd[~known.flat]).all()
