"""What every model scores in every draw of the truth: the draws that a comparison is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.metrics.counts import AREAS, Tally, evaluate
from truthing.metrics.estimate import Estimate
from truthing.metrics.ordinal import ORDINAL, scale_values
from truthing.randomness import child
from truthing.survey.deployment import Deployment, class_factors
from truthing.survey.design import PLAIN, Survey

if TYPE_CHECKING:
    from truthing.comparison.tallies import Redraw
    from truthing.truth.link.models_counts import CountedKeys
    from truthing.truth.several_models import Pairs, SharedTruth


@dataclass(frozen=True, eq=False)
class Scored:
    """What areas under curves need: scores (models × items), the share of labels that say
    positive, and a run that draws the truth given scores.
    """

    scores: Array
    at_face_value: Array
    run: Callable[[], SharedTruth]


@dataclass(frozen=True, eq=False)
class ModelDraws:
    """Draws of the truth shared by all models (``truth``: draws × items, or only their counts),
    what each model predicted (``predicted``: models × items), and every metric as draws × models.
    """

    models: tuple[str, ...]
    classes: tuple[Any, ...]
    positive: int | None
    truth: Array | CountedKeys
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
    size: Array | None = None  # items that each column of ``predicted`` stands for
    by_item: Callable[[], SharedTruth] | None = None  # draws every item, where keys are counted
    accuracies: Sequence[Estimate | None] = ()  # of each model on these items, as `grade` has it

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
        """The same on some of the items; for new data like them, items are redrawn (a Bayesian
        bootstrap, the same for every model).
        """
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
        truth, predicted = self._drawn(self.truth)[:, items], self.predicted[:, items]
        how, shares = self._redraw(items, target), self._shares(len(truth))
        return graded_draws(metric, truth, predicted, values, how, shares)

    def _shares(self, n_draws: int) -> Array | None:
        """The classes' shares at deployment, draws × classes."""
        if self.deployment is None:
            return None
        return self.deployment.draw(n_draws, np.random.default_rng(self._seed))

    def _tallies(
        self, items: Any, target: str, keys: Array | CountedKeys | None = None
    ) -> tuple[Tally, ...]:
        from truthing.comparison.tallies import count

        keys = self.truth if keys is None else keys
        if not isinstance(keys, np.ndarray) and isinstance(items, slice):
            right, truth, predicted = keys.count(target)
        else:
            known = np.ascontiguousarray(self._drawn(keys)[:, items])
            given, n_classes = self.predicted[:, items], len(self.classes)
            how = self._redraw(items, target)
            right, truth, predicted = count(known, given, n_classes, how)
            shares = self._shares(len(known))
            if shares is not None:
                factor = class_factors(truth, shares)
                right, truth, predicted = count(known, given, n_classes, how, factor)
        return tuple(Tally(right[:, j], truth, predicted[:, j]) for j in range(len(self.models)))

    def _drawn(self, keys: Array | CountedKeys) -> Array:
        """Answer keys item by item."""
        if isinstance(keys, np.ndarray):
            return keys
        if self.by_item is None:
            raise InputError(
                "items were counted in groups, not drawn one by one, which this metric needs: ask "
                "for accuracy, precision, recall or F, or use `engine='memory'`."
            )
        return self._items_drawn

    @cached_property
    def _items_drawn(self) -> Array:
        assert self.by_item is not None
        return np.asarray(self.by_item().truth)

    def _areas(self, items: Any, target: str) -> Array:
        from truthing.comparison.tallies import areas

        scores = self._with_scores().scores[:, items]
        positive = self._scored_truth[:, items] == self.positive
        shares = self._of_two(self._shares(len(positive)))
        return areas(positive, scores, self._redraw(items, target), shares)

    def _of_two(self, shares: Array | None) -> Array | None:
        """Those of the negative and of the positive class."""
        if shares is None or self.positive is None:
            return None
        return np.asarray(shares[:, [1 - self.positive, self.positive]])

    def _redraw(self, items: Any, target: str) -> Redraw:
        """What each of these items counts in each draw."""
        from truthing.comparison.tallies import Redraw

        parts = self.survey.weight, self.survey.cluster
        return Redraw(target, self._seed, *(None if p is None else p[items] for p in parts))

    @cached_property
    def _scored_truth(self) -> Array:
        """Answer keys drawn given every model's scores, when first asked for: they take a run of
        their own.
        """
        found = self._with_scores().run()
        for sentences, more in (
            (self.warnings, found.warnings),
            (self.assumptions, found.assumptions),
        ):
            sentences.extend(sentence for sentence in more if sentence not in sentences)
        return self._drawn(found.truth)

    def _with_scores(self) -> Scored:
        if self.scored is None:
            where = " in memory (`engine='memory'`)" if self.size is not None else ""
            raise InputError(
                f"areas under curves need scores of two classes from every model{where}."
            )
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
