"""Plans: bad input in one sentence, monotone in the budget, Lam & Stork as special cases, what
comes next."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.papers.label_variance import asymptotic_width, item_variance, policy_in_truth
from truthing.planning.belief import Belief
from truthing.planning.design import Costs, Stock, round_numbers
from truthing.planning.more_gold import gold_effect
from truthing.planning.sequential import _inclusion, _systematic
from truthing.planning.surface import simulate_surface
from truthing.planning.widths import Goal
from truthing.planning.world import World, assumed_world

COSTS = {"item": 0.1, "label": 0.05, "gold": 2.0}
OPEN = {"accuracy": None, "prior": None}  # as with a pilot
EXAMPLE = Path(__file__).resolve().parents[2] / "src" / "truthing" / "examples" / "spam"


def plan(**options: Any) -> Any:
    return tr.plan(
        **{
            "costs": COSTS,
            "labelers": 0.15,
            "accuracy": 0.8,
            "prior": 0.3,
            "sets": 2,
            "most_labels": 2,
            **options,
        }
    )


def world(**options: Any) -> World:
    return assumed_world(
        **{
            "labelers": 0.15,
            "accuracy": 0.8,
            "prior": 0.5,
            "shared": 0.0,
            "positive": None,
            "assumptions": [],
            **options,
        }
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "say what is wanted"),
        ({"width": 0}, "outside (0, 1)"),
        ({"width": 1.0}, "outside (0, 1)"),
        ({"width": 1e-9, "labelers": 0.2, "accuracy": 0.8}, "less than one item in 100,000"),
        ({"budget": -5}, "above 0"),
        ({"budget": 5, "costs": {}}, "prices are missing"),
        ({"budget": 5, "costs": {"item": 1}}, "price of a label is missing"),
        ({"budget": 5, "costs": {**COSTS, "gold": 0}}, "cost of a gold label is 0"),
        ({"budget": 5, "costs": {**COSTS, "item": -1}}, "cost of an item is -1"),
        ({"budget": 5, "costs": {**COSTS, "golds": 1}}, "Did you mean 'gold'"),
        ({"budget": 5, "costs": {**COSTS, "label": {"crowd": 1}}}, "one price for each"),
        ({"budget": 5, "costs": {"label": 1.0}}, "what an item costs"),
        ({"budget": 5, "metric": "acuracy"}, "no metric is called 'acuracy'"),
        ({"budget": 5, "target": "sample"}, "fix them with `items=500`"),
        ({"budget": 5, "target": "samples"}, "target 'samples' is not known"),
        ({"budget": 5, "labelers": 0.5}, "no better than guessing"),
        ({"budget": 5, "labelers": 0.2, "noise": 0.1}, "give `labelers=...` with `noise='known'`"),
        ({"budget": 5, "items": 20}, "plans start at 50"),
        ({"budget": 5, "level": 1.5}, "not between 0 and 1"),
        ({"budget": 5, "panel_error": 0}, "`panel_error=0` with learned noise"),
        ({"budget": 5, "pilot": [1, 2], **OPEN}, "pilot is a mapping"),
        ({"budget": 5, "pilot": {"labels": 1}, **OPEN}, "has no predictions"),
        ({"budget": 5, "pilot": {"labels": 1}}, "is learned from the pilot: leave it out"),
    ],
)  # fmt: skip
def test_bad_input_is_answered_in_a_sentence(options: dict[str, Any], said: str) -> None:
    with pytest.raises(tr.InputError) as problem:
        plan(**options)
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("labelers", [[0.15], 0.15])
def test_one_label_and_unknown_noise_is_not_identified(labelers: Any) -> None:
    with pytest.raises(tr.NotIdentified, match="second labeler"):
        plan(budget=50, labelers=labelers, most_labels=1, costs={"item": 0.1, "label": 0.05})


SIMULATED: dict[str, Any] = {}


@pytest.fixture
def _surfaces_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans that differ in money alone share what is simulated, which takes nearly all the time."""

    def remembered(*given: Any, **more: Any) -> Any:
        key = repr((given, sorted(more.items())))
        if key not in SIMULATED:
            SIMULATED[key] = simulate_surface(*given, **more)
        return SIMULATED[key]

    monkeypatch.setattr("truthing.planning.plan.simulate_surface", remembered)


