"""Grades on a scale: coverage of weighted κ, mean absolute error and mean grade.

    python studies/grades.py simulated 60   labelers with thresholds and precision of their own
    python studies/grades.py public         relevance grades 0 to 3 and other ordered classes

"nominal" takes classes for unordered names and the scale only in the metric: the consensus and the
noise are then learned without the order.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np
from panels import graded_cases, panels, small_cases

import truthing as tr
from truthing.noise.ordinal import ordinal_tables

ORDERED = ("trec_dl21", "trec_dl22", "llmjudge_trec", "relevance_rf10", "adult")
METRICS = ("accuracy", "weighted_kappa", "mean_absolute_error", "mean_score")
Rows = dict[tuple[str, str], list[tuple[str, float, float]]]


def truths(predicted: np.ndarray, truth: np.ndarray, values: np.ndarray) -> dict[str, float]:
    a, b = values[truth], values[predicted]
    spread = a.var() + b.var() + (a.mean() - b.mean()) ** 2
    return {
        "accuracy": float((predicted == truth).mean()),
        "weighted_kappa": float(1 - ((a - b) ** 2).mean() / spread),
        "mean_absolute_error": float(np.abs(a - b).mean()),
        "mean_score": float(a.mean()),
    }


def keep(rows: Rows, way: str, name: str, report: tr.Report, true: dict[str, float]) -> None:
    for metric, value in true.items():
        low, high = report[metric].interval(0.95)
        rows[way, metric].append((name, float(low - 1e-9 <= value <= high + 1e-9), high - low))


def simulated(trials: int) -> Rows:
    rows: Rows = defaultdict(list)
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        truth = rng.choice(5, 300, p=[0.1, 0.2, 0.3, 0.25, 0.15])
        tables = ordinal_tables(
            np.arange(4) + 0.5, rng.normal(0, 0.4, 6), np.exp(rng.normal(1.1, 0.3, 6))
        )
        reach = np.cumsum(tables[:, truth], axis=2)
        said = (rng.random((6, 300, 1)) > reach).sum(axis=2)
        labels = tr.Labels.from_matrix(said[:-1].T.astype(object))
        true = truths(said[-1], truth, np.arange(5.0))
        gold = {int(i): int(truth[i]) for i in rng.permutation(300)[:40]}
        for way, scale in (("nominal", None), ("ordinal", "ordinal")):
            for with_gold in (None, gold):
                report = tr.grade(
                    said[-1], labels, gold=with_gold, scale=scale, panel="people", draws=800
                )
                keep(rows, way + (" + 40 gold" if with_gold else ""), "", report, true)
    return rows


def public(most_items: int = 400) -> Rows:
    rows: Rows = defaultdict(list)
    for panel in panels():
        if not panel.name.startswith(ORDERED) or panel.name.endswith("_binary"):
            continue
        try:
            values = np.array([float(c) for c in panel.labels.classes])
        except ValueError:
            values = np.arange(float(panel.labels.n_classes))
        cases = small_cases(panel) if panel.kind == "models" else graded_cases(panel, most=4)
        for number, case in enumerate(cases):
            if number == 4:
                break
            rng = np.random.default_rng(number)
            seen = np.sort(rng.permutation(case.labels.n_items)[:most_items])
            labels = case.labels[seen]
            labels = tr.Labels.from_codes(
                labels.item,
                labels.labeler,
                labels.label,
                items=labels.items,
                labelers=labels.labelers,
                classes=values.tolist(),
            )
            predicted, truth = case.predicted[seen], case.truth[seen]
            said = {i: values[c] for i, c in zip(labels.items, predicted)}
            gold = {labels.items[i]: values[truth[i]] for i in rng.permutation(len(seen))[:40]}
            true = truths(predicted, truth, values)
            for way, scale in (("nominal", None), ("ordinal", "ordinal")):
                for known in (None, gold):
                    report = tr.grade(
                        said, labels, gold=known, scale=scale, panel=case.kind, draws=800
                    )
                    keep(rows, way + (" + 40 gold" if known else ""), panel.name, report, true)
    return rows


def show(rows: Rows) -> None:
    for (way, metric), found in rows.items():
        sets = sorted({name for name, *_ in found})
        inside = np.array([np.mean([r[1] for r in found if r[0] == name]) for name in sets])
        error = inside.std(ddof=1) / np.sqrt(len(sets)) if len(sets) > 1 else 0.0
        error = error or np.sqrt(0.95 * 0.05 / len(found))
        width = float(np.mean([r[2] for r in found]))
        print(
            f"{way:<20}{metric:<22}{len(found):>4} cases of {len(sets)} sets: coverage "
            f"{inside.mean():.3f} ± {error:.3f}, width {width:.3f}"
        )


def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else "public"
    show(simulated(int(sys.argv[2])) if what == "simulated" else public())


if __name__ == "__main__":
    main()
