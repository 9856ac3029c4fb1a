"""Several models that give several tags to an item: who is better, by tag and on average."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from truthing.errors import InputError, did_you_mean
from truthing.metrics.difference import Difference
from truthing.metrics.estimate import Estimate, as_dict
from truthing.metrics.words import difference as in_points
from truthing.multi_label.asked import parted, refuse_options
from truthing.multi_label.graded import metric_name
from truthing.multi_label.joint import Coupling
from truthing.multi_label.sets import read_tagged, told
from truthing.multi_label.tagged import Tagged, dependence_words, without_gold
from truthing.requirements import Requirement, if_decided, probability_words

COMPARED = ("macro_f1", "macro_precision", "macro_recall", "hamming_accuracy")


@dataclass(frozen=True, eq=False)
class TagComparison(Tagged):
    """``result.difference("macro_f1", "new", "old")``, also of one tag ("f1[sports]");
    ``result.tags["sports"]`` is the whole `Comparison` of one tag.
    """

    question = "compare"
    tags: Mapping[str, Any]
    models: tuple[str, ...]
    joint: Coupling
    sizes: Mapping[str, int]
    target: str
    seed: int
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)

    def _inner(self, metric: str) -> tuple[str, tuple[str, ...]]:
        """The metric of a tag behind one over tags, and the tags that it is about."""
        name = metric_name(metric, self.tags)
        if name.endswith("]"):
            inner, _, tag = name[:-1].partition("[")
            return inner, (tag,)
        if name not in COMPARED:
            raise InputError(
                f"{name} is not compared: choose {', '.join(COMPARED)}, or a metric of one tag, "
                f"such as f1[{next(iter(self.tags))}]."
            )
        return ("accuracy" if name == "hamming_accuracy" else name.partition("_")[2]), (*self.tags,)

    def inner(self, metric: str) -> str:
        """The metric of one tag behind one over tags."""
        return self._inner(metric)[0]

    def estimate(self, model: str, metric: str = "macro_f1") -> Estimate:
        inner, tags = self._inner(metric)
        self._check(model)
        found = [self.tags[tag].estimate(model, inner) for tag in tags]
        return found[0] if len(tags) == 1 else self.joint.mean(found)

    def difference(
        self, metric: str = "macro_f1", first: str | None = None, second: str | None = None
    ) -> Difference:
        """First minus second; of two models, the one given first minus the other."""
        if first is None or second is None:
            if len(self.models) > 2:
                raise InputError(
                    f"there are {len(self.models)} models: say which two, difference({metric!r}, "
                    "'a', 'b')."
                )
            first, second = first or self.models[0], second or self.models[1]
        self._check(first, second)
        inner, tags = self._inner(metric)
        found = [self.tags[tag].difference(inner, first, second) for tag in tags]
        if len(tags) == 1:
            return found[0]
        mean = self.joint.mean(found)
        pair = mean.draws, 0 * mean.draws
        return Difference.between(pair, (first, second), metric, mean.slack)

    def at_face_value(self, model: str, metric: str = "macro_f1") -> float:
        inner, tags = self._inner(metric)
        values = [self.tags[tag].at_face_value(model, inner) for tag in tags]
        known = [value for value in values if value == value]
        return sum(known) / len(known) if known else float("nan")

    def _check(self, *models: str) -> None:
        for model in models:
            if model not in self.models:
                raise InputError(f"no model is called {model!r}.{did_you_mean(model, self.models)}")

    def best(self, metric: str = "macro_f1") -> str:
        """The model with the highest estimate."""
        return max(self.models, key=lambda model: self.estimate(model, metric).mean)

    def verdict(self, level: float = 0.95, metric: str = "macro_f1") -> str:
        """A sentence or two for a person."""
        best = self.best(metric)
        others = [m for m in self.models if m != best]
        other = max(others, key=lambda model: self.estimate(model, metric).mean)
        gap = self.difference(metric, best, other)
        found = in_points(gap.mean, *gap.interval(level), level)
        words = metric.replace("_", " ")
        chance = gap.probability_better
        return (
            f"{if_decided(chance)}{best} is better than {other} in {words} over {len(self.tags)} "
            f"tags with probability {probability_words(chance)}: {found}."
        )

    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        return self.difference(requirement.metric, requirement.first, requirement.second)

    def pairs(self) -> list[tuple[str, str]]:
        """Every two models."""
        return [(a, b) for k, a in enumerate(self.models) for b in self.models[k + 1 :]]

    def to_frame(self, metric: str = "macro_f1", level: float = 0.95) -> Any:
        """One row for each pair of models: the difference over tags, then in each tag."""
        import polars as pl

        inner, _ = self._inner(metric)
        rows = []
        for name in (metric, *(f"{inner}[{tag}]" for tag in self.tags)):
            for first, second in self.pairs():
                gap = self.difference(name, first, second)
                ends = gap.interval(level)
                rows.append((name, first, second, gap.mean, *ends, gap.probability_better, level))
        heads = ["metric", "first", "second", "difference", "low", "high"]
        return pl.DataFrame(rows, schema=[*heads, "probability_better", "level"], orient="row")

    def to_dict(self, metric: str = "macro_f1", level: float = 0.95) -> dict[str, Any]:
        inner, _ = self._inner(metric)

        def told_of(name: str) -> dict[str, Any]:
            models = {
                m: {
                    **as_dict(self.estimate(m, name), level),
                    "face_value": self.at_face_value(m, name),
                }
                for m in self.models
            }
            gaps = []
            for first, second in self.pairs():
                gap = self.difference(name, first, second)
                found = {"first": first, "second": second, **as_dict(gap, level)}
                gaps.append({**found, "probability_better": gap.probability_better})
            return {"models": models, "differences": gaps}

        tags = {tag: told_of(f"{inner}[{tag}]") for tag in self.tags}
        return {**self._about(), "metrics": {metric: told_of(metric)}, "tags": tags}


def compare_tags(compare: Callable[..., Any], given: Mapping[str, Any]) -> TagComparison:
    """`compare` of each tag, and what they have in common."""
    options = refuse_options(given)
    models = dict(given["predictions"])
    split = read_tagged(given["labels"], models, given["gold"], given["tags"], given["repeats"])
    found = {
        tag: compare(case.models, case, gold=case.gold, positive=tag, progress=progress, **options)
        for tag, case, progress in parted(split, given["progress"])
    }
    first = next(iter(found.values()))
    warnings, assumptions = told(split, found)
    warnings += without_gold(first.sizes["gold"])
    return TagComparison(
        found,
        tuple(models),
        Coupling.of(len(found), 1.0, given["seed"]),
        {**first.sizes, "tags": len(found)},
        first.target,
        given["seed"],
        warnings,
        assumptions + dependence_words(1.0, 0, "better"),
    )
