"""From data in hand to a world: labelers' quality, class prior, classifier and the spread of the
views, learned by `grade`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.asking import (
    as_noise,
    positive_class,
    prepare,
    selection_weights,
    survey_of,
)
from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.grading import grade
from truthing.matching import Joined
from truthing.noise.base import TableNoise
from truthing.noise.steps import fix_gold
from truthing.ordering import Order, in_order
from truthing.planning.design import Costs, Design, Stock
from truthing.planning.drawn import PLAIN, Sampling
from truthing.planning.panel import PanelBelief
from truthing.planning.sequential import PilotState
from truthing.planning.widths import Goal
from truthing.planning.world import Kind, World
from truthing.predicted import predicted_classes
from truthing.randomness import child
from truthing.report import Report
from truthing.survey.clusters import sharing
from truthing.truth import known_noise
from truthing.truth.consensus import Entries
from truthing.truth.link.views import Views, read_panel

FIELDS = ("labels", "predictions", "gold", "gold_weights")
SPREAD_SETS, SPREAD_ITEMS = 6, 3000
EM_STEPS = 200


@dataclass(frozen=True, eq=False)
class Learned:
    """What a pilot says."""

    world: World
    stock: Stock
    costs: Costs
    now: Design
    state: PilotState
    assumptions: list[str]
    warnings: list[str]
    sampling: Sampling = PLAIN


def _graded(given: dict[str, Any], goal: Goal, **about: Any) -> Any:
    """The pilot as `grade` has it."""
    told = {name: given[name] for name in ("gold", "gold_weights")}
    how = {"target": goal.target, "panel_error": goal.panel_error, "draws": 2000}
    how["panel"] = goal.panel
    return grade(given["predictions"], given["labels"], **told, **how, **about)


def learn(
    pilot: Any,
    *,
    costs: Any,
    labelers: Any,
    noise: Any,
    goal: Goal,
    positive: Any,
    seed: int,
    cluster: Any = None,
    weights: Any = None,
) -> Learned:
    """Grade the pilot, and take the world from the grade."""
    given = _fields(pilot)
    joined, order = in_order(prepare(given["predictions"], given["labels"], gold=given["gold"]))
    panel = joined.labels
    report = _graded(
        given, goal, noise=noise, positive=positive, seed=seed, cluster=cluster, weights=weights
    )
    place = positive_class(panel.classes, positive, [])
    predicted, _ = predicted_classes(joined, place, None, [])
    low, high = report[goal.metric].interval(goal.level)
    tables = report.noise.confusion
    if tables is None:
        raise InputError(
            "the model of your labelers has no confusion matrix for each labeler: plan with "
            "noise=None or rates."
        )
    tables = tables[order.labelers]
    members = _members(labelers, costs, panel.labelers, panel.per_labeler)
    per_person = (
        labelers is None and len(members) > 1
    )  # prices by name: these very people, nobody like them
    kinds = tuple(
        _kind(name, tables[list(who)], panel.anonymous, open_pool=not per_person)
        for name, who in members.items()
    )
    entries = Entries.of(panel)
    joint = likeliest_joint(entries.log_likelihood(tables), predicted, joined.gold)
    prior = joint.sum(axis=1)
    world = World(prior, joint / prior[:, None], kinds, panel.classes, place)
    counted = [np.isin(panel.labeler, who) for who in members.values()]
    n_gold = int((joined.gold >= 0).sum())
    stock = Stock(panel.n_items, tuple(float(panel.weight[here].sum()) for here in counted), n_gold)
    readings = None if goal.known else read_panel(entries, predicted)
    warnings = list(report.warnings)
    prices = Costs.of(costs, tuple(members))
    chances = given["gold_weights"]
    chosen = None if chances is None else selection_weights(chances, joined)
    if readings is not None:
        panel_belief = PanelBelief.of(
            readings, goal.link_level(readings), joined.gold, seed=seed, weights=chosen
        )
        world = replace(world, panel=panel_belief)
        if goal.panel_error is None:
            world = _with_spread(world, stock, readings, seed)
    model = order.model(as_noise(noise))
    asked = None
    if chances is not None:
        asked = np.array([float(chances.get(item, np.nan)) for item in panel.items])
    state = PilotState(
        panel,
        predicted,
        joined.gold,
        goal,
        world,
        prices,
        members,
        not per_person,
        high - low,
        readings,
        model.log_likelihood(panel) if goal.known else None,
        chosen,
        asked,
    )
    now = Design(panel.n_items, dict(zip(members, stock.per_item)), n_gold, 0.0, high - low)
    right = np.mean([k.tables.diagonal(axis1=1, axis2=2).mean() for k in kinds])
    assumptions = [
        f"Learned from your data ({panel.n_items:,} items, {panel.n_labels:,} labels, {n_gold} "
        f"gold): by the model of its labelers the classifier is right on "
        f"{world.accuracy:.0%}, labelers on {right:.0%}; what you buy is like it.",
    ]
    if world.extra_spread:
        assumptions.append(
            "Different ways to trust your labels differ more than the model of the labelers "
            "explains; the plan keeps that excess for every design."
        )
    sampling = _sampling(joined, order, report, world.accuracy, cluster=cluster, weights=weights)
    return Learned(world, stock, prices, now, state, assumptions, warnings, sampling)


def _sampling(joined: Joined, order: Order, report: Report, right: float, **told: Any) -> Sampling:
    """What the data in hand show about their clusters and weights."""
    drawn = survey_of(joined, order, **told)
    size, correlation, share = 1.0, 0.0, 1.0
    if drawn.cluster is not None:
        size = sharing(drawn.cluster)
        correlation = float(report.diagnostics["clusters"]["correlation"])
    if drawn.weight is not None:
        share = drawn.effective_items / len(drawn.weight)
    return Sampling(size, correlation, share, right)


def likeliest_joint(log_likelihood: Array, predicted: Array, gold: Array) -> Array:
    """P(truth, prediction) by maximum likelihood (EM) with the labelers' noise as it is.

    Not the report's: that is moved towards what crowds were, and would be moved once more when
    simulated data are graded.

    >>> sure = np.log([[0.99, 0.01], [0.99, 0.01], [0.01, 0.99], [0.01, 0.99]])
    >>> found = likeliest_joint(np.tile(sure, (50, 1)), np.tile([0, 1, 1, 1], 50), np.full(200, -1))
    >>> found.round(2).tolist()
    [[0.25, 0.25], [0.0, 0.5]]
    """
    n_classes = log_likelihood.shape[1]
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    fix_gold(likelihood, gold)
    seen = np.eye(n_classes)[predicted]
    joint = (np.eye(n_classes) + 0.1) / (np.eye(n_classes) + 0.1).sum()
    for _ in range(EM_STEPS):
        chance = likelihood * joint[:, predicted].T
        counts = (chance / chance.sum(axis=1, keepdims=True)).T @ seen + 0.5 / n_classes**2
        before, joint = joint, counts / counts.sum()
        if np.abs(joint - before).max() < 1e-6:
            break
    return np.asarray(joint)


def is_known(noise: Any, labels: Any) -> bool:
    """Would `grade` take this noise as known for these labels?"""
    model = as_noise(noise)
    if model is None or known_noise.must_be_learned(model, labels):
        return False
    if not isinstance(model, TableNoise):
        raise InputError("plan needs noise as rates or confusion matrices of the labelers.")
    return True


def pilot_labels(pilot: Any) -> Any:
    """The pilot's labels as `grade` sees them."""
    given = _fields(pilot)
    return prepare(given["predictions"], given["labels"], gold=given["gold"]).labels


