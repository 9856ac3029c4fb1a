"""Widths that `tr.plan` predicts against widths that `tr.grade` then gives on fresh simulated data of the same design."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import truthing as tr
from truthing.planning.pilot import learn
from truthing.planning.search import anchors_for
from truthing.planning.surface import simulate_surface
from truthing.planning.widths import Goal
from truthing.planning.world import Drawn, World, assumed_world

FIRST = 5_000_000  # fresh seeds: no data set of the predictions is used again
# labelers, accuracy, prior and shared mistakes of the worlds; the last has three classes
WORLDS: dict[str, dict[str, Any]] = {
    "two classes, error .15": {"labelers": 0.15, "accuracy": 0.8, "prior": 0.3},
    "strong classifier, error .25": {"labelers": 0.25, "accuracy": 0.95, "prior": 0.5},
    "rare class, error .1": {"labelers": 0.1, "accuracy": 0.85, "prior": 0.1},
    "shared mistakes, error .2": {"labelers": 0.2, "accuracy": 0.8, "prior": 0.4, "shared": 0.4},
    "three classes, error .2": {"labelers": 0.2, "accuracy": 0.75, "prior": [0.5, 0.3, 0.2]},
}
# items, labels an item, gold: none of them an anchor of the grid
DESIGNS = [(120, 2, 0), (120, 3, 30), (450, 3, 0), (450, 5, 120), (1500, 1, 90), (1500, 3, 300)]


def world_of(spec: dict[str, Any]) -> World:
    return assumed_world(**{"shared": 0.0, **spec}, positive=None, assumptions=[])


def predicted(
    world: World, goal: Goal, design: tuple[int, int, int], *, items: int | None, sets: int, seed: int = 0
) -> float:
    """What `plan` says of a design."""
    n, labels, gold = design
    composition = (float(labels),)
    anchors = anchors_for(goal, composition, items)
    surface = simulate_surface(world, goal, composition, anchors, gold=True, sets=sets, seed=seed)
    return float(surface.width(np.array(n), np.array(gold)))


def as_labels(data: Drawn) -> tr.Labels:
    matrix = np.full((len(data.truth), data.entries.n_raters), -1)
    matrix[data.entries.item, data.entries.rater] = data.entries.label
    return tr.Labels.from_matrix(matrix, missing=-1)


def obtained(world: World, goal: Goal, design: tuple[int, int, int], seed: int) -> float:
    """What `grade` gives on one data set of this design."""
    n, labels, n_gold = design
    data = world.draw((float(labels),), n, FIRST + seed)
    chosen = np.random.default_rng(FIRST + seed).choice(n, size=n_gold, replace=False)
    noise = {f: t.tolist() for f, t in enumerate(data.tables)} if goal.known else None
    report = tr.grade(
        data.predicted, as_labels(data), gold={int(i): int(data.truth[i]) for i in chosen} or None, noise=noise,
        target=goal.target, seed=seed,
    )  # fmt: skip
    low, high = report[goal.metric].interval(goal.level)
    return high - low


def compare(
    name: str, metric: str, *, target: str, known: bool, design: tuple[int, int, int], sets: int, trials: int
) -> tuple[float, float, float]:
    """Predicted width, mean obtained width and its standard error."""
    world = world_of(WORLDS[name])
    goal = Goal(metric, target, 0.95, known)
    said = predicted(world, goal, design, items=design[0] if target == "sample" else None, sets=sets)
    found = [obtained(world, goal, design, seed) for seed in range(trials)]
    return said, float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(trials))


def after_pilot(
    name: str, *, pilot: tuple[int, int, int], design: tuple[int, int, int], seed: int, sets: int
) -> tuple[float, float]:
    """Predicted from a pilot (items, labels, gold), and obtained when the pilot is topped up to the design."""
    world, goal = world_of(WORLDS[name]), Goal("accuracy", "population", 0.95, False)
    data = world.draw((float(design[1]),), design[0], FIRST + seed)
    everything = as_labels(data)
    order = np.random.default_rng(FIRST + seed).permutation(design[0])
    gold = {int(i): int(data.truth[i]) for i in order[: design[2]]}
    few = np.sort(np.concatenate([order[: pilot[2]], order[design[2] :][: pilot[0] - pilot[2]]]))
    small = tr.Labels.from_matrix(everything.matrix()[few][:, : pilot[1]], items=few.tolist())
    known = {i: gold[i] for i in order[: pilot[2]].tolist()}
    learned = learn(
        {"labels": small, "predictions": dict(zip(few.tolist(), data.predicted[few].tolist())), "gold": known or None},
        costs={"label": 0.05, "item": 0.1, "gold": 2.0}, labelers=None, noise=None, goal=goal, positive=None, seed=seed,
    )  # fmt: skip
    said = predicted(learned.world, goal, design, items=design[0], sets=sets, seed=seed)
    low, high = tr.grade(data.predicted, everything, gold=gold, target=goal.target, seed=seed)["accuracy"].interval(
        0.95
    )
    return said, high - low


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--sets", type=int, default=6)
    parser.add_argument("--pilots-only", action="store_true")
    arguments = parser.parse_args()
    cases = [
        (w, "accuracy", t, k)
        for w in WORLDS
        for t, k in (("population", False), ("sample", False), ("population", True))
    ]
    first = next(iter(WORLDS))
    cases += [(first, "accuracy", "sample", True)]
    cases += [(first, metric, "population", known) for metric in ("recall", "f1") for known in (False, True)]
    print("world | pilot | design | predicted | obtained | ratio ± over pilots", flush=True)
    for world in ("two classes, error .15", "shared mistakes, error .2"):
        for pilot in ((200, 3, 0), (200, 3, 25)):
            for design in ((200, 3, 100), (600, 4, 100)):
                pairs = [
                    after_pilot(world, pilot=pilot, design=design, seed=s, sets=arguments.sets)
                    for s in range(arguments.trials)
                ]
                said, got = np.mean(pairs, axis=0)
                ratio = np.array([a / b for a, b in pairs])
                print(
                    f"{world} | {pilot} | {design} | {said:.4f} | {got:.4f} | {ratio.mean():.3f} ± {ratio.std(ddof=1) / np.sqrt(len(ratio)):.3f}",
                    flush=True,
                )
    if arguments.pilots_only:
        return
    ratios = []
    print("world | metric | target | noise | items, labels, gold | predicted | obtained ± | ratio", flush=True)
    for world, metric, target, known in cases:
        for design in DESIGNS:
            said, mean, error = compare(
                world, metric, target=target, known=known, design=design, sets=arguments.sets, trials=arguments.trials
            )
            ratios.append(said / mean)
            noise = "known" if known else "learned"
            print(
                f"{world} | {metric} | {target} | {noise} | {design} | {said:.4f} | {mean:.4f} ± {error:.4f} | {said / mean:.3f}",
                flush=True,
            )
    off = np.abs(np.array(ratios) - 1)
    print(
        f"{len(off)} designs: mean ratio {np.mean(ratios):.3f}, mean |ratio - 1| {off.mean():.3f}, largest {off.max():.3f}, within 10%: {(off <= 0.1).mean():.1%}"
    )


if __name__ == "__main__":
    main()
