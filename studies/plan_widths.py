"""Widths that `tr.plan` predicts against widths that `tr.grade` then gives on simulated data of the
same design.

Predicted: the plan's expected width of a design. Obtained: the mean over data sets of the width
that `grade` gives. From assumptions the data sets are
fresh draws of the assumed world. From a pilot each data set is the pilot, kept, with what the
design adds from the same world; predicted is then the mean
over pilots. Ratios are of means; their standard errors come from both.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import truthing as tr
from truthing.planning.design import anchors_for
from truthing.planning.pilot import learn
from truthing.planning.surface import simulate_surface
from truthing.planning.widths import Goal
from truthing.planning.world import DrawnWorld, World, assumed_world

FIRST = 5_000_000  # fresh seeds: no data set of the predictions is used again
# labelers, accuracy, prior and shared mistakes of the worlds; the last has three classes
WORLDS: dict[str, dict[str, Any]] = {
    "two classes, error .15": {"labelers": 0.15, "accuracy": 0.8, "prior": 0.3},
    "strong classifier, error .25": {"labelers": 0.25, "accuracy": 0.95, "prior": 0.5},
    "rare class, error .1": {"labelers": 0.1, "accuracy": 0.85, "prior": 0.1},
    "shared mistakes, error .2": {"labelers": 0.2, "accuracy": 0.8, "prior": 0.4, "shared": 0.4},
    "three classes, error .2": {"labelers": 0.2, "accuracy": 0.75, "prior": [0.5, 0.3, 0.2]},
}
PILOT_WORLDS = {
    "two classes, error .15": WORLDS["two classes, error .15"],
    "shared mistakes, error .2": WORLDS["shared mistakes, error .2"],
    "strong classifier, error .1": {"labelers": 0.1, "accuracy": 0.95, "prior": 0.5},
    "weak classifier, error .25": {"labelers": 0.25, "accuracy": 0.7, "prior": 0.5},
    "strong classifier, error .25": WORLDS["strong classifier, error .25"],
}
# items, labels an item, gold: none of them an anchor of the grid
DESIGNS = [(120, 2, 0), (120, 3, 30), (450, 3, 0), (450, 5, 120), (1500, 1, 90), (1500, 3, 300)]
TOP_UPS = [
    ((200, 3, 0), (200, 3, 100)),
    ((200, 3, 0), (600, 4, 100)),
    ((200, 3, 25), (600, 4, 100)),
    ((100, 3, 20), (400, 5, 50)),
    ((400, 5, 60), (1500, 5, 200)),
]


def world_of(spec: dict[str, Any]) -> World:
    return assumed_world(**{"shared": 0.0, **spec}, positive=None, assumptions=[])


def predicted(
    world: World,
    goal: Goal,
    design: tuple[int, int, int],
    *,
    items: int | None,
    sets: int,
    seed: int = 0,
) -> float:
    """What `plan` says of a design: its surface, simulated only where this design looks."""
    n, labels, gold = design
    composition = (float(labels),)
    anchors = np.array(anchors_for(goal, composition, items))
    place = int(np.searchsorted(anchors, n))
    near = anchors[[place]] if anchors[place] == n else anchors[place - 1 : place + 1]
    surface = simulate_surface(
        world, goal, composition, tuple(near.tolist()), gold=True, sets=sets, seed=seed
    )
    return float(surface.width(np.array(n), np.array(gold)))


def as_labels(data: DrawnWorld) -> tr.Labels:
    matrix = np.full((len(data.truth), data.entries.n_raters), -1)
    matrix[data.entries.item, data.entries.rater] = data.entries.label
    return tr.Labels.from_matrix(matrix, missing=-1)


def order_of_gold(n_items: int, seed: int) -> np.ndarray:
    return np.random.default_rng(FIRST + seed).permutation(n_items)


def obtained(world: World, goal: Goal, design: tuple[int, int, int], seed: int) -> float:
    """What `grade` gives on one data set of this design."""
    n, labels, n_gold = design
    data = world.draw((float(labels),), n, FIRST + seed)
    chosen = order_of_gold(n, seed)[:n_gold]
    noise = {f: t.tolist() for f, t in enumerate(data.tables)} if goal.known else None
    report = tr.grade(
        data.predicted,
        as_labels(data),
        gold={int(i): int(data.truth[i]) for i in chosen} or None,
        noise=noise,
        target=goal.target,
        draws=2000,
        seed=seed,
        panel_error=0 if goal.known else None,
    )
    low, high = report[goal.metric].interval(goal.level)
    return high - low


def compare(
    name: str,
    metric: str,
    *,
    target: str,
    known: bool,
    design: tuple[int, int, int],
    sets: int,
    trials: int,
) -> tuple[float, float, float]:
    """Predicted width, mean obtained width and its standard error."""
    world = world_of(WORLDS[name])
    goal = Goal(metric, target, 0.95, known)
    said = predicted(
        world, goal, design, items=design[0] if target == "sample" else None, sets=sets
    )
    found = [obtained(world, goal, design, seed) for seed in range(trials)]
    return said, float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(trials))


def after_pilot(
    spec: dict[str, Any],
    *,
    pilot: tuple[int, int, int],
    design: tuple[int, int, int],
    seed: int,
    sets: int,
) -> tuple[float, float]:
    """Predicted from one pilot (items, labels, gold), and obtained when it is topped up to the
    design."""
    world, goal = world_of(spec), Goal("accuracy", "population", 0.95, False)
    data = world.draw((float(design[1]),), design[0], FIRST + seed)
    order = order_of_gold(design[0], seed)
    with_gold, others = order[: pilot[2]], order[pilot[2] :]
    few = np.concatenate([with_gold, others[::-1][: pilot[0] - pilot[2]]])
    learned = learn(
        {
            "labels": tr.Labels.from_matrix(
                as_labels(data).matrix()[few][:, : pilot[1]], items=few.tolist()
            ),
            "predictions": dict(zip(few.tolist(), data.predicted[few].tolist())),
            "gold": {int(i): int(data.truth[i]) for i in with_gold} or None,
        },
        costs={"label": 0.05, "item": 0.1, "gold": 2.0},
        labelers=None,
        noise=None,
        goal=goal,
        positive=None,
        seed=seed,
    )
    said = predicted(learned.world, goal, design, items=None, sets=sets, seed=seed)
    return said, obtained(world, goal, design, seed)


def ratio_of_means(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Mean predicted over mean obtained, with its standard error (delta method, pairs
    independent).
    """
    said, got = np.array(pairs).T
    ratio = said.mean() / got.mean()
    return float(ratio), float(np.std(said - ratio * got, ddof=1) / np.sqrt(len(got)) / got.mean())


