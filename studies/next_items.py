"""How many labels the choice of items saves: labels on the items that `next_items` names against
labels on random items, for the same width.

Noise known, so that labels narrow the interval. Then gold under learned noise: random gold against
gold drawn with unequal known chances, and whether `grade` with those chances as gold_weights still
holds the truth.
"""

from __future__ import annotations

import argparse

import numpy as np

import truthing as tr
from truthing.planning.design import Costs
from truthing.planning.sequential import PilotState, next_items
from truthing.planning.widths import Goal, known_confusion
from truthing.planning.world import World, assumed_world
from truthing.truth.consensus import Entries
from truthing.truth.link.views import read_panel


def world_of(error: float, accuracy: float = 0.85, prior: float = 0.4) -> World:
    return assumed_world(
        labelers=error, accuracy=accuracy, prior=prior, shared=0.0, positive=None, assumptions=[]
    )


def labels_needed(
    world: World,
    goal: Goal,
    *,
    n_items: int,
    wanted: float,
    chosen: bool,
    batch: int,
    seed: int,
    most: int = 12,
) -> int:
    """Labels beyond the first on each item until the interval is ``wanted`` wide; every new label
    is from a new labeler.
    """
    data = world.draw((1.0,), n_items, seed)
    rng = np.random.default_rng([seed, 1])
    table = world.kinds[0].tables[0]
    evidence = data.log_likelihood
    nobody = np.full(n_items, -1)
    panel = tr.Labels.from_matrix(data.entries.label[:, None], classes=world.classes)
    bought = 0
    while bought < most * n_items:
        width = goal.width(
            known_confusion(data.predicted, evidence, nobody, goal.target, seed), world
        )
        if width <= wanted:
            return bought
        if chosen:
            state = PilotState(
                panel,
                data.predicted,
                nobody,
                goal,
                world,
                Costs({"label": 1.0}),
                {"label": (0,)},
                True,
                width,
                log_likelihood=evidence,
            )
            some = np.array(
                [row.item for row in next_items(state, batch, buy=("label",), seed=bought).rows]
            )
        else:
            some = rng.choice(n_items, size=batch, replace=False)
        label = (
            rng.random(batch)[:, None] >= np.cumsum(table, axis=1)[data.truth[some]][:, :-1]
        ).sum(axis=1)
        evidence[some] += np.log(table[:, label]).T
        bought += batch
    return bought


def gold_case(
    world: World, *, n_items: int, labels: int, n_gold: int, how: str, seed: int
) -> tuple[float, bool]:
    """Width and coverage of accuracy with gold that `next_items` drew."""
    data = world.draw((float(labels),), n_items, seed)
    goal = Goal("accuracy", "sample", 0.95, False)
    matrix = np.full((n_items, labels), -1)
    matrix[data.entries.item, data.entries.rater] = data.entries.label
    panel = tr.Labels.from_matrix(matrix, missing=-1, classes=world.classes)
    state = PilotState(
        panel,
        data.predicted,
        np.full(n_items, -1),
        goal,
        world,
        Costs({"label": 1.0}, None, 1.0),
        {"label": tuple(range(labels))},
        True,
        0.3,
        readings=read_panel(Entries.of(panel), data.predicted),
    )
    bought = next_items(state, n_gold, buy=("gold",), gold=how, seed=seed)
    gold = {row.item: world.classes[data.truth[row.item]] for row in bought.rows}
    report = tr.grade(data.predicted, panel, gold=gold, gold_weights=bought.gold_chances, seed=seed)
    low, high = report["accuracy"].interval(0.95)
    return high - low, bool(low <= (data.predicted == data.truth).mean() <= high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    arguments = parser.parse_args()
    print(
        "labels beyond one an item until the wanted width (noise known, these items) | "
        "chosen | random | saved",
        flush=True,
    )
    for error, n_items, wanted in (
        (0.2, 400, 0.05),
        (0.3, 400, 0.08),
        (0.1, 400, 0.03),
        (0.2, 1000, 0.035),
    ):
        world, goal = world_of(error), Goal("accuracy", "sample", 0.95, True)
        count = {
            chosen: np.array(
                [
                    labels_needed(
                        world,
                        goal,
                        n_items=n_items,
                        wanted=wanted,
                        chosen=chosen,
                        batch=n_items // 20,
                        seed=s,
                    )
                    for s in range(arguments.trials)
                ]
            )
            for chosen in (True, False)
        }
        saved = 1 - count[True] / np.maximum(count[False], 1)
        print(
            f"error {error}, {n_items} items, width {wanted} | {count[True].mean():.0f} | "
            f"{count[False].mean():.0f} | "
            f"{saved.mean():.0%} ± {saved.std(ddof=1) / np.sqrt(len(saved)):.0%}",
            flush=True,
        )
    print("gold of 100 on 600 items, 3 labels, learned noise | mean width ± | coverage")
    for how in ("random", "weighted"):
        found = [
            gold_case(world_of(0.2), n_items=600, labels=3, n_gold=100, how=how, seed=s)
            for s in range(2 * arguments.trials)
        ]
        width = np.array([w for w, _ in found])
        print(
            f"{how} | {width.mean():.4f} ± {width.std(ddof=1) / np.sqrt(len(width)):.4f} | "
            f"{np.mean([c for _, c in found]):.2f}"
        )


if __name__ == "__main__":
    main()
