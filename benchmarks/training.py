"""Training on noisy labels: who learns best from a crowd, what it costs beside ordinary training,
and how far weak labels shrink MMSE training.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truthing as tr
from truthing import train
from truthing.train.evidence import gather, weigh

Crowd = tuple[np.ndarray, np.ndarray, tr.Labels]


# ---- who learns best


def leaves() -> Crowd:
    """384 leaves of six species, 64 features, ten of 83 workers each."""
    folder = (
        Path(
            os.environ.get("TRUTHING_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
        )
        / "crowd"
        / "leaves"
    )
    if not folder.is_dir():
        raise SystemExit("needs the public data sets: set TRUTHING_DATA to their folder")
    _, body = (folder / "leaves.arffx").read_text().split("@data")
    rows, ids = body.split("@ID-MAP")
    table = np.array([[float(v) for v in line.split(",")] for line in rows.split()])
    truth = dict(pl.read_csv(folder / "truth.csv").iter_rows())
    items = [int(i) for i in ids.split()]
    features = pl.DataFrame(table[:, :-1]).to_pandas().set_index(np.array(items))
    labels = train.align_labels(features, pl.read_csv(folder / "labels.csv"))
    return features.to_numpy(), np.array([truth[i] for i in items]), labels


def digits(seed: int = 0) -> Crowd:
    """scikit-learn's handwritten digits; 25 simulated workers, right 20% to 80% of the time, who
    share what is hard, three for each item.
    """
    X, truth = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    right, hard = rng.uniform(0.2, 0.8, 25), rng.beta(1, 4, len(truth))
    likely = rng.permuted(np.tile(np.arange(1, 10), (10, 1)), axis=1)[
        :, :2
    ]  # each digit has two that it is taken for
    chance = right * (1 - hard[:, None])
    taken = (truth[:, None] + likely[truth[:, None], rng.integers(0, 2, chance.shape)]) % 10
    wrong = np.where(rng.random(chance.shape) < 0.7, taken, rng.integers(0, 10, chance.shape))
    grid = np.where(rng.random(chance.shape) < chance, truth[:, None], wrong).astype(float)
    keep = rng.random(grid.shape).argsort(axis=1).argsort(axis=1) < 3
    return X / 16, truth, tr.Labels.from_matrix(np.where(keep, grid, np.nan))


def scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def forest() -> Any:
    return RandomForestClassifier(40, min_samples_leaf=3, random_state=0)


def methods() -> dict[str, Any]:
    options: dict[str, Any] = {"C": 0.1, "max_iter": 2000}
    linear, coin = scaled(LogisticRegression(**options)), tr.noise.OneCoin()
    return {
        "logistic regression, majority vote": ("vote", linear),
        "logistic regression, true labels (ideal)": ("truth", linear),
        "label estimation": train.LabelEstimationClassifier(linear),
        "labelers vote": train.LabelerVotingClassifier(linear),
        "replication": train.ReplicationClassifier(linear),
        "MMSE": train.MMSEClassifier(linear),
        "MMSE, soft target": scaled(train.NoisyLogisticRegression("mmse", **options)),
        "marginal likelihood": scaled(train.NoisyLogisticRegression("ml", **options)),
        "joint EM (Raykar)": train.JointEMClassifier(linear, cv=None),
        "joint EM (Raykar), out of fold": train.JointEMClassifier(linear, max_iter=8),
        "joint EM (Khetan)": train.JointEMClassifier(
            linear, cv=None, algorithm="khetan", max_iter=8
        ),
        "MMSE, one coin": train.MMSEClassifier(linear, noise=coin),
        "marginal likelihood, one coin": scaled(
            train.NoisyLogisticRegression("ml", noise=coin, **options)
        ),
        "naive Bayes, majority vote": ("vote", GaussianNB(var_smoothing=1e-2)),
        "naive Bayes, labels marginalised": train.NoisyNaiveBayes(var_smoothing=1e-2),
        "random forest, majority vote": ("vote", forest()),
        "random forest, MMSE": train.MMSEClassifier(forest()),
        "random forest, joint EM out of fold": train.JointEMClassifier(forest(), max_iter=4),
    }


def majority(labels: tr.Labels, rng: np.random.Generator) -> np.ndarray:
    """Ties broken at random."""
    votes = labels.counts() + rng.random((labels.n_items, labels.n_classes)) * 0.5
    return votes.argmax(axis=1)


def accuracies(crowd: Crowd, splits: int, test_size: float) -> Iterator[dict[str, float]]:
    """Accuracy against the truth of held-out items, whose labels nobody saw, for every method on
    each random split.
    """
    X, truth, labels = crowd
    for seed in range(splits):
        here, there = train_test_split(
            np.arange(len(X)), test_size=test_size, random_state=seed, stratify=truth
        )
        found = {}
        for name, model in methods().items():
            if isinstance(model, tuple):
                vote = majority(labels[here], np.random.default_rng(seed))
                target: Any = truth[here] if model[0] == "truth" else np.array(labels.classes)[vote]
                model = model[1]
            else:
                target = labels[here]
            found[name] = float(
                (model.fit(X[here], target).predict(X[there]) == truth[there]).mean()
            )
        yield found


def who_learns_best(what: str, crowd: Crowd, splits: int, test_size: float) -> None:
    table = list(accuracies(crowd, splits, test_size))
    print(
        f"\n{what}: accuracy against the truth on held-out items, {splits} random splits; "
        "gain over majority vote with the same learner, paired"
    )
    print(
        "(± standard error over splits, which share items: differences, not levels, are to "
        "be trusted)"
    )
    for name in table[0]:
        base = next(
            b for b in table[0] if b.endswith("majority vote") and b.split(",")[0] == _learner(name)
        )
        own = np.array([row[name] for row in table])
        gain = own - [row[base] for row in table]
        error = gain.std(ddof=1) / np.sqrt(splits)
        print(
            f"{name:<44}{own.mean():.3f} ± {own.std(ddof=1) / np.sqrt(splits):.3f}   "
            f"{gain.mean():+.3f} ± {error:.3f}"
        )


def _learner(name: str) -> str:
    return next(
        (k for k in ("naive Bayes", "random forest") if name.startswith(k)), "logistic regression"
    )


# ---- what it costs


def fastest(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def peak(work: Callable[[], Any]) -> float:
    tracemalloc.start()
    work()
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(size)


def costs(n: int, repeats: int) -> None:
    print(
        f"\ncost beside ordinary training on the true labels, {n:,} items × 50 features, "
        "five labelers wrong 20% of the time, noise known"
    )
    print(f"{'':<50}{'CPU s':>9}{'ratio':>7}{'limit':>7}{'memory / X':>12}")
    for n_classes in (2, 5):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 50))
        truth = (X[:, :n_classes] * 1.5 + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
        wrong = (truth[:, None] + rng.integers(1, n_classes, (n, 5))) % n_classes
        labels = tr.Labels.from_matrix(np.where(rng.random((n, 5)) < 0.2, wrong, truth[:, None]))
        known = {"noise": 0.2, "prior": np.full(n_classes, 1 / n_classes)}
        linear, trees = (
            LogisticRegression(max_iter=2000),
            RandomForestClassifier(10, min_samples_leaf=5, random_state=0),
        )
        few = slice(n // 4)
        base = _line(f"logistic regression, {n_classes} classes", linear, X, truth, repeats)
        _line(
            "  MMSE by weighted copies",
            train.MMSEClassifier(linear, **known),
            X,
            labels,
            repeats,
            base,
            f"{n_classes}",
        )
        soft = train.NoisyLogisticRegression("mmse", max_iter=2000, **known)
        _line("  MMSE, soft target", soft, X, labels, repeats, base, "1.3")
        _line(
            "  marginal likelihood, one start",
            clone(soft).set_params(objective="ml", starts=1),
            X,
            labels,
            repeats,
            base,
        )
        base = _line(
            f"random forest, {n_classes} classes, a quarter of the items",
            trees,
            X[few],
            truth[few],
            repeats,
        )
        _line(
            "  MMSE by weighted copies",
            train.MMSEClassifier(trees, **known),
            X[few],
            labels[few],
            repeats,
            base,
            f"{n_classes}",
        )


def _line(
    name: str,
    model: Any,
    X: np.ndarray,
    y: Any,
    repeats: int,
    base: float | None = None,
    limit: str = "",
) -> float:
    took = fastest(lambda: model.fit(X, y), repeats)
    memory = peak(lambda: model.fit(X, y)) / X.nbytes
    print(
        f"{name:<50}{took:>9.3f}{took / (base or took):>7.2f}{limit:>7}{memory:>12.1f}", flush=True
    )
    return took


# ---- what weak labels do


def shrinkage(n: int) -> None:
    """A class with share .1, true slope 2 and labelers wrong 3 times in 10: slopes learned, how
    many items are called positive, and the risk.

    The risk is that of the classifier trained on the truth, as it is and as the MMSE objective sees
    it: the mean of p(y ≠ prediction | labels).
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    truth = rng.random(n) < expit(2 * x - 3.33)
    ideal = LogisticRegression(C=1e6).fit(x[:, None], truth)
    called = ideal.predict(x[:, None])
    print(
        f"\nweak labels: {n:,} items, share of positives {truth.mean():.3f}, slope 2; "
        "labelers wrong 30% of the time"
    )
    print(
        f"trained on the truth: {called.mean():.4f} called positive, error rate "
        f"{(called != truth).mean():.3f}"
    )
    print(
        f"{'labelers':>9}{'reliability':>13}{'slope: MMSE':>13}{'ML':>7}"
        f"{'called positive: MMSE':>24}{'ML':>9}{'error rate seen by MMSE':>26}"
    )
    for n_labelers in (1, 3, 5, 9, 15):
        grid = np.where(rng.random((n, n_labelers)) < 0.3, ~truth[:, None], truth[:, None]).astype(
            int
        )
        known, labels = {"noise": 0.3, "prior": [0.9, 0.1]}, tr.Labels.from_matrix(grid)
        mmse, ml = (
            train.NoisyLogisticRegression(k, C=1e6, **known).fit(x[:, None], labels)
            for k in ("mmse", "ml")
        )
        risk = (
            1 - weigh(gather(x, labels), **known).posterior[np.arange(n), called.astype(int)].mean()
        )
        positive = [float((m.predict(x[:, None]) == 1).mean()) for m in (mmse, ml)]
        print(
            f"{n_labelers:>9}{mmse.reliability_:>13.2f}{mmse.coef_[0, 0]:>13.2f}"
            f"{ml.coef_[0, 0]:>7.2f}{positive[0]:>24.4f}{positive[1]:>9.4f}{risk:>26.3f}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--splits", type=int, default=15)
    options.add_argument("--items", type=int, default=20_000, help="for the costs")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    shrinkage(1_000_000)
    costs(given.items, 5)
    who_learns_best("leaves, a real crowd", leaves(), given.splits, 0.3)
    who_learns_best("digits, a simulated crowd", digits(), max(given.splits * 2 // 3, 2), 0.7)


if __name__ == "__main__":
    main()
