"""Do differences of two models keep their promise with groups=, scale= and gold_error=? Simulated.

    python studies/compare_kinds.py [data sets] [draws]

Nominal coverage .95, Monte Carlo error beside each figure; "ignored" leaves the argument out.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

import truthing as tr
from truthing.noise.ordinal import ordinal_tables

Asked = tuple[str, dict[str, Any], list[tuple[str, float]]]


def grouped(seed: int) -> Iterator[Asked]:
    """Three independent judges, six copies of one leader; a model that is a sibling of the copies
    against one that is not."""
    rng = np.random.default_rng([1, seed])
    truth = (rng.random(300) < 0.4).astype(int)

    def say(error: float) -> np.ndarray:
        return np.where(rng.random(300) < error, 1 - truth, truth)

    leader = say(0.3)

    def follow(much: float) -> np.ndarray:
        return np.where(rng.random(300) < much, leader, say(0.25))

    names = ["a", "b", "c", *(f"copy{k}" for k in range(6))]
    votes = np.stack([*(say(0.15) for _ in range(3)), *(follow(0.8) for _ in range(6))], axis=1)
    models = {"other": say(0.15), "sibling": follow(0.7)}
    groups = {**{f"copy{k}": "copies" for k in range(6)}, "sibling": "copies"}
    gap = float((models["other"] == truth).mean() - (models["sibling"] == truth).mean())
    labels = tr.Labels.from_matrix(votes, labelers=names)
    chosen = rng.permutation(300)[:40]
    gold = {int(i): int(truth[i]) for i in chosen}
    for told, known in (("no gold", None), ("40 gold", gold)):
        about = {"predictions": models, "labels": labels, "gold": known}
        yield f"groups, ignored, {told}", about, [("accuracy", gap)]
        yield f"groups, {told}", {**about, "groups": groups}, [("accuracy", gap)]


def on_a_scale(seed: int) -> Iterator[Asked]:
    """Five grades, four readers who are all lenient or all severe, two readers as models."""
    rng = np.random.default_rng([2, seed])
    truth = rng.integers(0, 5, 250)
    lean = rng.normal(0, 0.5) + rng.normal(0, 0.25, 4)
    shift = np.concatenate([lean, rng.normal(0, 0.5, 2)])
    tables = ordinal_tables(np.arange(4) + 0.5, shift, rng.uniform(2, 5, 6))
    reach = np.cumsum(tables[:, truth], axis=2)
    said = (rng.random((6, 250, 1)) > reach).sum(axis=2) + 1
    labels = tr.Labels.from_matrix(said[:4].T.astype(object))
    models = {"one": said[4], "two": said[5]}
    far = [float(np.abs(m - truth - 1).mean()) for m in models.values()]
    hit = [float((m == truth + 1).mean()) for m in models.values()]
    wanted = [("mean_absolute_error", far[0] - far[1]), ("accuracy", hit[0] - hit[1])]
    chosen = rng.permutation(250)[:40]
    gold = {int(i): int(truth[i]) + 1 for i in chosen}
    for told, known in (("no gold", None), ("40 gold", gold)):
        about = {"predictions": models, "labels": labels, "gold": known}
        yield f"scale, as names, {told}", about, wanted
        yield f"scale, {told}", {**about, "scale": "ordinal"}, wanted


def misread(seed: int) -> Iterator[Asked]:
    """Experts who err on one item in seven, and three times as often where a model errs."""
    rng = np.random.default_rng([3, seed])
    truth = (rng.random(300) < 0.4).astype(int)
    hard = rng.random(300) < 0.25

    def say(easy: float, difficult: float) -> np.ndarray:
        wrong = rng.random(300) < np.where(hard, difficult, easy)
        return np.where(wrong, 1 - truth, truth)

    labels = tr.Labels.from_matrix(np.stack([say(0.1, 0.4) for _ in range(4)], axis=1))
    models = {"one": say(0.04, 0.3), "two": say(0.1, 0.45)}
    gap = float((models["one"] == truth).mean() - (models["two"] == truth).mean())
    expert = say(0.1, 0.3)
    gold = {int(i): int(expert[i]) for i in rng.permutation(300)[:80]}
    about = {"predictions": models, "labels": labels, "gold": gold}
    yield "gold_error, ignored", about, [("accuracy", gap)]
    yield "gold_error, the true share", {**about, "gold_error": 0.15}, [("accuracy", gap)]
    yield "gold_error, a range", {**about, "gold_error": (0.08, 0.22)}, [("accuracy", gap)]


def main(n_sets: int = 40, draws: int = 600, only: str = "") -> None:
    found: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    for world in (grouped, on_a_scale, misread):
        if only and only not in world.__name__:
            continue
        for seed in range(n_sets):
            for name, about, wanted in world(seed):
                result = tr.compare(**about, panel="people", draws=draws)
                first, second = result.models
                for metric, gap in wanted:
                    low, high = result.difference(metric, first, second).interval(0.95)
                    inside = low - 1e-9 <= gap <= high + 1e-9
                    found[f"{name}: {metric}"].append((inside, high - low))
        for name, rows in found.items():
            p, width = np.mean([r[0] for r in rows]), np.median([r[1] for r in rows])
            error = np.sqrt(max(p * (1 - p), 0.5 / len(rows)) / len(rows))
            print(f"{name:<48} {p:.3f} ± {error:.3f}   width {width:.3f}", flush=True)
        found.clear()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
