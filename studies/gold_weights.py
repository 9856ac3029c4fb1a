"""Gold chosen where labelers disagree: coverage of accuracy on real crowds with the chances given
(`gold_weights`), and without.

About 100 gold items per worker, drawn with chances four times as high where the labelers' votes
split
as where they agree. The numbers of the link are learned from the other families.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from fit_link import leave_out, observed_cases
from panels import Case, crowd_cases

import truthing as tr
from truthing.truth.link import prior as link_prior

WANTED, REPEATS = 100, 10


def chances(case: Case) -> np.ndarray:
    votes = case.labels.counts()
    split = votes.max(axis=1) < votes.sum(axis=1)
    weight = np.where(split, 4.0, 1.0)
    return np.minimum(weight / weight.sum() * min(WANTED, len(weight) // 2), 1.0)


def held(
    case: Case, chosen: np.ndarray, chance: np.ndarray | None, seed: int
) -> tuple[float, float]:
    """Did the interval hold the worker's accuracy, and how wide is it?"""
    items, classes = case.labels.items, case.labels.classes
    gold = {items[i]: classes[case.truth[i]] for i in chosen}
    weights = None if chance is None else {items[i]: float(chance[i]) for i in chosen}
    said = [classes[k] for k in case.predicted]
    report = tr.grade(
        said, case.labels, gold=gold, gold_weights=weights, panel="people", draws=1000, seed=seed
    )
    low, high = report["accuracy"].interval(0.95)
    return float(low - 1e-9 <= case.right.mean() <= high + 1e-9), float(high - low)


def main() -> None:
    numbers = leave_out(observed_cases())
    found: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for number, case in enumerate(c for c in crowd_cases() if len(c.truth) >= 100):
        link_prior.DEFAULT.update(numbers[case.family][False])
        chance = chances(case)
        for repeat in range(REPEATS):
            rng = np.random.default_rng([number, repeat])
            chosen = np.flatnonzero(rng.random(len(chance)) < chance)
            found["chances given"][case.set].append(held(case, chosen, chance, repeat))
            found["chances not given"][case.set].append(held(case, chosen, None, repeat))
    for name, sets in found.items():
        mean = np.array([np.mean(values, axis=0) for values in sets.values()])
        error = mean[:, 0].std() / np.sqrt(len(mean))
        print(
            f"{name:<18} coverage {mean[:, 0].mean():.3f} ± {error:.3f}, width "
            f"{mean[:, 1].mean():.3f}, "
            f"worst set {mean[:, 0].min():.2f} ({len(sets)} sets)"
        )


if __name__ == "__main__":
    main()
