"""How narrow could an interval with gold become? The most that labels can add to gold.

An oracle knows the truth of every item and learns from it how right and wrong predictions depend on
the labels. What its regression leaves unexplained is the variance that random gold must still find
out. The root of that share is the limit of an interval's width beside gold alone's when gold is
plentiful but far from complete. Ten-fold cross-validation, up to four labelers per set.

    python studies/width_limit.py models
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from panels import Case, graded_cases, panels
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from truthing.truth.link.prior import KINDS

ITEMS = 600
FEWEST = 10  # right and wrong predictions
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


def by_set(kind: str) -> Iterator[tuple[str, np.ndarray]]:
    for panel in panels(kind):
        part = np.sort(np.random.default_rng(0).permutation(len(panel.truth))[:ITEMS])
        panel = replace(panel, labels=panel.labels[part], truth=panel.truth[part])
        cases = [
            case
            for case in graded_cases(panel, most=4)
            if min(case.right.sum(), (~case.right).sum()) >= FEWEST
        ]
        if cases:
            yield panel.name, np.mean([limits(case) for case in cases], axis=0)


def main() -> None:
    for kind in sys.argv[1:] or KINDS:
        print(f"\n{kind:<28}" + "".join(f"{what:>22}" for what in KNOWN))
        found = []
        for name, row in by_set(kind):
            found.append(row)
            print(f"{name:<28}" + "".join(f"{value:>22.2f}" for value in row), flush=True)
        mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
        cells = "".join(f"{f'{m:.2f} ± {e:.2f}':>22}" for m, e in zip(mean, error))
        print(f"{f'mean of {len(found)} sets':<28}{cells}")


if __name__ == "__main__":
    main()
