"""Comparing models that share mistakes: coverage of accuracies and of differences, calibration of
P(a better), beside the naive answer.

Simulated: two, five, ten and twenty models whose mistakes correlate from 0 to .9 (a Gaussian
copula), labels from independent labelers, noise known and
learned. Real crowds: pairs of workers as models, graded by the others; every number of the link is
learned from the other sets.
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict

import numpy as np

import truthing as tr
from truthing.metrics.estimate import credible_interval


def models(
    n_items: int, n_models: int, correlation: float, seed: int
) -> tuple[np.ndarray, np.ndarray, tr.Labels]:
    """Truth, predictions (models × items) and labels of three labelers wrong on a quarter of the
    items."""
    from scipy.stats import norm

    rng = np.random.default_rng([seed, n_models])
    truth = rng.choice(2, size=n_items, p=[0.6, 0.4])
    common = rng.standard_normal(n_items)
    accuracy = np.linspace(0.75, 0.88, n_models)
    own = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.standard_normal(
        (n_models, n_items)
    )
    predicted = np.where(own > norm.ppf(accuracy)[:, None], 1 - truth, truth)
    labels = np.where(rng.random((n_items, 3)) < 0.25, 1 - truth[:, None], truth[:, None])
    return truth, predicted, tr.Labels.from_matrix(labels)


def naive_better(
    labels: tr.Labels, first: np.ndarray, second: np.ndarray
) -> tuple[float, float, float]:
    """Majority vote as truth: difference, its standard error, and P(first better) by the normal
    approximation."""
    from scipy.stats import norm

    votes = labels.counts()
    top = votes == votes.max(axis=1, keepdims=True)
    top = top / top.sum(axis=1, keepdims=True)
    everyone = np.arange(len(first))
    gap = top[everyone, first] - top[everyone, second]
    error = max(float(gap.std()) / np.sqrt(len(gap)), 1e-9)
    return float(gap.mean()), error, float(norm.cdf(gap.mean() / error))


def simulated(
    known: bool, n_models: int, correlation: float, trials: int, n_items: int = 500
) -> list[tuple[float, float]]:
    """One row of the table; returns the chance that we and the naive answer gave to the better one
    of each two neighbours."""
    held: dict[str, list[float]] = defaultdict(list)
    chances, refused = [], 0
    for seed in range(trials):
        truth, predicted, labels = models(n_items, n_models, correlation, seed)
        try:
            result = tr.compare(
                {f"m{j}": p for j, p in enumerate(predicted)},
                labels,
                noise=0.25 if known else None,
                panel_error=0,
                draws=1000,
                seed=seed,
            )
        except tr.NotConverged:
            refused += 1
            continue
        draws, actual = result.draws(), (predicted == truth).mean(axis=1)
        held["accuracies"].append(inside(credible_interval(draws), actual).mean())
        gaps, actual_gaps = np.diff(draws, axis=1), np.diff(actual)
        low, high = credible_interval(gaps)
        held["differences"].append(inside((low, high), actual_gaps).mean())
        held["width"].append((high - low).mean())
        naive = [
            naive_better(labels, after, before) for before, after in itertools.pairwise(predicted)
        ]
        seen, error, sure = np.array(naive).T
        held["naive"].append((np.abs(seen - actual_gaps) <= 1.96 * error).mean())
        ours = (gaps > 0).mean(axis=0) + 0.5 * (gaps == 0).mean(axis=0)
        up = actual_gaps > 0
        chances += [
            (a if better else 1 - a, b if better else 1 - b)
            for a, b, better, gap in zip(ours, sure, up, actual_gaps)
            if gap != 0
        ]
    print(
        f"  {'known' if known else 'learned'}, {n_models:>2} models, correlation "
        f"{correlation:.1f}: {in_words(held)}; {len(held['naive'])} data sets, {refused} refused",
        flush=True,
    )
    return chances


def areas(
    options: dict[str, float], n_models: int, correlation: float, trials: int, n_items: int = 300
) -> dict[str, list[float]]:
    """AUC and average precision of models whose scores correlate given the truth, and the
    differences of neighbours."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    held: dict[str, list[float]] = defaultdict(list)
    for seed in range(trials):
        rng = np.random.default_rng([seed, n_models, 7])
        truth = rng.choice(2, size=n_items, p=[0.6, 0.4])
        own = np.sqrt(correlation) * rng.standard_normal(n_items)
        own = own + np.sqrt(1 - correlation) * rng.standard_normal((n_models, n_items))
        scores = np.linspace(1.2, 2.2, n_models)[:, None] * (truth - 0.5) + own
        wrong = rng.random((n_items, 3)) < 0.25
        labels = tr.Labels.from_matrix(np.where(wrong, 1 - truth[:, None], truth[:, None]))
        given = [
            tr.Predictions.from_sequence((s > 0).astype(int), items=labels.items, scores=s)
            for s in scores
        ]
        result = tr.compare(
            {f"m{j}": p for j, p in enumerate(given)}, labels, draws=1000, seed=seed, **options
        )
        for metric, exact in (
            ("auc", roc_auc_score),
            ("average_precision", average_precision_score),
        ):
            draws, actual = result.draws(metric), np.array([exact(truth, s) for s in scores])
            shuffled = np.stack([rng.permutation(column) for column in draws.T], axis=1)
            held[metric].append(inside(credible_interval(draws), actual).mean())
            low, high = credible_interval(np.diff(draws, axis=1))
            held[f"{metric} difference"].append(inside((low, high), np.diff(actual)).mean())
            held[f"{metric} width"].append((high - low).mean())
            held[f"{metric} unpaired width"].append(
                float(np.subtract(*credible_interval(np.diff(shuffled, axis=1))[::-1]).mean())
            )
    return held


