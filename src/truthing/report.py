"""Report: what was found, assumed and warned of, as data; rendering is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from truthing.display import renderer
from truthing.errors import InputError
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.counts import AREAS, Tally, evaluate, metric_names
from truthing.metrics.curves import BestThreshold, Curve
from truthing.metrics.estimate import Estimate
from truthing.metrics.joint import JointDensity
from truthing.metrics.ordinal import ORDINAL
from truthing.metrics.words import share
from truthing.per_item import PerItem
from truthing.progress import Progress, listener
from truthing.requirements import Judged, Requirement, needed_ratio
from truthing.results import Result, written
from truthing.survey.slices import SliceEstimate, slice_estimates
from truthing.truth.outcome import NoiseSummary, Outcome


class Answer(Protocol):
    """What a method found: an estimate of any metric, and the confusion matrix."""

    @property
    def confusion(self) -> ConfusionMatrix: ...

    def estimate(self, name: str) -> Estimate: ...


class CurveSource(Protocol):
    """What scores add: curves, areas and the best threshold."""

    def roc(self) -> Curve: ...
    def pr(self) -> Curve: ...
    def estimate(self, name: str) -> Estimate: ...
    def best_threshold(
        self, metric: str = ..., *, cost: tuple[float, float] | None = ...
    ) -> BestThreshold: ...


@dataclass(frozen=True, eq=False)
class Report(PerItem, Judged, Result):
    """The grade of a classifier. ``report["accuracy"]`` is an Estimate; ``print(report)`` is
    worth reading.
    """

    kind = "grade"
    outcome: Outcome
    classes: tuple[Any, ...]
    positive: int | None
    items: Sequence[Any]
    method: str
    target: str
    seed: int
    sizes: Mapping[str, int]
    dropped: Mapping[str, int]
    face_value: Tally
    cut: float | None = None
    shown: Sequence[str] | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    gold_alone: Any = None
    slice_sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    at_deployment: bool = False

    @property
    def noise(self) -> NoiseSummary:
        """The noise model used or learned."""
        found = self.outcome.noise
        return found or NoiseSummary("none", (), None, np.full(len(self.classes), np.nan))

    @property
    def warnings(self) -> list[str]:
        """What may be wrong with this answer, in sentences."""
        return self.outcome.warnings

    @property
    def assumptions(self) -> list[str]:
        """What was taken for granted, in sentences."""
        return self.outcome.assumptions

    @property
    def diagnostics(self) -> Mapping[str, Any]:
        return self.outcome.diagnostics

    @property
    def curves(self) -> CurveSource | None:
        """What the scores add, if there are any."""
        source: CurveSource | None = self.outcome.curves
        return source

    def __getitem__(self, name: str) -> Estimate:
        cache = self._cache
        if name not in cache:
            if name in AREAS:
                cache[name] = self._curve_source(name).estimate(name)
            else:
                cache[name] = self.outcome.answer.estimate(name)
        return cache[name]

    @cached_property
    def _cache(self) -> dict[str, Any]:
        return {}

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics shown unasked."""
        if self.shown is not None:
            return list(self.shown)
        return [
            *metric_names(self.classes, self.positive),
            *(AREAS if self.curves is not None else []),
        ]

    @property
    def confusion(self) -> ConfusionMatrix:
        return self.outcome.answer.confusion

    def expected_width(self, n_gold: int, level: float = 0.95) -> float:
        """How wide the interval of the accuracy will be with so many more random gold items."""
        if self.outcome.more_gold is None:
            raise InputError(
                "the width with more gold is foretold for the default answer only, without "
                "clusters, weights, slices, erring gold and another prevalence."
            )
        return float(self.outcome.more_gold.width(n_gold, level))

    def by_slice(self, metric: str = "accuracy") -> list[SliceEstimate]:
        """The metric in each slice that ``by=`` makes, partially pooled."""
        if metric in AREAS and self.outcome.slices:
            raise InputError(f"{metric} is not computed for slices: choose another metric.")
        found = {name: a.estimate(metric) for name, a in self.outcome.slices.items()}
        return slice_estimates(metric, found, self.slice_sizes) if found else []

    def worst_slice(self, metric: str = "accuracy") -> SliceEstimate:
        """The slice that is most probably the worst, with that probability."""
        found = self.by_slice(metric)
        if not found:
            raise InputError("there are no slices: give `by=...`.")
        return max(found, key=lambda each: each.probability_worst)

    def at_face_value(self, name: str) -> float:
        """The metric against the labels as they are: what one would report without this library."""
        if name in (*ORDINAL, *AREAS):
            return float(self.diagnostics.get("face_value", {}).get(name, float("nan")))
        return float(evaluate(name, self.face_value, classes=self.classes, positive=self.positive))

    def roc(self) -> Curve:
        """ROC curve with its band."""
        return self._curve_source("the ROC curve").roc()

    def pr(self) -> Curve:
        """Precision-recall curve with its band."""
        return self._curve_source("the PR curve").pr()

    def best_threshold(
        self, metric: str = "f1", *, cost: tuple[float, float] | None = None
    ) -> BestThreshold:
        """The threshold that is best for a metric, or for ``cost`` = (of a false alarm, of a
        miss), with its uncertainty.
        """
        return self._curve_source("the best threshold").best_threshold(metric, cost=cost)

    def operating_point(self, curve: Curve) -> tuple[float, float]:
        """Where the predictions stand on a curve: at their cut of the scores, or where they are no
        cut, beside the curve.
        """
        if self.cut is not None:
            known = np.flatnonzero(~(np.isnan(curve.x) | np.isnan(curve.y)))
            at = known[np.argmin(np.abs(curve.thresholds[known] - self.cut))]
            return float(curve.x[at]), float(curve.y[at])
        names = ("false_alarm", "recall") if curve.kind == "roc" else ("recall", "precision")
        return self[names[0]].mean, self[names[1]].mean

    def _curve_source(self, what: str) -> CurveSource:
        if self.curves is None:
            raise InputError(
                f"{what} needs scores of two classes: give `scores=...`, or predictions with a "
                "score column."
            )
        return self.curves

    def joint(self, first: str = "recall", second: str = "false_alarm") -> JointDensity:
        """Joint posterior of two metrics, e.g. (recall, false_alarm) or (precision, recall),
        with its credible regions.
        """
        if self.outcome.joint is not None:
            closed = self.outcome.joint(first, second)
            if closed is not None:
                return closed
        tally = self.outcome.answer.confusion.tally
        x, y = (
            evaluate(name, tally, classes=self.classes, positive=self.positive)
            for name in (first, second)
        )
        return JointDensity.from_draws(np.asarray(x), np.asarray(y))

    def sensitivity(self, level: float = 0.95, *, progress: bool | Progress = False) -> Any:
        """How accuracy moves with what was assumed: panel error, dependence of labelers,
        mistakes that the classifier repeats.
        """
        if self.outcome.sensitivity is None:
            raise InputError(
                "sensitivity belongs to method='posterior': the papers' methods assume their "
                "noise model."
            )
        if "sensitivity" not in self._cache:
            self._cache["sensitivity"] = self.outcome.sensitivity(level, listener(progress))
        return self._cache["sensitivity"].at(level)

    @property
    def sensitivity_is_known(self) -> bool:
        """Has `sensitivity` been run? It is run once and kept."""
        return "sensitivity" in self._cache

    def by_gold_alone(self, names: Sequence[str]) -> list[tuple[str, Estimate]]:
        """These metrics as gold by itself would have them, where it can."""
        if self.gold_alone is None or self.method != "posterior":
            return []
        found = [(name, self.gold_alone[name]) for name in names if name not in AREAS]
        return [(name, estimate) for name, estimate in found if len(estimate.values)]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The JSON object of the contract."""
        limits = self.confusion.interval(level) if self.confusion.kept is None else None
        return {
            "metrics": {name: _as_dict(self[name], level) for name in self.metrics},
            "confusion": {
                "classes": list(self.classes),
                "mean": self.confusion.mean.tolist(),
                # of very many classes only the mean is kept
                "low": None if limits is None else limits[0].tolist(),
                "high": None if limits is None else limits[1].tolist(),
            },
            "items": self.sizes["items"],
            "labelers": self.sizes["labelers"],
            "labels": self.sizes["labels"],
            "gold": self.sizes["gold"],
            "gold_alone": {
                name: _as_dict(estimate, level)
                for name, estimate in self.by_gold_alone(self.metrics[:MOST_ALONE])
            },
            "dropped": dict(self.dropped),
            "method": self.method,
            "target": self.target,
            "positive": None if self.positive is None else self.classes[self.positive],
            "noise": {
                "model": self.noise.model,
                "learned": self.noise.learned,
                "prior": self.noise.prior.tolist(),
                "labelers": list(self.noise.labelers),
                "confusion": None
                if self.noise.confusion is None
                else self.noise.confusion.tolist(),
            },
            "slices": [
                each.to_dict(level)
                for name in self.metrics
                if name not in AREAS
                for each in self.by_slice(name)
            ],
            "diagnostics": dict(self.diagnostics),
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "seed": self.seed,
        }

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each metric: estimate, limits, face value and level, as a polars table."""
        import polars as pl

        rows = [
            (name, self[name].mean, *self[name].interval(level), self.at_face_value(name), level)
            for name in self.metrics
        ]
        heads = ["metric", "estimate", "low", "high", "at_face_value", "level"]
        return pl.DataFrame(rows, schema=heads, orient="row").fill_nan(None)

    def to_html(  # type: ignore[override]  # says what may be asked
        self,
        path: Any = None,
        *,
        level: float = 0.95,
        sensitivity: bool = False,
        terms: str = "usual",
        requirements: Sequence[Any] = (),
        progress: bool | Progress = False,
    ) -> str:
        """The report as one HTML page that needs no network; written when a path is given.

        ``level`` is shown first and can be switched on the page; ``sensitivity`` adds what the
        assumptions do (a few more runs);
        ``terms="medical"`` speaks of sensitivity and specificity; ``requirements`` are verdicts of
        `require` to show.
        """
        if sensitivity:
            self.sensitivity(progress=progress)
        page = renderer("page").to_html(
            self, level=level, sensitivity=sensitivity, terms=terms, requirements=requirements
        )
        return written(page, path)

    def plot(
        self, kind: str = "metrics", ax: Any = None, *, level: float = 0.95, **options: Any
    ) -> Any:
        """A picture on matplotlib axes, which are returned: metrics, density (of ``metric=``),
        confusion, roc, pr, labelers or sensitivity.
        """
        return renderer("figures").plot(self, kind, ax, level=level, **options)

    def __str__(self) -> str:
        """The verdict and the metrics as plain text."""
        lines = [self.verdict()]
        for name in self.metrics[:12]:
            naive = self.at_face_value(name)
            lines.append(
                f"{name:<24} {self[name]}"
                + ("" if naive != naive else f"   at face value {naive:.3f}")
            )
        lines += [f"Assumed: {a}" for a in self.assumptions] + [
            f"Warning: {w}" for w in self.warnings
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"<Report: {self.method}, {self.sizes['items']:,} items, accuracy {self['accuracy']}>"
        )

    def verdict(self, level: float = 0.95) -> str:
        """A sentence or two for a person."""
        accuracy, naive = self["accuracy"], self.at_face_value("accuracy")
        where = (
            f"on these {self.sizes['items']:,} items"
            if self.target == "sample"
            else "on new data like these"
        )
        if self.at_deployment:
            where = "at the class shares of deployment"
        if len(accuracy.values) == 1:
            text = f"Accuracy {accuracy.mean:.1%} {where}, by a method that gives no interval."
        else:
            found = share(accuracy.mean, *accuracy.interval(level), level)
            text = f"Accuracy {found} {where}."
        text += "".join(f" {words}" for words in self._gold_words())
        points = 100 * (accuracy.mean - naive)
        if abs(points) < 0.5:
            return f"{text} The labels taken at face value say {naive:.0%} too."
        size = f"{points:.0f} point{'' if round(points) == 1 else 's'}"
        blame = (
            f"wrong labels account for the difference of {size}"
            if points > 0
            else "where labels and classifier make the same mistakes, it looks too good"
        )
        return text + f" The labels taken at face value would say {naive:.0%}: {blame}."

    def _gold_words(self) -> list[str]:
        """How gold was chosen, where that is not a random choice."""
        kind = self.diagnostics.get("gold_choice")
        if kind == "seen":
            return ["Gold was not a random choice; the answer corrects for what was seen."]
        if kind == "chances":
            return ["Gold was chosen with the chances given."]
        if kind == "unseen":
            return ["Gold was chosen by something unseen: this interval rests on labels alone."]
        return []

    # ---- requirements ----------------------------------------------------------------------------

    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        return self[requirement.metric]

    def requirement_advice(
        self, requirement: Requirement, estimate: Estimate, needed: float
    ) -> str:
        more = renderer("words").gold_to_narrow(self, needed_ratio(requirement, estimate, needed))
        return str(more)


MOST_ALONE = 30  # metrics


def _as_dict(estimate: Estimate, level: float) -> dict[str, float]:
    low, high = estimate.interval(level)
    return {
        "mean": estimate.mean,
        "mode": estimate.mode,
        "low": low,
        "high": high,
        "level": level,
        "undefined": estimate.undefined,
    }
