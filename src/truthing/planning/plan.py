"""plan(): what to buy for a wanted interval, or for a budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.arguments import as_panel_error, as_seed
from truthing.errors import InputError, NotIdentified
from truthing.metrics.counts import Tally, evaluate
from truthing.planning import pilot as pilots
from truthing.planning.checks import (
    check_wishes,
    chosen_target,
    items_with_pilot,
    refuse_beside_pilot,
    wished_panel,
    wished_panel_error,
)
from truthing.planning.design import (
    CostCurve,
    Costs,
    Stock,
    anchors_for,
    compositions,
    frontier,
    pick,
    trace,
)
from truthing.planning.drawn import Sampling, by_word
from truthing.planning.result import Plan
from truthing.planning.surface import simulate_surface
from truthing.planning.widths import Goal
from truthing.planning.words import answer_sentence, doubts, what_is_assumed
from truthing.planning.world import World, assumed_world
from truthing.progress import Progress, listener


def plan(
    metric: str = "accuracy",
    *,
    width: float | None = None,
    budget: float | None = None,
    costs: Any = None,
    pilot: Any = None,
    labelers: Any = None,
    accuracy: Any = None,
    prior: Any = None,
    items: int | None = None,
    noise: Any = None,
    panel_error: float | tuple[float, float] | None = None,
    panel: str | None = None,
    shared: float = 0.0,
    cluster: Any = None,
    weights: Any = None,
    target: str | None = None,
    level: float = 0.95,
    positive: Any = None,
    most_labels: int = 5,
    sets: int = 6,
    seed: int = 0,
    progress: bool | Progress = False,
) -> Plan:
    """What to buy: items, labels from which labelers, gold; for a wanted interval or for a budget.

    Widths are those of the default posterior on simulated data sets (docs/plan.md).

    Parameters
    ----------
    metric : str, default "accuracy"
        The metric whose interval is asked for.
    width : float, optional
        The whole interval, high minus low: 0.06 is plus or minus 0.03.
    budget : float, optional
        What may be spent. With ``width`` too, the budget is the limit.
    costs : mapping
        Prices: ``{"item": 0.1, "label": 0.05, "gold": 2}``. "label" may be a mapping from kind of
        labeler to price. What has no price is not for sale.
    pilot : mapping, optional
        Data in hand, counted as paid: ``{"labels": ..., "predictions": ..., "gold": ...}``.
    labelers : float, matrix, list or mapping, optional
        How labelers err: a rate, a confusion matrix, a list of them (a pool of persons), or a
        mapping
        from kind of labeler to one of these.
    accuracy : float or matrix, optional
        How often the classifier is right on each class, or its confusion matrix.
    prior : float or sequence, optional
        Share of each class. None: equal.
    items : int, optional
        The number of items, if it is fixed.
    noise : {None, "known"}, float or noise model, optional
        None: `grade` will learn the noise. "known" or a rate: it will be told.
    panel_error : float or tuple, optional
        How often the panel may be wrong together. None: as public panels were. A share of
        items, or ``(a, b)`` of a Beta distribution, states it. Known noise is planned with 0.
    panel : {"people", "models", "mixed"}, optional
        What the panel is made of, as in `grade`. None: as the labelers' names in a pilot say, else
        not known.
    shared : float, default 0
        Chance that a label depends on the item and not on the labeler: mistakes in common.
    cluster : int, tuple, column, sequence or mapping, optional
        Items that belong together: how many make a cluster, or ``(8, 0.3)`` with the correlation of
        their mistakes. With a pilot: its clusters, as `grade` takes them.
    weights : float, sequence, column or mapping, optional
        Weights that items will have, or the share of items that such weights leave (0.6). With a
        pilot: its weights, as `grade` takes them.
    target : {"sample", "population"}, optional
        What the interval is about. None: "sample" where the items are fixed.
    level : float, default 0.95
        Level of the interval.
    positive : class, optional
        The positive one of two classes.
    most_labels : int, default 5
        Most labels per item that are considered.
    sets : int, default 6
        Simulated data sets at each size; more are slower and smoother.
    seed : int, default 0
        Same seed, same answer.
    progress : bool or callable, default False
        As in `grade`.

    Returns
    -------
    Plan
        ``plan.best`` is the design, ``plan.table`` its rivals, ``plan.next_items()`` what to buy
        first.

    Raises
    ------
    InputError
        An argument or a file cannot be used as it is; the message says what to change.
    NotIdentified
        The labels cannot answer under any amount of computing, for example one labeler of unknown
        quality and no gold.

    See Also
    --------
    grade : what the data will be used for.

    Examples
    --------
    >>> costs = {"item": 0.1, "label": 0.05, "gold": 2}
    >>> world = {"labelers": 0.15, "accuracy": 0.8, "prior": 0.4, "noise": "known"}
    >>> found = plan(budget=200, costs=costs, **world, sets=2)
    >>> found.best.cost <= 200 and 0.02 < found.best.width < 0.2
    True
    """
    check_wishes(width, budget, level, most_labels, sets, items)
    seed, panel_error = as_seed(seed), as_panel_error(panel_error)
    target = chosen_target(target, items, costs, pilot)
    assumptions: list[str] = []
    if pilot is not None:
        refuse_beside_pilot(accuracy=accuracy, prior=prior, shared=shared or None)
        held = pilots.pilot_labels(pilot)
        known = pilots.is_known(noise, held)
        kind = wished_panel(panel, known, held.labelers, assumptions)
        goal = Goal(metric, target, level, known, wished_panel_error(panel_error, known), kind)
        learned = pilots.learn(
            pilot,
            costs=costs,
            labelers=labelers,
            noise=noise,
            goal=goal,
            positive=positive,
            seed=seed,
            cluster=cluster,
            weights=weights,
        )
        world, stock, prices = learned.world, learned.stock, learned.costs
        sampling = learned.sampling
        assumptions += learned.assumptions
        items = items_with_pilot(items, stock, prices)
    else:
        known = noise is not None and noise != "learned"
        if known and noise != "known":
            if labelers is not None:
                raise InputError(
                    "noise says how labelers err, and so does labelers: give `labelers=...` with "
                    "`noise='known'`."
                )
            if not isinstance(noise, int | float):
                raise InputError(
                    "without data in hand, noise is None (learned), 'known' or one rate; ranges "
                    "and files need data, `pilot=...`."
                )
            labelers = noise
        kind = wished_panel(panel, known, (), assumptions)
        goal = Goal(metric, target, level, known, wished_panel_error(panel_error, known), kind)
        world = assumed_world(
            labelers=labelers,
            accuracy=accuracy,
            prior=prior,
            shared=shared,
            positive=positive,
            assumptions=assumptions,
        )
        sampling = by_word(cluster, weights, world.accuracy)
        learned, stock, prices = (
            None,
            Stock(),
            Costs.of(costs, tuple(kind.name for kind in world.kinds)),
        )
    evaluate(
        metric,
        Tally.from_confusion(np.eye(len(world.classes))),
        classes=world.classes,
        positive=world.positive,
    )
    say = listener(progress)
    about = world, goal, prices, stock, items, most_labels, sets, seed
    curves = _curves(*about, say, sampling)
    best, feasible = _best(curves, width, budget)
    table = _table(curves, best, width, budget)
    floor = _floor(curves, goal, stock)
    now = None if learned is None else learned.now
    assumptions += what_is_assumed(goal, world, sets) + sampling.words(best.items)
    warnings = ([] if learned is None else learned.warnings) + doubts(curves, stock, now)
    sentence = answer_sentence(
        best, goal, curves, feasible=feasible, width=width, budget=budget, floor=floor, now=now
    )
    found = best, table, frontier(curves), feasible
    wanted = goal, width, budget, world
    said = warnings, assumptions, seed, sentence
    state = None if learned is None else learned.state
    return Plan(*found, *wanted, floor, now, *said, curves, state)


def _curves(
    world: World,
    goal: Goal,
    costs: Costs,
    stock: Stock,
    items: int | None,
    most_labels: int,
    sets: int,
    seed: int,
    say: Progress,
    sampling: Sampling,
) -> list[CostCurve]:
    """Simulate every composition's surface, and trace what can be bought on it."""
    if items is None and costs.item is None:
        raise InputError(
            "say what an item costs with `costs={'item': 0.1}`, or how many you have with "
            "`items=500`."
        )
    names = tuple(kind.name for kind in world.kinds)
    curves = []
    found = compositions(world, goal, costs, stock, most_labels, items is None)
    if not found:
        raise NotIdentified(
            "one label per item, unknown noise and no gold: such labels fit a good classifier "
            "with bad labels and a bad one with good labels "
            "equally well. Let gold be bought with `costs={'gold': 2}`, plan for a second labeler, "
            "or give the noise with `noise='known'`."
        )
    for number, composition in enumerate(found):
        say(number / len(found), "grading simulated data sets")
        anchors = anchors_for(goal, composition, items)
        surface = simulate_surface(
            world,
            goal,
            composition,
            anchors,
            gold=costs.gold is not None or stock.gold > 0,
            sets=sets,
            seed=seed,
        )
        curves.append(
            trace(surface, composition, costs, stock, items=items, kinds=names, sampling=sampling)
        )
    return curves


