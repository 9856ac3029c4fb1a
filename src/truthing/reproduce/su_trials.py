"""Su's simulated examples, every method on each, and how far each lands from the metric with
correct labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.counts import Tally, evaluate
from truthing.papers import su_methods
from truthing.simulation import Simulation, class_prior, simulate
from truthing.truth.outcome import Outcome
from truthing.truth.question import Question

METRICS = ("accuracy", "precision", "recall", "false_alarm", "f1")
HEADS = ("ACC", "PREC", "REC = P_D", "P_FA", "F1")
# name in our tables: method, and whether the paper's approximate mean replaces the integral
METHODS: dict[str, tuple[str, bool]] = {
    "Ratios (Alg. 1)": ("ratios", False),
    "Ratios, paper's mean": ("ratios", True),
    "Sampling (Alg. 2)": ("sampling", False),
    "Estimate labels (Alg. 3)": ("estimated-labels", False),
    "Labelers: mean": ("labeler-mean", False),
    "Labelers: median": ("labeler-median", False),
    "Full Bayes": ("prior-average", False),
    "No predictions": ("no-predictions", False),
    "Labels, no predictions": ("labels-no-predictions", False),
}
QUICK = (
    "Ratios (Alg. 1)",
    "Ratios, paper's mean",
    "Estimate labels (Alg. 3)",
    "Labelers: mean",
    "Labelers: median",
)
SIGN = "Errors are ideal - estimate, the paper's sign."
FALLIBILITY = (0.249, 0.030, 0.387, 0.244, 0.154)
AVAILABILITY = (0.727, 0.873, 0.286, 0.657, 0.232)


def main_example(seed: int) -> Simulation:
    """Section 5.2.1, with the paper's own fallibilities and availabilities."""
    return simulate(
        1000,
        5,
        prior=0.2,
        operating_point=(0.8, 0.3),
        difficulty=(1, 5),
        fallibility=FALLIBILITY,
        availability=AVAILABILITY,
        seed=seed,
    )


def at_operating_point(point: tuple[float, float], seed: int) -> Simulation:
    """Sections 5.2.3 and 5.2.4: one seed gives the same truths and labels at every point; only the
    classifier differs.
    """
    rng = np.random.default_rng([seed, 1])
    fallibility, availability = rng.uniform(0, 0.5, 5), rng.uniform(0, 1, 5)
    return simulate(
        1000,
        5,
        prior=0.5,
        operating_point=point,
        difficulty=(1, 1),
        fallibility=fallibility,
        availability=availability,
        seed=seed,
    )


def single_labeler(seed: int) -> Simulation:
    """Section 5.2.5: a worst-case error rate of .1 assumed, and true."""
    return simulate(
        1000, 1, prior=0.6, operating_point=(0.9, 0.1), difficulty=0.0, fallibility=0.2, seed=seed
    )


def small_sample(seed: int) -> Simulation:
    """Section 5.2.6."""
    rng = np.random.default_rng([seed, 1])
    fallibility, availability = rng.uniform(0.2, 0.5, 3), rng.uniform(0, 1, 3)
    return simulate(
        70,
        3,
        prior=0.5,
        operating_point=(0.85, 0.2),
        difficulty=(1, 2),
        fallibility=fallibility,
        availability=availability,
        seed=seed,
    )


def question_of(data: Simulation, prior: Any) -> Question:
    """What the methods see: never the truth."""
    positive = 1 if data.labels.n_classes == 2 else None
    nothing = np.full(len(data.truth), -1)
    likelihood = data.noise.log_likelihood(data.labels)
    return Question(
        data.labels, data.predictions, nothing, likelihood, class_prior(prior), positive
    )


def ideal_matrix(data: Simulation) -> Array:
    n = data.labels.n_classes
    return np.bincount(data.truth * n + data.predictions, minlength=n * n).reshape(n, n)


def ideal(data: Simulation) -> Array:
    """The five metrics with correct labels."""
    tally = Tally.from_confusion(ideal_matrix(data).astype(float))
    return np.array([float(evaluate(name, tally, classes=(0, 1), positive=1)) for name in METRICS])


def outcome(question: Question, method: str, seed: int = 0) -> Outcome:
    """A method by its name in our tables."""
    name, shortcut = METHODS[method]
    return su_methods.run(question, name, n_draws=4000, seed=seed, shortcut=shortcut)


@dataclass
class Errors:
    """For one method, a row for each data set: errors of mean and mode, whether the 95% region held
    the ideal, the final p̃ and iterations.
    """

    mean: list[Array] = field(default_factory=list)
    mode: list[Array] = field(default_factory=list)
    held: list[Array] = field(default_factory=list)
    point: list[Array] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)

    def add(self, found: Outcome, truth: Array) -> None:
        estimates = [found.answer.estimate(name) for name in METRICS]
        limits = np.array([e.interval(0.95) if e.std > 0 else (np.nan, np.nan) for e in estimates])
        self.mean.append(truth - [e.mean for e in estimates])
        self.mode.append(truth - [e.mode for e in estimates])
        self.held.append(
            np.where(
                np.isnan(limits[:, 0]), np.nan, (limits[:, 0] <= truth) & (truth <= limits[:, 1])
            )
        )
        if "operating_point" in found.diagnostics:
            matrix = np.array(found.diagnostics["operating_point"])
            self.point.append(truth[[2, 3]] - matrix[[1, 0], 1])
            self.iterations.append(found.diagnostics["iterations"])


def run(data_sets: Iterable[Simulation], prior: Any, methods: Sequence[str]) -> dict[str, Errors]:
    """Every method on every data set."""
    found = {method: Errors() for method in methods}
    for seed, data in enumerate(data_sets):
        question, truth = question_of(data, prior), ideal(data)
        for method, errors in found.items():
            errors.add(outcome(question, method, seed), truth)
    return found


def spread(values: Sequence[Array] | Array) -> list[str]:
    """Mean ± its Monte Carlo standard error, and the standard deviation, column by column."""
    table = np.array(values)
    error = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    return [
        f"{m:+.3f}±{e:.3f}, {s:.3f}"
        for m, e, s in zip(table.mean(axis=0), error, table.std(axis=0, ddof=1))
    ]


def coverage(errors: Errors) -> list[str]:
    table = np.array(errors.held)
    if np.isnan(table).all():
        return ["-"] * table.shape[1]
    share = np.nanmean(table, axis=0)
    return [f"{s:.2f}±{np.sqrt(s * (1 - s) / len(table)):.2f}" for s in share]
