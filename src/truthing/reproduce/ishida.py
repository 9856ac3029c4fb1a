"""Ishida et al. 2023: Figures 1-4, Fashion-MNIST-H and Table 1 (ICLR), ours beside the printed
numbers.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.special import expit

from truthing.ceiling.bayes_error import bayes_error
from truthing.ceiling.calibrate import platt
from truthing.ceiling.result import BayesError
from truthing.class_codes import Array
from truthing.papers.ishida import uncertainty
from truthing.render.ceiling import draw
from truthing.reproduce import datasets
from truthing.reproduce.figures import figure
from truthing.reproduce.ishida_synthetic import synthetic
from truthing.reproduce.tables import show

TOPS = (0, 2, 3, 4, 6)
# airplane, automobile, bird, cat, deer, dog, frog, horse, ship, truck
SPLITS = {
    "animals": (3, 4, 5, 6, 7),
    "animals and bird": (2, 3, 4, 5, 6, 7),
    "land": (1, 3, 4, 5, 7, 9),
    "odd/even": (0, 2, 4, 6, 8),
    "first five": (0, 1, 2, 3, 4),
}
PRINTED_ICLR = {
    2017: (6.8, 1.0),
    2018: (8.7, 0.9),
    2019: (7.9, 0.7),
    2020: (8.8, 0.5),
    2021: (9.3, 0.5),
    2022: (9.6, 0.5),
    2023: (8.0, 0.4),
}
# slope and intercept (scores centred) at which the authors' published optimisation stops: L-BFGS
# whose loss function never resets the gradient, so
# that every call adds to those before. Replayed in single precision; where it ends is no minimum of
# the loss.
REPLAYED = {
    2017: (5.0708, -2.6170),
    2018: (4.5716, -2.7180),
    2019: (4.5732, -2.8772),
    2020: (2.4218, -2.9602),
    2021: (4.7817, -2.7972),
    2022: (4.0816, -1.8100),
    2023: (4.7768, -2.2110),
}


def main(*, figures: str, quick: bool = False) -> None:
    benchmark_tables(figures)
    iclr_table()
    synthetic(figures, quick=quick)


def fashion() -> BayesError:
    """Tops against the rest, from votes."""
    counts = np.loadtxt(
        datasets.find("fashion_mnist_h/fmh_counts.csv"), delimiter=",", dtype=np.int64
    )
    return bayes_error(counts=_merge(counts, TOPS))


def cifar() -> dict[str, tuple[BayesError, BayesError]]:
    """Each split: the model judged on labels of the same people, and on CIFAR-10's own test
    labels.
    """
    counts = np.load(datasets.find("cifar10h/cifar10h-counts.npy")).astype(np.int64)
    truth = np.load(datasets.find("cifar10h/cifar10_test_labels.npy")).astype(np.int64)
    model = np.load(datasets.find("cifar10h/cifar10_test_cv_pred_probs.npy")).argmax(axis=1)
    found = {}
    for name, members in SPLITS.items():
        votes, predicted = _merge(counts, members), np.isin(model, members)
        found[name] = (
            bayes_error(counts=votes, predictions=predicted),
            bayes_error(counts=votes, predictions=predicted, hard=np.isin(truth, members)),
        )
    return found


def _merge(counts: Array, members: tuple[int, ...]) -> Array:
    inside = counts[:, list(members)].sum(axis=1)
    return np.stack([counts.sum(axis=1) - inside, inside], axis=1)


def plain_half_width(values: Array) -> float:
    """The paper's ±: 1.96 standard errors of the terms of Eq. 4, taken for exact."""
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def benchmark_tables(figures: str) -> None:
    tops = fashion()
    low, high = tops.interval(0.95)
    show(
        "Fashion-MNIST-H, tops against the rest: Bayes error %",
        ["", "ours", "printed"],
        [
            ("Eq. 5, plug-in", f"{100 * tops.paper:.3f}", "3.478 ± 0.079"),
            (
                "corrected for few labels",
                f"{100 * tops.value:.3f} (95% {100 * low:.3f} to {100 * high:.3f})",
                "",
            ),
        ],
    )
    found = cifar()
    rows = []
    for name, (same, test) in found.items():
        low, high = same.interval(0.95)
        ours, other = same.verdict, test.verdict
        assert ours is not None
        assert other is not None
        rows.append(
            (
                name,
                f"{100 * same.paper:.3f}",
                f"{100 * same.value:.3f}",
                f"{100 * low:.3f} to {100 * high:.3f}",
                f"{100 * ours.error:.2f}",
                f"{100 * other.error:.2f}",
                ours.standing,
                other.standing,
            )
        )
    show(
        "CIFAR-10H (Figures 4 and 8): Bayes error %, and a model 92.94% right on ten classes",
        [
            "split",
            "Eq. 5",
            "corrected",
            "95% interval",
            "model, people's labels",
            "model, test labels",
            "verdict, people's",
            "verdict, test",
        ],
        rows,
        "The paper prints no numbers. Its text lists five animals; its code counts bird too. "
        "On the people's own labels a model cannot stay below the "
        "ceiling but by chance; CIFAR-10's test labels come from another process, on which it can.",
    )
    with figure(figures, "ishida-figure-4", ncols=len(found), figsize=(15, 3.6)) as axes:
        for ax, (name, (same, test)) in zip(axes, found.items()):
            verdicts = {"test labels": test.verdict, "people's labels": same.verdict}
            draw(
                ax,
                same,
                {label: verdict for label, verdict in verdicts.items() if verdict is not None},
            )
            ax.set_title(name)