@pytest.mark.usefixtures("_surfaces_once")
@pytest.mark.parametrize("noise", [None, "known"])
def test_more_money_never_hurts_and_is_never_overspent(noise: Any) -> None:
    found = [plan(budget=b, noise=noise) for b in (40, 90, 95, 400)]
    widths = [p.best.width for p in found]
    assert all(b <= a for a, b in itertools.pairwise(widths)), widths
    assert widths[-1] < 0.7 * widths[0]
    for p in found:
        assert p.feasible
        assert p.best.cost <= p.budget
        assert p.best.cost > 0.9 * p.budget  # hardly anything is left over
        assert p.best in p.table
        cost = 0.1 * p.best.items + 0.05 * p.best.labels + 2 * p.best.gold
        assert p.best.cost == pytest.approx(cost)
        kept = p.frontier
        assert all(a.cost <= b.cost and a.width > b.width for a, b in itertools.pairwise(kept))


@pytest.mark.usefixtures("_surfaces_once")
def test_out_of_reach_is_answered_with_the_nearest_within_reach() -> None:
    both = plan(width=0.06, budget=60)
    assert not both.feasible
    assert f"with this budget buy {both.purchase}" in both.sentence
    assert f"gives ±{both.best.width / 2:.3f}" in both.sentence
    assert "±0.03 costs about" in both.sentence
    assert both.best == plan(budget=60).best
    never = plan(
        width=0.05, costs={"item": 0.1, "label": 0.05}
    )  # no gold for sale: the panel error stays
    assert not never.feasible
    assert "out of reach: the best is" in never.sentence
    assert never.floor is not None
    assert never.best.width >= never.floor * 0.9999
    poor = plan(budget=1.0)
    assert not poor.feasible
    assert "is too little: the cheapest is 50 items" in poor.sentence


def test_a_wanted_width_is_reached_at_the_least_cost() -> None:
    found = plan(width=0.12)
    assert found.feasible
    assert found.best.width <= 0.12
    cheapest = min(d.cost for d in found.table if d.width <= 0.12)
    assert found.best.cost == pytest.approx(cheapest)
    assert found.best.gold > 0
    again = plan(width=0.12)
    assert again.to_dict() == found.to_dict()
    json.dumps(found.to_dict())
    assert "buy" in str(found)
    assert found.floor > 0.2  # labels alone cannot do it
    assert "Without gold no number of labels gets below" in found.sentence


def test_the_cheaper_of_two_equal_kinds_is_bought() -> None:
    prices = {"item": 0.1, "label": {"dear": 0.5, "cheap": 0.05}}
    found = plan(budget=150, labelers={"dear": 0.15, "cheap": 0.15}, costs=prices, noise="known")
    assert found.best.labels_per_item["dear"] == 0
    assert found.best.labels_per_item["cheap"] >= 1
    better = plan(
        budget=150,
        labelers={"dear": 0.01, "cheap": 0.4},
        costs=prices,
        noise="known",
        most_labels=1,
    )
    assert better.best.labels_per_item == {"dear": 1.0, "cheap": 0.0}


def test_lam_stork_equation_3_is_the_special_case_of_one_label() -> None:
    """Noise known, population, many items: widths of the simulated posterior follow Lam & Stork's
    variance within 8% (6 sets)."""
    goal = Goal("accuracy", "population", 0.95, True)
    for error, mislabeling in ((0.2, 0.1), (0.3, 0.2)):
        noisy = simulate_surface(
            world(labelers=mislabeling, accuracy=1 - error),
            goal,
            (1.0,),
            (800, 3200),
            gold=False,
            sets=6,
            seed=1,
        )
        perfect = simulate_surface(
            world(accuracy=1 - error), goal, (0.0,), (800, 3200), gold=True, sets=6, seed=1
        )
        for n in (800, 3200):
            assert float(noisy.width(n, 0)) == pytest.approx(
                asymptotic_width(error, mislabeling, 1, n), rel=0.08
            )
        worth = float(noisy.width(3200, 0) / perfect.width(3200, 3200)) ** 2
        assert worth == pytest.approx(float(tr.noisy_label_ratio(error, mislabeling)), rel=0.15)


def test_lam_stork_equation_4_is_too_optimistic_about_two_labelers() -> None:
    """The simulated posterior sides with what two labelers really leave: 1.75 times the paper's
    variance at e = .1, m = .2."""
    error, mislabeling, n = 0.1, 0.2, 3200
    goal = Goal("accuracy", "population", 0.95, True)
    surface = simulate_surface(
        world(labelers=mislabeling, accuracy=1 - error),
        goal,
        (2.0,),
        (800, n),
        gold=False,
        sets=6,
        seed=2,
    )
    found = policy_in_truth(error, mislabeling)
    variance = n * (float(surface.width(n, 0)) / 2 / 1.96) ** 2
    assert variance == pytest.approx(found.variance_repeat, rel=0.15)
    assert variance > 1.4 * found.paper.variance_repeat