def _best(curves: list[CostCurve], width: float | None, budget: float | None) -> tuple[Any, bool]:
    """The best design, and whether it does what was asked."""
    if width is not None:
        best = pick(curves, lambda c: c.reaching(width), by_cost=True)
        if best is not None and (budget is None or best.cost <= budget * (1 + 1e-12)):
            return best, True
    if budget is not None:
        best = pick(curves, lambda c: c.within(budget), by_cost=False)
        if best is not None:
            return best, width is None
        return pick(curves, lambda c: c.cheapest, by_cost=True), False
    return pick(curves, lambda c: c.narrowest, by_cost=False), False


def _table(
    curves: list[CostCurve], best: Any, width: float | None, budget: float | None
) -> list[Any]:
    """Each composition's answer to the same question, best first."""
    by_cost = width is not None and best.width <= width
    rows = []
    for curve in curves:
        if by_cost:
            rows.append(curve.reaching(width or 1.0) or curve.narrowest)
        else:
            rows.append(
                (curve.within(budget) if budget is not None else curve.narrowest) or curve.cheapest
            )
    rows.sort(
        key=lambda d: (
            (d.width > (width or 1.0), d.cost)
            if by_cost
            else (d.cost > (budget or np.inf), d.width)
        )
    )
    return rows


def _floor(curves: list[CostCurve], goal: Goal, stock: Stock) -> float | None:
    """The least width without gold, however many items and labels: what the panel may share."""
    if goal.known or stock.gold:
        return None
    return min(
        (curve.without_gold for curve in curves if sum(curve.composition) >= 2), default=None
    )
