"""Judges in groups (makers, prompts, teams) on public panels: does groups= help, and how much is a
panel worth?

    python studies/labeler_groups.py coverage   small lopsided panels, with and without groups=
    python studies/labeler_groups.py worth      the effective size, beside the one the truth shows
    python studies/labeler_groups.py simulated 100

A lopsided panel has four judges of one group and two of others; the classifier is of the large
group ("sibling") or of none in the panel ("stranger"). Sets count alike; the error is between sets.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict

import numpy as np
from panels import Panel, panels

import truthing as tr
from truthing.truth.labeler_groups import learn_groups

OPENAI = ("o1", "o3", "o4", "gpt", "text-", "chatgpt")
Rows = dict[tuple[str, str], list[tuple[str, float, float, float]]]


def group_of(panel: str, judge: str) -> str:
    """Team, model or maker, as the judges' names tell."""
    if panel.startswith("llmjudge"):
        return judge.split("-")[0]
    if panel == "llmbar":
        return judge.split("/")[0]
    if panel.startswith("trec_dl"):
        return re.split(r"[.-]", judge)[0]
    name = judge.lower()
    return "openai" if name.startswith(OPENAI) else re.split(r"[-_./0-9:]", name)[0]


def groups_of(panel: Panel) -> dict[str, str]:
    return {str(w): group_of(panel.name, str(w)) for w in panel.labels.labelers}


def lopsided(panel: Panel, rng: np.random.Generator, sibling: bool) -> tuple | None:
    """Six judges and a classifier, their labels on at most 400 items."""
    labels, groups = panel.labels, groups_of(panel)
    busy = [w for w, n in zip(labels.labelers, labels.per_labeler) if n >= 60]
    by_group = defaultdict(list)
    for judge in busy:
        by_group[groups[str(judge)]].append(judge)
    large = [g for g, who in by_group.items() if len(who) >= 4 + sibling]
    if not large:
        return None
    chosen = str(rng.permutation(large)[0])
    inside = rng.permutation(by_group[chosen]).tolist()
    others = rng.permutation([w for w in busy if groups[str(w)] != chosen]).tolist()
    if len(others) < 3:
        return None
    model = inside[4] if sibling else others[2]
    who = [*inside[:4], *others[:2]]
    at = labels.labelers.index(model)
    mine = labels.labeler == at
    items = labels.item[mine]
    pick = np.sort(rng.permutation(len(items))[:400])
    items, predicted = items[pick], labels.label[mine][pick].astype(int)
    part = labels[items].select(who)
    seen = np.flatnonzero(part.per_item > 1)
    if len(seen) < 60:
        return None
    return part[seen], predicted[seen], panel.truth[items[seen]], groups, groups[str(model)]


def coverage(repeats: int = 2, n_gold: int = 0) -> Rows:
    rows: Rows = defaultdict(list)
    for panel in panels("models"):
        for seed in range(repeats):
            for who in ("sibling", "stranger"):
                rng = np.random.default_rng([seed, len(panel.labels.items)])
                found = lopsided(panel, rng, who == "sibling")
                if found is None:
                    continue
                labels, predicted, truth, groups, own = found
                said = {i: labels.classes[c] for i, c in zip(labels.items, predicted)}
                right = float((predicted == truth).mean())
                group = own if who == "sibling" else None
                ways = {"without": {}, "groups": {"groups": groups, "classifier_group": group}}
                for way, more in ways.items():
                    report = tr.grade(said, labels, panel="models", draws=1000, **more)
                    low, high = report["accuracy"].interval(0.95)
                    held = float(low - 1e-9 <= right <= high + 1e-9)
                    miss = abs(report["accuracy"].mean - right)
                    rows[who, way].append((panel.name, held, high - low, miss))
    return rows


