"""Gold chosen where labelers disagree: coverage of accuracy on real crowds with the chances given (`gold_weights`), and without.

About 100 gold items of a worker's, drawn with chances four times as high where the labelers' votes split as where they agree. Every number of the link is
learned from the other sets.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from crowd_cases import Case, crowd_cases
from fit_link import leave_one_out

from truthing.metrics.estimate import shortest_interval
from truthing.truth.link.prior import DEFAULT, LinkPrior, draw_link, learned_level

WANTED, REPEATS = 100, 10


def chances(case: Case) -> np.ndarray:
    votes = case.labels.counts()
    split = votes.max(axis=1) < votes.sum(axis=1)
    weight = np.where(split, 4.0, 1.0)
    return np.minimum(weight / weight.sum() * min(WANTED, len(weight) // 2), 1.0)


def held(
    case: Case, gold: np.ndarray, weights: np.ndarray | None, prior: LinkPrior, seed: int
) -> tuple[float, float]:
    """Did the interval hold the worker's accuracy, and how wide is it?"""
    link = draw_link(
        case.readings,
        learned_level(case.readings, prior),
        gold,
        n_draws=1000,
        seed=seed,
        prior=prior,
        gold_weights=weights,
    )
    known = np.flatnonzero(gold >= 0)
    free = link.design.size - np.bincount(
        link.design.member[known], minlength=len(link.design.size)
    )
    right = (gold[known] == case.predicted[known]).sum()
    drawn = right + np.random.default_rng(seed).binomial(free.astype(np.int64), link.chance()).sum(
        axis=1
    )
    low, high = shortest_interval(drawn / len(gold))
    return float(low - 1e-9 <= case.right.mean() <= high + 1e-9), float(high - low)


def main() -> None:
    cases = crowd_cases()
    priors = leave_one_out(cases)
    found: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for number, case in enumerate(c for c in cases if len(c.truth) >= 100):
        chance = chances(case)
        for repeat in range(REPEATS):
            rng = np.random.default_rng([number, repeat])
            chosen = rng.random(len(chance)) < chance
            gold = np.where(chosen, case.truth, -1)
            weight = 1 / chance[chosen]
            weights = weight * weight.sum() / (weight**2).sum()
            prior = priors.get(case.set, DEFAULT)
            found["chances given"][case.set].append(held(case, gold, weights, prior, repeat))
            found["chances not given"][case.set].append(held(case, gold, None, prior, repeat))
    for name, sets in found.items():
        mean = np.array([np.mean(values, axis=0) for values in sets.values()])
        print(
            f"{name:<18} coverage {mean[:, 0].mean():.3f} ± {mean[:, 0].std() / np.sqrt(len(mean)):.3f}, width {mean[:, 1].mean():.3f}, "
            f"worst set {mean[:, 0].min():.2f} ({len(sets)} sets)"
        )


if __name__ == "__main__":
    main()
