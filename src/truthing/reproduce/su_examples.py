"""Su Sections 5.2.5, 5.2.6 and 5.3: a single labeler (Figure 17), a small sample (Figure 18), four
classes (Tables 13-15).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truthing.class_codes import Array
from truthing.papers import su_methods
from truthing.render.waiting import counted
from truthing.reproduce import su_main
from truthing.reproduce import su_trials as trials
from truthing.reproduce.figures import figure
from truthing.reproduce.tables import show
from truthing.simulation import Simulation, simulate

CLASS_PRIOR = (0.2, 0.3, 0.1, 0.4)
POINT = (
    (0.75, 0.08, 0.10, 0.07),
    (0.10, 0.65, 0.12, 0.13),
    (0.04, 0.06, 0.80, 0.10),
    (0.10, 0.05, 0.05, 0.80),
)
# Table 13: error of the accuracy in the paper's one draw; Table 14: its confusion matrices
PRINTED_13 = {
    "sampling": 0.7350 - 0.7355,
    "estimated-labels": 0.7350 - 0.7390,
    "labeler-mean": 0.7350 - 0.6170,
    "labeler-median": 0.7350 - 0.6397,
}
PRINTED_14 = {
    "ideal": ((290, 40, 40, 39), (58, 391, 68, 68), (8, 10, 168, 27), (93, 43, 36, 621)),
    "sampling": ((284.8, 41.3, 36.6, 33.9), (63.7, 391.7, 67.0, 67.6), (7.5, 7.3, 169.8, 29.0), (93.0, 43.6, 38.7, 624.6)),
    "estimated-labels": ((288, 43, 35, 37), (61, 395, 70, 68), (7, 4, 170, 25), (93, 42, 37, 625)),
    "labeler-mean": ((238.9, 60.7, 65.3, 54.2), (60.7, 335.5, 66.3, 86.3), (36.7, 54.2, 130.1, 64.8), (76.6, 91.3, 48.8, 529.6)),
    "labeler-median": ((254.1, 57.4, 46.8, 56.2), (71.1, 343.4, 67.2, 86.9), (26.1, 35.9, 145.9, 62.3), (90.6, 65.8, 46.7, 543.6)),
}  # fmt: skip
WIDTH_15 = 11.12  # mean width of the sixteen printed credible regions


def two_examples(n_draws: int, folder: str) -> None:
    methods = ("Ratios (Alg. 1)", "Estimate labels (Alg. 3)", "Labelers: mean")
    examples: tuple[tuple[str, Callable[[int], Simulation], float, int, str], ...] = (
        (
            "Figure 17: single labeler, assumed error rate .1, N=1000",
            trials.single_labeler,
            0.6,
            0,
            "pr",
        ),
        ("Figure 18: small sample, N=70", trials.small_sample, 0.5, 3, "roc"),
    )
    for number, (title, make, prior, place, kind) in zip((17, 18), examples):
        found = trials.run(map(make, counted(range(n_draws), f"Figure {number}")), prior, methods)
        rows = [[m, *trials.spread(e.mean)] for m, e in found.items()]
        rows.append(
            [
                "share of 95% regions of Alg. 1 that hold the ideal",
                *trials.coverage(found[methods[0]]),
            ]
        )
        show(
            f"{title}: errors over {n_draws} draws (mean ± Monte Carlo error, standard deviation)",
            ["method", *trials.HEADS],
            rows,
            f"{trials.SIGN} The paper draws one data set and prints no numbers.",
        )
        data = make(su_main.EXAMPLE)
        question, truth = trials.question_of(data, prior), trials.ideal(data)
        outcomes = {m: trials.outcome(question, m) for m in methods}
        with figure(folder, f"su-figure-{number}", ncols=2, figsize=(9, 4)) as axes:
            su_main.draw_metric(axes[0], question, outcomes, place, truth[place], methods[:1])
            su_main.draw_joint(
                axes[1], question, outcomes, outcomes[methods[0]].answer.moments(1), truth, kind
            )
            axes[0].legend(frameon=False, fontsize=7)


def four_classes(seed: int) -> Simulation:
    """Section 5.3; labelers are available as in Section 5.1.2, at random rates."""
    rng = np.random.default_rng([seed, 1])
    fallibility, availability = rng.uniform(0, 0.4, 5), rng.uniform(0, 1, 5)
    return simulate(
        2000,
        5,
        prior=CLASS_PRIOR,
        operating_point=POINT,
        difficulty=0.0,
        fallibility=fallibility,
        availability=availability,
        seed=seed,
    )


def tables_13_to_15(n_draws: int) -> None:
    accuracy: dict[str, list[float]] = {m: [] for m in PRINTED_13}
    cells: dict[str, list[Array]] = {m: [] for m in PRINTED_13}
    held, held_accuracy, widths, closest = [], [], [], []
    for seed in counted(range(n_draws), "Tables 13-15"):
        data = four_classes(seed)
        question, ideal = trials.question_of(data, CLASS_PRIOR), trials.ideal_matrix(data)
        truth = np.trace(ideal) / ideal.sum()
        for method in PRINTED_13:
            answer = su_methods.run(question, method, n_draws=4000, seed=seed).answer
            estimate = answer.estimate("accuracy")
            accuracy[method].append(truth - estimate.mean)
            cells[method].append(ideal - answer.confusion.mean)
            if method == "sampling":
                low, high = answer.confusion.interval(0.95)
                held.append((low <= ideal) & (ideal <= high))
                widths.append((high - low).mean())
                lowest, highest = estimate.interval(0.95)
                held_accuracy.append(lowest <= truth <= highest)
        gaps = np.abs([cells[m][-1] for m in PRINTED_13])
        closest.append((gaps <= gaps.min(axis=0)).sum(axis=(1, 2)))
    _show_four_classes(n_draws, accuracy, cells, np.mean(closest, axis=0))
    share, share_accuracy = np.mean(held), np.mean(held_accuracy)
    error = np.mean(held, axis=(1, 2)).std(ddof=1) / np.sqrt(n_draws)
    show(
        "Table 15: 95% credible regions of the confusion counts, Alg. 4",
        ["", "ours", "printed, one draw"],
        [
            ["share that holds the ideal count", f"{share:.3f} ± {error:.3f}", "16 of 16"],
            ["mean width", f"{np.mean(widths):.2f}", f"{WIDTH_15:.2f}"],
            [
                "accuracy's region holds the ideal",
                f"{share_accuracy:.2f} ± "
                f"{np.sqrt(share_accuracy * (1 - share_accuracy) / n_draws):.2f}",
                "yes",
            ],
        ],
    )


def _show_four_classes(
    n_draws: int, accuracy: dict[str, list[float]], cells: dict[str, list[Array]], closest: Array
) -> None:
    ideal = np.array(PRINTED_14["ideal"])
    rows = []
    for k, (method, errors) in enumerate(accuracy.items()):
        size = np.sqrt(np.mean(np.square(cells[method])))
        theirs = np.sqrt(np.mean((ideal - np.array(PRINTED_14[method])) ** 2))
        ours = trials.spread(np.array(errors)[:, None])[0]
        rows.append(
            [
                method,
                f"{ours} | {PRINTED_13[method]:+.4f}",
                f"{size:.1f} | {theirs:.1f}",
                f"{closest[k]:.1f}",
            ]
        )
    show(
        f"Tables 13 and 14: four classes, {n_draws} draws | the paper's one draw",
        [
            "method",
            "error of accuracy (mean ± Monte Carlo error, std)",
            "root mean square error of the counts",
            "counts closest (of 16)",
        ],
        rows,
        f"{trials.SIGN} The paper counts 10 closest for Alg. 4, 6 for estimated labels, 1 "
        "and 1 for the labelers, ties twice.",
    )
