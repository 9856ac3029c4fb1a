"""What is refused, answered anyway: how two attempts fail.

`panel_error=0` trusts the noise model, and with it that items were drawn one by one. Clusters are
answered: the draws are spread by the design effect (answer keys counted over clusters that are
drawn anew do not suffice). Weights are refused. Attempts: leave them out, weight the items' own
probabilities, weight answer keys that are drawn with one accuracy for all strata. Labelers share
some of what makes a cluster or stratum hard, as in studies/survey.py. The last row of each leaves
panel_error out. ``python studies/refusals.py [DATA SETS]``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from drawn_together import mean_chance
from survey import Held, World, coverage, held, world

import truthing as tr
from truthing.metrics.estimate import Estimate

DRAWS = 1000
CLUSTERS, SIZE = 60, 8


def clusters(seed: int, how: str) -> Held:
    """60 clusters of 8, 64 gold items in 8 whole clusters; accuracy on new data."""
    drawn = world(seed, CLUSTERS, SIZE, effect=1.0, by_part=0.8)
    whole = drawn.rng.choice(CLUSTERS, 8, replace=False)
    gold = drawn.gold(np.flatnonzero(np.isin(drawn.part, whole)))
    if how == "keys":
        mass = drawn.rng.standard_exponential((DRAWS, CLUSTERS))[:, drawn.part]
        found = (keys(drawn, gold) * mass).sum(axis=1) / mass.sum(axis=1)
        return [held(Estimate.from_draws(found), mean_chance(1.6, 1.0))]
    more: dict[str, Any] = {} if how == "left out" else {"cluster": drawn.part}
    more |= {"panel": "people"} if how == "no panel_error" else {"panel_error": 0}
    about: dict[str, Any] = {"gold": gold, "target": "population", "draws": DRAWS, **more}
    report = tr.grade(drawn.predicted, drawn.labels, **about)
    return [held(report["accuracy"], mean_chance(1.6, 1.0))]


def weights(seed: int, how: str) -> Held:
    """Three strata with weights 1, 3 and 10 and 60 random gold items; the weighted accuracy."""
    drawn = world(seed, 3, 160, effect=1.0)
    weight = np.array([1.0, 3.0, 10.0])[drawn.part]
    truth = float(np.average(drawn.right, weights=weight))
    gold = drawn.random(60)
    if how == "advised":
        report = tr.grade(
            drawn.predicted,
            drawn.labels,
            gold=gold,
            weights=weight,
            stratum=drawn.part.tolist(),
            panel="people",
            draws=DRAWS,
        )
        return [held(report["accuracy"], truth)]
    report = tr.grade(drawn.predicted, drawn.labels, gold=gold, panel_error=0, draws=DRAWS)
    found = report["accuracy"].draws
    if how == "keys":
        found = keys(drawn, gold) @ weight / weight.sum()
    if how == "items":
        chance = report.truth[np.arange(len(drawn.predicted)), drawn.predicted]
        right = drawn.rng.random((DRAWS, len(chance))) < chance
        found = right @ weight / weight.sum()
    return [held(Estimate.from_draws(found), truth)]


def keys(drawn: World, gold: dict[int, int]) -> np.ndarray:
    """Is the prediction right? By answer keys of the noise model, draws × items."""
    both = {"a": drawn.predicted, "b": 1 - drawn.predicted}
    found = tr.compare(both, drawn.labels, gold=gold, panel_error=0, draws=DRAWS)
    return found.truth == drawn.predicted


STUDIES: dict[str, Callable[[int], Held]] = {
    "clusters, panel_error=0: left out": lambda s: clusters(s, "left out"),
    "clusters, panel_error=0: keys redrawn": lambda s: clusters(s, "keys"),
    "clusters, panel_error=0: as answered": lambda s: clusters(s, "answered"),
    "clusters, no panel_error": lambda s: clusters(s, "no panel_error"),
    "weights, panel_error=0: left out": lambda s: weights(s, "left out"),
    "weights, panel_error=0: items weighted": lambda s: weights(s, "items"),
    "weights, panel_error=0: keys weighted": lambda s: weights(s, "keys"),
    "weights, no panel_error": lambda s: weights(s, "advised"),
}


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"coverage of 95% intervals over {n} data sets\n")
    for name, study in STUDIES.items():
        share, error, width = coverage(study, n)
        print(f"{name:<42} {share:.3f} ± {error:.3f}  width {width:.3f}", flush=True)


if __name__ == "__main__":
    main()
