"""How narrow could an interval with gold become? The most that labels can add to gold.

An oracle knows the truth of every item and learns from it how right and wrong predictions depend on
the labels. What its regression leaves unexplained is the variance that random gold must still find
out. The root of that share is the limit of an interval's width beside gold alone's when gold is
plentiful but far from complete. Ten-fold cross-validation, up to four labelers per set.

With --trusting, and few gold items: an interval that knows the link's numbers from all panels, the
one it grades included, and trusts them fully (no allowance for panels unlike these, shortest
interval). Nobody can do that for a new panel: it bounds what a prior like ours could save.

    python studies/width_limit.py models
    python studies/width_limit.py --trusting observed.json    (saved by studies/fit_link.py)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from zlib import crc32

import numpy as np
from fit_link import fit_all, load_observed
from panels import Case, graded_cases, panels
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from truthing.metrics.estimate import credible_interval
from truthing.truth.gold_alone import GoldAlone
from truthing.truth.link.numbers import PanelNumbers
from truthing.truth.link.prior import KINDS, learned_components
from truthing.truth.link.sampler import draw_link

ITEMS = 600
FEWEST = 10  # right and wrong predictions
GOLD = (10, 25, 50, 100)
REPEATS, DRAWS = 4, 1000
KNOWN = ("labels' log-odds", "and predicted class", "and every vote")


def left_open(features: np.ndarray, right: np.ndarray, penalty: float = 1.0) -> float:
    """The share of the variance of right or wrong that these features do not explain."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    model = LogisticRegression(C=1 / penalty, max_iter=500)
    chance = cross_val_predict(model, features, right, cv=folds, method="predict_proba")[:, 1]
    return float(np.mean((right - chance) ** 2) / right.var())


def limits(case: Case) -> list[float]:
    """Limits of the width for each part of `KNOWN`."""
    views, labels = case.views, case.labels
    signal = views.signal[:, None]
    classes = np.eye(views.n_classes)[views.predicted]
    votes = np.zeros((len(signal), labels.n_labelers))
    agrees = labels.label == views.predicted[labels.item]
    votes[labels.item, labels.labeler] = np.where(agrees, 1, -1)
    right = case.right.astype(int)
    found = [
        left_open(signal, right),
        left_open(np.hstack([signal, classes]), right),
        left_open(np.hstack([signal, classes, votes]), right, 20.0),
    ]
    return [float(np.sqrt(min(share, 1.0))) for share in found]


def trusting(case: Case, numbers: dict[str, PanelNumbers]) -> np.ndarray:
    """For each number of gold items: how often held, the width, and that of gold alone."""
    views, right, n = case.views, case.right, len(case.right)
    sure = learned_components(views, case.kind, numbers).informed._replace(temper=(1.0, 1.0))
    found = np.full((len(GOLD), 3), np.nan)
    for row, n_gold in enumerate(GOLD):
        if n_gold > n // 2:
            continue
        cases = []
        for repeat in range(REPEATS):
            rng = np.random.default_rng([crc32(f"{case.set} {case.name}".encode()), n_gold, repeat])
            chosen = rng.permutation(n)[:n_gold]
            gold = np.full(n, -1)
            gold[chosen] = case.truth[chosen]
            link = draw_link(views, sure, gold, rng, n_draws=DRAWS)
            free = (link.design.size - link.design.tally(chosen)).astype(int)
            others = rng.binomial(free, link.chance()).sum(axis=1)
            low, high = credible_interval((right[chosen].sum() + others) / n)
            seed = np.random.SeedSequence(repeat)
            known = case.labels.classes, None, case.predicted, gold
            alone = GoldAlone(*known, "sample", DRAWS, seed)["accuracy"].interval(0.95)
            held = low - 1e-9 <= right.mean() <= high + 1e-9
            cases.append((held, high - low, alone[1] - alone[0]))
        found[row] = np.mean(cases, axis=0)
    return found


def by_set(kind: str) -> Iterator[tuple[str, list[Case]]]:
    for panel in panels(kind):
        part = np.sort(np.random.default_rng(0).permutation(len(panel.truth))[:ITEMS])
        panel = replace(panel, labels=panel.labels[part], truth=panel.truth[part])
        yield panel.name, list(graded_cases(panel, most=4))


def show_limits(kind: str) -> None:
    print(f"\n{kind:<28}" + "".join(f"{what:>22}" for what in KNOWN))
    found = []
    for name, cases in by_set(kind):
        both = [c for c in cases if min(c.right.sum(), (~c.right).sum()) >= FEWEST]
        if not both:
            continue
        row = np.mean([limits(case) for case in both], axis=0)
        found.append(row)
        print(f"{name:<28}" + "".join(f"{value:>22.2f}" for value in row), flush=True)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    cells = "".join(f"{f'{m:.2f} ± {e:.2f}':>22}" for m, e in zip(mean, error))
    print(f"{f'mean of {len(found)} sets':<28}{cells}")


def show_trusting(kind: str, numbers: dict[str, PanelNumbers]) -> None:
    graded = [[c for c in cases if c.labels.n_labelers > 1] for _, cases in by_set(kind)]
    found = [[trusting(case, numbers) for case in part] for part in graded if part]
    sets = np.array([np.mean(part, axis=0) for part in found])
    print(f"\n{kind}: gold, sets, held, width beside gold alone's")
    for n_gold, at in zip(GOLD, sets.transpose(1, 0, 2)):
        held, width, alone = at[~np.isnan(at[:, 0])].T
        error = held.std(ddof=1) / np.sqrt(len(held))
        share = width.mean() / alone.mean()
        print(
            f"{n_gold:>4}{len(held):>5}{held.mean():>8.3f} ± {error:.3f}{share:>8.2f}", flush=True
        )


def main() -> None:
    named = [kind for kind in sys.argv[1:] if kind in KINDS] or list(KINDS)
    saved = [word for word in sys.argv[1:] if word.endswith(".json")]
    if "--trusting" in sys.argv and not saved:
        raise SystemExit("--trusting needs the file that `studies/fit_link.py observed.json` saves")
    for kind in named:
        if saved:
            show_trusting(kind, fit_all(load_observed(saved[0]))[False])
        else:
            show_limits(kind)


if __name__ == "__main__":
    main()