def _fields(pilot: Any) -> dict[str, Any]:
    if not isinstance(pilot, Mapping):
        raise InputError(
            "pilot is a mapping: {'labels': …, 'predictions': …, 'gold': …}, each as grade takes "
            "it (gold if any)."
        )
    for name in pilot:
        if name not in FIELDS:
            raise InputError(
                f"pilot= names {name!r}; it holds {', '.join(FIELDS)}.{did_you_mean(name, FIELDS)}"
            )
    for name in ("labels", "predictions"):
        if pilot.get(name) is None:
            raise InputError(
                f"pilot= (your data) has no {name}: give pilot={{'labels': …, 'predictions': …}}."
            )
    return {name: pilot.get(name) for name in FIELDS}


def _members(
    labelers: Any, costs: Any, names: tuple[Any, ...], labels_given: Array
) -> dict[str, tuple[int, ...]]:
    """Which labelers make a kind: as ``labelers`` says, one each where prices are by name, else all
    together."""
    text = [str(name) for name in names]
    active = tuple(int(t) for t in np.flatnonzero(labels_given > 0))
    if labelers is not None:
        if not isinstance(labelers, Mapping) or any(
            isinstance(who, str) or np.ndim(who) != 1 for who in labelers.values()
        ):
            raise InputError(
                "with data in hand, labelers maps each kind to the names of its labelers: "
                "{'expert': ['ann', 'bob'], …}."
            )
        unknown = [n for who in labelers.values() for n in who if str(n) not in text]
        if unknown:
            raise InputError(
                f"labeler {unknown[0]!r} is not in your data.{did_you_mean(str(unknown[0]), text)}"
            )
        return {str(kind): tuple(text.index(str(n)) for n in who) for kind, who in labelers.items()}
    label = costs.get("label") if isinstance(costs, Mapping) else None
    if isinstance(label, Mapping) and set(map(str, label)) <= set(text):
        return {str(name): (text.index(str(name)),) for name in label}
    return {"label": active}


def _kind(name: str, tables: Array, anonymous: bool, *, open_pool: bool) -> Kind:
    return (
        Kind(name, tables.mean(axis=0)[None])
        if anonymous
        else Kind(name, tables, pool=True, open=open_pool)
    )


def _with_spread(world: World, stock: Stock, readings: Views, seed: int) -> World:
    """How far the pilot's views differ beyond what data drawn from its own noise model show
    (docs/plan.md, 3)."""
    n = min(stock.items, SPREAD_ITEMS)
    found = []
    for number in range(SPREAD_SETS):
        data = world.draw(stock.per_item, n, child(seed, "spread of a pilot", number))
        found.append(read_panel(data.entries, data.predicted).spread ** 2)
    return replace(
        world, extra_spread=float(np.sqrt(max(readings.spread**2 - float(np.mean(found)), 0.0)))
    )
