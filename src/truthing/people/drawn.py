"""Labelers on items that came in clusters, with weights, from strata, or that are shown by slice.

Items of a cluster share mistakes, so a labeler's labels are worth fewer than they are many: the
labeler's draws are spread by the root of its design effect, and those who grade it by the others
count gold of whole clusters less and redraw clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.metrics.confusion import ConfusionMatrix
from truthing.metrics.counts import Tally
from truthing.metrics.estimate import credible_interval
from truthing.survey.clusters import LEAST, TRUST, alike, gold_worth, intraclass, sharing
from truthing.survey.design import Survey
from truthing.truth.link.prior import learned_components
from truthing.truth.link.sampler import draw_link
from truthing.truth.link.surveyed import survey_counts
from truthing.truth.link.views import Views
from truthing.truth.outcome import NoiseSummary


@dataclass(frozen=True, eq=False)
class SurveyedError:
    """Draws of how often labels are wrong; ``slices`` holds draws, items and gold of each slice."""

    error: Array
    slices: dict[str, tuple[Array, int, int]]


def surveyed_error(
    views: Views,
    gold: Array,
    survey: Survey,
    *,
    panel: str | None = None,
    own: bool = False,
    n_draws: int,
    seed: int,
) -> SurveyedError:
    """As `linked_error`; where there are clusters, about new clusters like these."""
    rng, cluster = np.random.default_rng(seed), survey.cluster
    target, worth = "sample", None
    if cluster is not None:
        target = "population"
        agrees = views.consensus.argmax(axis=1) == views.predicted
        together = alike(cluster, agrees, gold, views.predicted)
        worth = np.full(int((gold >= 0).sum()), gold_worth(cluster, gold, together, target))
    link = draw_link(
        views,
        learned_components(views, panel, own=own),
        gold,
        rng,
        n_draws=n_draws,
        gold_weights=worth,
        blocks=survey.blocks,
        split=survey.weight_levels(),
    )
    counts = survey_counts(link, views, gold, rng, survey, target)

    def error(items: Array | None) -> Array:
        drawn = counts.drawn(items)
        tally = drawn.tally if isinstance(drawn, ConfusionMatrix) else Tally.from_confusion(drawn)
        return np.asarray(1 - tally.right.sum(axis=1) / tally.truth.sum(axis=1))

    slices = {}
    for name in survey.slice_names:
        items = survey.items_of(name)
        if len(items):
            slices[name] = error(items), len(items), int((gold[items] >= 0).sum())
    return SurveyedError(error(None), slices)


def design_effects(labels: Labels, seen: Array, cluster: Array) -> Array:
    """How many times wider each labeler's variance is than with items drawn one by one; ``seen`` is
    the consensus's class of each item."""
    right = (labels.label == seen[labels.item]).astype(float)
    # by labeler and cluster at once: what all labelers show together
    together = labels.labeler.astype(np.int64) * (int(cluster.max()) + 1) + cluster[labels.item]
    offset = np.bincount(labels.labeler, weights=right, minlength=labels.n_labelers)
    level = offset / np.maximum(labels.per_labeler, 1)
    common = _correlation(right - level[labels.labeler], together)
    effects = np.ones(labels.n_labelers)
    for t in np.flatnonzero(labels.per_labeler > 1):
        mine = labels.labeler == t
        where = np.unique(cluster[labels.item[mine]], return_inverse=True)[1].reshape(-1)
        own, pairs = intraclass(right[mine], where)
        found = max((TRUST * common + pairs * own) / (TRUST + pairs), LEAST)
        size = sharing(where)
        few = 1 + 2 / max(len(where) / size - 3, 1.0)
        effects[t] = 1 + (size - 1) * found * few
    return effects


def _correlation(right: Array, cluster: Array) -> float:
    return intraclass(right, np.unique(cluster, return_inverse=True)[1].reshape(-1))[0]


def surveyed_noise(
    summary: NoiseSummary, labels: Labels, posterior: Array, survey: Survey
) -> NoiseSummary:
    """The labelers' matrices and the classes' shares as far as clusters leave them known, the
    shares by weight."""
    if survey.cluster is None and survey.weight is None:
        return summary
    tables, priors = summary.confusion_draws, summary.prior_draws
    assert tables is not None
    assert priors is not None
    if survey.cluster is not None:
        seen = posterior.argmax(axis=1)
        effects = design_effects(labels, seen, survey.cluster)
        tables = _spread(tables, np.sqrt(effects)[:, None, None])
        likeness = max(
            _correlation((seen == c).astype(float), survey.cluster) for c in range(labels.n_classes)
        )
        widened = 1 + (sharing(survey.cluster) - 1) * max(likeness, LEAST)
        priors = _spread(priors, np.sqrt(widened))
    if survey.weight is not None:
        counted = survey.weight @ posterior / np.maximum(posterior.sum(axis=0), 1e-12)
        priors = priors * counted
        priors = priors / priors.sum(axis=1, keepdims=True)
    return replace(
        summary,
        confusion_draws=tables,
        prior_draws=priors,
        prior=priors.mean(axis=0),
        confusion_interval=credible_interval(tables, 0.95),
        prior_interval=credible_interval(priors, 0.95),
        error=None,
    )


def _spread(draws: Array, factor: Any) -> Array:
    """Draws of shares further from their centre, on the scale of logarithms."""
    logs = np.log(np.maximum(draws, 1e-6))
    centre = logs.mean(axis=0)
    moved = np.exp(centre + factor * (logs - centre))
    return np.asarray(moved / moved.sum(axis=-1, keepdims=True))


def at_items(survey: Survey, items: Array) -> Survey:
    """The same of some of the items, in their order."""
    take: Callable[[Array | None], Any] = lambda part: None if part is None else part[items]  # noqa: E731
    cluster, weight = take(survey.cluster), take(survey.weight)
    if cluster is not None:
        cluster = np.unique(cluster, return_inverse=True)[1].reshape(-1)
    if weight is not None:
        weight = weight / weight.mean() if weight.sum() > 0 else np.ones(len(items))
    return replace(
        survey,
        cluster=cluster,
        weight=weight,
        stratum=take(survey.stratum),
        slice=take(survey.slice),
    )


def about_labelers(survey: Survey, n_items: int) -> list[str]:
    """How the items were drawn, in words."""
    told = []
    if survey.cluster is not None:
        told.append(
            f"Items come in {int(survey.cluster.max()) + 1:,} clusters, within which a labeler's "
            "mistakes are alike: intervals are about new clusters like these."
        )
    if survey.weight is not None:
        told.append(
            f"Items count by their weights ({n_items:,} are worth about "
            f"{survey.effective_items:,.0f}): errors by the others item by item, what labels tell "
            "by the classes' weighted shares, mistakes on one class being the same at any weight."
        )
    if survey.stratum is not None:
        told.append("By the others: strata may differ beyond what their labels show.")
    if survey.slice is not None:
        told.append(
            "Slices are by the others and partially pooled: one with little gold leans on the rest."
        )
    if len(survey.used) > 1:
        names = ", ".join(f"`{name}=`" for name in survey.used)
        told.append(f"How well {names} cover together was not studied for labelers.")
    return told
