"""Which items next: a label or gold, by the expected narrowing of the headline interval per
unit of cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from truthing.arguments import as_seed
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.planning.belief import Belief, known_belief, linked_belief, tempered
from truthing.planning.design import Costs
from truthing.planning.widths import Goal
from truthing.planning.world import World
from truthing.truth.link.views import Views

Row = tuple[float, float, int, str, str]  # fall of the variance, cost, item, what, kind of labeler
COLUMNS = ("rank", "item", "buy", "kind", "expected_gain", "cost", "chance")


@dataclass(frozen=True, eq=False)
class PilotState:
    """Data in hand, ready to be asked what to buy next. ``members`` are the labelers of each
    kind; an open kind has more people like them.
    """

    labels: Labels
    predicted: Array
    gold: Array
    goal: Goal
    world: World
    costs: Costs
    members: Mapping[str, tuple[int, ...]]
    open_kinds: bool
    width: float
    readings: Views | None = None
    log_likelihood: Array | None = None
    gold_weights: Array | None = None
    gold_chances: Array | None = None

    def belief(self, seed: int) -> Belief:
        if self.readings is not None:
            level = self.goal.link_level(self.readings)
            return linked_belief(
                self.readings, level, self.gold, self.goal, seed=seed, weights=self.gold_weights
            )
        assert self.log_likelihood is not None
        return known_belief(self.predicted, self.log_likelihood, self.gold, self.goal, seed=seed)


@dataclass(frozen=True)
class Purchase:
    """One thing to buy: ``gain`` is the expected narrowing of the whole interval, ``chance``
    (gold only) that of having been chosen.
    """

    rank: int
    item: Any
    buy: str
    kind: str
    gain: float
    cost: float
    chance: float | None = None


@dataclass(frozen=True, eq=False)
class NextItems:
    """Purchases, best first. ``gold_chances`` maps every item to its chance of being gold
    afterwards: `grade` takes it as ``gold_weights``.
    """

    rows: list[Purchase]
    gold_chances: Mapping[Any, float]
    width: float
    notes: list[str] = field(default_factory=list)

    @property
    def cost(self) -> float:
        return sum(row.cost for row in self.rows)

    def write(self, path: str | Path) -> None:
        """As a file that a labeling tool can take, in the format that its name says."""
        from truthing.tables.write import write_frame

        write_frame(self.to_frame(), path)

    def to_frame(self) -> Any:
        """One row for each purchase: rank, item, buy (label or gold), kind, expected_gain, cost,
        chance.
        """
        import polars as pl

        cells = [
            (
                row.rank,
                str(row.item),
                row.buy,
                row.kind,
                float(f"{row.gain:.6g}"),
                row.cost,
                row.chance,
            )
            for row in self.rows
        ]
        return pl.DataFrame(cells, schema=list(COLUMNS), orient="row")

    def __str__(self) -> str:
        lines = [
            f"{row.rank:>4}  {row.buy} on {row.item}  gain {row.gain:.2g}  cost {row.cost:g}"
            for row in self.rows[:10]
        ]
        more = [f"… and {len(self.rows) - 10:,} more"] if len(self.rows) > 10 else []
        return "\n".join([*lines, *more, *self.notes])


def next_items(
    state: PilotState,
    n: int = 50,
    *,
    buy: tuple[str, ...] = ("label", "gold"),
    gold: str = "random",
    seed: int = 0,
) -> NextItems:
    """The ``n`` purchases that narrow the headline interval most per unit of cost, one an item.

    Gold is drawn at random unless ``gold="weighted"``: then disputed items are likelier to be
    drawn, with known chances that must be handed to `grade` as ``gold_weights``. Labels may be
    chosen freely: the posterior conditions on what was labeled.
    """
    _check(state, n, buy, gold)
    seed = as_seed(seed)
    belief = state.belief(seed)
    rng = np.random.default_rng(seed)
    slopes = belief.gradient(state.goal, state.world)
    variance = belief.variance(slopes)
    chances, notes = _gold_now(state), []
    rows = _label_rows(state, belief, slopes, n, rng) if "label" in buy else []
    if "label" in buy and belief.slope is not None:
        notes.append(
            "The noise of the labelers is learned: one more label sharpens its own item "
            "only, and cannot narrow what the panel may share. Gold can."
        )
    free = np.flatnonzero(state.gold < 0)
    if "gold" in buy and state.costs.gold is not None and len(free):
        brings = belief.gain(slopes, np.eye(len(state.world.classes)))[belief.member]
        steps = _gold_steps(brings[free], variance, state.costs.gold, rows, min(n, len(free)))
        inclusion = _inclusion(brings[free], len(steps), gold)
        rising = np.argsort(brings[free], kind="stable")
        # an item that is gold already could have been drawn now instead: its chance is that of free
        # items like it
        chances += (1 - chances) * np.interp(brings, brings[free][rising], inclusion[rising])
        drawn = rng.permutation(free[_systematic(inclusion, rng)]).tolist()
        rows = [row for row in rows if row[2] not in set(drawn)]
        rows += [(gain, state.costs.gold, place, "gold", "") for gain, place in zip(steps, drawn)]
        if gold == "weighted":
            notes.append(
                "Gold was drawn with unequal chances: give grade gold_weights, or the grade "
                "will be off."
            )
    rows = sorted(rows, key=lambda row: -row[0] / row[1])[:n]
    bought = [
        Purchase(
            rank,
            state.labels.items[place],
            what,
            name,
            _narrowing(gain / max(variance, 1e-300), state.width),
            cost,
            float(chances[place]) if what == "gold" else None,
        )
        for rank, (gain, cost, place, what, name) in enumerate(rows, start=1)
    ]
    return NextItems(bought, dict(zip(state.labels.items, chances.tolist())), state.width, notes)


def _label_rows(
    state: PilotState, belief: Belief, slopes: Array, n: int, rng: np.random.Generator
) -> list[Row]:
    """The best kind of label for each item without gold, best items first, equals in random
    order.
    """
    prices = state.costs.labels
    gains = np.array([_label_gain(state, belief, slopes, name) for name in prices])
    rates = gains / np.array(list(prices.values()))[:, None]
    kind, best = rates.argmax(axis=0), np.where(state.gold < 0, rates.max(axis=0), 0.0)
    order = np.lexsort((rng.random(len(best)), -best))[:n]
    names = list(prices)
    return [
        (float(gains[kind[i], i]), prices[names[kind[i]]], int(i), "label", names[kind[i]])
        for i in order
        if best[i] > 0
    ]


def _narrowing(share: float, width: float) -> float:
    """The fall of the width when the variance falls by a share: widths go with the root of the
    variance.
    """
    return float(width * (1 - np.sqrt(max(1 - share, 0.0))))


def _check(state: PilotState, n: int, buy: tuple[str, ...], gold: str) -> None:
    if n < 1:
        raise InputError(f"{n} items to buy for: give a number above 0.")
    if gold not in ("random", "weighted"):
        raise InputError(
            f"gold {gold!r} is not known: choose random, or weighted (chances that grade "
            "must be told)."
        )
    if not buy or set(buy) - {"label", "gold"}:
        raise InputError(f"buy {buy!r}: choose label, gold or both.")
    if tuple(buy) == ("gold",) and state.costs.gold is None:
        raise InputError("gold is not for sale: give its price with `costs={'gold': 2}`.")
    if "gold" in buy and state.gold_chances is not None and np.isnan(state.gold_chances).any():
        raise InputError(
            "gold_weights of your data leave out items: to draw more gold, give the chance of "
            "every item, not only of those with gold."
        )


def _label_gain(state: PilotState, belief: Belief, slopes: Array, name: str) -> Array:
    """For each item the gain of one more label of this kind; 0 where everybody of the kind has
    labeled it.
    """
    kind = next(k for k in state.world.kinds if k.name == name)
    table = kind.tables.mean(axis=0)
    if belief.slope is None:
        gain = belief.gain(slopes, table)[belief.member]
    else:
        per_item = state.labels.n_labels / max(state.labels.n_items, 1)
        gain = belief.gain(slopes, tempered(table, belief.slope, per_item), informs=False)[
            belief.member
        ]
    if not state.open_kinds:
        given = np.isin(state.labels.labeler, state.members[name])
        done = np.bincount(state.labels.item[given], minlength=state.labels.n_items) >= len(
            state.members[name]
        )
        gain = np.where(done, 0.0, gain)
    return gain


def _gold_now(state: PilotState) -> Array:
    """Each item's chance of being gold by now: equal, or as the pilot says."""
    if state.gold_chances is None:
        return np.full(len(state.gold), float((state.gold >= 0).mean()))
    return state.gold_chances.copy()


