"""Plans for items in clusters or with weights: the expected width of a design beside the mean width
that `grade` gives on simulated data of that design.

Clusters: a classifier right on 80% of items, the share of each cluster from a beta distribution
with the correlation of the plan; three labels per item, 15% wrong; gold one by one; new data.
``python studies/plan_drawn.py [DATA SETS]``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import truthing as tr
from truthing.planning.drawn import Sampling, by_word
from truthing.planning.surface import Surface, simulate_surface
from truthing.planning.widths import Goal
from truthing.planning.world import World, assumed_world

GOAL = Goal("accuracy", "population", 0.95, False, panel="people")
DESIGNS = {
    "no clusters": (600, 80, None, None),
    "clusters of 8, .2": (600, 80, (8, 0.2), None),
    "clusters of 20, .3": (600, 80, (20, 0.3), None),
    "clusters of 8, .2, more gold": (1200, 300, (8, 0.2), None),
    "weights 1, 3 and 10": (600, 80, None, (1, 3, 10)),
}


def world() -> World:
    return assumed_world(
        labelers=0.15, accuracy=0.8, prior=0.5, shared=0.0, positive=None, assumptions=[]
    )


def expected(
    surface: Surface, items: int, gold: int, cluster: Any, weights: Any
) -> tuple[Sampling, float]:
    sampling = by_word(cluster, weights, 0.8)
    return sampling, float(sampling.width(surface, items, gold))


def obtained(seed: int, items: int, gold: int, cluster: Any, weights: Any) -> float:
    """The width of one simulated data set."""
    rng = np.random.default_rng([seed, items, gold])
    part = np.arange(items) // (cluster[0] if cluster else 1)
    chance = np.full(items, 0.8)
    if cluster:
        more = 1 / cluster[1] - 1  # of a beta distribution with this correlation
        chance = rng.beta(0.8 * more, 0.2 * more, part.max() + 1)[part]
    truth = rng.integers(0, 2, items)
    said = np.where(rng.random(items) < chance, truth, 1 - truth)
    votes = [np.where(rng.random(items) < 0.85, truth, 1 - truth) for _ in range(3)]
    labels = tr.Labels.from_matrix(np.stack(votes, axis=1))
    known = {int(i): int(truth[i]) for i in rng.choice(items, gold, replace=False)}
    report = tr.grade(
        said,
        labels,
        gold=known,
        target="population",
        cluster=part if cluster else None,
        weights=np.resize(weights, items) if weights else None,
        panel="people",
        draws=1000,
    )
    low, high = report["accuracy"].interval(0.95)
    return high - low


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    surface = simulate_surface(
        world(), GOAL, (3.0,), (50, 200, 800, 3200), gold=True, sets=6, seed=0
    )
    for name, design in DESIGNS.items():
        sampling, width = expected(surface, *design)
        found = np.array([obtained(seed, *design) for seed in range(n)])
        error = found.std(ddof=1) / np.sqrt(n) / found.mean()
        print(
            f"{name:<30} worth {sampling.share / sampling.design_effect:.2f}  plan {width:.3f}  "
            f"grade {found.mean():.3f}  ratio {width / found.mean():.2f} ± {error:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
