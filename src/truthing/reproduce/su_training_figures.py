"""Su Figures 19-23: one draw of the Ionosphere experiment in pictures, a panel for each number of
labelers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truthing.reproduce.figures import figure

COLOURS = {"ML": "#0072B2", "MMSE": "#009E73", "Label estimation": "#D55E00", "Voting": "#CC79A7"}
SIZES = {"nrows": 2, "ncols": 2, "figsize": (9, 8)}


def draw(ideal: Any, found: dict[tuple[str, int], Any], folder: str) -> None:
    """``ideal`` and the values of ``found`` are tested classifiers, keyed by method and number of
    labelers.
    """
    _points(ideal, found, folder)
    _curves(ideal, found, folder, "su-figure-20", "estimated ROC curves", _estimated)
    _curves(ideal, found, folder, "su-figure-21", "actual ROC curves", _actual)
    _posterior(found, folder, "su-figure-22", "ML", "roc", ideal)
    _posterior(found, folder, "su-figure-23", "MMSE", "pr", ideal)


def _panels(axes: Any, found: dict[tuple[str, int], Any]) -> Iterator[tuple[Any, int]]:
    for ax, n_labelers in zip(axes.flat, sorted({t for _, t in found})):
        ax.set_title(f"T = {n_labelers}")
        yield ax, n_labelers


def _points(ideal: Any, found: dict[tuple[str, int], Any], folder: str) -> None:
    with figure(folder, "su-figure-19", **SIZES) as axes:
        for ax, t in _panels(axes, found):
            for method, colour in COLOURS.items():
                tested = found[method, t]
                if tested.joint is not None:
                    joint = tested.joint
                    ax.contour(
                        joint.y,
                        joint.x,
                        joint.density,
                        levels=[joint.threshold(0.95)],
                        colors=colour,
                    )
                    ax.plot(
                        *joint.mean[::-1], "o", color=colour, label=f"{method}: mean, 95% region"
                    )
                ax.plot(*tested.actual_point[::-1], "v", color=colour, ms=8, mec="black")
            ax.plot(
                *ideal.actual_point[::-1], "^", color="black", ms=9, label="ideal; ▽ actual points"
            )
            ax.set(xlim=(0.3, 1.02), ylim=(0.3, 1.02), xlabel="recall", ylabel="precision")
        axes.flat[0].legend(frameon=False, fontsize=7, loc="lower left")


def _estimated(tested: Any) -> tuple[Any, Any]:
    curve = tested.curves.roc()
    return curve.x, curve.y


def _actual(tested: Any) -> tuple[Any, Any]:
    from sklearn.metrics import roc_curve

    x, y, _ = roc_curve(tested.truth, tested.scores, drop_intermediate=False)
    return x, y


def _curves(
    ideal: Any, found: dict[tuple[str, int], Any], folder: str, name: str, what: str, points: Any
) -> None:
    with figure(folder, name, **SIZES) as axes:
        for ax, t in _panels(axes, found):
            ax.plot(*_actual(ideal), color="black", lw=1, label="ideal, actual")
            for method, colour in COLOURS.items():
                ax.plot(*points(found[method, t]), color=colour, lw=1.3, label=method)
            ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel="P_FA", ylabel="P_D")
        axes.flat[0].legend(frameon=False, fontsize=8, title=what)


def _posterior(
    found: dict[tuple[str, int], Any], folder: str, name: str, method: str, kind: str, ideal: Any
) -> None:
    """The average over thresholds of the posterior of a point of the curve, with the estimated and
    the actual curve.
    """
    from matplotlib.colors import LogNorm
    from sklearn.metrics import precision_recall_curve

    with figure(folder, name, **SIZES) as axes:
        for ax, t in _panels(axes, found):
            tested = found[method, t]
            curve = tested.curves.roc() if kind == "roc" else tested.curves.pr()
            x, y, density = curve.heat()
            ax.pcolormesh(
                x,
                y,
                np.maximum(density.T, 1e-3),
                norm=LogNorm(1e-3, 1e4),
                cmap="Blues",
                rasterized=True,
            )
            ax.plot(curve.x, curve.y, color="#D55E00", lw=1.3, label=f"{method}, estimated")
            for one, colour, label in (
                (tested, "#009E73", f"{method}, actual"),
                (ideal, "black", "ideal, actual"),
            ):
                if kind == "roc":
                    ax.plot(*_actual(one), color=colour, lw=1, label=label)
                else:
                    precision, recall, _ = precision_recall_curve(one.truth, one.scores)
                    ax.plot(recall[:-1], precision[:-1], color=colour, lw=1, label=label)
            ax.set(
                xlabel="P_FA" if kind == "roc" else "recall",
                ylabel="P_D" if kind == "roc" else "precision",
            )
        axes.flat[0].legend(
            frameon=False, fontsize=8, loc="lower right" if kind == "roc" else "lower left"
        )
