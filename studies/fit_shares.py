"""The numbers behind class shares (truth/shares.py, SharePrior), learned from public crowds, and whether `tr.prevalence` then holds the truth.

Cases: each set whole, and the items of each of its ten busiest workers as the others labelled them. Coverage and width use numbers learned from the other
sets; printed are means over sets (classes, cases and gold draws averaged first) with their standard error.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import asdict, dataclass, replace

import numpy as np
from crowd_cases import SETS, Case, crowd_cases, data_folder, llmbar_cases
from scipy.optimize import minimize
from scipy.stats import t as student

import truthing as tr
from truthing.metrics.estimate import shortest_interval
from truthing.truth.consensus import Entries
from truthing.truth.link.prior import OUTLIER_VARIANCE, OUTLIER_WEIGHT
from truthing.truth.link.shares import (
    DEFAULT,
    SharePrior,
    ShareReadings,
    draw_shares,
    read_shares,
    share_level,
)
from truthing.truth.link.views import logit

COUNT_AS = (
    10 / 3
)  # the cases of a set are much the same panel: together they count as this many observations
GOLD = (0, 25, 50, 100, 200)


@dataclass(frozen=True)
class Shares:
    """One panel and the true classes of its items."""

    set: str
    truth: np.ndarray
    readings: ShareReadings

    @property
    def share(self) -> np.ndarray:
        return np.bincount(self.truth, minlength=self.readings.levels.shape[1]) / len(self.truth)


def whole(name: str) -> Shares:
    folder = data_folder() / "crowd" / name
    path = folder / "labels.csv"
    labels = tr.read_labels(path if path.exists() else folder / "labels.csv.gz").resolve_repeats(
        "last"
    )
    known = tr.read_gold(folder / "truth.csv").as_dict()
    labels = labels[[k for k, item in enumerate(labels.items) if item in known]]
    labels = labels.select([w for w, n in zip(labels.labelers, labels.per_labeler) if n > 0])
    labels = labels.with_classes(sorted({*labels.classes, *(known[item] for item in labels.items)}))
    truth = np.array([labels.classes.index(known[item]) for item in labels.items])
    return Shares(name, truth, read_shares(Entries.of(labels)))


def of_worker(case: Case) -> Shares:
    return Shares(case.set, case.truth, read_shares(Entries.of(case.labels)))


def fit(cases: list[Shares], prior: SharePrior = DEFAULT) -> SharePrior:
    """The three scales by weighted maximum likelihood of the classes' true logits, weak priors on each."""
    sets = [c.set for c in cases]
    error, parts, weight = [], [], []
    for case in cases:
        n_items, n_classes = len(case.truth), len(case.share)
        error.append(logit((case.share * n_items + 0.5) / (n_items + 1)) - case.readings.centre)
        parts.append(
            np.stack([np.ones(n_classes), case.readings.spread, case.readings.doubt], axis=1)
        )
        weight.append(np.full(n_classes, COUNT_AS / sets.count(case.set) / n_classes))
    errors, features, weights = (
        np.concatenate(error),
        np.concatenate(parts) ** 2,
        np.concatenate(weight),
    )

    def loss(p: np.ndarray) -> float:
        scale = np.sqrt(features @ np.exp(2 * p))
        z = errors / scale
        far = np.exp(-0.5 * z**2 / OUTLIER_VARIANCE) / np.sqrt(2 * np.pi * OUTLIER_VARIANCE)
        density = (1 - OUTLIER_WEIGHT) * student.pdf(z, prior.freedom) + OUTLIER_WEIGHT * far
        return float(
            -(weights * (np.log(density) - np.log(scale))).sum()
            + 0.5 * ((p[0] + 1.5) ** 2 + p[1:] @ p[1:])
        )

    scale, per_spread, per_doubt = np.exp(minimize(loss, [-1.5, -0.5, -0.5], method="L-BFGS-B").x)
    return replace(
        prior,
        scale=float(scale),
        scale_per_spread=float(per_spread),
        scale_per_doubt=float(per_doubt),
    )


def covered(case: Shares, prior: SharePrior, n_gold: int, seed: int) -> list[tuple[bool, float]]:
    """For each class: is its share inside the 95% interval, and how wide is that?"""
    gold = np.full(len(case.truth), -1)
    chosen = np.random.default_rng(seed).permutation(len(case.truth))[:n_gold]
    gold[chosen] = case.truth[chosen]
    level = share_level(case.readings, prior=prior)
    drawn = draw_shares(case.readings, level, gold, None, target="sample", n_draws=1000, seed=seed)
    low, high = shortest_interval(drawn.shares)
    return [
        (bool(a - 1e-9 <= t <= b + 1e-9), float(b - a)) for a, b, t in zip(low, high, case.share)
    ]


def show(cases: list[Shares], priors: dict[str, SharePrior], repeats: int) -> None:
    print("\n gold  coverage      ±   width   by set")
    for n_gold in GOLD:
        found: dict[str, list[tuple[bool, float]]] = defaultdict(list)
        for case in cases:
            if n_gold <= len(case.truth) // 2:
                for seed in range(repeats if n_gold else 1):
                    found[case.set] += covered(case, priors.get(case.set, DEFAULT), n_gold, seed)
        means = {name: np.mean(values, axis=0) for name, values in found.items()}
        table = np.array(list(means.values()))
        error = table[:, 0].std(ddof=1) / np.sqrt(len(table)) if len(table) > 1 else float("nan")
        sets = ", ".join(f"{name} {c:.2f}/{w:.3f}" for name, (c, w) in means.items())
        print(
            f"{n_gold:>5}  {table[:, 0].mean():>8.3f}  {error:.3f}  {table[:, 1].mean():.3f}   {sets}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5, help="gold draws a case")
    repeats = parser.parse_args().repeats
    wholes = [whole(name) for name in SETS]
    cases = wholes + [of_worker(case) for case in crowd_cases()]
    priors = {name: fit([c for c in cases if c.set != name]) for name in SETS}
    print(f"{'left out':<20}" + "".join(f"{name:>18}" for name in asdict(DEFAULT)))
    for name, prior in {"nothing": fit(cases), **priors}.items():
        print(f"{name:<20}" + "".join(f"{value:>18.4f}" for value in asdict(prior).values()))
    print("\nWhole sets:")
    show(wholes, priors, repeats)
    print("\nWhole sets and the items of their ten busiest workers:")
    show(cases, priors, max(repeats // 5, 1))
    print("\nLLM judges (LLMBar; the numbers of all sets):")
    show([of_worker(case) for case in llmbar_cases()], {}, max(repeats // 5, 1))


if __name__ == "__main__":
    main()
