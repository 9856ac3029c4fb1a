"""Coverage and width of every method and metric on simulated crowds whose noise model is right;
results are kept in docs/honesty.md.

Printed for each design: the share of 95% intervals that hold the true value on these items / their
mean width [the same share at 80% and 99%]. "confusion" is the mean over the cells of the confusion
matrix, its width a share of the items.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

import truthing as tr
from truthing.metrics.counts import Tally, evaluate

BINARY = ("accuracy", "precision", "recall", "false_alarm", "f1")
FOUR = ("accuracy", "macro_f1", "recall[1]", "precision[2]", "f1[3]")
SU = {
    "difficulty": (1, 5),
    "fallibility": (0.249, 0.030, 0.387, 0.244, 0.154),
    "availability": (0.727, 0.873, 0.286, 0.657, 0.232),
    "prior": [0.8, 0.2],
    "operating_point": (0.8, 0.3),
}
FOUR_K = [
    [0.75, 0.08, 0.10, 0.07],
    [0.10, 0.65, 0.12, 0.13],
    [0.04, 0.06, 0.80, 0.10],
    [0.10, 0.05, 0.05, 0.80],
]


class Design(NamedTuple):
    items: int
    labelers: int
    world: dict[str, Any]  # options of the simulator
    gold: int = 0
    known: bool = True  # is the labelers' noise known?


def design(
    items: int, labelers: int, prior: Any, operating_point: Any, gold: int = 0, **world: Any
) -> Design:
    return Design(
        items, labelers, {"prior": prior, "operating_point": operating_point, **world}, gold
    )


def learned(*shape: Any, **world: Any) -> Design:
    return design(*shape, **world)._replace(known=False)


RARE, LARGE, FOUR_CLASSES = (0.01, (0.8, 0.02)), (0.3, (0.8, 0.1)), ([0.2, 0.3, 0.1, 0.4], FOUR_K)
DESIGNS: dict[str, Design] = {
    "Su's main example, noise known": Design(1000, 5, SU),
    "one labeler, error .1 known": design(
        1000, 1, [0.4, 0.6], (0.9, 0.1), confusion=[[0.9, 0.1], [0.1, 0.9]]
    ),
    "small: 70 items, 3 labelers, known": design(
        70, 3, 0.5, (0.85, 0.2), difficulty=(1, 2), fallibility=(0.25, 0.35, 0.45)
    ),
    "50 items, 2 labelers, known": design(50, 2, 0.5, (0.8, 0.2), fallibility=0.4),
    "rare class .05, 2000 items, known": design(2000, 3, 0.05, (0.8, 0.05), fallibility=0.2),
    "fifty labelers, 200 items, known": design(200, 50, 0.5, (0.8, 0.2), fallibility=0.6),
    "gold 50 of 300, 3 labelers, known": design(300, 3, 0.5, (0.8, 0.2), 50, fallibility=0.5),
    "four classes, 400 items, known": design(400, 5, *FOUR_CLASSES, fallibility=0.3),
    "rare class .01, 5000 items, known": design(5000, 3, *RARE, fallibility=0.2),
    "100,000 items, 3 labelers, known": design(100_000, 3, *LARGE, fallibility=0.4),
    "5 labelers, 500 items, learned": learned(
        500, 5, [0.6, 0.4], (0.85, 0.2), fallibility=(0.2, 0.3, 0.4, 0.5, 0.3)
    ),
    "3 labelers, 100 items, learned": learned(
        100, 3, 0.5, (0.85, 0.2), fallibility=(0.2, 0.3, 0.4)
    ),
    "5 labelers, 60% missing, learned": learned(
        400, 5, [0.6, 0.4], (0.85, 0.2), fallibility=0.35, availability=0.4
    ),
    "gold 50 of 300, 3 labelers, learned": learned(
        300, 3, 0.5, (0.8, 0.2), 50, fallibility=(0.2, 0.4, 0.5)
    ),
    "2 labelers, 1000 items, learned": learned(
        1000, 2, [0.6, 0.4], (0.85, 0.2), fallibility=(0.3, 0.4)
    ),
    "rare class .01, 5000 items, learned": learned(5000, 5, *RARE, fallibility=0.2),
    "100,000 items, 3 labelers, learned": learned(100_000, 3, *LARGE, fallibility=0.4),
    "four classes, 400 items, learned": learned(400, 5, *FOUR_CLASSES, fallibility=0.3),
}


def trial(
    design: Design, seed: int, methods: tuple[str, ...]
) -> dict[tuple[str, str], tuple[float, ...] | None]:
    n_items, n_labelers, options, n_gold, known = design
    data = tr.simulate(n_items, n_labelers, seed=seed, **options)
    gold = data.gold(n_gold, seed) if n_gold else None
    table = np.zeros((len(data.labels.classes),) * 2)
    np.add.at(table, (data.truth, data.predictions), 1)
    binary = len(table) == 2
    found: dict[tuple[str, str], tuple[float, ...] | None] = {}
    for method in methods:
        if method == "ratios" and not binary:
            continue
        extra: dict[str, Any] = {"panel_error": 0} if method == "posterior" else {}
        try:
            prior = options["prior"] if known else None
            report = tr.grade(
                data.predictions,
                data.labels,
                noise=data.noise if known else None,
                prior=prior,
                gold=gold,
                method=method,
                draws=2000,
                seed=seed,
                **extra,
            )
        except tr.TruthingError:
            found[method, "refused"] = None
            continue
        for name in BINARY if binary else FOUR:
            truth = float(
                evaluate(
                    name,
                    Tally.from_confusion(table),
                    classes=data.labels.classes,
                    positive=1 if binary else None,
                )
            )
            estimate = report[name]
            if np.isnan(truth) or len(estimate.values) == 0:
                found[method, name] = None
                continue
            limits = {level: estimate.interval(level) for level in (0.95, 0.8, 0.99)}
            inside = [float(low - 1e-9 <= truth <= high + 1e-9) for low, high in limits.values()]
            found[method, name] = (
                inside[0],
                limits[0.95][1] - limits[0.95][0],
                inside[1],
                inside[2],
            )
        cells = {level: report.confusion.interval(level) for level in (0.95, 0.8, 0.99)}
        held = [
            float(((low - 1e-9 <= table) & (table <= high + 1e-9)).mean())
            for low, high in cells.values()
        ]
        found[method, "confusion"] = (
            held[0],
            float((cells[0.95][1] - cells[0.95][0]).mean() / n_items),
            held[1],
            held[2],
        )
    return found


def run(
    name: str, trials: int, methods: tuple[str, ...]
) -> dict[tuple[str, str], list[tuple[float, ...] | None]]:
    results: dict[tuple[str, str], list[tuple[float, ...] | None]] = defaultdict(list)
    for seed in range(trials):
        for key, value in trial(DESIGNS[name], seed, methods).items():
            results[key].append(value)
    return results


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--methods", default="ratios,sampling,exact,posterior")
    parser.add_argument("--design", default="", help="only designs whose name contains this")
    options = parser.parse_args()
    methods = tuple(options.methods.split(","))
    for name in (d for d in DESIGNS if options.design in d):
        start = time.perf_counter()
        results = run(name, options.trials, methods)
        print(
            f"\n{name}   ({options.trials} data sets, {time.perf_counter() - start:.0f} s; "
            f"Monte Carlo error of .95: {np.sqrt(0.95 * 0.05 / options.trials):.3f})"
        )
        for method in methods:
            cells = []
            for (m, metric), values in results.items():
                if m != method:
                    continue
                known = np.array([v for v in values if v is not None], dtype=float)
                gone = len(values) - len(known)
                if len(known):
                    cells.append(
                        f"{metric} {known[:, 0].mean():.3f}/{known[:, 1].mean():.3f} "
                        f"[{known[:, 2].mean():.2f} {known[:, 3].mean():.2f}]"
                        + (f" ({gone} undefined)" if gone else "")
                    )
                elif gone:
                    cells.append(f"{metric}: {gone}")
            if cells:
                print(f"  {method:<10}" + ", ".join(cells), flush=True)


if __name__ == "__main__":
    main()