def test_item_variance_is_that_of_the_best_estimate() -> None:
    """Against the spread of maximum-likelihood estimates over 2,000 multinomial samples (standard
    error 3%)."""
    error, mislabeling, labels, n = 0.3, 0.2, 3, 2000
    rng = np.random.default_rng(0)
    wrong = rng.random((2000, n)) < error
    contradict = (
        rng.random((2000, n, labels)) < np.where(wrong, 1 - mislabeling, mislabeling)[:, :, None]
    ).sum(axis=2)
    counts = np.stack([(contradict == j).sum(axis=1) for j in range(labels + 1)], axis=1)
    ways = np.array([1, 3, 3, 1])
    right_p = ways * mislabeling ** np.arange(4) * (1 - mislabeling) ** (3 - np.arange(4))
    wrong_p = right_p[::-1]
    estimate = np.full(2000, 0.3)
    for _ in range(200):  # EM
        share = (
            estimate[:, None]
            * wrong_p
            / (estimate[:, None] * wrong_p + (1 - estimate[:, None]) * right_p)
        )
        estimate = (counts * share).sum(axis=1) / n
    assert n * estimate.var() == pytest.approx(item_variance(error, mislabeling, labels), rel=0.13)


def test_expected_gain_equals_enumeration() -> None:
    """Every truth of three items under every draw, written out."""
    rng = np.random.default_rng(3)
    draws, items = 4, 3
    q = rng.dirichlet([1, 1], size=(draws, items))
    predicted = np.array([0, 1, 1])
    slopes = np.array([[0.5, -0.3], [0.1, 0.9]])
    counts = np.zeros((draws, 2, 2))
    for i in range(items):
        counts[:, :, predicted[i]] += q[:, i]
    belief = Belief(np.arange(items), np.ones(items), predicted, q, counts, True, None)
    likelihood = np.array([[0.8, 0.2], [0.3, 0.7]])
    cases = []
    for d in range(draws):
        for truth in itertools.product((0, 1), repeat=items):
            weight = np.prod([q[d, i, truth[i]] for i in range(items)]) / draws
            value = sum(slopes[truth[i], predicted[i]] for i in range(items))
            cases.append((d, truth, weight, value))
    weight = np.array([c[2] for c in cases])
    value = np.array([c[3] for c in cases])
    variance = weight @ value**2 - (weight @ value) ** 2
    assert belief.variance(slopes) == pytest.approx(variance)
    for i in range(items):
        left, own_left = 0.0, 0.0
        for o in range(2):
            joint = weight * np.array([likelihood[c[1][i], o] for c in cases])
            left += joint @ value**2 - (joint @ value) ** 2 / joint.sum()
        for d in range(draws):  # parameters held: what the observation says about its own item only
            worth = slopes[:, predicted[i]]
            spread = q[d, i] @ worth**2 - (q[d, i] @ worth) ** 2
            for o in range(2):
                joint = q[d, i] * likelihood[:, o]
                spread -= joint @ worth**2 - (joint @ worth) ** 2 / joint.sum()
            own_left += spread / draws
        assert belief.gain(slopes, likelihood)[i] == pytest.approx(variance - left)
        assert belief.gain(slopes, likelihood, informs=False)[i] == pytest.approx(own_left)


def test_gold_is_drawn_with_the_chances_that_are_exported() -> None:
    """4,000 samples: each item's frequency within 5 standard errors of its chance (false alarm
    about 1e-5)."""
    gains = np.array([0.0, 1, 1, 4, 4, 9, 100, 0.5, 0.5, 2])
    chance = _inclusion(gains, 4, "weighted")
    assert chance.sum() == pytest.approx(4)
    assert chance.max() <= 1
    assert chance.min() > 0
    rng = np.random.default_rng(5)
    drawn = [_systematic(chance, rng) for _ in range(4000)]
    assert {len(d) for d in drawn} == {4}
    share = np.bincount(np.concatenate(drawn), minlength=10) / 4000
    assert (np.abs(share - chance) <= 5 * np.sqrt(chance * (1 - chance) / 4000) + 1e-9).all()
    assert np.allclose(_inclusion(gains, 4, "random"), 0.4)


