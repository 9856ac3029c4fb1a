"""Plans on real crowds: a pilot on a random third of a worker's items predicts the interval that
all of them then give; and what more gold does.

The busiest workers of each set in turn are the classifier, graded against the others; gold is the
crowd's own truth. Predicted: the plan's width for all items with as many labels an item as the
pilot has, and so much gold. Obtained: the default interval on them. Beside it what a plan would say
that takes the pilot's rates but lets labelers err independently.
Ratios are of means over random pilots; errors are over sets.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
from panels import Case, crowd_cases

from truthing.planning.pilot import learn
from truthing.planning.surface import simulate_surface
from truthing.planning.widths import Goal, linked_confusion
from truthing.planning.world import World

GOAL = Goal("accuracy", "population", 0.95, False)
FEWEST, MOST = 300, 2000  # items of a worker
STEPS = {0: (25, 50, 100), 25: (50, 100)}  # gold in the pilot, and then
COSTS = {"item": 0.1, "label": 0.05, "gold": 2.0}


def pilot_worlds(
    case: Case, gold: np.ndarray, few: np.ndarray, seed: int
) -> tuple[World, World, float]:
    """What is learned from these items; the same with independent labelers; labels an item."""
    names, classes = case.labels.items, case.labels.classes
    pilot = {
        "labels": case.labels[few],
        "predictions": {names[i]: classes[case.predicted[i]] for i in few},
        "gold": {names[i]: classes[gold[i]] for i in few if gold[i] >= 0} or None,
    }
    learned = learn(
        pilot, costs=COSTS, labelers=None, noise=None, goal=GOAL, positive=None, seed=seed
    )
    world = learned.world
    return world, replace(world, panel=None, extra_spread=0.0), learned.stock.per_item[0]


def one_pilot(case: Case, have: int, seed: int) -> np.ndarray:
    """Widths for each amount of gold then: by the plan, with independent labelers, obtained."""
    rng, n = np.random.default_rng([have, seed]), len(case.truth)
    order, none = rng.permutation(n), np.full(n, -1)
    few = order[: n // 3]
    chosen = np.concatenate([few[:have], rng.permutation(order[have:])])

    def with_gold(count: int) -> np.ndarray:
        gold = none.copy()
        gold[chosen[:count]] = case.truth[chosen[:count]]
        return gold

    *worlds, per_item = pilot_worlds(case, with_gold(have), few, seed)
    surfaces = [
        simulate_surface(w, GOAL, (per_item,), (n,), gold=True, sets=2, seed=seed) for w in worlds
    ]
    level = GOAL.link_level(case.views)
    rows = []
    for then in STEPS[have]:
        link = linked_confusion(case.views, level, with_gold(then), GOAL.target, seed)
        said = [float(surface.width(n, then)) for surface in surfaces]
        rows.append([*said, GOAL.width(link, worlds[0])])
    return np.array(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2, help="pilots of each worker")
    parser.add_argument("--workers", type=int, default=2, help="workers of each set")
    arguments = parser.parse_args()
    seen: Counter[str] = Counter()
    found: dict[tuple[int, int], dict[str, list[np.ndarray]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for case in crowd_cases():
        if not FEWEST <= len(case.truth) <= MOST or seen[case.set] >= arguments.workers:
            continue
        seen[case.set] += 1
        for have, thens in STEPS.items():
            mean = np.mean(
                [one_pilot(case, have, seed) for seed in range(arguments.trials)], axis=0
            )
            for then, (*said, obtained) in zip(thens, mean):
                ratios = np.array(said) / obtained
                found[have, then][case.set].append(ratios)
                print(
                    f"{case.set} {case.name} | {have} → {then} | {np.round(ratios, 2).tolist()}",
                    flush=True,
                )
    print("gold in the pilot → then | sets | plan / obtained | independent labelers / obtained")
    for (have, then), sets in found.items():
        table = np.array([np.mean(rows, axis=0) for rows in sets.values()])
        mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))
        cells = " | ".join(f"{m:.2f} ± {e:.2f}" for m, e in zip(mean, error))
        print(f"{have} → {then} | {len(table)} | {cells}", flush=True)


if __name__ == "__main__":
    main()
