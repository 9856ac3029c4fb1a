"""Su Section 5.4: logistic regression on Ionosphere from noisy labels, trained, tuned and tested
without a true label (Figures 19-23).

Open in our text of the paper: the scale of λ. Ours: ``Σ_i loss + (λ/2) |w|²`` with the features as
they are and the intercept free, scikit-learn's C = 1/λ; a voting classifier uses the same λ for
each labeler.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.metrics.joint import JointDensity
from truthing.noise.base import combined_error
from truthing.noise.known import Difficulty
from truthing.papers import su_methods
from truthing.papers.su_curves import SweptCurves
from truthing.render.waiting import counted
from truthing.reproduce import su_training_figures as pictures
from truthing.reproduce.datasets import find
from truthing.reproduce.tables import show
from truthing.train import (
    LabelerVotingClassifier,
    LabelEstimationClassifier,
    NoisyLogisticRegression,
)
from truthing.truth.question import Question

FALLIBILITY = (
    0.079,
    0.440,
    0.137,
    0.207,
    0.148,
    0.314,
    0.290,
    0.300,
    0.133,
    0.142,
    0.127,
    0.164,
    0.072,
)
PANELS = (1, 5, 9, 13)
WEIGHTS = np.arange(0.5, 10.25, 0.5)
PRIOR = (1 - 0.359, 0.359)
METHODS = ("ML", "MMSE", "Label estimation", "Voting")
EXAMPLE = 0  # the seed of the draw in the pictures


@dataclass(frozen=True, eq=False)
class Experiment:
    """One random split of Ionosphere and one draw of thirteen labelers' labels; class 1 is a bad
    return.
    """

    X: Array
    truth: Array
    labels: Labels
    noise: Difficulty
    train: Array
    test: Array

    @classmethod
    def draw(cls, seed: int) -> Experiment:
        table = pl.read_csv(find("ionosphere/ionosphere.csv"))
        truth = (table["Class"] == "bad").to_numpy().astype(int)
        rng = np.random.default_rng(seed)
        n, n_labelers = len(truth), len(FALLIBILITY)
        difficulty, fallibility = rng.beta(1, 5, n), np.array(FALLIBILITY)
        rate = combined_error(difficulty[:, None], fallibility, 2)
        given = np.where(rng.random(rate.shape) < rate, 1 - truth[:, None], truth[:, None]).astype(
            float
        )
        present = np.append(1.0, rng.uniform(0.33, 1, n_labelers - 1))
        given[rng.random(rate.shape) >= present] = np.nan
        test = np.concatenate(
            [
                rng.permutation(np.flatnonzero(truth == c))[: round((truth == c).sum() / 4)]
                for c in (0, 1)
            ]
        )
        train = np.setdiff1d(np.arange(n), test)
        noise = Difficulty(dict(enumerate(difficulty)), dict(enumerate(fallibility)))
        return cls(
            table.drop("Class").to_numpy().astype(float),
            truth,
            Labels.from_matrix(given),
            noise,
            train,
            np.sort(test),
        )

    def panel(self, n_labelers: int) -> Labels:
        return self.labels.select(self.labels.labelers[:n_labelers])


@dataclass(frozen=True, eq=False)
class Tested:
    """One trained classifier on the held-out part: its scores, what the labels say there, and the
    truth that only we look at.
    """

    scores: Array
    labels: Labels
    noise: Difficulty
    truth: Array
    weight: float

    @cached_property
    def question(self) -> Question:
        likelihood = self.noise.log_likelihood(self.labels)
        predicted = (self.scores > 0.5).astype(np.int64)
        return Question(
            self.labels,
            predicted,
            np.full(len(predicted), -1),
            likelihood,
            np.array(PRIOR),
            1,
            self.scores,
        )

    @cached_property
    def curves(self) -> SweptCurves:
        return SweptCurves(self.scores, self.question.evidence, self.question.class_prior, 1000, 0)

    @cached_property
    def estimated_area(self) -> float:
        """Area under the conditional mean of (P_FA, P_D) over thresholds, as the paper selects
        by.
        """
        curve = self.curves.roc()
        x, y = (np.concatenate([[0.0], values, [1.0]]) for values in (curve.x, curve.y))
        known = ~(np.isnan(x) | np.isnan(y))
        x, y = x[known], y[known]
        return float((np.diff(x) * (y[1:] + y[:-1]) / 2).sum())

    @cached_property
    def actual_area(self) -> float:
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(self.truth, self.scores))

    @cached_property
    def actual_point(self) -> tuple[float, float]:
        """Precision and recall at threshold ½, with the true labels."""
        hits = float((self.question.predicted * self.truth).sum())
        return hits / max(self.question.predicted.sum(), 1), hits / self.truth.sum()

    @cached_property
    def joint(self) -> JointDensity | None:
        """Su (18): the posterior of (precision, recall) at threshold ½ by Algorithm 1."""
        found = su_methods.run(self.question, "ratios", n_draws=100, seed=0)
        return None if found.joint is None else found.joint("precision", "recall")


def classifier(method: str, noise: Any, weight: float) -> Any:
    """A way of training by its name in our tables, with regularisation weight λ."""
    plain = NoisyLogisticRegression("mmse", noise=0.0, C=1 / weight)
    if method == "Ideal":
        return plain
    if method == "Voting":
        return LabelerVotingClassifier(plain)
    if method == "Label estimation":
        return LabelEstimationClassifier(plain, noise=noise, prior=PRIOR)
    return NoisyLogisticRegression(
        "ml" if method == "ML" else "mmse", noise=noise, prior=PRIOR, C=1 / weight
    )


def best(experiment: Experiment, method: str, n_labelers: int, weights: Array) -> Tested:
    """λ chosen by estimated area on the held-out part; for the ideal classifier, as in the paper,
    by the actual one.
    """
    panel = experiment.panel(n_labelers)
    ideal = method == "Ideal"
    target = experiment.truth[experiment.train] if ideal else panel[experiment.train]
    found = []
    for weight in weights:
        model = classifier(method, experiment.noise, float(weight)).fit(
            experiment.X[experiment.train], target
        )
        scores = model.predict_proba(experiment.X[experiment.test])[:, 1]
        found.append(
            Tested(
                scores,
                panel[experiment.test],
                experiment.noise,
                experiment.truth[experiment.test],
                float(weight),
            )
        )
    return max(found, key=lambda tested: tested.actual_area if ideal else tested.estimated_area)


def run(seed: int, weights: Array) -> tuple[Tested, dict[tuple[str, int], Tested]]:
    """The ideal classifier and every method at every size of the panel, on one draw."""
    import warnings

    from truthing.train import WeakLabelsWarning

    experiment = Experiment.draw(seed)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", WeakLabelsWarning
        )  # one labeler is weak, which is what this experiment shows
        found = {(m, t): best(experiment, m, t, weights) for t in PANELS for m in METHODS}
        return best(experiment, "Ideal", 13, weights), found


def main(*, figures: str, quick: bool = False) -> None:
    """The paper shows one draw; we show what many draws and splits do, and one of them in
    pictures.
    """
    weights = WEIGHTS[::5] if quick else WEIGHTS
    draws = [run(seed, weights) for seed in counted(range(4 if quick else 20), "training")]
    areas(draws)
    regions(draws)
    pictures.draw(*draws[EXAMPLE], figures)


def areas(
    draws: list[tuple[Tested, dict[tuple[str, int], Tested]]],
) -> dict[tuple[str, int], Array]:
    """Figures 20 and 21 in distribution; returns actual and estimated areas, draws × 2, for each
    method and panel.
    """
    ideal = np.array([i.actual_area for i, _ in draws])
    found = {
        key: np.array([[d[key].actual_area, d[key].estimated_area] for _, d in draws])
        for key in draws[0][1]
    }
    head = [f"T = {t}" for t in PANELS]
    show(
        f"Actual area under the ROC curve over {len(draws)} splits and label draws: mean ± "
        f"standard error, standard deviation (ideal: {_spread(ideal)})",
        ["method", *head],
        [[m, *(_spread(found[m, t][:, 0]) for t in PANELS)] for m in METHODS],
        "The paper, one draw: every method close to ideal from T = 5 on.",
    )
    show(
        "Actual area of the ideal classifier minus that of the method on the same draw: mean "
        "± standard error, standard deviation",
        ["method", *head],
        [[m, *(_spread(ideal - found[m, t][:, 0], sign=True) for t in PANELS)] for m in METHODS],
        "The ideal classifier's λ is chosen by the actual area, the methods' by an estimate.",
    )
    show(
        "Estimated minus actual area: mean ± standard error, standard deviation",
        ["method", *head],
        [
            [m, *(_spread(found[m, t][:, 1] - found[m, t][:, 0], sign=True) for t in PANELS)]
            for m in METHODS
        ],
        "The paper, one draw: estimated curves reasonable at T = 1, very good at T = 9 and 13.",
    )
    show(
        "λ chosen: median",
        ["method", *head],
        [
            [m, *(f"{np.median([d[m, t].weight for _, d in draws]):.1f}" for t in PANELS)]
            for m in METHODS
        ],
    )
    return found


def regions(draws: list[tuple[Tested, dict[tuple[str, int], Tested]]]) -> None:
    """Figure 19 in distribution: do the 95% regions of (precision, recall) at threshold ½ hold the
    actual point, and how large are they?
    """
    rows = []
    for method in METHODS:
        cells = []
        for t in PANELS:
            joints = [(d[method, t].joint, d[method, t].actual_point) for _, d in draws]
            known = [(joint, point) for joint, point in joints if joint is not None]
            held = np.mean([joint.contains(*point) for joint, point in known])
            size = np.median([_area(joint) for joint, _ in known])
            cells.append(f"{held:.2f}±{np.sqrt(held * (1 - held) / len(known)):.2f}, {size:.4f}")
        rows.append([method, *cells])
    show(
        "Share of 95% regions of (precision, recall) that hold the actual point, and the "
        "median area of a region",
        ["method", *(f"T = {t}" for t in PANELS)],
        rows,
        "The paper, one draw: all held at T = 1, and regions shrink as T grows. Shares below "
        ".95: Algorithm 1 takes the estimated operating point as known.",
    )


def _area(joint: JointDensity) -> float:
    return float(joint.region(0.95).sum() * (joint.x[1] - joint.x[0]) * (joint.y[1] - joint.y[0]))


def _spread(values: Array, sign: bool = False) -> str:
    deviation = values.std(ddof=1)
    return (
        f"{values.mean():{'+' if sign else ''}.3f}±{deviation / np.sqrt(len(values)):.3f}, "
        f"{deviation:.3f}"
    )