def test_what_a_pilot_holds_is_paid() -> None:
    costs = Costs({"label": 0.5}, 1.0, 2.0)
    stock = Stock(100, (250.0,), 10)
    assert costs.of_design(np.array([100]), (2.5,), np.array([10]), stock) == pytest.approx([0.0])
    assert costs.of_design(np.array([120]), (3.0,), np.array([15]), stock).tolist() == [
        20 + 0.5 * 110 + 10
    ]
    steps = round_numbers(5000)
    assert steps[0] == 10
    assert (np.diff(steps) / steps[:-1])[steps[:-1] >= 100].max() <= 0.0501


@pytest.fixture(scope="module")
def pilot_plan() -> Any:
    data = tr.simulate(250, 3, prior=0.4, operating_point=(0.85, 0.15), fallibility=0.3, seed=4)
    pilot = {"labels": data.labels, "predictions": data.predictions, "gold": data.gold(20, seed=1)}
    return tr.plan(budget=60, costs={"label": 0.05, "gold": 2}, pilot=pilot, sets=2, most_labels=4)


def test_a_pilot_is_learned_from_and_topped_up(pilot_plan: Any) -> None:
    found = pilot_plan
    assert found.goal.target == "sample"
    assert found.now.items == found.best.items == 250
    assert found.now.gold == 20
    assert found.best.gold >= 20
    assert found.best.width < found.now.width
    assert found.best.labels_per_item["label"] >= 3
    paid = 0.05 * 250 * (found.best.labels_per_item["label"] - 3) + 2 * (found.best.gold - 20)
    assert found.best.cost == pytest.approx(paid)
    assert any("Learned from your data" in a for a in found.assumptions)
    assert 0.6 < found.world.accuracy < 1


def test_next_items_of_a_pilot(pilot_plan: Any, tmp_path: Path) -> None:
    found = pilot_plan.next_items(30)
    assert [row.rank for row in found.rows] == list(range(1, 31))
    assert len({row.item for row in found.rows}) == 30
    rates = [row.gain / row.cost for row in found.rows]
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(rates))
    gold = [row for row in found.rows if row.buy == "gold"]
    assert gold
    assert {row.chance for row in gold} == {found.gold_chances[gold[0].item]}
    assert sum(found.gold_chances.values()) == pytest.approx(20 + len(gold))
    found.write(tmp_path / "next.csv")
    lines = (tmp_path / "next.csv").read_text().splitlines()
    assert lines[0] == "rank,item,buy,kind,expected_gain,cost,chance"
    assert len(lines) == 31
    with pytest.raises(tr.InputError, match="pilot"):
        plan(budget=50, noise="known", most_labels=1).next_items()
    weighted = pilot_plan.next_items(30, buy=("gold",), gold="weighted")
    assert len({round(row.chance, 6) for row in weighted.rows}) > 1
    assert sum(weighted.gold_chances.values()) == pytest.approx(
        50, abs=1
    )  # of gold in hand the chance is interpolated
    with pytest.raises(tr.InputError, match="random, or weighted"):
        pilot_plan.next_items(gold="best")


def test_known_noise_prefers_labels_where_the_truth_is_open() -> None:
    data = tr.simulate(200, 2, prior=0.5, operating_point=(0.9, 0.1), fallibility=0.4, seed=2)
    pilot = {"labels": data.labels, "predictions": data.predictions}
    found = tr.plan(budget=10, costs={"label": 0.05}, pilot=pilot, noise=0.2, sets=2, most_labels=3)
    matrix = data.labels.matrix()
    split = {i for i in range(200) if matrix[i, 0] != matrix[i, 1]}
    both_against = {i for i in range(200) if matrix[i, 0] == matrix[i, 1] != data.predictions[i]}
    chosen = {row.item for row in found.next_items(20).rows}
    assert chosen <= split | both_against
    assert found.floor is None