def pilots(count: int) -> None:
    print(
        "world | pilot: items, labels, gold | topped up to | predicted | obtained | ratio",
        flush=True,
    )
    found = []
    for world, spec in PILOT_WORLDS.items():
        for pilot, design in TOP_UPS:
            pairs = [
                after_pilot(spec, pilot=pilot, design=design, seed=s, sets=2) for s in range(count)
            ]
            said, got = np.mean(pairs, axis=0)
            ratio, error = ratio_of_means(pairs)
            found.append(ratio)
            print(
                f"{world} | {pilot} | {design} | {said:.4f} | {got:.4f} | {ratio:.3f} ± "
                f"{error:.3f}",
                flush=True,
            )
    _summary(found)


def designs(trials: int, sets: int) -> None:
    first, second, *_ = WORLDS
    cases = [(world, "accuracy", "population", False) for world in WORLDS]
    cases += [
        (world, "accuracy", t, k)
        for world in (first, second)
        for t, k in (("sample", False), ("population", True))
    ]
    cases += [(first, "recall", "population", False)]
    found = []
    print(
        "world | metric | target | noise | items, labels, gold | predicted | obtained | ratio",
        flush=True,
    )
    for world, metric, target, known in cases:
        for design in DESIGNS:
            many = (
                3 * trials if design[0] < 300 else trials
            )  # small data sets differ more, and cost less
            said, mean, error = compare(
                world, metric, target=target, known=known, design=design, sets=sets, trials=many
            )
            found.append(said / mean)
            noise = "known" if known else "learned"
            print(
                f"{world} | {metric} | {target} | {noise} | {design} | {said:.4f} | {mean:.4f} ± "
                f"{error:.4f} | {said / mean:.3f}",
                flush=True,
            )
    _summary(found)


def _summary(ratios: list[float]) -> None:
    off = np.abs(np.array(ratios) - 1)
    print(
        f"{len(off)} designs: mean ratio {np.mean(ratios):.3f}, mean |ratio - 1| {off.mean():.3f}, "
        f"largest {off.max():.3f}, "
        f"within 10%: {(off <= 0.1).sum()}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=8, help="data sets graded for each design")
    parser.add_argument("--sets", type=int, default=6, help="as plan's sets")
    parser.add_argument("--pilots", type=int, default=16, help="pilots for each top-up")
    parser.add_argument("--only", choices=("designs", "pilots"))
    arguments = parser.parse_args()
    if arguments.only != "designs":
        pilots(arguments.pilots)
    if arguments.only != "pilots":
        designs(arguments.trials, arguments.sets)


if __name__ == "__main__":
    main()
