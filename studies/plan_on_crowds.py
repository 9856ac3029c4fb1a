"""What more gold does on real crowds: predicted by `gold_effect` from what is in hand, and obtained with the crowd's own truth.

Three busiest workers of each set with at least 100 items. Ratio of predicted to obtained mean width of accuracy on these items; beside it the ratio for data
made up after the panel's own noise model with independent labelers, which is why plans from a pilot do not use them.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
from crowd_cases import Case, crowd_cases

from truthing.planning.more_gold import gold_effect_on
from truthing.planning.widths import Goal, linked_confusion, widths
from truthing.planning.world import Kind, World

GOAL = Goal("accuracy", "sample", 0.95, False)
STEPS = ((0, 25), (0, 50), (0, 100), (25, 100), (50, 100))


def world_of(case: Case) -> World:
    """The panel's noise model, fitted with the classifier as a rater."""
    fit = case.readings.fit
    rows, prior = fit.rows(), np.exp(fit.log_prior)
    kind = Kind("label", rows[:-1], pool=True, open=True)
    positive = 1 if case.labels.n_classes == 2 else None
    return World(prior / prior.sum(), rows[-1], (kind,), case.labels.classes, positive)


def with_gold(case: Case, count: int, rng: np.random.Generator) -> np.ndarray:
    gold = np.full(len(case.truth), -1)
    chosen = rng.permutation(len(gold))[:count]
    gold[chosen] = case.truth[chosen]
    return gold


def ratios(case: Case, have: int, then: int, trials: int) -> tuple[float, float]:
    """Predicted over obtained: by `gold_effect`, and by independent made-up data."""
    rng, world, level = np.random.default_rng([have, then]), world_of(case), GOAL.link_level(case.readings)
    obtained = np.mean(
        [
            GOAL.width(linked_confusion(case.readings, level, with_gold(case, then, rng), "sample", seed), world)
            for seed in range(trials)
        ]
    )
    said = [
        gold_effect_on(case.readings, with_gold(case, have, rng), then - have, goal=GOAL, world=world, seed=seed).width
        for seed in range(max(trials // 3, 1) if have else 1)
    ]
    per_item = (case.labels.n_labels / case.labels.n_items,)
    made_up = [
        widths(replace(world, panel=None), GOAL, world.draw(per_item, len(case.truth), seed), [then], seed)[0]
        for seed in range(max(trials // 3, 1))
    ]
    return float(np.mean(said) / obtained), float(np.mean(made_up) / obtained)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--workers", type=int, default=3)
    arguments = parser.parse_args()
    seen: Counter[str] = Counter()
    found: dict[tuple[int, int], list[tuple[str, float, float]]] = defaultdict(list)
    for case in crowd_cases():
        if len(case.truth) < 100 or seen[case.set] >= arguments.workers:
            continue
        seen[case.set] += 1
        for have, then in STEPS:
            if then <= len(case.truth) // 2:
                found[have, then].append((case.set, *ratios(case, have, then, arguments.trials)))
    print("gold now → then | cases | gold_effect / obtained: mean, sd | independent labelers / obtained: mean, sd")
    for (have, then), rows in found.items():
        table = np.array([row[1:] for row in rows])
        mean, spread = table.mean(axis=0), table.std(axis=0)
        print(f"{have} → {then} | {len(rows)} | {mean[0]:.2f}, {spread[0]:.2f} | {mean[1]:.2f}, {spread[1]:.2f}")


if __name__ == "__main__":
    main()
