"""Compile what most tests need, and keep it where all of them find it.

`make test` runs this beside the check of types, which leaves one core idle. Without it each worker
compiles the same functions.
"""

from __future__ import annotations

import numpy as np

import truthing as tr
from truthing.simulation import Simulation

ASKED = {"draws": 100, "panel": "people"}
TWO = {"prior": [0.6, 0.4], "operating_point": (0.8, 0.2)}
THREE = {"prior": [0.3, 0.3, 0.4], "operating_point": np.full((3, 3), 0.2) + 0.4 * np.eye(3)}


def ask_everything(data: Simulation) -> None:
    """Each question once, with few draws."""
    labels, said, gold = data.labels, data.predictions, data.gold(20, 0)
    models = {"a": said, "b": np.roll(said, 1), "c": np.roll(said, 2)}
    for known in (None, gold):
        tr.grade(said, labels, gold=known, **ASKED)
        tr.compare(models, labels, gold=known, **ASKED).ranks()
        tr.labelers(labels, gold=known, **ASKED)
    for noise in (0.2, tr.noise.Strata(2), tr.noise.Difficulty()):
        tr.grade(said, labels, noise=noise, **ASKED)
    tr.compare(models, labels, noise=0.2, panel_error=0, **ASKED).ranks()
    tr.prevalence(labels, target="population", **ASKED)
    if data.scores is not None:
        scored = {name: data.as_predictions() for name in "ab"}
        tr.compare(scored, labels, **ASKED).difference("auc")


if __name__ == "__main__":
    for world in (TWO, THREE):
        ask_everything(tr.simulate(80, 4, fallibility=0.4, availability=0.8, seed=0, **world))
