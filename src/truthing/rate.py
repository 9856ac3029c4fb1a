"""prevalence(): how frequent each class is, from labels and gold alone; under LLM judges that
is the pass rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_panel_error, as_seed, check_target
from truthing.asking import (
    as_noise,
    as_prior,
    calibrated,
    check_calibration,
    chosen_gold,
    fitting_draws,
    prepare,
    refuse_survey,
    sizes,
    slice_sizes,
    survey_of,
    unseen_choice,
)
from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.labels import Repeats
from truthing.metrics.difference import Difference
from truthing.metrics.estimate import Estimate
from truthing.metrics.words import share
from truthing.noise.base import TableNoise
from truthing.noise.known import Confusion, Symmetric
from truthing.ordering import in_order
from truthing.panel_kind import panel_of
from truthing.progress import Progress, listener
from truthing.requirements import Judged, Requirement, gold_enough, needed_ratio
from truthing.results import Result
from truthing.survey.slices import SliceEstimate, slice_estimates
from truthing.tables.pairs import shared_item
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

    def __getitem__(self, name: Any) -> Estimate:
        return Estimate.from_draws(self.draws[:, self._place(name)])

    def _place(self, name: Any) -> int:
        same = [k for k, c in enumerate(self.classes) if c == name or str(c) == str(name)]
        if not same:
            raise InputError(f"no class is called {name!r}.{did_you_mean(str(name), self.classes)}")
        return same[0]

    @property
    def headline_class(self) -> Any:
        """The class that sentences are about: of two the second, else the most frequent."""
        k = 1 if len(self.classes) == 2 else int(self.draws.mean(axis=0).argmax())
        return self.classes[k]

    def by_slice(self, name: Any = None) -> list[SliceEstimate]:
        """The share of a class in each slice that ``by=`` makes, partially pooled."""
        name = self.headline_class if name is None else name
        place = self._place(name)
        found = {s: Estimate.from_draws(draws[:, place]) for s, draws in self.slices.items()}
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
        return Difference.between(both, (first, second), str(name))

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
            f"{name} on {found} of {where}. "
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
        shares = {}
        for k, c in enumerate(self.classes):
            low, high = self[c].interval(level)
            shares[str(c)] = {
                "mean": self[c].mean,
                "low": low,
                "high": high,
                "level": level,
                "face_value": float(self.face_value[k]),
            }
        return {
            "prevalence": shares,
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


def prevalence(
    labels: Any,
    *,
    gold: Any = None,
    gold_weights: Mapping[Any, float] | str | None = None,
    gold_choice: str | None = None,
    calibration_set: Any = None,
    calibration_chosen: str | None = None,
    cluster: Any = None,
    weights: Any = None,
    stratum: Any = None,
    by: Any = None,
    noise: Any = None,
    prior: Any = None,
    target: str = "sample",
    panel_error: float | tuple[float, float] | None = None,
    panel: str | None = None,
    repeats: Repeats = "error",
    draws: int = 4000,
    seed: int = 0,
    progress: bool | Progress = False,
) -> Prevalence:
    """How frequent each class is, although its labels are noisy.

    Parameters
    ----------
    labels : Labels, path, data frame or matrix
        Who said what about which item: a file, a data frame, a `Labels`, or a matrix with items in
        rows and labelers in columns.
    gold : mapping, path or data frame, optional
        Items whose truth is known, item to class. A few dozen random items narrow the interval
        most.
    gold_weights : mapping or column, optional
        Where gold items were not chosen with equal chances: item to its chance of being chosen.
    gold_choice : {"random", "seen", "unseen"}, optional
        How gold items were chosen. "seen": by what labels and predictions show, which is corrected
        for; "unseen": by anything else, so gold says nothing sure about other items. None: random
        where it looks like that, else "seen", and said.
    calibration_set : (Labels, mapping), path or data frame, optional
        Other items with known truth, labelled by the same labelers: their mistakes are learned
        there and carried over.
    calibration_chosen : {"truth", "verdict"}, optional
        How the calibration items were chosen: by true class or at random, or by what the labelers
        said. None: "truth", unless the labelers' verdicts are exactly balanced; then it is asked.
    cluster : column, sequence or mapping, optional
        Items that belong together (images of a patient, answers to a prompt) and share mistakes.
    weights : column, sequence or mapping, optional
        How many items each stands for, where items were not drawn with equal chances.
    stratum : column, sequence or mapping, optional
        Strata that the items were drawn from; their accuracy may differ.
    by : column, sequence or mapping, optional
        Slices: every metric is also given for each, partially pooled.
    noise : float, tuple, mapping or noise model, optional
        What is known about the labelers. None: it is learned from the labels. A number is an error
        rate, ``(low, high)`` a range, a mapping goes from labeler to rate or matrix; or a model of
        `truthing.noise`.
    prior : sequence or mapping, optional
        Share of each class among the items that these were drawn from, if it is known.
    target : {"sample", "population"}, default "sample"
        "sample" asks about these items, "population" about new data like them.
    panel_error : float or tuple, optional
        How often the panel may be wrong together. None: as public panels were, also where the noise
        is given. 0: never, as the papers assume. A share of items, or ``(a, b)`` of a Beta
        distribution, states it.
    panel : {"people", "models", "mixed"}, optional
        What the panel is made of. None: guessed from the labelers' names, and said.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.
    draws : int, default 4000
        Draws of the posterior.
    seed : int, default 0
        Same seed, same answer, on any number of threads.
    progress : bool or callable, default False
        True writes what is being done to standard error; a callable gets the share done and words,
        and may stop the work by raising.

    Returns
    -------
    Prevalence
        ``result["pass"]`` is an `Estimate` of the share of a class.

    Raises
    ------
    InputError
        An argument or a file cannot be used as it is; the message says what to change.
    NotIdentified
        The labels cannot answer under any amount of computing, for example one labeler of unknown
        quality and no gold.

    See Also
    --------
    grade : the same for a classifier.

    Examples
    --------
    >>> import truthing as tr
    >>> data = tr.simulate(400, 4, prior=[0.7, 0.3], fallibility=0.2, classes=("fail", "pass"),
    ...     seed=1)
    >>> low, high = prevalence(data.labels)["pass"].interval(0.95)
    >>> bool(low < (data.truth == "pass").mean() < high)
    True
    """
    from truthing.truth import answer, checks, known_noise
    from truthing.truth.by_calibration import answer_by_calibration

    check_target(target)
    draws, seed, panel_error = as_draws(draws), as_seed(seed), as_panel_error(panel_error)
    per = by if isinstance(by, str) else None
    joined, order = in_order(prepare(None, labels, gold=gold, repeats=repeats, per=per))
    if cluster is None and any(getattr(r, "paired", False) for r in joined.readings):
        # the same prompt for each system: paired
        cluster = {item: shared_item(item) for item in joined.labels.items}
    votes = joined.labels
    if votes.n_classes < 2:
        raise InputError(
            f"only one class occurs ({votes.classes[0]!r}): its share is 1 by definition. "
            "Check the labels."
        )
    model = order.model(as_noise(noise))
    fixed = None if prior is None else as_prior(prior, votes.classes)
    survey = survey_of(joined, order, cluster=cluster, weights=weights, stratum=stratum, by=by)
    joined, calibration = calibrated([joined], calibration_set, calibration_chosen, survey)
    votes = joined.labels
    if calibration is not None:
        check_calibration("posterior", noise, panel_error)
    chosen = chosen_gold(joined, None, gold_weights, gold_choice)
    if chosen.kind == "unseen":
        joined, words = unseen_choice(joined, None)
        joined.warnings.insert(0, words)
    assumptions = list(joined.said)
    nobody = np.zeros(votes.n_items, dtype=np.int64)
    question = Question(
        votes,
        nobody,
        joined.gold,
        prior=fixed,
        target=target,
        n_draws=fitting_draws(draws, votes.n_classes, joined.warnings),
        seed=seed,
        gold_weights=chosen.weights if chosen.kind == "chances" else None,
        gold_chosen=chosen,
        survey=survey,
        progress=listener(progress),
        panel=panel_of(panel, votes.labelers, assumptions),
    )
    if panel_error == 0 and panel_error is not None:
        refuse_survey(survey.used, "with panel_error=0: leave panel_error out.")
    if calibration is not None:
        outcome = answer_by_calibration(question, calibration)
    elif known_noise.must_be_learned(model, votes):
        given = isinstance(model, Symmetric | Confusion)
        if not given:
            checks.require_identified(votes, joined.gold)
            if (
                votes.n_labelers == 2
                and not votes.anonymous
                and not (joined.gold >= 0).any()
                and panel_error == 0
            ):
                joined.warnings.append(
                    "Two labelers without a classifier or gold leave the shares open; the "
                    "answer leans on the prior."
                )
        outcome = answer.with_learned_noise(question, model, panel_error)
    else:
        tables = model.tables(votes) if isinstance(model, TableNoise) else None
        known = replace(question, log_likelihood=model.log_likelihood(votes))
        outcome = answer.with_known_noise(known, type(model).__name__, tables, panel_error)
    outcome = replace(
        outcome,
        truth=order.truth(outcome.truth),
        noise=None if outcome.noise is None else order.summary(outcome.noise),
    )
    return _result(
        outcome,
        votes.classes,
        question,
        sizes(joined),
        [*joined.warnings, *outcome.warnings],
        assumptions,
    )


def _result(
    outcome: Outcome,
    classes: tuple[Any, ...],
    question: Question,
    counted: Mapping[str, int],
    warnings: list[str],
    assumptions: list[str],
) -> Prevalence:
    share = outcome.answer.shares()
    votes = question.labels.counts().astype(float)
    given = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    face = np.average(given, axis=0, weights=question.survey.weight)
    return Prevalence(
        classes,
        share,
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
    )