def in_words(held: dict[str, list[float]]) -> str:
    return ", ".join(
        f"{k} {np.mean(v):.3f} ± {np.std(v) / np.sqrt(len(v)):.3f}" for k, v in held.items()
    )


def inside(limits: tuple[np.ndarray, np.ndarray], value: np.ndarray) -> np.ndarray:
    return (limits[0] - 1e-9 <= value) & (value <= limits[1] + 1e-9)


def print_calibration(chances: list[tuple[float, float]]) -> None:
    """How sure one was which of two is better, and how often that was right."""
    for who, given in zip(("ours", "naive"), np.array(chances).T):
        sure, said = np.maximum(given, 1 - given), []
        for low, high in itertools.pairwise((0.5, 0.7, 0.9, 0.975, 1.01)):
            here = (sure >= low) & (sure < high)
            if here.any():
                said.append(
                    f"{sure[here].mean():.2f} sure: right {(given > 0.5)[here].mean():.2f} of "
                    f"{here.sum()}"
                )
        print(f"    {who:<6} {', '.join(said)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--trials", type=int, default=30, help="simulated data sets a row, noise known"
    )
    parser.add_argument(
        "--learned", type=int, default=6, help="simulated data sets a row, noise learned"
    )
    parser.add_argument("--models", type=int, nargs="*", default=(2, 5, 10, 20))
    parser.add_argument(
        "--areas", type=int, default=20, help="simulated data sets a row, areas under curves"
    )
    parser.add_argument("--part", choices=("simulated", "areas", "all"), default="all")
    options = parser.parse_args()
    for known, trials in ((True, options.trials), (False, options.learned)):
        if options.part in ("simulated", "all") and trials:
            print(
                "simulated: 500 items, 3 labelers wrong on 25%, noise "
                f"{'known' if known else 'learned'}"
            )
            for n_models in options.models:
                rows = [
                    simulated(known, n_models, correlation, trials)
                    for correlation in (0.0, 0.5, 0.9)
                ]
                print_calibration([pair for row in rows for pair in row])
    if options.part in ("areas", "all"):
        print("areas under curves: 300 items, 3 labelers wrong on 25%")
        for given, n_models, correlation in itertools.product(
            ({"noise": 0.25, "panel_error": 0}, {}), options.models[:2], (0.0, 0.5, 0.9)
        ):
            held = in_words(areas(given, n_models, correlation, options.areas))
            print(
                f"  noise {'known' if given else 'unknown'}, {n_models} models, correlation "
                f"{correlation:.1f}: {held}",
                flush=True,
            )


if __name__ == "__main__":
    main()
