"""The labelers' confusion matrices with their uncertainty: learned without a classifier, or as
given.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.metrics.confusion import ConfusionMatrix as Drawn
from truthing.metrics.counts import Tally
from truthing.metrics.estimate import credible_interval
from truthing.noise.base import TableNoise
from truthing.noise.known import Difficulty
from truthing.noise.learned import DawidSkene
from truthing.progress import Progress, silent
from truthing.randomness import generator
from truthing.truth.consensus import DawidSkeneFit, Entries
from truthing.truth.groups import estimate_prior
from truthing.truth.known_noise import row_model
from truthing.truth.labelers import LARGE, MANY_CLASSES
from truthing.truth.link.many_classes import drawn_confusion
from truthing.truth.link.prior import learned_components
from truthing.truth.link.sampler import draw_link
from truthing.truth.link.views import Views
from truthing.truth.model_choice import choose_model
from truthing.truth.outcome import NoiseSummary
from truthing.truth.question import Question
from truthing.truth.samplers.diagnostics import split_rhat
from truthing.truth.samplers.labelers import sample_crowd

BURN = 200
FEW_DRAWS, FEWEST_DRAWS = 100, 20  # of the tables of very large panels
MOST_CELLS = 40_000_000  # of all those tables
MANY_LABELERS = 20_000  # beyond, a sampler takes a minute and a gigabyte
MANY = (
    f"There are more than {MANY_LABELERS:,} labelers: they are described by one Dawid–Skene fit, "
    "not by random draws. Intervals of labelers with few labels are a little too narrow."
)


def learned_noise(
    labels: Labels,
    gold: Array,
    model: Any,
    prior: Array | None,
    fit: DawidSkeneFit,
    *,
    n_draws: int,
    seed: int,
    progress: Progress = silent,
) -> tuple[NoiseSummary, list[str]]:
    """Posterior draws of every labeler's matrix, and doubts about them; at large sizes from the
    variational fit.
    """
    if isinstance(model, Difficulty):
        raise InputError(
            "difficulty × fallibility has no confusion matrices: choose DawidSkene(), "
            "OneCoin() or Strata(k)."
        )
    entries = Entries.of(labels)
    many = labels.n_labelers > MANY_LABELERS
    if many or len(entries.item) > LARGE or labels.n_classes > MANY_CLASSES:
        told = [MANY] if many else []
        if not isinstance(model, DawidSkene | type(None)):
            told.append("`noise=` is not used: panels of this size get one Dawid–Skene fit.")
        return _from_fit(labels, fit, prior, seed), told
    if model is None:
        model, _ = choose_model(entries, None, seed)
    rows, name = row_model(model, labels)
    # the outcome of no classifier: always the same, so it says nothing
    nothing = np.zeros(labels.n_items, dtype=np.int64)
    samples = sample_crowd(
        entries,
        nothing,
        1,
        gold,
        rows,
        prior=prior,
        row_weight=1.0,
        n_draws=n_draws,
        burn=BURN,
        seed=seed,
        progress=progress,
    )
    rhat = split_rhat(samples.error @ labels.per_labeler / labels.n_labels, samples.n_chains)
    doubts = []
    if rhat > 1.1:
        doubts.append(
            f"The labels fit several answers to who is right (R-hat {rhat:.2f}). Gold on some "
            "random items, or the known error rate of a labeler (noise=), would decide."
        )
    summary = NoiseSummary(
        name,
        labels.labelers,
        samples.row_mean,
        samples.prior.mean(axis=0),
        None
        if samples.row_low is None or samples.row_high is None
        else (samples.row_low, samples.row_high),
        credible_interval(samples.prior, 0.95),
        samples.error,
        True,
        samples.rows,
        samples.rows_prior,
    )
    return summary, doubts


def _from_fit(labels: Labels, fit: DawidSkeneFit, prior: Array | None, seed: int) -> NoiseSummary:
    """Dirichlet rows around the variational fit: many labels leave little doubt."""
    rng = generator(seed, "rows around the fit")
    n_draws = int(np.clip(MOST_CELLS // fit.counts.size, FEWEST_DRAWS, FEW_DRAWS))
    drawn = np.maximum(
        rng.standard_gamma(fit.concentration * fit.pool + fit.counts, (n_draws, *fit.counts.shape)),
        1e-12,
    )
    tables = drawn / drawn.sum(axis=3, keepdims=True)
    share = rng.dirichlet(fit.posterior.sum(axis=0) + 1, n_draws)
    priors = share if prior is None else np.tile(prior, (n_draws, 1))
    name = "one confusion matrix for each labeler (Dawid-Skene)"
    return NoiseSummary(
        name,
        labels.labelers,
        tables.mean(axis=0),
        priors.mean(axis=0),
        credible_interval(tables, 0.95),
        learned=True,
        confusion_draws=tables,
        prior_draws=priors,
    )


def with_copies(
    summary: NoiseSummary, labels: Labels, fit: DawidSkeneFit, seed: int
) -> NoiseSummary:
    """The labelers that were set aside, judged by the consensus of the others: Dirichlet rows
    around their expected confusions.
    """
    tables = summary.confusion_draws
    assert tables is not None
    if tables.shape[1] == labels.n_labelers:
        return summary
    place = {name: t for t, name in enumerate(summary.labelers)}
    full = np.empty((len(tables), labels.n_labelers, *tables.shape[2:]))
    rng = generator(seed, "rows of copies")
    for t, name in enumerate(labels.labelers):
        if name in place:
            full[:, t] = tables[:, place[name]]
            continue
        mine = labels.labeler == t
        counts = fit.concentration * fit.pool
        np.add.at(counts.T, labels.label[mine], fit.posterior[labels.item[mine]])
        drawn = np.maximum(rng.standard_gamma(counts, (len(tables), *counts.shape)), 1e-12)
        full[:, t] = drawn / drawn.sum(axis=2, keepdims=True)
    return replace(
        summary,
        labelers=labels.labelers,
        confusion=full.mean(axis=0),
        confusion_draws=full,
        confusion_interval=credible_interval(full, 0.95),
        error=None,
    )


def given_noise(labels: Labels, gold: Array, model: Any, prior: Array | None) -> NoiseSummary:
    """Matrices as the user gave them; the class prior by maximum likelihood unless it is given
    too.
    """
    if not isinstance(model, TableNoise):
        raise InputError(
            f"{type(model).__name__} has no confusion matrix for each labeler: give rates or "
            "matrices, or let the noise be learned."
        )
    tables = model.tables(labels)
    if prior is None:
        prior = estimate_prior(Question(labels, gold, gold, model.log_likelihood(labels)).evidence)
    return NoiseSummary(
        type(model).__name__,
        labels.labelers,
        tables,
        prior,
        confusion_draws=tables[None],
        prior_draws=prior[None],
    )


def linked_error(
    views: Views,
    gold: Array,
    *,
    panel: str | None = None,
    own: bool = False,
    n_draws: int,
    seed: int,
) -> Array:
    """Draws of how often what was predicted is wrong, by the link: mistakes that labelers share are
    included as far as public panels shared them. ``own``: it is the consensus of these labels."""
    rng = np.random.default_rng(seed)
    components = learned_components(views, panel, own=own)
    link = draw_link(views, components, gold, rng, n_draws=n_draws)
    drawn = drawn_confusion(link, views, gold, rng)
    tally = drawn.tally if isinstance(drawn, Drawn) else Tally.from_confusion(drawn)
    return np.asarray(1 - tally.right.sum(axis=1) / len(gold))


def wrong_together(readings: Views, gold: Array, labels: Labels) -> list[str]:
    """Is the panel's consensus, formed without gold, as good on gold items as its own agreement
    promises?
    """
    known = np.flatnonzero((gold >= 0) & (labels.per_item > 0))
    if len(known) < 10:
        return []
    belief = readings.fit.posterior[known]
    chance = belief.max(axis=1)
    right = belief.argmax(axis=1) == gold[known]
    short = (chance.sum() - right.sum()) / math.sqrt(max((chance * (1 - chance)).sum(), 0.25))
    if math.erfc(short / math.sqrt(2)) / 2 > 0.01:
        return []
    return [
        f"The panel is wrong together: its consensus misses {1 - right.mean():.0%} of "
        f"{len(known)} gold items where its own agreement promises "
        f"{1 - chance.mean():.0%}. Labelers err more and their labels tell less than shown, "
        f"except as far as gold corrects them."
    ]
