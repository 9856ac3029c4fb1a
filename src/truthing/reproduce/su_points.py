"""Su Sections 5.2.3 and 5.2.4: many starting points (Table 11), many operating points (Table 12,
Figures 14-16).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truthing.class_codes import Array
from truthing.papers import su
from truthing.render.waiting import counted
from truthing.reproduce import su_trials as trials
from truthing.reproduce.figures import figure
from truthing.reproduce.tables import show

GRID = np.arange(0.05, 1, 0.1)
ITERATIVE = (
    "Ratios (Alg. 1)",
    "Ratios, paper's mean",
    "Sampling (Alg. 2)",
    "Estimate labels (Alg. 3)",
)
# p_D: mean, std, max abs; p_FA: the same; iterations: mean, max
PRINTED_11 = {
    "Ratios, paper's mean": (0.0149, 3.20e-4, 0.0153, -0.0118, 6.34e-5, 0.0119, 6.6, 8),
    "Sampling (Alg. 2)": (0.0131, 4.15e-4, 0.0142, -0.0092, 8.56e-5, 0.0095, 6.6, 8),
    "Estimate labels (Alg. 3)": (-0.0473, 1.61e-2, 0.0715, -0.0015, 1.49e-3, 0.0033, 6.2, 10),
}
PRINTED_12 = {
    "Ratios, paper's mean": (-0.0113, 1.04e-2, 0.0314, 0.0120, 1.36e-2, 0.0442, 10.9, 17),
    "Sampling (Alg. 2)": (-0.0114, 9.56e-3, 0.0310, 0.0122, 1.14e-2, 0.0381, 11.2, 18),
    "Estimate labels (Alg. 3)": (-0.0141, 1.95e-1, 0.3590, 0.0210, 2.03e-1, 0.3369, 10.4, 21),
}
COLUMNS = (
    "p_D mean",
    "p_D std",
    "p_D max",
    "p_FA mean",
    "p_FA std",
    "p_FA max",
    "iterations",
    "most",
)
# Figure 14: mean and standard deviation of ACC, PREC, REC, P_FA, F1
PRINTED_14 = {
    "Ratios, paper's mean": (
        (-0.011, -0.008, -0.011, 0.012, -0.013),
        (0.0117, 0.0149, 0.0102, 0.0132, 0.0107),
    ),
    "Sampling (Alg. 2)": (
        (-0.012, -0.008, -0.011, 0.012, -0.013),
        (0.0108, 0.0141, 0.0095, 0.0116, 0.0097),
    ),
    "Estimate labels (Alg. 3)": (
        (-0.017, -0.013, -0.014, 0.021, -0.017),
        (0.2062, 0.2183, 0.1944, 0.2019, 0.2036),
    ),
    "Labelers: mean": (
        (-0.034, -0.028, -0.013, 0.043, 0.009),
        (0.1116, 0.1139, 0.0896, 0.1364, 0.0864),
    ),
    "Labelers: median": (
        (-0.021, -0.016, -0.014, 0.020, 0.022),
        (0.1206, 0.1383, 0.1143, 0.1359, 0.1023),
    ),
    "Full Bayes": (
        (-0.006, -0.001, -0.005, 0.009, -0.006),
        (0.1454, 0.1642, 0.1429, 0.1503, 0.1469),
    ),
}
# Figures 15 and 16: the numbers beside the axes of the inner ellipse
PRINTED_JOINT = {
    "Ratios, paper's mean": ((0.0258, 0.0096), (0.0250, 0.0048)),
    "Estimate labels (Alg. 3)": ((0.4382, 0.0778), (0.4151, 0.0995)),
    "Full Bayes": ((0.3264, 0.0572), (0.3130, 0.0418)),
    "Labelers: mean": ((0.2190, 0.0337), (0.2469, 0.0285)),
    "Labelers: median": ((0.2712, 0.0419), (0.2658, 0.0105)),
}
RADII = (2.2958, 6.1801)  # squared radii that hold .6827 and .9545 of a two-dimensional normal
BETWEEN = (
    "In brackets the standard deviation between grids, one seed each; divided by the root of "
    "their number it is the Monte Carlo error."
)
PAIRS = {"P-R (precision, recall)": (1, 2), "ROC (P_FA, P_D)": (3, 2)}


def table_11(starts: Array = GRID, seed: int = 1) -> dict[str, Array]:
    """Final errors (p_D, p_FA) and iterations from every pair of starting values, on one data
    set.
    """
    data = trials.main_example(seed)
    question, truth = trials.question_of(data, 0.2), trials.ideal(data)[2:4]
    updates = (
        su.by_ratios(1),
        su.by_ratios(1, shortcut=True),
        su.by_sampling(5000, np.random.default_rng(0)),
        su.by_estimated_labels,
    )
    found = {}
    for method, update in zip(ITERATIVE, updates):
        rows = []
        for detect in counted(starts, f"Table 11, {method}"):
            for alarm in starts:
                point = su.find_operating_point(
                    question, update, start=su.operating_matrix(detect, alarm, 1)
                )
                rows.append((*(truth - point.matrix[[1, 0], 1]), point.iterations))
        found[method] = np.array(rows)
    return found


def summary(rows: Array) -> tuple[float, ...]:
    """The columns of Tables 11 and 12 from rows of (error p_D, error p_FA, iterations)."""
    parts = [(rows[:, k].mean(), rows[:, k].std(ddof=1), np.abs(rows[:, k]).max()) for k in (0, 1)]
    return (*parts[0], *parts[1], float(rows[:, 2].mean()), float(rows[:, 2].max()))


def _numbers(values: Sequence[float] | None) -> list[str]:
    if values is None:
        return ["-"] * 8
    return [
        *(
            f"{v:+.4f}" if k % 3 == 0 else f"{round(v, 9):.2g}" if k % 3 == 1 else f"{v:.4f}"
            for k, v in enumerate(values[:6])
        ),
        f"{values[6]:.1f}",
        f"{values[7]:.0f}",
    ]


def show_11(quick: bool) -> None:
    starts = GRID[::3] if quick else GRID
    found = table_11(starts)
    rows = [
        [
            method,
            *(
                f"{a} | {b}"
                for a, b in zip(_numbers(summary(table)), _numbers(PRINTED_11.get(method)))
            ),
        ]
        for method, table in found.items()
    ]
    show(
        f"Table 11: {len(starts) ** 2} starting points, one data set; ours | printed",
        ["method", *COLUMNS],
        rows,
        f"{trials.SIGN} Mean errors belong to the one data set (each paper's and ours); the "
        "standard deviation over starts is what repeats.",
    )


def operating_points(
    grid: Array, seeds: Sequence[int], methods: Sequence[str]
) -> list[dict[str, trials.Errors]]:
    """For each seed the errors of every method over the grid of operating points."""
    return [
        trials.run(
            (
                trials.at_operating_point((d, f), seed)
                for d in counted(grid, f"Tables 12 and 14, grid {seed + 1}")
                for f in grid
            ),
            0.5,
            methods,
        )
        for seed in seeds
    ]


def joint_spread(errors: Array, pair: tuple[int, int]) -> tuple[float, float]:
    """Semi-axes of the ellipse that holds .6827 of a normal with the covariance of two errors, the
    larger first.
    """
    values = np.linalg.eigvalsh(np.cov(errors[:, pair].T))
    return float(np.sqrt(values[1] * RADII[0])), float(np.sqrt(max(values[0], 0) * RADII[0]))


def over_grids(found: list[dict[str, trials.Errors]], method: str, what: str) -> list[Array]:
    """One array for each grid on which the method was run."""
    return [np.array(getattr(grid[method], what)) for grid in found if method in grid]


def _grids(values: Sequence[Sequence[float]] | Sequence[Array], digits: int = 3) -> list[str]:
    """Mean over grids, and the standard deviation between them where there are several."""
    table = np.array(values)
    middle = [f"{m:.{digits}f}" for m in table.mean(axis=0)]
    if len(table) == 1:
        return middle
    return [f"{m} ({s:.{digits}f})" for m, s in zip(middle, table.std(axis=0, ddof=1))]


def show_12(found: list[dict[str, trials.Errors]], n_points: int) -> None:
    rows = []
    for method in ITERATIVE:
        tables = [
            np.column_stack([p, i])
            for p, i in zip(
                over_grids(found, method, "point"), over_grids(found, method, "iterations")
            )
        ]
        each = [summary(t) for t in tables]
        ours = _grids([e[:6] for e in each]) + _grids([e[6:] for e in each], 1)
        theirs = _numbers(PRINTED_12.get(method))
        rows.append([f"{method}, {len(tables)}", *(f"{a} | {b}" for a, b in zip(ours, theirs))])
    show(
        f"Table 12: {n_points} operating points; ours | the paper's one grid",
        ["method, grids", *COLUMNS],
        rows,
        f"{trials.SIGN} {BETWEEN} On a grid all classifiers share truths and labels, so "
        "errors move together: the means differ from seed to seed.",
    )


def show_14(found: list[dict[str, trials.Errors]], n_points: int, folder: str) -> None:
    rows, joint = [], []
    for method in found[0]:
        tables = over_grids(found, method, "mean")
        printed = PRINTED_14.get(method, (None, None))
        for what, theirs in zip(("mean", "std"), printed):
            ours = _grids(
                [t.mean(axis=0) if what == "mean" else t.std(axis=0, ddof=1) for t in tables]
            )
            beside = [f"{v}" for v in theirs] if theirs else ["-"] * 5
            rows.append([f"{method}: {what}", *(f"{a} | {b}" for a, b in zip(ours, beside))])
        ours_joint = [_grids([joint_spread(t, pair) for t in tables]) for pair in PAIRS.values()]
        beside_joint = PRINTED_JOINT.get(method)
        cells = [
            f"{', '.join(o)} | {', '.join(map(str, beside_joint[k])) if beside_joint else '-'}"
            for k, o in enumerate(ours_joint)
        ]
        joint.append([method, *cells])
    show(
        f"Figure 14: errors of the conditional means over {n_points} operating points; ours "
        "| the paper's one grid",
        ["method", *trials.HEADS],
        rows,
        f"{trials.SIGN} {BETWEEN}",
    )
    show(
        "Figures 15 and 16: semi-axes of the ellipse that holds .6827 of the errors; ours | "
        "printed",
        ["method", *PAIRS],
        joint,
        "The paper calls its numbers square roots of the covariance's eigenvalues, but they "
        "exceed what its own Figure 14 allows; as semi-axes they fit.",
    )
    _figure_14(found[0], folder)
    for number, (title, pair) in zip((15, 16), PAIRS.items()):
        _figure_joint(found[0], number, title, pair, folder)


def _figure_14(found: dict[str, trials.Errors], folder: str) -> None:
    with figure(folder, "su-figure-14", ncols=5, sharey=True, figsize=(12, 4)) as axes:
        for k, ax in enumerate(axes):
            for row, errors in enumerate(found.values()):
                values = np.array(errors.mean)[:, k]
                ax.plot(values, np.full(len(values), -row), ".", color="#bbbbbb", ms=3)
                ax.errorbar(
                    values.mean(), -row, xerr=2 * values.std(), fmt="o", color="#0072B2", capsize=3
                )
            ax.axvline(0, color="black", lw=0.6)
            ax.set(
                title=trials.HEADS[k],
                xlabel="error (mean, 2 std)",
                yticks=-np.arange(len(found)),
                yticklabels=list(found),
            )
            ax.set_xscale("symlog", linthresh=0.05)
            ax.set_xticks([-0.5, -0.05, 0, 0.05, 0.5], ["-.5", "-.05", "0", ".05", ".5"])


def _figure_joint(
    found: dict[str, trials.Errors], number: int, title: str, pair: tuple[int, int], folder: str
) -> None:
    with figure(
        folder, f"su-figure-{number}", nrows=2, ncols=-(-len(found) // 2), figsize=(11, 6)
    ) as axes:
        turn = np.linspace(0, 2 * np.pi, 100)
        for ax, (method, errors) in zip(axes.flat, found.items()):
            values = np.array(errors.mean)[:, pair]
            ax.plot(*values.T, ".", color="#bbbbbb", ms=3)
            root = np.linalg.cholesky(np.cov(values.T) + 1e-12 * np.eye(2))
            for radius in np.sqrt(RADII):
                ellipse = values.mean(axis=0)[:, None] + radius * root @ np.array(
                    [np.cos(turn), np.sin(turn)]
                )
                ax.plot(*ellipse, color="#0072B2", lw=1)
            ax.set_title(method, fontsize=8)
            ax.set(xlabel=f"error {trials.HEADS[pair[0]]}", ylabel=f"error {trials.HEADS[pair[1]]}")
        for ax in axes.flat[len(found) :]:
            ax.axis("off")
        axes.flat[0].figure.suptitle(f"Figure {number}: {title}; scales differ")
