"""Dawid-Skene by EM at 5 million labels: our time by the clock (all cores) to reach the
log-likelihood at which crowd-kit stops, beside crowd-kit's (it uses one core), and that of the
complete default grade. In brackets processor time.

    python benchmarks/dawid_skene.py --items 200000 --classes 2 10
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

import truthing as tr
from truthing.noise.em import TINY, RowsModel, fit_em
from truthing.noise.em_passes import Coded, one_pass


def crowd(
    n_items: int, n_labelers: int, n_classes: int, per_item: int = 5, seed: int = 0
) -> tuple[tr.Labels, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    item = np.repeat(np.arange(n_items, dtype=np.int32), per_item)
    labeler = rng.integers(0, n_labelers, len(item)).astype(np.int32)
    skill = (
        rng.beta(1, 4, n_labelers) if n_classes == 2 else rng.beta(2, 3, n_labelers)
    )  # hard: EM needs dozens of iterations
    right = rng.random(len(item)) < skill[labeler]
    label = np.where(right, truth[item], rng.integers(0, n_classes, len(item))).astype(np.int32)
    labels = tr.Labels.from_codes(
        item,
        labeler,
        label,
        items=range(n_items),
        labelers=range(n_labelers),
        classes=range(n_classes),
    )
    predicted = np.where(rng.random(n_items) < 0.8, truth, rng.integers(0, n_classes, n_items))
    return labels.resolve_repeats("first"), predicted, truth


class Stopwatch:
    """Seconds by the clock and of all processors since it was made."""

    def __init__(self) -> None:
        self.start = time.perf_counter(), time.process_time()

    @property
    def spent(self) -> tuple[float, float]:
        return time.perf_counter() - self.start[0], time.process_time() - self.start[1]


def crowd_kit(labels: tr.Labels) -> tuple[tuple[float, float], float, int]:
    """crowd-kit's seconds, the log-likelihood of where it stopped, and its iterations."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    frame = pd.DataFrame({"task": labels.item, "worker": labels.labeler, "label": labels.label})
    model = DawidSkene(n_iter=100)
    watch = Stopwatch()
    model.fit(frame)
    seconds = watch.spent
    n = labels.n_classes
    rows = np.full((labels.n_labelers * n, n), TINY)
    errors = model.errors_.reset_index()
    place = errors["worker"].to_numpy(dtype=int) * n + errors["label"].to_numpy(dtype=int)
    rows[place] = np.maximum(errors[list(range(n))].to_numpy(), TINY)
    prior = model.priors_.reindex(range(n)).to_numpy()
    key = labels.labeler * np.int32(n) + labels.label
    none = np.full(labels.n_items, -1)
    coded = Coded(labels.indptr.astype(np.int64), key, np.empty(0, dtype=np.float32), none)
    _, _, likelihood = one_pass(coded, rows, prior, 1, np.empty((0, n)), 2)
    return seconds, float(likelihood), len(model.loss_history_)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--labelers", type=int, default=5000)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 10])
    n = parser.parse_args()
    heads = ("classes", "labels", "ours s", "passes", "crowd-kit s", "iterations", "ratio")
    print("".join(f"{name:>15}" for name in (*heads, "grade s", "grade GB")), flush=True)
    for n_classes in n.classes:
        labels, predicted, _ = crowd(n.items, n.labelers, n_classes)
        model = RowsModel(n.labelers, n_classes)
        fit_em(labels, model, most=3)  # compile
        watch = Stopwatch()
        report = tr.grade(predicted, labels)
        report["accuracy"].interval()
        whole = watch.spent
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        theirs, goal, iterations = crowd_kit(labels)
        turns = []
        for _ in range(3):
            watch = Stopwatch()
            fit = fit_em(
                labels,
                model,
                stop=lambda value, goal=goal: value >= goal,
                tolerance=0.0,
                keep_posterior=False,
            )
            turns.append(watch.spent)
        ours = sorted(turns)[1]
        assert fit.log_likelihood >= goal - 1e-6 * abs(goal), "stopped below crowd-kit's likelihood"
        print(
            f"{n_classes:>15}{labels.n_labels:>15,}{_both(ours):>15}{fit.passes:>15}"
            f"{_both(theirs):>15}{iterations:>15}{theirs[0] / ours[0]:>15.1f}{_both(whole):>15}"
            f"{peak:>15.2f}",
            flush=True,
        )


def _both(seconds: tuple[float, float]) -> str:
    return f"{seconds[0]:.2f} ({seconds[1]:.2f})"


if __name__ == "__main__":
    main()
