"""Grading by a method of the papers, as it was published."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truthing.arguments import check_target
from truthing.errors import InputError, did_you_mean
from truthing.noise.base import TableNoise
from truthing.noise.known import Confusion, Symmetric
from truthing.papers import su_methods
from truthing.truth.groups import estimate_prior
from truthing.truth.outcome import NoiseSummary, Outcome
from truthing.truth.question import Question

METHODS = ("posterior", *su_methods.METHODS)


def by_the_book(question: Question, model: Any, method: str, panel_error: Any) -> Outcome:
    """A method of the papers; noise that is not given is learned first and then taken as known,
    and that is said.
    """
    if question.gold_error is not None:
        raise InputError(f"method {method!r} takes gold for the truth: leave gold_error out.")
    if panel_error:
        raise InputError(
            f"method {method!r} has no panel error: it trusts the noise model. Use "
            "method='posterior'."
        )
    from truthing.truth.known_noise import is_open

    labels = question.labels
    assumptions = [
        "Labelers err independently of each other and of the classifier, given the true class."
    ]
    needs_noise = method not in ("labeler-mean", "labeler-median", "majority")
    if question.prior is not None and not needs_noise and question.scores is None:
        assumptions.append(f"Method {method!r} makes no use of the class prior (`prior=`).")
    if is_open(model):
        if needs_noise:
            from truthing.truth import checks
            from truthing.truth.consensus import Entries, fit_dawid_skene

            checks.require_identified(labels, question.gold)
            rows = fit_dawid_skene(
                Entries.of(labels).with_classifier(question.predicted), question.gold
            ).rows()[:-1]
            model = Confusion(rows)
            assumptions.append(
                "The labelers' confusion matrices were learned (pooled Dawid-Skene) and then "
                "taken as known."
            )
        else:
            model = Symmetric(0.5 * (1 - 1 / labels.n_classes))
    else:
        assumptions.append("The noise of the labelers is known exactly.")
        if isinstance(model, Symmetric) and model.range is not None:
            assumptions.append(
                f"The middle of the range {model.range[0]:g}-{model.range[1]:g} is taken for "
                "the error rate; method 'posterior' uses all of it."
            )
    asked = replace(question, log_likelihood=model.log_likelihood(labels))
    if question.prior is None:
        asked = replace(asked, prior=estimate_prior(asked.evidence))
        if needs_noise:
            assumptions.append(
                "The class prior was estimated from the labels and then taken as known."
            )
    outcome = su_methods.run(asked, method, n_draws=question.n_draws, seed=question.seed)
    tables = model.tables(labels) if isinstance(model, TableNoise) and needs_noise else None
    summary = NoiseSummary(type(model).__name__, labels.labelers, tables, asked.class_prior)
    curves = su_methods.curves(asked, n_draws=question.n_draws, seed=question.seed)
    return replace(
        outcome, noise=summary, curves=curves, assumptions=assumptions + outcome.assumptions
    )


def check_method(method: str, target: str) -> None:
    """A method that is known, asked for what it can say."""
    if method not in METHODS:
        hint = did_you_mean(method, METHODS)
        raise InputError(f"method {method!r} is not known.{hint} Choose {', '.join(METHODS)}.")
    check_target(target)
    if target == "population" and method != "posterior":
        raise InputError(
            f"method {method!r} speaks of these items only: use `method='posterior'` for "
            "`target='population'`."
        )
