"""Comparison: draws of the truth shared by all models, and the questions people ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from truthing.class_codes import Array
from truthing.comparison.slices import Slice, by_slice
from truthing.errors import InputError, did_you_mean, listing
from truthing.metrics.counts import PER_CLASS, Tally, evaluate
from truthing.metrics.difference import Difference, less_is_better
from truthing.metrics.estimate import Estimate
from truthing.metrics.ordinal import ORDINAL, scale_values
from truthing.metrics.words import difference as in_points
from truthing.randomness import child, generator
from truthing.requirements import (
    Judged,
    Requirement,
    gold_enough,
    needed_ratio,
    probability_words,
)
from truthing.results import Result
from truthing.survey.deployment import Deployment, class_factors
from truthing.survey.design import PLAIN, Survey

if TYPE_CHECKING:
    from truthing.comparison.tallies import Redraw
    from truthing.truth.several_models import Pairs, SharedTruth

AREAS = ("auc", "average_precision")


@dataclass(frozen=True, eq=False)
class Scored:
    """What areas under curves need: scores (models × items), the share of labels that say positive, and a run that draws the truth given scores."""

    scores: Array
    at_face_value: Array
    run: Callable[[], SharedTruth]


@dataclass(frozen=True, eq=False)
class Comparison(Judged, Result):
    """Two to about twenty models graded by the same answer keys: ``truth`` is draws × items, ``predicted`` models × items."""

    kind = "compare"
    models: tuple[str, ...]
    classes: tuple[Any, ...]
    positive: int | None
    truth: Array
    predicted: Array
    target: str
    seed: int
    sizes: Mapping[str, int]
    dropped: Mapping[str, int]
    face_value: tuple[Tally, ...]
    slices: Mapping[str, Array] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    scored: Scored | None = None
    survey: Survey = PLAIN
    deployment: Deployment | None = None
    pairs: Pairs | None = None
    values: Array | None = None  # of grades on a scale
    slack: float = 1.0  # of its intervals

    # ---- draws -----------------------------------------------------------------------------------

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """One tally for each model, over draws."""
        return self._tallies(slice(None), self.target)

    @cached_property
    def areas(self) -> Array:
        """AUC and average precision, 2 × draws × models."""
        return self._areas(slice(None), self.target)

    def draws(self, metric: str = "accuracy") -> Array:
        """The metric of every model, draws × models."""
        if metric in AREAS:
            return np.asarray(self.areas[AREAS.index(metric)])
        if metric in ORDINAL:
            return self._graded(metric, slice(None), self.target)
        return self._evaluate(metric, self.tallies)

    def draws_of(self, metric: str, items: Any, target: str) -> Array:
        """The same on some of the items; for new data like them, items are redrawn (a Bayesian bootstrap, the same for every model)."""
        if metric in AREAS:
            return np.asarray(self._areas(items, target)[AREAS.index(metric)])
        if metric in ORDINAL:
            return self._graded(metric, items, target)
        return self._evaluate(metric, self._tallies(items, target))

    def paired_draws(self, metric: str = "accuracy") -> Array:
        """The metric of every model, draws × models, as differences and ranks take it: with gold
        the draws are not held to the models' own levels.
        """
        if self.pairs is None or metric in AREAS or metric in ORDINAL:
            return self.draws(metric)
        return self._evaluate(metric, self._paired_tallies)

    @cached_property
    def _paired_tallies(self) -> tuple[Tally, ...]:
        assert self.pairs is not None
        return self._tallies(slice(None), self.target, self.pairs.keys())

    def _graded(self, metric: str, items: Any, target: str) -> Array:
        from truthing.comparison.graded import graded_draws

        values = scale_values(self.classes) if self.values is None else self.values
        truth, predicted = self.truth[:, items], self.predicted[:, items]
        shares = None
        if self.deployment is not None:
            shares = self.deployment.draw(len(truth), np.random.default_rng(self._seed))
        return graded_draws(metric, truth, predicted, values, self._redraw(items, target), shares)

    def _tallies(self, items: Any, target: str, keys: Array | None = None) -> tuple[Tally, ...]:
        from truthing.comparison.tallies import count

        known = np.ascontiguousarray((self.truth if keys is None else keys)[:, items])
        given, n_classes = self.predicted[:, items], len(self.classes)
        how = self._redraw(items, target)
        right, truth, predicted = count(known, given, n_classes, how)
        if self.deployment is not None:
            shares = self.deployment.draw(len(known), np.random.default_rng(self._seed))
            factor = class_factors(truth, shares)
            right, truth, predicted = count(known, given, n_classes, how, factor)
        return tuple(Tally(right[:, j], truth, predicted[:, j]) for j in range(len(self.models)))

    def _areas(self, items: Any, target: str) -> Array:
        from truthing.comparison.tallies import areas

        scores = self._with_scores().scores[:, items]
        positive = self._scored_truth[:, items] == self.positive
        return areas(positive, scores, self._redraw(items, target))

    def _redraw(self, items: Any, target: str) -> Redraw:
        """What each of these items counts in each draw."""
        from truthing.comparison.tallies import Redraw

        parts = self.survey.weight, self.survey.cluster
        return Redraw(target, self._seed, *(None if p is None else p[items] for p in parts))

    @cached_property
    def _scored_truth(self) -> Array:
        """Answer keys drawn given every model's scores, when first asked for: they take a run of their own."""
        found = self._with_scores().run()
        for sentences, more in (
            (self.warnings, found.warnings),
            (self.assumptions, found.assumptions),
        ):
            sentences.extend(sentence for sentence in more if sentence not in sentences)
        return found.truth

    def _with_scores(self) -> Scored:
        if self.scored is None:
            raise InputError("areas under curves need scores of two classes from every model.")
        return self.scored

    @property
    def _seed(self) -> np.random.SeedSequence:
        return child(self.seed, "redrawn items")

    def _evaluate(self, metric: str, tallies: tuple[Tally, ...]) -> Array:
        found = [evaluate(metric, t, classes=self.classes, positive=self.positive) for t in tallies]
        return np.stack(found, axis=-1)

    def _place(self, model: str) -> int:
        if model not in self.models:
            raise InputError(f"no model is called {model!r}.{did_you_mean(model, self.models)}")
        return self.models.index(model)

    # ---- answers ---------------------------------------------------------------------------------

    def estimate(self, model: str, metric: str = "accuracy") -> Estimate:
        found = self.draws(metric)[:, self._place(model)]
        return Estimate.from_draws(found, slack=self.slack)

    def at_face_value(self, model: str, metric: str = "accuracy") -> float:
        """The metric against the labels as they are."""
        if metric in ORDINAL:
            return float("nan")
        if metric in AREAS:
            from truthing.comparison.tallies import areas

            scored, how = self._with_scores(), self._redraw(slice(None), "sample")
            found = areas(scored.at_face_value[None], scored.scores[[self._place(model)]], how)
            return float(found[AREAS.index(metric), 0, 0])
        return float(self._evaluate(metric, (self.face_value[self._place(model)],))[0])

    def difference(
        self, metric: str = "accuracy", first: str | None = None, second: str | None = None
    ) -> Difference:
        """First minus second; of two models, the one given first minus the other."""
        if first is None or second is None:
            if len(self.models) > 2:
                raise InputError(
                    f"there are {len(self.models)} models: say which two, difference({metric!r}, 'a', 'b')."
                )
            first, second = first or self.models[0], second or self.models[1]
        both = self._both(metric, self._place(first), self._place(second))
        return Difference.between(both, (first, second), metric, self.slack)

    def _both(self, metric: str, first: int, second: int) -> tuple[Array, Array]:
        """Paired draws of two models; of accuracies drawn towards gold alone's difference where
        that is much narrower.
        """
        draws = self.paired_draws(metric)
        one, other = draws[:, first], draws[:, second]
        plain = self.deployment is None and not self.survey.used
        gold = self.pairs.gold if self.pairs is not None and plain else None
        if gold is None or metric not in ("accuracy", "error"):
            return one, other
        from truthing.truth.draws import at_most_wider
        from truthing.truth.gold_alone import difference_draws

        sign = 1 if (first < second) == (metric == "accuracy") else -1
        low, high = sorted((first, second))
        rng = generator(self.seed, "gold alone", low, high)
        predictions = self.predicted[low], self.predicted[high]
        alone = difference_draws(predictions, gold, self.target, len(draws), rng)
        return other + sign * at_most_wider(sign * (one - other), alone), other

    def ranks(self, metric: str = "accuracy") -> Array:
        """P(rank) of each model, models × ranks, best first; models that tie share their ranks."""
        if len(self.models) == 2:
            better = self.probability_better(metric)[0, 1]
            return np.array([[better, 1 - better], [1 - better, better]])
        draws = self.paired_draws(metric)
        draws = draws[~np.isnan(draws).any(axis=1)] * (-1 if less_is_better(metric) else 1)
        above = (draws[:, None, :] > draws[:, :, None]).sum(axis=2)
        equal = (draws[:, None, :] == draws[:, :, None]).sum(axis=2)
        places = np.arange(len(self.models))
        shared = (places >= above[..., None]) & (places < (above + equal)[..., None])
        return np.asarray((shared / equal[..., None]).mean(axis=0))

    def probability_best(self, metric: str = "accuracy") -> dict[str, float]:
        return dict(zip(self.models, self.ranks(metric)[:, 0].tolist()))

    def probability_better(self, metric: str = "accuracy") -> Array:
        """P(row's model is better than column's), models × models; a half where they are the same."""
        better = np.full((len(self.models), len(self.models)), 0.5)
        for j, first in enumerate(self.models):
            for k, second in enumerate(self.models[:j]):
                better[j, k] = self.difference(metric, first, second).probability_better
                better[k, j] = 1 - better[j, k]
        return better

    def order(self, metric: str = "accuracy") -> tuple[tuple[str, ...], float]:
        """Models as the labels at face value order them, best first, and the probability that this order is right.

        Lam & Stork Section 7: with two classes, errors independent of the classifier and less than half of the labels wrong, the
        order by apparent error is the true order, up to sampling. The probability needs none of that.
        """
        naive = np.array([self.at_face_value(m, metric) for m in self.models]) * (
            -1 if less_is_better(metric) else 1
        )
        place = np.argsort(-naive, kind="stable")
        if len(place) == 2:
            names = self.models[place[0]], self.models[place[1]]
            return names, self.difference(metric, *names).probability_better
        draws = self.paired_draws(metric)[:, place] * (-1 if less_is_better(metric) else 1)
        return tuple(self.models[k] for k in place), float(
            (np.diff(draws, axis=1) <= 0).all(axis=1).mean()
        )

    def by_slice(self, metric: str = "accuracy") -> list[Slice]:
        """The metric in every slice (``by=``), pooled so that small slices do not shout."""
        draws = np.stack([self.draws_of(metric, at, "population") for at in self.slices.values()])
        sizes = {name: len(at) for name, at in self.slices.items()}
        return by_slice(metric, draws, self.models, sizes, self.seed)

    # ---- words -----------------------------------------------------------------------------------

    def verdict(self, metric: str = "accuracy", level: float = 0.95) -> str:
        best = max(self.models, key=lambda m: self.probability_best(metric)[m])
        chance = self.probability_best(metric)[best]
        if len(self.models) == 2:
            other = next(m for m in self.models if m != best)
            gap = self.difference(metric, best, other)
            found = in_points(gap.mean, *gap.interval(level), level)
            return (
                f"{best} is better than {other} in {name_of(metric, self)} "
                f"with probability {probability_words(chance)}: {found}."
            )
        return f"{best} is the best of {len(self.models)} models in {name_of(metric, self)} with probability {probability_words(chance)}."

    def order_sentence(self, metric: str = "accuracy") -> str:
        """What the labels at face value would have said, and how far to trust it."""
        names, chance = self.order(metric)
        sentence = f"Taken at face value the labels order the models {' > '.join(names)}; that is the true order with probability {probability_words(chance)}."
        if metric in ("accuracy", "error") and len(self.classes) == 2:
            sentence += " (Labels wrong at random, less than half of them, would not change the order: Lam & Stork, Section 7.)"
        return sentence

    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        return self.difference(requirement.metric, requirement.first, requirement.second)

    def requirement_advice(
        self, requirement: Requirement, estimate: Estimate, needed: float
    ) -> str:
        first, second = self._place(requirement.first), self._place(requirement.second)
        # gold tells models apart only where they differ
        apart = float((self.predicted[first] != self.predicted[second]).mean())
        ratio = needed_ratio(requirement, estimate, needed)
        have, items = self.sizes["gold"], self.sizes["items"]
        return gold_enough(float(np.sqrt(apart)), estimate, ratio, have, items)

    def to_frame(self, metric: str = "accuracy", level: float = 0.95) -> Any:
        """One row for each model, the probably best first, as a polars table."""
        import polars as pl

        best = self.probability_best(metric)
        rows = [
            (
                name,
                metric,
                found.mean,
                *found.interval(level),
                self.at_face_value(name, metric),
                level,
                best[name],
            )
            for name in sorted(self.models, key=lambda m: -best[m])
            for found in [self.estimate(name, metric)]
        ]
        heads = ["model", "metric", "estimate", "low", "high", "at_face_value", "level"]
        return pl.DataFrame(rows, schema=[*heads, "probability_best"], orient="row").fill_nan(None)

    def to_dict(self, metric: str = "accuracy", level: float = 0.95) -> dict[str, Any]:
        ranks, better, best = (
            self.ranks(metric),
            self.probability_better(metric),
            self.probability_best(metric),
        )
        models = {}
        for j, name in enumerate(self.models):
            estimate = self.estimate(name, metric)
            low, high = estimate.interval(level)
            models[name] = {
                "mean": estimate.mean, "low": low, "high": high, "level": level, "face_value": self.at_face_value(name, metric),
                "probability_best": best[name], "ranks": ranks[j].tolist(),
            }  # fmt: skip
        pairs = []
        for j, first in enumerate(self.models):
            for k, second in enumerate(self.models[:j]):
                gap = self.difference(metric, second, first)
                low, high = gap.interval(level)
                pairs.append(
                    {
                        "first": second, "second": first, "mean": gap.mean, "low": low, "high": high, "level": level,
                        "probability_better": float(better[k, j]), "probability_equivalent": gap.probability_equivalent(0.01),
                    }
                )  # fmt: skip
        found = {
            "metric": metric, "models": models, "differences": pairs, "verdict": self.verdict(metric, level),
            "order": {"models": list(self.order(metric)[0]), "probability": self.order(metric)[1]}, **self.sizes,
            "dropped": dict(self.dropped), "target": self.target, "assumptions": self.assumptions, "warnings": self.warnings,
            "diagnostics": dict(self.diagnostics), "seed": self.seed,
        }  # fmt: skip
        if self.slices:
            found["slices"] = [s.to_dict(level) for s in self.by_slice(metric)]
        return found

    def __str__(self) -> str:
        lines = [self.verdict()]
        lines += [
            f"{m:<20} {self.estimate(m)}   best with probability {p:.0%}"
            for m, p in self.probability_best().items()
        ]
        return "\n".join(
            lines
            + [f"Assumed: {a}" for a in self.assumptions]
            + [f"Warning: {w}" for w in self.warnings]
        )


def name_of(metric: str, comparison: Comparison) -> str:
    """The metric in words, with its class where it is about one."""
    name = metric.replace("_", " ")
    if metric in PER_CLASS and comparison.positive is not None:
        name += f" ({comparison.classes[comparison.positive]})"
    return name


def check_models(names: list[str]) -> None:
    if len(names) < 2:
        raise InputError(
            f"compare needs two models or more, and got {listing(map(repr, names)) or 'none'}: use grade for one."
        )
