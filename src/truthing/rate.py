"""prevalence(): how frequent each class is, from labels and gold alone; under LLM judges that
is the pass rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_panel_error, as_seed, check_target
from truthing.asking import as_noise, as_prior, prepare, selection_weights, sizes
from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.labels import Repeats
from truthing.metrics.estimate import Estimate
from truthing.metrics.words import share
from truthing.noise.base import TableNoise
from truthing.noise.known import Confusion, Symmetric
from truthing.ordering import in_order
from truthing.panel_kind import panel_of
from truthing.progress import Progress, listener, part
from truthing.requirements import Judged, Requirement, gold_enough, needed_ratio
from truthing.results import Result
from truthing.streaming.choice import runs_streamed
from truthing.streaming.held import Held, hold
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

    def __getitem__(self, name: Any) -> Estimate:
        if name not in self.classes:
            same = [c for c in self.classes if str(c) == str(name)]
            if not same:
                raise InputError(
                    f"no class is called {name!r}.{did_you_mean(str(name), self.classes)}"
                )
            name = same[0]
        return Estimate.from_draws(self.draws[:, self.classes.index(name)])

    def verdict(self, level: float = 0.95) -> str:
        """A sentence for a person: of two classes about the second, else about the most
        frequent.
        """
        k = 1 if len(self.classes) == 2 else int(self.draws.mean(axis=0).argmax())
        name, estimate = self.classes[k], self[self.classes[k]]
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
    gold_weights: Mapping[Any, float] | None = None,
    noise: Any = None,
    prior: Any = None,
    target: str = "sample",
    panel_error: float | tuple[float, float] | None = None,
    panel: str | None = None,
    repeats: Repeats = "error",
    draws: int = 4000,
    engine: Any = "auto",
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
    gold_weights : mapping, optional
        Where gold items were not chosen with equal chances: item to its chance of being chosen.
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
    engine : {"auto", "memory", "stream", "dask"}, default "auto"
        Where the passes over the labels run, as in `grade`.
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

    check_target(target)
    draws, seed, panel_error = as_draws(draws), as_seed(seed), as_panel_error(panel_error)
    needs_memory = {
        "noise=": noise is not None,
        "prior=": prior is not None,
        "panel_error=0": panel_error is not None and panel_error == 0,
    }
    if runs_streamed(engine, labels, needs_memory):
        held = hold(
            None,
            labels,
            gold=gold,
            engine="stream" if isinstance(engine, str) and engine == "auto" else engine,
            repeats=repeats,
            progress=part(listener(progress), 0, 0.4),
        )
        return _streamed(
            held,
            gold_weights=gold_weights,
            panel_error=panel_error,
            panel=panel,
            target=target,
            n_draws=draws,
            seed=seed,
            progress=part(listener(progress), 0.4, 1),
        )
    joined, order = in_order(prepare(None, labels, gold=gold, repeats=repeats))
    votes = joined.labels
    _two_classes(votes.classes)
    model = order.model(as_noise(noise))
    fixed = None if prior is None else as_prior(prior, votes.classes)
    weights = None if gold_weights is None else selection_weights(gold_weights, joined)
    assumptions = list(joined.said)
    nobody = np.zeros(votes.n_items, dtype=np.int64)
    question = Question(
        votes,
        nobody,
        joined.gold,
        prior=fixed,
        target=target,
        n_draws=draws,
        seed=seed,
        gold_weights=weights,
        progress=listener(progress),
        panel=panel_of(panel, votes.labelers, assumptions),
    )
    if known_noise.must_be_learned(model, votes):
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
    said = votes.counts().astype(float)
    face = (said / np.maximum(said.sum(axis=1, keepdims=True), 1)).mean(axis=0)
    return _result(
        outcome,
        question,
        face,
        sizes(joined),
        [*joined.warnings, *outcome.warnings],
        assumptions,
    )


def _streamed(held: Held, *, panel: str | None, target: str, **asked: Any) -> Prevalence:
    """The same from sums over shards of items."""
    from truthing.streaming.grade import answer_streamed

    assumptions = list(held.said)
    kind = panel_of(panel, held.panel.labelers, assumptions)
    _two_classes(held.panel.classes)
    question, outcome = answer_streamed(held, target=target, panel=kind, **asked)
    face = held.panel.found.shares / held.panel.n_items
    warnings = [*held.warnings, *outcome.warnings]
    return _result(outcome, question, face, held.sizes, warnings, assumptions)


def _two_classes(classes: tuple[Any, ...]) -> None:
    if len(classes) < 2:
        raise InputError(
            f"only one class occurs ({classes[0]!r}): its share is 1 by definition. "
            "Check the labels."
        )


def _result(
    outcome: Outcome,
    question: Question,
    face: Array,
    counted: Mapping[str, int],
    warnings: list[str],
    assumptions: list[str],
) -> Prevalence:
    from truthing.truth.draws import narrower_shares
    from truthing.truth.linked import shares_by_gold

    counts = outcome.answer.confusion.tally.truth
    share = counts / counts.sum(axis=1, keepdims=True)
    if question.n_gold and question.gold_weights is None:
        share = narrower_shares(share, shares_by_gold(question))
    return Prevalence(
        question.classes,
        share,
        face,
        question.target,
        counted,
        outcome.noise,
        outcome.truth,
        warnings,
        [*assumptions, *outcome.assumptions],
        outcome.diagnostics,
    )