def iclr(year: int) -> tuple[Array, Array]:
    """Scores, centred, and whether the paper was accepted."""
    table = pl.read_csv(datasets.find(f"iclr_reviews/iclr_{year}.csv"))
    scores = table["weightedAverage"].to_numpy()
    return scores - scores.mean(), (table["decision"] == "Accept").to_numpy()


def iclr_table() -> None:
    rows = []
    for year, (printed, margin) in PRINTED_ICLR.items():
        scores, accepted = iclr(year)
        result = bayes_error(scores=scores, decisions=accepted)
        low, high = result.interval(0.95)
        best, stopped = tuple(platt(scores, accepted.astype(float))), REPLAYED[year]
        replayed = uncertainty(_curve(stopped, scores)).mean()
        width = plain_half_width(uncertainty(_curve(best, scores)))
        rows.append(
            (
                year,
                len(scores),
                f"{printed} ± {margin}",
                f"{100 * result.paper:.1f} ± {100 * width:.1f}",
                f"{100 * low:.1f} to {100 * high:.1f}",
                f"{100 * result.details['isotonic']:.1f}",
                f"{100 * result.details['error_of_following_scores']:.1f}",
                f"{100 * replayed:.1f}",
                f"{_loss(best, scores, accepted):.4f} | {_loss(stopped, scores, accepted):.4f}",
                f"{100 * accepted.mean():.1f} | {100 * _curve(stopped, scores).mean():.1f}",
            )
        )
    show(
        "Table 1, ICLR: Bayes error %",
        [
            "year",
            "papers",
            "printed",
            "Platt, Eq. 4",
            "95%, curve's doubt too",
            "isotonic",
            "error of following",
            "authors' stop",
            "loss: best | stop",
            "accepted %: real | stop",
        ],
        rows,
        "Ours is higher than printed because of the calibration, not the data. The published "
        "script minimises the logistic loss with L-BFGS and never "
        "resets the gradient, which so adds up over calls; it stops where the loss is larger "
        "than at the minimum, the curve is too steep, and too few papers "
        "are expected to be accepted. A curve that is too steep is overconfident and makes "
        "the Bayes error look small. Replaying that stop gives the "
        "printed numbers within 0.1 points. The scores' own error when followed (column 7) "
        "agrees with the calibrated value.",
    )


def _curve(line: tuple[float, ...], scores: Array) -> Array:
    return np.asarray(expit(line[0] * scores + line[1]))


def _loss(line: tuple[float, ...], scores: Array, accepted: Array) -> float:
    logit = line[0] * scores + line[1]
    return float((np.logaddexp(0, logit) - accepted * logit).mean())
