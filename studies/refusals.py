"""What is refused, answered anyway: how two attempts fail.

`panel_error=0` trusts the noise model, and with it that items were drawn one by one. Attempts to
answer clusters: leave them out, or spread the draws by the design effect. Attempts to answer
weights: leave them out, or weight the items' own probabilities. Labelers share some of what makes a
cluster or stratum hard, as in studies/survey.py. The last row of each is what the refusal advises.
``python studies/refusals.py [DATA SETS]``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from drawn_together import mean_chance
from survey import Held, coverage, held, world

import truthing as tr
from truthing.metrics.estimate import Estimate

DRAWS = 1000
CLUSTERS, SIZE, CORRELATION = 60, 8, 0.15  # what the classifier's right answers share in this world


def clusters(seed: int, how: str) -> Held:
    """60 clusters of 8, 64 gold items in 8 whole clusters; accuracy on new data."""
    drawn = world(seed, CLUSTERS, SIZE, effect=1.0, by_part=0.8)
    whole = drawn.rng.choice(CLUSTERS, 8, replace=False)
    gold = drawn.gold(np.flatnonzero(np.isin(drawn.part, whole)))
    truth = mean_chance(1.6, 1.0)
    if how == "advised":
        report = tr.grade(
            drawn.predicted,
            drawn.labels,
            gold=gold,
            cluster=drawn.part,
            target="population",
            panel="people",
            draws=DRAWS,
        )
        return [held(report["accuracy"], truth)]
    report = tr.grade(
        drawn.predicted,
        drawn.labels,
        gold=gold,
        panel_error=0,
        target="population",
        draws=DRAWS,
    )
    found = report["accuracy"].draws
    if how == "spread":
        effect = np.sqrt(1 + (SIZE - 1) * CORRELATION)
        found = np.clip(found.mean() + effect * (found - found.mean()), 0, 1)
    return [held(Estimate.from_draws(found), truth)]


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
    if how == "items":
        chance = report.truth[np.arange(len(drawn.predicted)), drawn.predicted]
        right = drawn.rng.random((DRAWS, len(chance))) < chance
        found = right @ weight / weight.sum()
    return [held(Estimate.from_draws(found), truth)]


STUDIES: dict[str, Callable[[int], Held]] = {
    "clusters, panel_error=0: left out": lambda s: clusters(s, "left out"),
    "clusters, panel_error=0: draws spread": lambda s: clusters(s, "spread"),
    "clusters, as advised": lambda s: clusters(s, "advised"),
    "weights, panel_error=0: left out": lambda s: weights(s, "left out"),
    "weights, panel_error=0: items weighted": lambda s: weights(s, "items"),
    "weights, as advised": lambda s: weights(s, "advised"),
}


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"coverage of 95% intervals over {n} data sets\n")
    for name, study in STUDIES.items():
        share, error, width = coverage(study, n)
        print(f"{name:<42} {share:.3f} ± {error:.3f}  width {width:.3f}", flush=True)


if __name__ == "__main__":
    main()
