"""prevalence(): how frequent each class is, from labels and gold alone; under LLM judges that is the pass rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.grading import as_noise, as_prior, check_target, prepare, selection_weights, sizes
from truthing.labels import Repeats
from truthing.metrics.estimate import Estimate
from truthing.noise.base import TableNoise
from truthing.noise.known import Confusion, Symmetric
from truthing.progress import Progress, listener
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.question import Question


@dataclass(frozen=True, eq=False)
class Prevalence:
    """The share of each class: ``result["pass"]`` is an Estimate."""

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
        """A sentence for a person: of two classes about the second, else about the most frequent."""
        k = 1 if len(self.classes) == 2 else int(self.draws.mean(axis=0).argmax())
        name, estimate = self.classes[k], self[self.classes[k]]
        low, high = estimate.interval(level)
        where = (
            f"these {self.sizes['items']:,} items"
            if self.target == "sample"
            else "new data like these"
        )
        return (
            f"{name} on {estimate.mean:.0%} of {where}; {100 * level:.4g}% sure it is between {low:.1%} and {high:.1%}. "
            f"The labels taken at face value say {self.face_value[k]:.0%}."
        )

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
    repeats: Repeats = "error",
    draws: int = 4000,
    seed: int = 0,
    progress: bool | Progress = False,
) -> Prevalence:
    """How frequent is each class, although its labels are noisy: same arguments as `grade`, no predictions.

    >>> import truthing as tr
    >>> data = tr.simulate(400, 4, prior=[0.7, 0.3], fallibility=0.2, classes=("fail", "pass"), seed=1)
    >>> low, high = prevalence(data.labels)["pass"].interval(0.95)
    >>> bool(low < (data.truth == "pass").mean() < high)
    True
    """
    from truthing.truth import answer, checks, known_noise

    check_target(target)
    joined = prepare(None, labels, gold=gold, repeats=repeats)
    panel = joined.labels
    if panel.n_classes < 2:
        raise InputError(
            f"only one class occurs ({panel.classes[0]!r}): its share is 1 by definition. Check the labels."
        )
    model = as_noise(noise)
    fixed = None if prior is None else as_prior(prior, panel.classes)
    weights = None if gold_weights is None else selection_weights(gold_weights, joined)
    nobody = np.zeros(panel.n_items, dtype=np.int64)
    question = Question(
        panel,
        nobody,
        joined.gold,
        fixed,
        None,
        None,
        target,
        draws,
        seed,
        weights,
        listener(progress),
    )
    if known_noise.must_be_learned(model, panel):
        given = isinstance(model, Symmetric | Confusion)
        if not given:
            checks.require_identified(panel, joined.gold)
            if (
                panel.n_labelers == 2
                and not panel.anonymous
                and not (joined.gold >= 0).any()
                and panel_error == 0
            ):
                joined.warnings.append(
                    "Two labelers without a classifier or gold leave the shares open; the answer leans on the prior."
                )
        if panel_error == 0 or (panel_error is None and given):
            outcome = answer.with_learned_noise(question, model, 0)
        else:
            outcome = answer.linked_shares(question, panel_error)
    else:
        tables = model.tables(panel) if isinstance(model, TableNoise) else None
        outcome = answer.with_known_noise(
            question, model.log_likelihood(panel), type(model).__name__, tables
        )
    outcome.assumptions[:0] = joined.said
    return _result(
        outcome, panel.classes, question, sizes(joined), [*joined.warnings, *outcome.warnings]
    )


def _result(
    outcome: Outcome,
    classes: tuple[Any, ...],
    question: Question,
    counted: Mapping[str, int],
    warnings: list[str],
) -> Prevalence:
    from truthing.truth.link.shares import ShareDraws

    answer = outcome.answer
    counts = answer.shares if isinstance(answer, ShareDraws) else answer.confusion.tally.truth
    share = counts / counts.sum(axis=1, keepdims=True)
    votes = question.labels.counts().astype(float)
    face = (votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)).mean(axis=0)
    return Prevalence(
        classes,
        share,
        face,
        question.target,
        counted,
        outcome.noise,
        outcome.truth,
        warnings,
        outcome.assumptions,
        outcome.diagnostics,
    )
