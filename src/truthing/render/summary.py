"""What of a report is shown: the same choice for the page and the pictures, small at any size
of the data, and said when it is a choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.estimate import Estimate, credible_interval
from truthing.noise.bits import entropy
from truthing.render.console import safe
from truthing.render.words import metric_title, one_line, short_names
from truthing.report import Report
from truthing.truth.sensitivity import Sensitivity

LEVELS = (0.8, 0.9, 0.95, 0.99)
MOST_METRICS, MOST_CLASSES, MOST_CELLS, MOST_LABELERS, MOST_POINTS, MOST_SENTENCES = (
    56,
    15,
    30,
    30,
    160,
    40,
)
Limits = list[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """One number to show: its mean, its limits at each level, and what it would be at face
    value.
    """

    title: str
    mean: float
    limits: Limits
    face_value: float = float("nan")
    undefined: float = 0.0

    @property
    def known(self) -> bool:
        return self.mean == self.mean

    @classmethod
    def of(
        cls,
        title: str,
        estimate: Estimate,
        levels: Sequence[float],
        face_value: float = float("nan"),
    ) -> Line:
        return cls(
            title,
            estimate.mean,
            [estimate.interval(level) for level in levels],
            face_value,
            estimate.undefined,
        )


def sensitivity_lines(found: Sensitivity, levels: Sequence[float]) -> dict[str, list[Line]]:
    """Accuracy at each value of each assumption. A line without limits is a formula: it has no
    interval, and says so.
    """
    blocks: dict[str, list[Line]] = {}
    for row in found.rows:
        title = "as learned from public panels" if row.value != row.value else f"{row.value:g}"
        line = Line.of(title, row.estimate, levels)
        if len(row.estimate.values) == 1:
            line = replace(line, title=f"{title} (by a formula)", limits=[])
        blocks.setdefault(row.assumption, []).append(line)
    return blocks


def scale(lines: Sequence[Line]) -> tuple[float, float]:
    """Ends of an axis that holds the widest limits and the face values of all lines, at round
    tenths.

    >>> scale([Line("a", 0.25, [(0.21, 0.37)])]), scale([Line("a", 0.25, [(0.21, 0.37)], 0.44)])
    ((0.2, 0.4), (0.2, 0.5))
    """
    ends = [
        end
        for line in lines
        if line.known
        for end in (line.mean, *(line.limits[-1] if line.limits else ()), line.face_value)
        if end == end
    ]
    low, high = (
        math.floor(10 * min(ends, default=0)) / 10,
        math.ceil(10 * max(ends, default=1)) / 10,
    )
    return low, max(high, round(low + 0.1, 1))


@dataclass(frozen=True)
class Cell:
    """Items of one true class predicted as one class."""

    truth: str
    predicted: str
    mean: float
    limits: Limits
    share: float
    right: bool


@dataclass(frozen=True)
class Labeler:
    """How often one labeler errs, what a label of theirs tells as a share of a perfect label, and
    how often they are right on each class.
    """

    error: Line
    tells: float  # share of what a perfect label would tell
    right: list[float]


@dataclass(frozen=True, eq=False)
class Summary:
    """Everything that is drawn, at each of ``levels``."""

    report: Report
    levels: tuple[float, ...] = LEVELS
    terms: str = "usual"

    @cached_property
    def metric_names(self) -> list[str]:
        """The metrics shown: all, or with many classes the overall ones and those of the most
        frequent classes.
        """
        names = self.report.metrics
        if len(names) <= MOST_METRICS:
            return names
        frequent = {str(self.report.classes[c]) for c in self.busiest_classes}
        return [
            n for n in names if "[" not in n or n.partition("[")[2].removesuffix("]") in frequent
        ][:MOST_METRICS]

    @cached_property
    def metrics(self) -> list[Line]:
        report = self.report
        return [
            Line.of(self.title(name), report[name], self.levels, report.at_face_value(name))
            for name in self.metric_names
        ]

    def title(self, name: str) -> str:
        return metric_title(self.report, name, terms=self.terms)

    @cached_property
    def headline(self) -> list[str]:
        """The few metrics whose whole posterior is drawn."""
        wanted = (
            "accuracy",
            "precision",
            "recall",
            "f1",
            "macro_f1",
            "balanced_accuracy",
            "mcc",
            "auc",
        )
        found = [name for name in wanted if name in self.metric_names] or self.metric_names
        return [name for name in found if len(self.report[name].density()[0]) > 1][:6]

    @cached_property
    def busiest_classes(self) -> Array:
        """The classes that are most often true or predicted, in their own order."""
        tally = self.report.confusion.tally
        size = (tally.truth + tally.predicted).reshape(-1, tally.n_classes).mean(axis=0)
        return np.sort(np.argsort(-size, kind="stable")[:MOST_CLASSES])

    @cached_property
    def classes(self) -> list[str]:
        return [one_line(c) for c in self.report.classes[:MOST_CLASSES]]

    @property
    def whole_confusion(self) -> bool:
        return len(self.report.classes) <= MOST_CLASSES

    @cached_property
    def cells(self) -> list[Cell]:
        """The confusion matrix row by row; with many classes only its largest mistakes."""
        confusion, names = self.report.confusion, self.report.classes
        if confusion.kept is not None:  # single cells of so many classes have no limits
            return []
        mean = confusion.draws.mean(axis=0)
        rows = np.bincount(confusion.cells[:, 0], weights=mean, minlength=confusion.n_classes)
        off = confusion.cells[:, 0] != confusion.cells[:, 1]
        if self.whole_confusion:
            chosen = np.arange(len(mean))
        else:
            chosen = np.flatnonzero(off & (mean > 0))
            chosen = chosen[np.argsort(-mean[chosen], kind="stable")[:MOST_CELLS]]
        limits = [credible_interval(confusion.draws[:, chosen], level) for level in self.levels]
        return [
            Cell(
                one_line(names[t]),
                one_line(names[p]),
                float(mean[k]),
                [(float(low[n]), float(high[n])) for low, high in limits],
                float(mean[k] / rows[t]) if rows[t] else 0.0,
                not off[k],
            )
            for n, k in enumerate(chosen)
            for t, p in [confusion.cells[k]]
        ]

    @cached_property
    def labelers(self) -> list[Labeler]:
        """Best first; of many only both ends."""
        noise = self.report.noise
        if noise.confusion is None or not len(noise.labelers):
            return []
        error, bits, most = noise.error_rate, noise.bits, max(float(entropy(noise.prior)), 1e-12)
        order = np.argsort(error, kind="stable")
        if len(order) > MOST_LABELERS:
            order = np.concatenate([order[: MOST_LABELERS // 2], order[-(MOST_LABELERS // 2) :]])
        found = [noise.error_interval(level) for level in self.levels]
        names = short_names([noise.labelers[t] for t in order], 48)
        return [
            Labeler(
                Line(
                    name,
                    float(error[t]),
                    [
                        (float(limit[0][t]), float(limit[1][t]))
                        for limit in found
                        if limit is not None
                    ],
                ),
                float(bits[t] / most),
                [float(noise.confusion[t, c, c]) for c in range(min(len(self.report.classes), 6))],
            )
            for t, name in zip(order, names)
        ]

    @cached_property
    def pairs(self) -> list[dict[str, Any]]:
        """Pairs of raters that agree more than independence allows."""
        return [
            {**pair, "first": one_line(pair["first"]), "second": one_line(pair["second"])}
            for pair in self.report.diagnostics.get("pairs", [])
            if pair["z"] > 0 and pair["p"] < 0.05
        ]

    def sentences(self, lines: Sequence[str]) -> list[str]:
        """Assumptions or warnings; a flood of them is cut and counted."""
        shown = [safe(line, 1000) for line in lines[:MOST_SENTENCES]]
        left = len(lines) - len(shown)
        return [*shown, f"{left:,} more: report.to_json() has them all."] if left else shown

    @cached_property
    def left_out(self) -> list[str]:
        """What was summarised, in sentences."""
        report, sentences = self.report, []
        if len(report.metrics) > len(self.metric_names):
            sentences.append(
                f"{len(self.metric_names)} of {len(report.metrics):,} metrics are shown: the "
                "overall ones and those of frequent classes."
            )
        if not self.whole_confusion:
            sentences.append(
                f"With {len(report.classes):,} classes the confusion matrix is shown by its "
                f"{len(self.cells)} largest mistakes."
            )
        if report.noise.confusion is not None and len(report.noise.labelers) > MOST_LABELERS:
            half = MOST_LABELERS // 2
            sentences.append(
                f"Of {len(report.noise.labelers):,} labelers the {half} best and the {half} "
                "worst are shown."
            )
        return [f"{line} report.to_json() has everything." for line in sentences]
