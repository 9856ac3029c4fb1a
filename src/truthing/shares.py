"""Prevalence: the share of each class, as `prevalence` found it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.asking import slice_sizes
from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.metrics.difference import Difference
from truthing.metrics.estimate import Estimate, as_dict
from truthing.metrics.ordinal import scale_values
from truthing.metrics.words import share
from truthing.requirements import Judged, Requirement, gold_enough, needed_ratio
from truthing.results import Result
from truthing.survey.slices import SliceEstimate, slice_estimates
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.question import Question


@dataclass(frozen=True, eq=False)
class Prevalence(Judged, Result):
    """The share of each class: ``result["pass"]`` is an Estimate."""

    kind = "rate"
    classes: tuple[Any, ...]
    draws: Array
    face_value: Array
    target: str
    sizes: Mapping[str, int]
    noise: NoiseSummary | None
    truth: Array
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    slices: Mapping[str, Array] = field(default_factory=dict)  # draws × classes of each
    slice_sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    values: Array | None = None  # of grades on a scale
    slack: float = 1.0  # of its intervals
    gold_draws: Array | None = None  # what gold by itself would say

    @property
    def gold_alone(self) -> dict[Any, Estimate]:
        """Each class's share as gold by itself would have it; empty without gold."""
        if self.gold_draws is None:
            return {}
        return {c: Estimate.from_draws(d) for c, d in zip(self.classes, self.gold_draws.T)}

    def __getitem__(self, name: Any) -> Estimate:
        return Estimate.from_draws(self.draws[:, self._place(name)], slack=self.slack)

    def _place(self, name: Any) -> int:
        same = [k for k, c in enumerate(self.classes) if c == name or str(c) == str(name)]
        if not same:
            raise InputError(f"no class is called {name!r}.{did_you_mean(str(name), self.classes)}")
        return same[0]

    @property
    def mean_score(self) -> Estimate:
        """The mean of the true grades; where classes are numbers, or scale="ordinal"."""
        values = scale_values(self.classes) if self.values is None else self.values
        ends = (float(values.min()), float(values.max()))
        # beside gold each class is drawn towards gold alone by itself: a draw need not add up to 1
        whole = self.draws / self.draws.sum(axis=1, keepdims=True)
        return Estimate.from_draws(whole @ values, support=ends, slack=self.slack)

    @property
    def headline_class(self) -> Any:
        """The class that sentences are about: of two the second, else the most frequent."""
        k = 1 if len(self.classes) == 2 else int(self.draws.mean(axis=0).argmax())
        return self.classes[k]

    def by_slice(self, name: Any = None) -> list[SliceEstimate]:
        """The share of a class in each slice that ``by=`` makes, partially pooled."""
        name = self.headline_class if name is None else name
        place = self._place(name)
        found = {
            s: Estimate.from_draws(draws[:, place], slack=self.slack)
            for s, draws in self.slices.items()
        }
        return slice_estimates(str(name), found, self.slice_sizes) if found else []

    def worst_slice(self, name: Any = None) -> SliceEstimate:
        """The slice with most probably the lowest share of a class."""
        found = self.by_slice(name)
        if not found:
            raise InputError("there are no slices: give `by=...`.")
        return max(found, key=lambda each: each.probability_worst)

    def difference(
        self, name: Any = None, first: str | None = None, second: str | None = None
    ) -> Difference:
        """The share of a class in one slice minus that in another: two systems, one panel."""
        name = self.headline_class if name is None else name
        slices = list(self.slices)
        if first is None or second is None:
            if len(slices) != 2:
                raise InputError(
                    f"there are {len(slices)} slices: say which two, difference({name!r}, 'a', "
                    "'b')."
                )
            first, second = slices
        for each in (first, second):
            if each not in slices:
                raise InputError(f"no slice is called {each!r}.{did_you_mean(each, slices)}")
        place = self._place(name)
        both = self.slices[first][:, place], self.slices[second][:, place]
        return Difference.between(both, (first, second), str(name), self.slack)

    def verdict(self, level: float = 0.95) -> str:
        """A sentence for a person: of two classes about the second, else about the most
        frequent.
        """
        name = self.headline_class
        k, estimate = self._place(name), self[name]
        where = (
            f"these {self.sizes['items']:,} items"
            if self.target == "sample"
            else "new data like these"
        )
        found = share(estimate.mean, *estimate.interval(level), level)
        return (
            f"{found} of {where} are {name}. "
            f"The labels taken at face value say {self.face_value[k]:.0%}."
        )

    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        return self[requirement.metric]

    def requirement_advice(
        self, requirement: Requirement, estimate: Estimate, needed: float
    ) -> str:
        spread = float(np.sqrt(estimate.mean * (1 - estimate.mean)))
        ratio = needed_ratio(requirement, estimate, needed)
        return gold_enough(spread, estimate, ratio, self.sizes["gold"], self.sizes["items"])

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each class: estimate, limits, face value and level, as a polars table."""
        import polars as pl

        rows = [
            (str(c), self[c].mean, *self[c].interval(level), float(naive), level)
            for c, naive in zip(self.classes, self.face_value)
        ]
        heads = ["class", "estimate", "low", "high", "at_face_value", "level"]
        return pl.DataFrame(rows, schema=heads, orient="row")

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        shares = {
            str(c): {**as_dict(self[c], level), "face_value": float(self.face_value[k])}
            for k, c in enumerate(self.classes)
        }
        scored = {}
        if self.values is not None:
            mean = as_dict(self.mean_score, level)
            scored = {"mean_score": {**mean, "face_value": float(self.face_value @ self.values)}}
        alone = {str(c): as_dict(estimate, level) for c, estimate in self.gold_alone.items()}
        return {
            "prevalence": shares,
            "gold_alone": alone,
            **scored,
            **self.sizes,
            "slices": [each.to_dict(level) for c in self.classes for each in self.by_slice(c)],
            "target": self.target,
            "assumptions": self.assumptions,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        lines = [
            f"{c!s:<20} {self[c]}   at face value {self.face_value[k]:.3f}"
            for k, c in enumerate(self.classes)
        ]
        return "\n".join(
            lines
            + [f"Assumed: {a}" for a in self.assumptions]
            + [f"Warning: {w}" for w in self.warnings]
        )


def require_two_classes(classes: tuple[Any, ...]) -> None:
    """One class is no question."""
    if len(classes) < 2:
        raise InputError(
            f"only one class occurs ({classes[0]!r}): its share is 1 by definition. "
            "Check the labels."
        )


def as_prevalence(
    outcome: Outcome,
    question: Question,
    face: Array,
    counted: Mapping[str, int],
    warnings: list[str],
    assumptions: list[str],
) -> Prevalence:
    """What was found, as a result."""
    alone = getattr(outcome.answer, "gold_alone", None)
    return Prevalence(
        question.classes,
        outcome.answer.shares(),
        face,
        question.target,
        counted,
        outcome.noise,
        outcome.truth,
        warnings,
        [*assumptions, *outcome.assumptions],
        outcome.diagnostics,
        {name: answer.shares() for name, answer in outcome.slices.items()},
        slice_sizes(question),
        question.values,
        getattr(outcome.answer, "slack", 1.0),
        None if alone is None else alone.shares(),
    )
