"""Comparison: the questions people ask of draws of the truth that all models share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.comparison.draws import ModelDraws
from truthing.comparison.slices import Slice, by_slice
from truthing.errors import InputError, listing
from truthing.metrics.counts import AREAS, PER_CLASS
from truthing.metrics.difference import Difference, less_is_better
from truthing.metrics.estimate import Estimate
from truthing.metrics.ordinal import ORDINAL
from truthing.metrics.words import difference as in_points
from truthing.randomness import generator
from truthing.requirements import (
    Judged,
    Requirement,
    gold_enough,
    if_decided,
    needed_ratio,
    probability_words,
)
from truthing.results import Result


@dataclass(frozen=True, eq=False)
class Comparison(ModelDraws, Judged, Result):
    """Two to about twenty models graded by the same answer keys: ``truth`` is draws × items,
    ``predicted`` models × items (where labels are streamed, counts of keys, and groups of items).
    """

    kind = "compare"

    # ---- answers ---------------------------------------------------------------------------------

    def estimate(self, model: str, metric: str = "accuracy") -> Estimate:
        """The metric of one model; its accuracy is the one that `grade` gives."""
        own = self.accuracies[self._place(model)] if self.accuracies else None
        plain = self.target == "sample" and self.deployment is None
        if own is not None and plain and metric in ("accuracy", "error"):
            return own if metric == "accuracy" else replace(own, values=1 - own.values)
        found = self.draws(metric)[:, self._place(model)]
        return Estimate.from_draws(found, slack=self.slack)

    def at_face_value(self, model: str, metric: str = "accuracy") -> float:
        """The metric against the labels as they are."""
        if metric in ORDINAL:
            return float("nan")
        if metric in AREAS:
            from truthing.comparison.tallies import areas

            scored, how = self._with_scores(), self._redraw(slice(None), "sample")
            shares = None if self.deployment is None else self.deployment.mean[None]
            score = scored.scores[[self._place(model)]]
            found = areas(scored.at_face_value[None], score, how, self._of_two(shares))
            return float(found[AREAS.index(metric), 0, 0])
        return float(self._evaluate(metric, (self.face_value[self._place(model)],))[0])

    def difference(
        self, metric: str = "accuracy", first: str | None = None, second: str | None = None
    ) -> Difference:
        """First minus second; of two models, the one given first minus the other."""
        if first is None or second is None:
            if len(self.models) > 2:
                raise InputError(
                    f"there are {len(self.models)} models: say which two, "
                    f"difference({metric!r}, 'a', 'b')."
                )
            first, second = first or self.models[0], second or self.models[1]
        both = self._both(metric, self._place(first), self._place(second))
        return Difference.between(both, (first, second), metric, self.slack)

    def _both(self, metric: str, first: int, second: int) -> tuple[Array, Array]:
        """Paired draws of two models. Of accuracies some draws are gold alone's, because a panel
        that misleads misleads most where two models differ; and all are drawn towards gold alone's
        difference where that is much narrower.
        """
        draws = self.paired_draws(metric)
        one, other = draws[:, first], draws[:, second]
        plain = self.deployment is None and not self.survey.used
        gold = self.pairs.gold if self.pairs is not None and plain else None
        if gold is None or metric not in ("accuracy", "error"):
            return one, other
        from truthing.truth.draws import GOLD_ONLY_BETWEEN, at_most_wider, some_by_gold
        from truthing.truth.gold_alone import difference_draws

        sign = 1 if (first < second) == (metric == "accuracy") else -1
        low, high = sorted((first, second))
        rng = generator(self.seed, "gold alone", low, high)
        predictions = self.predicted[low], self.predicted[high]
        about = predictions, gold, self.target, len(draws), rng, self.sizes["items"]
        alone, n_gold = difference_draws(*about), int((gold >= 0).sum())
        found = some_by_gold(sign * (one - other), alone, n_gold, GOLD_ONLY_BETWEEN)
        return other + sign * at_most_wider(found, alone), other

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
        """P(row's model is better than column's), models × models; a half where they are the
        same.
        """
        better = np.full((len(self.models), len(self.models)), 0.5)
        for j, first in enumerate(self.models):
            for k, second in enumerate(self.models[:j]):
                better[j, k] = self.difference(metric, first, second).probability_better
                better[k, j] = 1 - better[j, k]
        return better

    def order(self, metric: str = "accuracy") -> tuple[tuple[str, ...], float]:
        """Models as the labels at face value order them, best first, and the probability that this
        order is right.

        Lam & Stork Section 7: with two classes, errors independent of the classifier and less than
        half of the labels wrong, the order by apparent error is the true order, up to sampling. The
        probability needs none of that.
        """
        sign = -1 if less_is_better(metric) else 1
        naive = np.array([self.at_face_value(m, metric) for m in self.models]) * sign
        place = np.argsort(-naive, kind="stable")
        if len(place) == 2:
            names = self.models[place[0]], self.models[place[1]]
            return names, self.difference(metric, *names).probability_better
        draws = self.paired_draws(metric)[:, place] * sign
        in_order = (np.diff(draws, axis=1) <= 0).all(axis=1)
        return tuple(self.models[k] for k in place), float(in_order.mean())

    def by_slice(self, metric: str = "accuracy") -> list[Slice]:
        """The metric in every slice (``by=``), pooled: small ones stand out less by chance."""
        if not self.slices:
            raise InputError("there are no slices: give `by=...`.")
        draws = np.stack([self.draws_of(metric, at, "population") for at in self.slices.values()])
        sizes = {name: len(at) for name, at in self.slices.items()}
        return by_slice(metric, draws, self.models, sizes, self.seed)

    # ---- words -----------------------------------------------------------------------------------

    def verdict(self, metric: str = "accuracy", level: float = 0.95) -> str:
        chances = self.probability_best(metric)
        best = max(self.models, key=lambda m: chances[m])
        chance = probability_words(chances[best])
        if len(self.models) == 2:
            other = next(m for m in self.models if m != best)
            gap = self.difference(metric, best, other)
            found = in_points(gap.mean, *gap.interval(level), level)
            return (
                f"{if_decided(chances[best])}{best} is better than {other} in "
                f"{name_of(metric, self)} with probability {chance}: {found}."
            )
        return (
            f"{if_decided(chances[best])}{best} is the best of {len(self.models)} models in "
            f"{name_of(metric, self)} with probability {chance}."
        )

    def order_sentence(self, metric: str = "accuracy") -> str:
        """What the labels at face value would have said, and how far to trust it."""
        names, chance = self.order(metric)
        sentence = (
            f"Taken at face value the labels order the models {' > '.join(names)}; "
            f"that is the true order with probability {probability_words(chance)}."
        )
        # where the order has probably changed, labels are not wrong at random
        if metric in ("accuracy", "error") and len(self.classes) == 2 and chance >= 0.5:
            sentence += (
                " (Labels wrong at random, less than half of them, would not change the order: "
                "Lam & Stork, Section 7.)"
            )
        return sentence

    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        return self.difference(requirement.metric, requirement.first, requirement.second)

    def requirement_advice(
        self, requirement: Requirement, estimate: Estimate, needed: float
    ) -> str:
        first, second = self._place(requirement.first), self._place(requirement.second)
        # gold tells models apart only where they differ
        differ = self.predicted[first] != self.predicted[second]
        apart = float(np.average(differ, weights=self.size))
        ratio = needed_ratio(requirement, estimate, needed)
        have, items = self.sizes["gold"], self.sizes["items"]
        return gold_enough(float(np.sqrt(apart)), estimate, ratio, have, items)

    def to_frame(self, metric: str = "accuracy", level: float = 0.95) -> Any:
        """One row for each model, the probably best first, as a polars table."""
        import polars as pl

        best = self.probability_best(metric)
        rows = []
        for name in sorted(self.models, key=lambda m: -best[m]):
            found, naive = self.estimate(name, metric), self.at_face_value(name, metric)
            rows.append(
                (name, metric, found.mean, *found.interval(level), naive, level, best[name])
            )
        heads = ["model", "metric", "estimate", "low", "high", "at_face_value", "level"]
        return pl.DataFrame(rows, schema=[*heads, "probability_best"], orient="row").fill_nan(None)

    def to_dict(self, metric: str = "accuracy", level: float = 0.95) -> dict[str, Any]:
        names, chance = self.order(metric)
        found = {
            "metric": metric,
            "models": self._models_as_data(metric, level),
            "differences": self._differences_as_data(metric, level),
            "verdict": self.verdict(metric, level),
            "order": {"models": list(names), "probability": chance},
            **self.sizes,
            "dropped": dict(self.dropped),
            "target": self.target,
            "assumptions": self.assumptions,
            "warnings": self.warnings,
            "diagnostics": dict(self.diagnostics),
            "seed": self.seed,
        }
        if self.slices:
            found["slices"] = [s.to_dict(level) for s in self.by_slice(metric)]
        return found

    def _models_as_data(self, metric: str, level: float) -> dict[str, Any]:
        best, found = self.probability_best(metric), {}
        for name, ranks in zip(self.models, self.ranks(metric)):
            estimate = self.estimate(name, metric)
            low, high = estimate.interval(level)
            found[name] = {
                "mean": estimate.mean,
                "low": low,
                "high": high,
                "level": level,
                "face_value": self.at_face_value(name, metric),
                "probability_best": best[name],
                "ranks": ranks.tolist(),
            }
        return found

    def _differences_as_data(self, metric: str, level: float) -> list[dict[str, Any]]:
        better, found = self.probability_better(metric), []
        for j, second in enumerate(self.models):
            for k, first in enumerate(self.models[:j]):
                gap = self.difference(metric, first, second)
                low, high = gap.interval(level)
                found.append(
                    {
                        "first": first,
                        "second": second,
                        "mean": gap.mean,
                        "low": low,
                        "high": high,
                        "level": level,
                        "probability_better": float(better[k, j]),
                        "probability_equivalent": gap.probability_equivalent(0.01),
                    }
                )
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
            "compare needs two models or more, "
            f"and got {listing(map(repr, names)) or 'none'}: use grade for one."
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two models are called {twice[0]!r}: give each a name of its own.")
