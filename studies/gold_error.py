"""Coverage when the experts err: gold_error= given, as a range, or learned from second reads, and
what happens if the experts are taken for the truth.

    python studies/gold_error.py simulated 300   independent experts, three labelers
    python studies/gold_error.py people 6        a good labeler of a public panel plays the expert,
    python studies/gold_error.py models 6        six draws of gold ("truth": one who never errs)
    python studies/gold_error.py odds            how far two raters of a crowd err on the same items

Printed: share of 95% intervals that hold the truth, with its Monte Carlo error (on crowds: cases
of one set are not independent, so sets count alike and the error is between sets), mean width.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from panels import Case, graded_cases, panels, small_cases

import truthing as tr

WAYS = ("ignored", "known", "range", "second reads")
Found = dict[tuple[str, str], list[tuple[str, float, float]]]


def said(way: str, error: float, second: dict[object, object]) -> object:
    """What the user says about experts who err at the rate ``error``."""
    ways = {"truth": None, "ignored": None, "known": error, "range": (error / 2, error * 1.5)}
    return ways.get(way, second)


def misread(gold: dict[object, object], error: float, rng: np.random.Generator) -> dict:
    """Gold as an expert with independent mistakes has it; two classes, 0 and 1."""
    return {item: 1 - c if rng.random() < error else c for item, c in gold.items()}


def keep(
    found: Found, key: tuple[str, str], group: str, estimate: tr.Estimate, true: float
) -> None:
    low, high = estimate.interval(0.95)
    found[key].append((group, float(low - 1e-9 <= true <= high + 1e-9), high - low))


def simulated(trials: int, error: float = 0.1, n_gold: int = 100) -> Found:
    found: Found = defaultdict(list)
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        point = (rng.uniform(0.7, 0.98), rng.uniform(0.02, 0.3))
        data = tr.simulate(
            300, 3, prior=[0.6, 0.4], operating_point=point, fallibility=0.4, seed=seed
        )
        gold = data.gold(n_gold, seed)
        reads, second = misread(gold, error, rng), misread(gold, error, rng)
        right = data.predictions == data.truth
        other = np.where(rng.random(300) < 0.15, 1 - data.truth, data.truth)
        for way in WAYS:
            more = {"gold": reads, "gold_error": said(way, error, second), "draws": 2000}
            report = tr.grade(data.predictions, data.labels, **more)
            keep(found, (way, "accuracy"), "", report["accuracy"], right.mean())
            truth = data.predictions[data.truth == 1].mean()
            keep(found, (way, "recall"), "", report["recall"], truth)
            alone = report.gold_alone["accuracy"]
            keep(found, (way, "gold alone"), "", alone, right.mean())
            share = tr.prevalence(data.labels, **more)
            keep(found, (way, "rate"), "", share[1], (data.truth == 1).mean())
            if seed % 4 == 0:
                both = tr.compare({"a": data.predictions, "b": other}, data.labels, **more)
                true = (other == data.truth).mean() - right.mean()
                estimate = both.difference("accuracy", "b", "a")
                keep(found, (way, "difference"), "", estimate, true)
    return found


def expert_cases(kind: str, most: int = 3, fewest: int = 100) -> Iterator[tuple[Case, np.ndarray]]:
    """A case, and a good labeler's labels as the expert's, who leaves the panel.

    Items are those that the expert read: a random part of them is a random part of the items.
    """
    for panel in panels(kind):
        labels = panel.labels
        if labels.n_items * labels.n_labelers > 3e7:
            continue
        grid, made = labels.matrix(), 0
        count = (grid >= 0).sum(axis=0)
        share = ((grid == panel.truth[:, None]) & (grid >= 0)).sum(axis=0) / np.maximum(count, 1)
        good = [t for t in np.argsort(-share) if count[t] >= fewest and share[t] >= 0.75]
        cases = graded_cases(panel, most=8) if kind == "people" else small_cases(panel)
        at = {item: i for i, item in enumerate(labels.items)}
        for case in cases:
            places = np.array([at[item] for item in case.labels.items])
            for expert in good[made:]:
                name, reads = labels.labelers[expert], grid[places, expert]
                if str(name) == case.name.split(" by ")[0]:
                    continue
                part = case.labels.select([w for w in case.labels.labelers if w != name])
                seen = np.flatnonzero((part.per_item > 0) & (reads >= 0))
                seen = np.sort(np.random.default_rng(made).permutation(seen)[:500])
                if (part[seen].per_labeler > 0).sum() < 2 or len(seen) < fewest:
                    continue
                about = case.kind, case.family, case.set, case.name
                yield Case(*about, part[seen], case.predicted[seen], case.truth[seen]), reads[seen]
                made += 1
                break
            if made == most:
                break


def crowds(kind: str, n_gold: int = 50, repeats: int = 1) -> Found:
    found: Found = defaultdict(list)
    for case, reads in expert_cases(kind):
        error = float((reads != case.truth)[reads >= 0].mean())
        if not 0.01 < error < 0.3:
            continue
        items, classes = case.labels.items, case.labels.classes
        predicted = {item: classes[c] for item, c in zip(items, case.predicted)}
        for seed in range(repeats):
            rng = np.random.default_rng([seed, len(items)])
            chosen = rng.permutation(np.flatnonzero(reads >= 0))[:n_gold]
            for way in ("truth", *WAYS[:3]):
                if way == "truth":
                    gold = {items[i]: classes[case.truth[i]] for i in chosen}
                else:
                    gold = {items[i]: classes[reads[i]] for i in chosen}
                report = tr.grade(
                    predicted,
                    case.labels,
                    gold=gold,
                    gold_error=said(way, error, {}),
                    panel=kind,
                    draws=1000,
                    seed=seed,
                )
                right = float(case.right.mean())
                keep(found, (way, "accuracy"), case.set, report["accuracy"], right)
                keep(found, (way, "gold alone"), case.set, report.gold_alone["accuracy"], right)
    return found


def show(found: Found, by_set: bool = False) -> None:
    for (way, metric), rows in found.items():
        groups = sorted({g for g, _, _ in rows})
        inside = np.array([np.mean([i for g, i, _ in rows if g == name]) for name in groups])
        width = float(np.mean([w for _, _, w in rows]))
        if len(groups) > 1:
            error = float(inside.std(ddof=1) / np.sqrt(len(groups)))
        else:
            error = float(np.sqrt(0.95 * 0.05 / len(rows)))
        what = f"{way:<14}{metric:<12}{len(rows):>5} cases of {len(groups)} sets"
        if by_set:
            print("   ", ", ".join(f"{g} {i:.2f}" for g, i in zip(groups, inside)))
        print(f"{what}  coverage {inside.mean():.3f} ± {error:.3f}  width {width:.3f}")


def odds() -> None:
    """The log odds ratio of two raters' errors, and how often two wrong answers are the same."""
    for panel in panels():
        labels = panel.labels
        if labels.n_items * labels.n_labelers > 3e7:
            continue
        grid, rng = labels.matrix(), np.random.default_rng(0)
        count = (grid >= 0).sum(axis=0)
        share = ((grid == panel.truth[:, None]) & (grid >= 0)).sum(axis=0) / np.maximum(count, 1)
        best = [t for t in np.argsort(-share) if count[t] >= 50 and share[t] < 0.995][:12]
        busy = [t for t in np.argsort(-count)[:25] if count[t] >= 50]
        logs, weight, same, wrong = [], [], 0, 0
        for first in best:
            for second in rng.permutation(busy)[:10]:
                both = (grid[:, first] >= 0) & (grid[:, second] >= 0)
                if first == second or both.sum() < 50:
                    continue
                a = grid[both, first] != panel.truth[both]
                b = grid[both, second] != panel.truth[both]
                table = np.array([(~a & ~b).sum(), (a & b).sum(), (a & ~b).sum(), (~a & b).sum()])
                table = np.log(table + 0.5) @ [1, 1, -1, -1], 1 / (1 / (table + 0.5)).sum()
                logs.append(table[0])
                weight.append(table[1])
                same += int((a & (grid[both, first] == grid[both, second])).sum())
                wrong += int((a & b).sum())
        if logs:
            mean = np.average(logs, weights=weight)
            print(
                f"{panel.name:<28}{labels.n_classes:>3} classes, {len(logs):>4} pairs: log odds "
                f"ratio {mean:5.2f}, same wrong answer {same / max(wrong, 1):.2f}"
            )


def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else "simulated"
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if what == "odds":
        odds()
    elif what == "simulated":
        show(simulated(times or 300))
    else:
        show(crowds(what, repeats=times or 6), by_set=True)


if __name__ == "__main__":
    main()