def test_gold_effect_is_what_gold_then_does() -> None:
    """Predicted from the belief with 40 gold items; obtained by adding 60 real ones: mean of 8
    draws, within 15%."""
    data = tr.simulate(400, 3, prior=0.4, operating_point=(0.85, 0.2), fallibility=0.3, seed=6)
    first = data.gold(40, seed=0)
    effect = gold_effect(data.predictions, data.labels, 60, gold=first)
    assert effect.width < effect.before
    got = []
    for seed in range(8):
        more = np.random.default_rng(seed).choice(
            [i for i in range(400) if i not in first], size=60, replace=False
        )
        gold = {**first, **{int(i): data.truth[i] for i in more}}
        low, high = tr.grade(data.predictions, data.labels, gold=gold, draws=1000)[
            "accuracy"
        ].interval(0.95)
        got.append(high - low)
    assert effect.width == pytest.approx(np.mean(got), rel=0.15)
    with pytest.raises(tr.InputError, match="items have no gold yet"):
        gold_effect(data.predictions, data.labels, 500)


def test_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    prices = [
        "--item-cost",
        "0.1",
        "--label-cost",
        "0.05",
        "--gold-cost",
        "2",
        "--sets",
        "2",
        "--most-labels",
        "2",
    ]
    picture = tmp_path / "plan.png"
    done = run(
        app,
        [
            "plan",
            "--budget",
            "60",
            *prices,
            "--labeler-error",
            "0.15",
            "--json",
            "--plot",
            str(picture),
        ],
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["best"]["cost"] <= 60
    assert picture.stat().st_size > 5000
    kinds = ["--labeler-error", "crowd=0.3", "--labeler-error", "expert=0.05"]
    some = [
        "--item-cost",
        "0.1",
        "--label-cost",
        "crowd=0.02",
        "--label-cost",
        "expert=0.5",
        "--sets",
        "2",
    ]
    done = run(
        app, ["plan", "--budget", "60", "--known-noise", *some, *kinds, "--most-labels", "1"]
    )
    assert done.exit_code == 0, done.output
    assert "expert labels" in done.stdout
    files = [
        "--pilot",
        str(EXAMPLE / "labels.csv"),
        "--predictions",
        str(EXAMPLE / "predictions.csv"),
    ]
    export = tmp_path / "next.csv"
    paid = ["--label-cost", "0.05", "--gold-cost", "2"]
    wishes = ["--budget", "40", *paid, "--sets", "2", "--most-labels", "3"]
    done = run(
        app,
        ["plan", *wishes, *files, "--gold", str(EXAMPLE / "gold.csv"), "--next", str(export)],
    )
    assert done.exit_code == 0, done.output
    assert "What you have now gives" in done.stdout
    assert len(export.read_text().splitlines()) == 51
    done = run(app, ["plan", "--budget", "40", "--label-cost", "x"])
    assert isinstance(done.exception, tr.InputError)
    done = run(app, ["plan", "--width", "0.1", *prices, "--next", "a.csv"])
    assert isinstance(done.exception, tr.InputError)


def test_a_plan_speaks_of_what_is_not_there_yet() -> None:
    """300 items, 900 labels and 30 gold are paid: the sentence and the table name what to add."""
    data = tr.simulate(
        300, 3, prior=[0.6, 0.4], operating_point=(0.8, 0.2), fallibility=0.3, seed=8
    )
    pilot = {"labels": data.labels, "predictions": data.predictions, "gold": data.gold(30)}
    found = tr.plan(width=0.1, pilot=pilot, costs={"label": 1, "gold": 5}, sets=2, seed=1)
    assert found.now is not None
    buy = found.purchase
    assert (buy.items, buy.gold) == (0, found.best.gold - 30)
    assert "of your items" in found.sentence
    assert "300 items" not in found.sentence
    row = found.to_frame().row(by_predicate=pl.col("best"), named=True)
    assert row["buy_gold"] == buy.gold
    assert row["buy_items"] == 0
    priced = buy.labels["label"] * 1 + buy.gold * 5
    assert found.best.cost == pytest.approx(priced, abs=5.5)
    assert "pilot" not in " ".join([found.sentence, *found.assumptions, *found.warnings])


@pytest.mark.usefixtures("_surfaces_once")
def test_one_label_and_no_gold_is_never_advised() -> None:
    """Such labels say nothing, so that a cheaper design is no design."""
    little = plan(budget=9)
    assert little.best.labels > little.best.items or little.best.gold
    for design in (little.best, *little.table, *little.frontier):
        assert design.width <= 1


@pytest.mark.usefixtures("_surfaces_once")
def test_gold_on_every_item_settles_them_without_labels() -> None:
    found = tr.plan(
        width=0.01, items=60, target="sample", costs={"label": 1.0, "gold": 2.0}, sets=2, prior=0.3
    )
    assert (found.best.gold, found.best.labels, found.best.width) == (60, 0, 0)
    assert found.best.cost == pytest.approx(120)
