"""Every picture of the report on matplotlib axes: each function takes ``ax`` (or makes one) and
returns it.

Colours are from Okabe and Ito's palette, which colour-blind readers can tell apart; shapes differ
too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.metrics.curves import Curve
from truthing.metrics.words import percent
from truthing.progress import Progress
from truthing.render.summary import Line, Summary, scale, sensitivity_lines
from truthing.render.words import metric_title, one_line
from truthing.report import Report


@dataclass(frozen=True)
class Picture:
    """What draws on axes, its caption ready for a paper, and its size in inches."""

    draw: Callable[[Any], Any]
    caption: str
    width: float
    height: float


BLUE, ORANGE, GREY, LIGHT = "#0072B2", "#D55E00", "#666666", "#dddddd"
ARROW = 0.008


def plot(
    report: Report, kind: str = "metrics", ax: Any = None, *, level: float = 0.95, **options: Any
) -> Any:
    """One of the pictures by name."""
    if kind not in PICTURES:
        raise InputError(
            f"no picture is called {kind!r}.{did_you_mean(kind, PICTURES)} Choose "
            f"{', '.join(PICTURES)}."
        )
    return PICTURES[kind](report, ax, level=level, **options)


def pictures(report: Report, level: float = 0.95, terms: str = "usual") -> dict[str, Picture]:
    """Every picture of a grade that can be drawn without another run."""
    summary = Summary(report, (level,), terms)
    at, size = f"{percent(level)} interval", max(3.2, 0.85 * len(summary.busiest_classes))
    sizes = report.sizes
    data = f"{sizes['items']:,} items, {sizes['labels']:,} labels, {sizes['gold']:,} gold"
    captions = {
        "metrics": (
            f"Metrics of the classifier ({data}): corrected for mistakes of the labelers, with "
            f"{at}s (blue), and against the labels taken at face value (orange rings).",
            7,
            1 + 0.34 * len(summary.metrics),
        ),
        "density": (
            f"Posterior of accuracy ({data}). Filled: its {at}. Dashed: accuracy against the "
            f"labels taken at face value.",
            5,
            2.6,
        ),
        "confusion": (
            f"Expected number of items by true class (rows) and predicted class (columns), with "
            f"{at}s.",
            size + 1,
            size,
        ),
    }
    if report.curves is not None and report.positive is not None:
        for name, words in (("roc", "ROC"), ("pr", "Precision-recall")):
            captions[name] = (
                f"{words} curve of the classifier's scores, corrected for mistakes of the "
                f"labelers, with a {percent(level)} band. Square: the threshold of the "
                f"predictions.",
                4.4,
                4.4,
            )
    if summary.labelers:
        captions["labelers"] = (
            f"Share of wrong labels of each labeler, with {at}s.",
            6,
            1 + 0.3 * len(summary.labelers),
        )
    if report.sensitivity_is_known:
        rows = len(report.sensitivity(level).rows)
        captions["sensitivity"] = (
            "Accuracy when one assumption at a time takes another value.",
            7.5,
            1 + 0.3 * rows,
        )
    terms_of = {name: {"terms": terms} for name in ("metrics", "roc", "pr")}

    def drawer(name: str) -> Callable[[Any], Any]:
        return lambda ax: PICTURES[name](report, ax, level=level, **terms_of.get(name, {}))

    return {name: Picture(drawer(name), *rest) for name, rest in captions.items()}


def metrics(report: Report, ax: Any = None, *, level: float = 0.95, terms: str = "usual") -> Any:
    """Estimates with intervals, and arrows that lead there from the values at face value."""
    lines = Summary(report, (level,), terms).metrics
    ax = new_axes(ax, 7, 1 + 0.34 * len(lines))
    draw_lines(ax, lines)
    for k, line in enumerate(lines):
        if line.known and line.face_value == line.face_value:
            if abs(line.face_value - line.mean) > ARROW:
                ax.annotate(
                    "",
                    (line.mean, k - 0.28),
                    (line.face_value, k - 0.28),
                    arrowprops={
                        "arrowstyle": "-|>",
                        "color": ORANGE,
                        "shrinkA": 3,
                        "shrinkB": 0,
                        "lw": 1.2,
                    },
                )
            ax.plot(line.face_value, k - 0.28, "o", mfc="white", mec=ORANGE, ms=5)
    ax.plot([], [], "o", color=BLUE, label=f"corrected, {percent(level)} interval")
    ax.plot([], [], "o", mfc="white", mec=ORANGE, label="labels at face value")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    return ax


def density(
    report: Report, ax: Any = None, *, level: float = 0.95, metric: str = "accuracy"
) -> Any:
    """The whole posterior of one metric, its interval filled."""
    estimate = report[metric]
    ax = new_axes(ax, 5, 2.6)
    grid, height = estimate.density()
    low, high = estimate.interval(level)
    inside = (grid >= low) & (grid <= high)
    if len(grid) > 1:
        ax.fill_between(grid, height, color=BLUE, alpha=0.15, lw=0)
        ax.fill_between(
            grid[inside],
            height[inside],
            color=BLUE,
            alpha=0.4,
            lw=0,
            label=f"{percent(level)} interval",
        )
    ax.axvline(estimate.mean, color=BLUE, label="mean")
    naive = report.at_face_value(metric)
    if naive == naive:
        ax.axvline(naive, color=ORANGE, ls="--", label="at face value")
    ax.set(xlabel=_plain(metric_title(report, metric)), yticks=[], ylim=(0, None))
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    return ax


def confusion(report: Report, ax: Any = None, *, level: float = 0.95) -> Any:
    """Expected counts by truth and prediction with intervals; colour is the share of the row.
    With many classes, the busiest.
    """
    summary = Summary(report, (level,))
    kept = summary.busiest_classes
    names = [_plain(one_line(report.classes[c], 16)) for c in kept]
    size = max(3.2, 0.85 * len(kept))
    ax = new_axes(ax, size + 1, size)
    mean = report.confusion.mean
    low, high = report.confusion.interval(level)
    share = mean / np.maximum(mean.sum(axis=1, keepdims=True), 1e-12)
    ax.imshow(
        share[np.ix_(kept, kept)], cmap="Blues", vmin=0, vmax=1.6
    )  # past 1 so that black words stay readable
    for row, t in enumerate(kept):
        for column, p in enumerate(kept):
            ax.text(
                column,
                row,
                f"{mean[t, p]:,.0f}\n{low[t, p]:,.0f}–{high[t, p]:,.0f}",
                ha="center",
                va="center",
                size="small",
            )
    ax.set_xticks(range(len(kept)), names, rotation=45 if len(kept) > 5 else 0)
    ax.set_yticks(range(len(kept)), names)
    dropped = len(report.classes) - len(kept)
    ax.set(
        xlabel="predicted",
        ylabel="truth",
        title=f"{len(kept)} busiest of {len(report.classes):,} classes" if dropped else "",
    )
    ax.spines[:].set_visible(False)
    return ax


def roc(report: Report, ax: Any = None, *, level: float = 0.95, terms: str = "usual") -> Any:
    """ROC curve with its band and the operating point of the predictions."""
    ax = new_axes(ax, 4.4, 4.4)
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":")
    return _curve(report, report.roc(), ("false_alarm", "recall"), ax, level, terms)


def pr(report: Report, ax: Any = None, *, level: float = 0.95, terms: str = "usual") -> Any:
    """Precision-recall curve with its band and the operating point of the predictions."""
    ax = new_axes(ax, 4.4, 4.4)
    return _curve(report, report.pr(), ("recall", "precision"), ax, level, terms)


def labelers(report: Report, ax: Any = None, *, level: float = 0.95) -> Any:
    """How often each labeler errs, best first; of many both ends."""
    found = Summary(report, (level,)).labelers
    if not found:
        raise InputError(
            "nothing is known about single labelers: this noise model has no confusion matrices."
        )
    ax = new_axes(ax, 6, 1 + 0.3 * len(found))
    draw_lines(ax, [labeler.error for labeler in found])
    ax.set(xlabel="error", xlim=(0, scale([labeler.error for labeler in found])[1]))
    return ax


def sensitivity(
    report: Report, ax: Any = None, *, level: float = 0.95, progress: bool | Progress = False
) -> Any:
    """Accuracy when one assumption at a time takes another value; run once and kept."""
    blocks = sensitivity_lines(report.sensitivity(level, progress=progress), (level,))
    lines = [
        replace(line, title=f"{assumption}: {line.title}")
        for assumption, some in blocks.items()
        for line in some
    ]
    ax = new_axes(ax, 7.5, 1 + 0.3 * len(lines))
    draw_lines(ax, lines, most=90)
    ax.set(xlabel="accuracy", xlim=scale(lines))
    return ax


PICTURES: dict[str, Callable[..., Any]] = {
    "metrics": metrics,
    "density": density,
    "confusion": confusion,
    "roc": roc,
    "pr": pr,
    "labelers": labelers,
    "sensitivity": sensitivity,
}


def new_axes(ax: Any, width: float, height: float) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'truthing[plot]'.") from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def draw_lines(ax: Any, lines: list[Line], most: int = 40) -> None:
    """Dots with bars, the first on top."""
    place: Array = np.arange(len(lines))
    for k, line in enumerate(lines):
        if line.known:
            for low, high in line.limits[:1]:
                ax.plot([low, high], [k, k], color=BLUE, alpha=0.5, lw=4, solid_capstyle="round")
            ax.plot(line.mean, k, "o", color=BLUE, ms=5)
    ax.set_yticks(place, [_plain(one_line(line.title, most)) for line in lines])
    ax.set(
        xlim=(min([0.0, *(low for line in lines for low, _ in line.limits[:1])]), 1),
        ylim=(len(lines) - 0.4, -0.7),
    )
    ax.grid(axis="x", color=LIGHT, lw=0.8)
    ax.set_axisbelow(True)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def _curve(
    report: Report, found: Curve, named: tuple[str, str], ax: Any, level: float, terms: str
) -> Any:
    low, high = found.band(level)
    order = np.argsort(found.x, kind="stable")
    ax.fill_between(
        found.x[order],
        low[order],
        high[order],
        color=BLUE,
        alpha=0.2,
        lw=0,
        label=f"{percent(level)} band",
    )
    ax.plot(found.x, found.y, color=BLUE)
    ax.plot(*report.operating_point(found), "s", color="black", ms=6, label="predictions as given")
    across, up = (_plain(metric_title(report, name, terms=terms)) for name in named)
    ax.set(xlabel=across, ylabel=up, xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
    ax.grid(color=LIGHT, lw=0.8)
    ax.spines[["right", "top"]].set_visible(False)
    ax.legend(frameon=False, loc="lower center", fontsize="small")
    return ax


def _plain(text: str) -> str:
    """Dollars would start a formula."""
    return text.replace("$", r"\$")
