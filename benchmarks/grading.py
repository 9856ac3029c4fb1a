"""Grading a million items: each time as a ratio to something measured in the same run, beside its
limit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import truthing as tr
from truthing.metrics.curves import Curve
from truthing.papers import su, su_methods
from truthing.papers.su_curves import SweptCurves
from truthing.truth.question import Question

METRICS = ("accuracy", "precision", "recall", "false_alarm", "f1")
PRIOR = np.array([0.8, 0.2])


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of a few runs: what the work takes when nothing else disturbs it."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def row(what: str, took: float, ratio: float | None = None, limit: str = "") -> None:
    print(
        f"{what:<58}{took:>9.3f} s"
        + (f"{ratio:>9.2f}" if ratio is not None else " " * 9)
        + f"   {limit}"
    )


def simulated(n_items: int, n_labelers: int, seed: int = 0) -> tr.Simulation:
    """Every item has its own difficulty, so no two items share their evidence: the slowest case."""
    return tr.simulate(
        n_items,
        n_labelers,
        prior=PRIOR,
        operating_point=(0.8, 0.3),
        difficulty=(1, 5),
        fallibility=0.3,
        seed=seed,
    )


def question_of(data: tr.Simulation) -> Question:
    n = len(data.truth)
    return Question(
        data.labels,
        data.predictions,
        np.full(n, -1),
        data.noise.log_likelihood(data.labels),
        PRIOR,
        1,
    )


def fresh(question: Question) -> Question:
    """The same question with nothing computed yet."""
    return Question(
        question.labels, question.predicted, question.gold, question.log_likelihood, PRIOR, 1
    )


def ratios_against_one_pass(n_items: int) -> None:
    data = simulated(n_items, 5)
    said = data.labels.matrix() == 1
    delta, phi = data.noise.difficulty, data.noise.fallibility

    def one_pass() -> np.ndarray:
        error = (delta[:, None] * (1 - phi) + phi) / 2
        weight = np.log((1 - error) / error)
        return np.where(said, weight, -weight).sum(axis=1)

    question = question_of(data)

    def method() -> list[float]:
        outcome = su_methods.run(fresh(question), "ratios", n_draws=4000, seed=0)
        return [outcome.answer.estimate(name).mean for name in METRICS]

    def everything() -> list[float]:
        report = tr.grade(
            data.predictions, data.labels, noise=data.noise, prior=PRIOR, method="ratios"
        )
        return [report[name].mean for name in METRICS]

    base = seconds(one_pass)
    row(f"numpy: log-likelihood ratios of {n_items:,} items x 5", base, 1.0)
    for what, work, limit in (
        ("method ratios, five metrics", method, "limit 15"),
        (
            "labels' likelihood by the noise model",
            lambda: data.noise.log_likelihood(data.labels),
            "",
        ),
        ("all of tr.grade, five metrics", everything, "reading, joining and likelihood included"),
    ):
        took = seconds(work)
        row(what, took, took / base, limit)


def iterations(n_items: int) -> None:
    """From the second on, an iteration sees the labels only through each item's likelihood
    ratio.
    """
    base = None
    for n_labelers in (5, 50):
        question = question_of(simulated(n_items, n_labelers))
        groups, update = question.groups, su.by_ratios(1)
        point = su.find_operating_point(question, update).matrix
        took = seconds(lambda: update(groups, groups.posterior(point, PRIOR)), repeats=9)  # noqa: B023
        base = base or took
        row(
            f"one iteration, {n_items:,} items x {n_labelers}",
            took,
            took / base,
            "limit about 1" if took != base else "",
        )


def bands(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    took = []
    for n in (1000, *sizes):  # the first, small run compiles
        truth = rng.random(n) < PRIOR[1]
        ratio = rng.normal(np.where(truth, 1.5, -1.5), 2.0)
        evidence = np.stack([np.minimum(-ratio, 0), np.minimum(ratio, 0)], axis=1)
        scores = rng.standard_normal(n) + 1.5 * truth

        def band(scores: np.ndarray = scores, evidence: np.ndarray = evidence) -> Curve:
            curve = SweptCurves(scores, evidence, PRIOR, 2000, 0).roc()
            curve.bands(0.95)
            return curve

        took.append((seconds(band), seconds(lambda: band().area, repeats=1)))
    row(f"ROC band, all thresholds of {sizes[0]:,} items", took[1][0], None, "limit 5 s")
    row("  with the interval of its area", took[1][1], None)
    row(
        f"ROC band, all thresholds of {sizes[1]:,} items",
        took[2][0],
        took[2][0] / took[1][0],
        "limit 12",
    )
    row("  with the interval of its area", took[2][1], took[2][1] / took[1][1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    n_items = parser.parse_args().items
    print(f"{'':<58}{'time':>11}{'ratio':>9}")
    ratios_against_one_pass(n_items)
    iterations(n_items // 5)
    bands((n_items // 10, n_items))


if __name__ == "__main__":
    main()
