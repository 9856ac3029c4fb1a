"""Which model is chosen for data from each model, and does the right model's interval hold the
accuracy? Results are kept in docs/honesty.md.

Every data set is new: labelers, items and classifier are drawn from the model. ``panel_error=0``:
the model is all there is.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

import truthing as tr
from truthing.class_codes import Array
from truthing.noise.base import combined_error
from truthing.truth.consensus import Entries
from truthing.truth.model_choice import choose_model

Data = tuple[tr.Labels, Array, Array]


def _answers(truth: Array, wrong: Array, rng: np.random.Generator) -> Array:
    return np.where(rng.random(wrong.shape) < wrong, 1 - truth, truth)


def from_matrices(n_items: int, n_labelers: int, rng: np.random.Generator) -> Data:
    truth = (rng.random(n_items) < 0.4).astype(int)
    wrong = rng.uniform(0.05, 0.4, (2, n_labelers))[truth]
    labels = _answers(truth[:, None], wrong, rng)
    return tr.Labels.from_matrix(labels), _answers(truth, np.array([0.2, 0.15])[truth], rng), truth


def from_difficulty(n_items: int, n_labelers: int, rng: np.random.Generator) -> Data:
    truth = (rng.random(n_items) < 0.4).astype(int)
    wrong = combined_error(rng.beta(1, 3, (n_items, 1)), rng.beta(2, 4, n_labelers), 2)
    labels = _answers(truth[:, None], wrong, rng)
    return tr.Labels.from_matrix(labels), _answers(truth, np.array([0.2, 0.15])[truth], rng), truth


def from_strata(n_items: int, n_labelers: int, rng: np.random.Generator) -> Data:
    truth, hard = (rng.random(n_items) < 0.4).astype(int), (rng.random(n_items) < 0.35).astype(int)
    wrong = np.stack(
        [rng.uniform(0.02, 0.15, (2, n_labelers)), rng.uniform(0.2, 0.5, (2, n_labelers))]
    )
    labels = _answers(truth[:, None], wrong[hard, truth], rng)
    return tr.Labels.from_matrix(labels), _answers(truth, np.array([0.1, 0.35])[hard], rng), truth


SOURCES: dict[
    str,
    tuple[Callable[[int, int, np.random.Generator], Data], tr.noise.Learned | tr.noise.Difficulty],
] = {
    "matrices": (from_matrices, tr.noise.DawidSkene()),
    "difficulty": (from_difficulty, tr.noise.Difficulty()),
    "strata": (from_strata, tr.noise.Strata(2)),
}


def trials(
    source: str, n_items: int, n_labelers: int, n: int
) -> dict[str, list[tuple[bool, float, float]]]:
    """For the right model and for Dawid-Skene: held the accuracy?, width, R-hat; chains that
    disagree count as refused.
    """
    found: dict[str, list[tuple[bool, float, float]]] = defaultdict(list)
    make, right = SOURCES[source]
    for seed in range(n):
        labels, predicted, truth = make(n_items, n_labelers, np.random.default_rng([seed, n_items]))
        accuracy = float((predicted == truth).mean())
        for noise in {type(m): m for m in (right, tr.noise.DawidSkene())}.values():
            name = type(noise).__name__
            try:
                report = tr.grade(
                    predicted, labels, noise=noise, panel_error=0, draws=1000, seed=seed
                )
            except tr.NotConverged:
                found[f"{name} refused"].append((False, np.nan, np.nan))
                continue
            low, high = report["accuracy"].interval()
            held = low - 1e-9 <= accuracy <= high + 1e-9
            found[name].append((held, high - low, report.diagnostics["rhat"]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--items", type=int, default=300, help="items of a data set that is graded")
    parser.add_argument("--source", default="", help="only this one of " + ", ".join(SOURCES))
    options = parser.parse_args()
    for source in (s for s in SOURCES if options.source in s):
        for n_items in (500, 2000, 8000):
            chosen: Counter[str] = Counter()
            for seed in range(options.trials // 4):
                labels, predicted, _ = SOURCES[source][0](
                    n_items, 8, np.random.default_rng([seed, n_items, 1])
                )
                chosen[
                    type(
                        choose_model(Entries.of(labels), predicted, seed, hard_items=True)[0]
                    ).__name__
                ] += 1
            print(f"{source}: {n_items} items, 8 labelers: chosen {dict(chosen)}", flush=True)
        start = time.perf_counter()
        for name, values in trials(source, options.items, 6, options.trials).items():
            held, width, rhat = np.mean(values, axis=0)
            share = (
                f"{held:.3f} ± {np.sqrt(0.95 * 0.05 / len(values)):.3f}, width {width:.3f}, mean "
                f"R-hat {rhat:.3f}"
            )
            print(f"{source}: {name} {len(values)} data sets, {share}", flush=True)
        print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