def _gold_steps(
    gains: Array, variance: float, cost: float, labels: list[Row], most: int
) -> list[float]:
    """What each gold item among the best purchases brings: precisions add, so every next one
    brings less.
    """
    gain = min(float(gains.mean()), 0.999 * variance)
    added = 1 / (variance - gain) - 1 / variance
    after = 1 / (1 / variance + added * np.arange(most + 1))
    steps = after[:-1] - after[1:]
    rates = np.array([row[0] / row[1] for row in labels])
    return [
        float(step) for rank, step in enumerate(steps) if (rates > step / cost).sum() + rank < most
    ]


def _inclusion(gains: Array, count: int, how: str) -> Array:
    """Chances of being drawn that add up to ``count``: equal, or half equal and half by the
    root of what gold would bring.
    """
    if how == "random" or count == 0:
        return np.full(len(gains), count / max(len(gains), 1))
    size = np.sqrt(np.maximum(gains, 0.0))
    share = 0.5 / len(gains) + 0.5 * size / max(size.sum(), 1e-300)
    chance = np.minimum(count * share, 1.0)
    # items that are certain leave their surplus to the others
    while chance.sum() < count - 1e-9 and (chance < 1).any():
        below = chance < 1
        chance[below] = np.minimum(
            chance[below] * (count - (~below).sum()) / chance[below].sum(), 1.0
        )
    return chance


def _systematic(chance: Array, rng: np.random.Generator) -> Array:
    """A sample with exactly these chances (systematic sampling in random order)."""
    order = rng.permutation(len(chance))
    edges = np.concatenate([[0.0], np.cumsum(chance[order])])
    ticks = np.floor(edges + rng.random() - 1e-12)
    return np.sort(order[np.flatnonzero(np.diff(ticks) > 0)])
