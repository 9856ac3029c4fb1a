"""Comparing models that share mistakes: coverage of accuracies and of differences, calibration of P(a better), beside the naive answer.

Simulated: two, five, ten and twenty models whose mistakes correlate from 0 to .9 (a Gaussian copula), labels from independent labelers, noise known and
learned. Real crowds: pairs of workers as models, graded by the others; every number of the link is learned from the other sets.
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict

import numpy as np
from crowd_cases import SETS, crowd_cases, data_folder
from fit_link import leave_one_out

import truthing as tr
from truthing.metrics.estimate import shortest_interval
from truthing.truth.consensus import Entries
from truthing.truth.link.models import Committee, draw_tilts, draw_truths, tilt_prior
from truthing.truth.link.prior import DEFAULT, LinkPrior, learned_level
from truthing.truth.link.views import read_panel


def models(
    n_items: int, n_models: int, correlation: float, seed: int
) -> tuple[np.ndarray, np.ndarray, tr.Labels]:
    """Truth, predictions (models × items) and labels of three labelers wrong on a quarter of the items."""
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
    """Majority vote as truth: difference, its standard error, and P(first better) by the normal approximation."""
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
    """One row of the table; returns the chance that we and the naive answer gave to the better one of each two neighbours."""
    held: dict[str, list[float]] = defaultdict(list)
    chances, refused = [], 0
    for seed in range(trials):
        truth, predicted, labels = models(n_items, n_models, correlation, seed)
        try:
            result = tr.compare(
                {f"m{j}": p for j, p in enumerate(predicted)}, labels,
                noise=0.25 if known else None, panel_error=0, draws=1000, seed=seed,
            )  # fmt: skip
        except tr.NotConverged:
            refused += 1
            continue
        draws, actual = result.draws(), (predicted == truth).mean(axis=1)
        held["accuracies"].append(inside(shortest_interval(draws), actual).mean())
        gaps, actual_gaps = np.diff(draws, axis=1), np.diff(actual)
        low, high = shortest_interval(gaps)
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
        f"  {'known' if known else 'learned'}, {n_models:>2} models, correlation {correlation:.1f}: {in_words(held)}; {len(held['naive'])} data sets, {refused} refused",
        flush=True,
    )
    return chances


def areas(
    options: dict[str, float], n_models: int, correlation: float, trials: int, n_items: int = 300
) -> dict[str, list[float]]:
    """AUC and average precision of models whose scores correlate given the truth, and the differences of neighbours."""
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
            held[metric].append(inside(shortest_interval(draws), actual).mean())
            low, high = shortest_interval(np.diff(draws, axis=1))
            held[f"{metric} difference"].append(inside((low, high), np.diff(actual)).mean())
            held[f"{metric} width"].append((high - low).mean())
            held[f"{metric} unpaired width"].append(
                float(np.subtract(*shortest_interval(np.diff(shuffled, axis=1))[::-1]).mean())
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
                    f"{sure[here].mean():.2f} sure: right {(given > 0.5)[here].mean():.2f} of {here.sum()}"
                )
        print(f"    {who:<6} {', '.join(said)}", flush=True)


def pairs(
    set_name: str, most: int, fewest: int = 30
) -> list[tuple[tr.Labels, np.ndarray, np.ndarray]]:
    """Pairs among the ten busiest workers on their common items with truth; the panel is everybody else."""
    folder = data_folder() / "crowd" / set_name
    path = folder / "labels.csv"
    gold = tr.read_gold(folder / "truth.csv")
    labels = tr.read_labels(path if path.exists() else folder / "labels.csv.gz", repeats="last")
    labels = labels.with_classes(sorted({*labels.classes, *gold.classes}))
    known = gold.as_dict()
    truth = np.array([labels.classes.index(known[i]) if i in known else -1 for i in labels.items])
    busy = np.argsort(
        -np.bincount(labels.labeler[truth[labels.item] >= 0], minlength=labels.n_labelers),
        kind="stable",
    )[:10]
    said = np.full((labels.n_items, labels.n_labelers), -1, dtype=np.int64)
    said[labels.item, labels.labeler] = labels.label
    chosen_pairs = list(itertools.combinations(busy, 2))
    np.random.default_rng(0).shuffle(chosen_pairs)
    found = []
    for pair in chosen_pairs:
        items = np.flatnonzero((said[:, pair] >= 0).all(axis=1) & (truth >= 0))
        panel = labels[items].select([w for t, w in enumerate(labels.labelers) if t not in pair])
        items, panel = items[panel.per_item > 0], panel[np.flatnonzero(panel.per_item > 0)]
        if len(items) >= fewest:
            panel = panel.select([w for w, n in zip(panel.labelers, panel.per_labeler) if n > 0])
            found.append((panel, said[items][:, pair].T.copy(), truth[items]))
        if len(found) == most:
            break
    return found


def real(most: int, repeats: int) -> None:
    priors = leave_one_out(crowd_cases())
    for n_gold in (0, 50):
        rows, chances = [], []
        for number, name in enumerate(SETS):
            rows_here = []
            for panel, predicted, truth in pairs(name, most):
                if n_gold > len(truth) // 2:
                    continue
                for repeat in range(repeats if n_gold else 1):
                    rng = np.random.default_rng([number, n_gold, repeat])
                    gold = np.full(len(truth), -1)
                    chosen = rng.permutation(len(truth))[:n_gold]
                    gold[chosen] = truth[chosen]
                    draws = linked_draws(
                        panel,
                        predicted,
                        gold,
                        priors.get(name, DEFAULT),
                        int(rng.integers(1 << 30)),
                    )
                    actual = (predicted == truth).mean(axis=1)
                    gap, gaps = actual[0] - actual[1], draws[:, 0] - draws[:, 1]
                    low, high = shortest_interval(gaps)
                    seen, error, naive = naive_better(panel, *predicted)
                    rows_here.append(
                        (
                            low - 1e-9 <= gap <= high + 1e-9,
                            high - low,
                            abs(seen - gap) <= 1.96 * error,
                            3.92 * error,
                        )
                    )
                    if gap != 0:
                        ours = float((gaps > 0).mean() + 0.5 * (gaps == 0).mean())
                        chances.append(
                            (ours if gap > 0 else 1 - ours, naive if gap > 0 else 1 - naive)
                        )
            if rows_here:
                rows.append(np.mean(np.array(rows_here, dtype=float), axis=0))
                print(
                    f"    {name:<18} {len(rows_here):>3} " + " ".join(f"{v:.3f}" for v in rows[-1]),
                    flush=True,
                )
        mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(len(rows))
        print(
            f"  {n_gold} gold: difference held {mean[0]:.3f} ± {error[0]:.3f} at width {mean[1]:.3f}; naive {mean[2]:.3f} at {mean[3]:.3f}"
        )
        print_calibration(chances)


def linked_draws(
    panel: tr.Labels, predicted: np.ndarray, gold: np.ndarray, prior: LinkPrior, seed: int
) -> np.ndarray:
    """The default comparison's draws of both accuracies, with the link's numbers given."""
    readings = [read_panel(Entries.of(panel), said) for said in predicted]
    committee = Committee.of(predicted, np.mean([r.consensus for r in readings], axis=0))
    tilt = tilt_prior(committee, [learned_level(r, prior) for r in readings], prior)
    tilts = draw_tilts(committee, tilt, gold, None, n_draws=1000, seed=seed)
    truth = draw_truths(committee, tilts, gold, seed)
    return np.stack([(truth == said).mean(axis=1) for said in predicted], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--trials", type=int, default=30, help="simulated data sets a row, noise known"
    )
    parser.add_argument(
        "--learned", type=int, default=6, help="simulated data sets a row, noise learned"
    )
    parser.add_argument("--models", type=int, nargs="*", default=(2, 5, 10, 20))
    parser.add_argument("--pairs", type=int, default=6, help="pairs of workers of each crowd")
    parser.add_argument("--repeats", type=int, default=2, help="choices of gold for each pair")
    parser.add_argument(
        "--areas", type=int, default=20, help="simulated data sets a row, areas under curves"
    )
    parser.add_argument("--part", choices=("simulated", "areas", "real", "all"), default="all")
    options = parser.parse_args()
    for known, trials in ((True, options.trials), (False, options.learned)):
        if options.part in ("simulated", "all") and trials:
            print(
                f"simulated: 500 items, 3 labelers wrong on 25%, noise {'known' if known else 'learned'}"
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
            ({"noise": 0.25}, {}), options.models[:2], (0.0, 0.5, 0.9)
        ):
            held = in_words(areas(given, n_models, correlation, options.areas))
            print(
                f"  noise {'known' if given else 'unknown'}, {n_models} models, correlation {correlation:.1f}: {held}",
                flush=True,
            )
    if options.part in ("real", "all"):
        print("real crowds: pairs of workers as models (difference held, width; naive held, width)")
        real(options.pairs, options.repeats)


if __name__ == "__main__":
    main()