def simulated(trials: int) -> Rows:
    """Three independent labelers, and six who copy one another four times in five."""
    rows: Rows = defaultdict(list)
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        truth = (rng.random(400) < 0.4).astype(int)

        def say(error: float, truth: np.ndarray = truth, rng: np.random.Generator = rng):
            return np.where(rng.random(len(truth)) < error, 1 - truth, truth)

        leader = say(0.3)
        copies = [np.where(rng.random(400) < 0.8, leader, say(0.3)) for _ in range(6)]
        labels = tr.Labels.from_matrix(
            np.stack([*(say(0.15) for _ in range(3)), *copies], axis=1),
            labelers=[*"abc", *(f"copy{k}" for k in range(6))],
        )
        groups = {f"copy{k}": "copies" for k in range(6)}
        for who, error in (("stranger", 0.12), ("sibling", None)):
            model = say(0.12) if error else np.where(rng.random(400) < 0.8, leader, say(0.3))
            right = float((model == truth).mean())
            own = "copies" if error is None else None
            ways = {"without": {}, "groups": {"groups": groups, "classifier_group": own}}
            for way, more in ways.items():
                report = tr.grade(model, labels, panel="people", draws=1000, **more)
                low, high = report["accuracy"].interval(0.95)
                miss = abs(report["accuracy"].mean - right)
                rows[who, way].append(("", float(low <= right <= high), high - low, miss))
        share = float(truth.mean())
        for way, more in {"without": {}, "groups": {"groups": groups}}.items():
            found = tr.prevalence(labels, panel="people", draws=1000, **more)[1]
            low, high = found.interval(0.95)
            held = float(low <= share <= high)
            rows["rate", way].append(("", held, high - low, abs(found.mean - share)))
    return rows


def worth() -> None:
    """Interval of the effective size, and the one from the truth: n² / Σ of error correlations."""
    inside = []
    for panel in panels("models"):
        labels, rng = panel.labels, np.random.default_rng(0)
        grid = labels.matrix()
        full = [t for t in range(labels.n_labelers) if (grid[:, t] >= 0).mean() > 0.9]
        full = list(rng.permutation(full)[:9])
        if len(full) < 4:
            continue
        part = labels.select([labels.labelers[t] for t in full])
        groups = {w: g for w, g in groups_of(panel).items() if w in map(str, part.labelers)}
        if len(set(groups.values())) < 2:
            continue
        wrong = (grid[:, full] != panel.truth[:, None]).astype(float)
        wrong = wrong[:, wrong.std(axis=0) > 0]
        true = wrong.shape[1] ** 2 / np.corrcoef(wrong.T).sum()
        found = learn_groups(groups, part, rng, "models").effective_size
        low, high = found.interval(0.95)
        inside.append(low <= true <= high)
        print(
            f"{panel.name:<28}{len(full)} judges worth {found.mean:.1f} ({low:.1f} to {high:.1f})"
            f", by the truth {true:.1f}"
        )
    share = np.mean(inside)
    print(f"inside {share:.2f} ± {np.sqrt(share * (1 - share) / len(inside)):.2f}")


def show(rows: Rows) -> None:
    for (who, way), found in rows.items():
        sets = sorted({name for name, *_ in found})
        by_set = [[r for r in found if r[0] == name] for name in sets]
        inside = np.array([np.mean([r[1] for r in part]) for part in by_set])
        error = inside.std(ddof=1) / np.sqrt(len(sets)) if len(sets) > 1 else 0.0
        error = error or np.sqrt(0.95 * 0.05 / len(found))
        width, miss = (float(np.mean([r[k] for r in found])) for k in (2, 3))
        print(
            f"{who:<9}{way:<9}{len(found):>4} cases of {len(sets)} sets: coverage "
            f"{inside.mean():.3f} ± {error:.3f}, width {width:.3f}, miss {miss:.3f}"
        )


def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else "coverage"
    if what == "worth":
        worth()
    else:
        show(simulated(int(sys.argv[2])) if what == "simulated" else coverage())


if __name__ == "__main__":
    main()
