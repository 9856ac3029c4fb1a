"""Do 95% intervals hold the truth on real crowds? The ten busiest workers of each set, graded against the others.

Estimand: the worker's accuracy on its items with truth. Gold: random items of those, at most half. Every number of the link is learned from the other
sets. Printed: coverage and width, mean over sets (workers and gold draws averaged first), the worst set, and the width beside gold alone.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "studies"))
from crowd_cases import Case, cifar_cases, crowd_cases, llmbar_cases
from fit_link import leave_one_out

from truthing.metrics.estimate import shortest_interval
from truthing.truth.consensus import Entries
from truthing.truth.link.prior import DEFAULT, LinkPrior, draw_link, learned_level
from truthing.truth.samplers.labelers import RowModel, sample_crowd

GOLD = (0, 25, 50, 100, 200)
METHODS = ("majority", "papers", "gold alone", "PPI", "truthing")
Interval = tuple[float, float]


def jeffreys(right: float, n: int, total: int, rng: np.random.Generator) -> Interval:
    """Gold alone: Jeffreys' posterior for the items without gold, the gold items counted as they are (finite population)."""
    chance = rng.beta(right + 0.5, n - right + 0.5, 4000)
    low, high = np.quantile((right + rng.binomial(total - n, chance)) / total, [0.025, 0.975])
    return float(low), float(high)


def majority(case: Case) -> Interval:
    from scipy.stats import beta

    votes = case.labels.counts()
    top = votes == votes.max(axis=1, keepdims=True)
    right = (top / top.sum(axis=1, keepdims=True))[np.arange(len(votes)), case.predicted].sum()
    low, high = beta.ppf([0.025, 0.975], right + 0.5, len(votes) - right + 0.5)
    return float(low), float(high)


def papers(case: Case, gold: np.ndarray, seed: int) -> Interval:
    """Independent labelers, everything learned, no link."""
    rows = RowModel.learned(case.labels.n_labelers, case.labels.n_classes)
    samples = sample_crowd(
        Entries.of(case.labels), case.predicted, case.labels.n_classes, gold, rows, prior=None, row_weight=2 / case.labels.n_classes,
        n_draws=500, burn=100, seed=seed, n_chains=2,
    )  # fmt: skip
    low, high = shortest_interval(np.trace(samples.counts, axis1=1, axis2=2) / len(gold))
    return float(low), float(high)


def ours(case: Case, gold: np.ndarray, prior: LinkPrior, rng: np.random.Generator) -> Interval:
    """The default posterior's accuracy; which classes the wrong ones are does not matter for it, so they are not drawn."""
    seed = int(rng.integers(1 << 30))
    link = draw_link(
        case.readings,
        learned_level(case.readings, prior),
        gold,
        n_draws=2000 if (gold < 0).all() else 1000,
        seed=seed,
        prior=prior,
    )
    free = (link.design.size - link.gold_size).astype(np.int64)
    right = link.gold_right.sum() + rng.binomial(free, link.chance()).sum(axis=1)
    low, high = shortest_interval(right / len(gold))
    return float(low), float(high)


def prediction_powered(case: Case, chosen: np.ndarray) -> Interval:
    from ppi_py import ppi_mean_ci

    votes = case.labels.counts()
    top = votes == votes.max(axis=1, keepdims=True)
    guess = (top / top.sum(axis=1, keepdims=True))[np.arange(len(votes)), case.predicted]
    rest = np.setdiff1d(np.arange(len(votes)), chosen)
    low, high = ppi_mean_ci(
        case.right[chosen].astype(float), guess[chosen], guess[rest], alpha=0.05
    )
    return max(float(np.ravel(low)[0]), 0.0), min(float(np.ravel(high)[0]), 1.0)


def run(
    cases: list[Case], priors: dict[str, LinkPrior], repeats: int
) -> dict[tuple[str, int], dict[str, dict[str, list[tuple[bool, float]]]]]:
    results: dict[tuple[str, int], dict[str, dict[str, list[tuple[bool, float]]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for number, case in enumerate(cases):
        total, truth = len(case.truth), float(case.right.mean())
        prior = priors.get(case.set, DEFAULT)
        for n_gold in GOLD:
            if n_gold > total // 2:
                continue
            for repeat in range(repeats if n_gold else 1):
                rng = np.random.default_rng([number, n_gold, repeat])
                chosen = rng.permutation(total)[:n_gold]
                gold = np.full(total, -1)
                gold[chosen] = case.truth[chosen]
                found = {"truthing": ours(case, gold, prior, rng)}
                if repeat == 0:
                    found["papers"] = papers(case, gold, repeat)
                if n_gold == 0:
                    found["majority"] = majority(case)
                else:
                    found["gold alone"] = jeffreys(
                        float(case.right[chosen].sum()), n_gold, total, rng
                    )
                    found["PPI"] = prediction_powered(case, chosen)
                for method, (low, high) in found.items():
                    results[method, n_gold][case.set][case.name].append(
                        (low - 1e-9 <= truth <= high + 1e-9, high - low)
                    )
        print(f"\r{number + 1}/{len(cases)} workers", end="", file=sys.stderr, flush=True)
    return results


def show(
    title: str, results: dict[tuple[str, int], dict[str, dict[str, list[tuple[bool, float]]]]]
) -> None:
    means = {
        key: {s: np.mean([np.mean(v, axis=0) for v in w.values()], axis=0) for s, w in sets.items()}
        for key, sets in results.items()
    }
    print(
        f"\n{title}\n{'gold':>5}  {'method':<12}{'coverage':>9}{'± ':>7}{'width':>8}{'of gold alone':>15}   worst set"
    )
    for n_gold in GOLD:
        for method in METHODS:
            if (method, n_gold) not in means:
                continue
            sets = means[method, n_gold]
            table = np.array(list(sets.values()))
            error = (
                table[:, 0].std(ddof=1) / np.sqrt(len(table)) if len(table) > 1 else float("nan")
            )
            base = means.get(("gold alone", n_gold))
            ratio = (
                table[:, 1].mean() / np.mean([base[s][1] for s in sets]) if base else float("nan")
            )
            worst = min(sets, key=lambda s: sets[s][0])
            print(
                f"{n_gold:>5}  {method:<12}{table[:, 0].mean():>9.3f}{error:>7.3f}{table[:, 1].mean():>8.3f}{ratio:>15.3f}   {worst} {sets[worst][0]:.2f}"
            )
    for n_gold in GOLD:
        sets = means.get(("truthing", n_gold), {})
        print(
            f"{n_gold:>5}  truthing by set: "
            + ", ".join(f"{s} {c:.2f}/{w:.3f}" for s, (c, w) in sets.items())
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=50, help="gold draws a worker")
    repeats = parser.parse_args().repeats
    warnings.filterwarnings("ignore")  # ppi_py divides by zero where all gold is right
    cases = crowd_cases()
    show(
        f"12 crowds, each predicted from the others, {repeats} gold draws a worker; ± standard error over sets",
        run(cases, leave_one_out(cases), repeats),
    )
    show(
        "CIFAR-10H: a real model, ten classes, five votes an image, four blocks of 2,000",
        run(cifar_cases(), {}, repeats),
    )
    show("LLMBar: LLM judges graded by other LLM judges", run(llmbar_cases(), {}, repeats))


if __name__ == "__main__":
    main()
