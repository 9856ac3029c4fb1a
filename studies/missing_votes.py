"""Votes that are missing for a reason: coverage with unsure= and skips="hard", and without.

    python studies/missing_votes.py simulated 100
    python studies/missing_votes.py misled 60
    python studies/missing_votes.py unsure          dices350, where raters may say "Unsure"

Simulated: on a quarter of the items labelers and classifier err on 40%, elsewhere on 8%; labelers
are unsure (or skip) on half of the hard items. "dropped": such votes are left out and no more said.
Misled: two items in five are hard, everybody errs on 55% of them, and four votes in five are
unsure.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np
from panels import panels

import truthing as tr

Rows = dict[tuple[str, str], list[tuple[float, float, float]]]


def keep(rows: Rows, key: tuple[str, str], estimate: tr.Estimate, true: float) -> None:
    low, high = estimate.interval(0.95)
    inside = float(low - 1e-9 <= true <= high + 1e-9)
    rows[key].append((inside, high - low, estimate.mean - true))


def simulated(
    trials: int, unsure: float = 0.5, n: int = 400, share: float = 0.25, wrong: float = 0.4
) -> Rows:
    rows: Rows = defaultdict(list)
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        truth = (rng.random(n) < 0.4).astype(int)
        hard = rng.random(n) < share
        error = np.where(hard, wrong, 0.08)
        said = np.where(rng.random((4, n)) < error, 1 - truth, truth).T
        model = np.where(rng.random(n) < error, 1 - truth, truth)
        words = np.array(["no", "yes"], dtype=object)
        grid = words[said]
        grid[rng.random(grid.shape) < np.where(hard, unsure, 0.02)[:, None]] = "?"
        empty = np.where(grid == "?", None, grid)
        predicted, true = words[model], words[truth]
        ways = {
            "dropped": (tr.Labels.from_matrix(empty), {"skips": "random"}),
            "unsure=": (tr.Labels.from_matrix(grid), {"unsure": "?"}),
            "skips=hard": (tr.Labels.from_matrix(empty), {"skips": "hard"}),
        }
        other = np.where(rng.random(n) < 0.2, 1 - truth, truth)
        for way, (labels, more) in ways.items():
            common = {"panel": "people", "draws": 1000, "seed": seed, **more}
            report = tr.grade(dict(enumerate(predicted)), labels, **common)
            keep(rows, (way, "accuracy"), report["accuracy"], float((predicted == true).mean()))
            found = tr.prevalence(labels, **common)
            keep(rows, (way, "rate"), found["yes"], float((true == "yes").mean()))
            if seed % 5 == 0:
                both = tr.compare({"a": predicted, "b": words[other]}, labels, **common)
                difference = float((model == truth).mean() - (other == truth).mean())
                keep(rows, (way, "difference"), both.difference("accuracy"), difference)
    return rows


def unsure_raters() -> Rows:
    """dices350: each of ten busy raters graded by twelve others; truth is the set's own."""
    rows: Rows = defaultdict(list)
    panel = next(p for p in panels("people", only="dices350"))
    labels = panel.labels
    word = next(c for c in labels.classes if str(c).lower() == "unsure")
    place = labels.classes.index(word)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        who = rng.permutation(labels.n_labelers)[:8]
        mine = (labels.labeler == who[0]) & (labels.label != place)
        items = labels.item[mine]
        predicted = labels.label[mine]
        known = panel.truth[items] != place
        items, predicted = items[known], predicted[known]
        part = labels[items].select([labels.labelers[t] for t in who[1:]])
        said = {i: labels.classes[c] for i, c in zip(part.items, predicted)}
        right = float((predicted == panel.truth[items]).mean())
        keep_sure = part.label != place
        sure = tr.Labels.from_long(
            [part.items[i] for i in part.item[keep_sure]],
            [part.labelers[t] for t in part.labeler[keep_sure]],
            [part.classes[c] for c in part.label[keep_sure]],
        )
        common = {"panel": "people", "draws": 1000}
        report = tr.grade(said, sure, skips="random", **common)
        keep(rows, ("dropped", "accuracy"), report["accuracy"], right)
        report = tr.grade(said, part, unsure=word, **common)
        keep(rows, ("unsure=", "accuracy"), report["accuracy"], right)
    return rows


def show(rows: Rows) -> None:
    for (way, what), found in rows.items():
        inside, width, bias = np.mean(found, axis=0)
        error = np.sqrt(0.95 * 0.05 / len(found))
        print(
            f"{way:<12}{what:<12}{len(found):>4} cases: coverage {inside:.3f} ± {error:.3f}, "
            f"width {width:.3f}, bias {bias:+.3f}"
        )


def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else "simulated"
    if what == "misled":
        show(simulated(int(sys.argv[2]), unsure=0.8, share=0.4, wrong=0.55))
    else:
        show(unsure_raters() if what == "unsure" else simulated(int(sys.argv[2])))


if __name__ == "__main__":
    main()
