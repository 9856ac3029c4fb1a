"""labelers(): who is good, who adds what, who copies whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_seed
from truthing.asking import as_noise, as_prior, prepare, sizes, survey_of
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.kinds import Kinds
from truthing.labels import Labels
from truthing.matching import Joined
from truthing.metrics.estimate import NEARLY, Estimate
from truthing.names import names_at
from truthing.noise.base import TableNoise
from truthing.noise.bits import entropy, label_bits
from truthing.noise.known import Confusion
from truthing.ordering import in_order
from truthing.panel_kind import panel_of
from truthing.people import copies as copying
from truthing.people.agreement import Coefficient, agreement
from truthing.people.confusion import (
    given_noise,
    learned_noise,
    with_copies,
    wrong_together,
)
from truthing.people.drawn import SurveyedError, about_labelers, surveyed_noise
from truthing.people.graded import error_by_link, graded_errors
from truthing.people.graded_agreement import graded_agreement
from truthing.people.label_bits import collected_bits
from truthing.people.result import LabelersReport
from truthing.progress import Progress, listener, part
from truthing.repeats import Repeats
from truthing.streaming.some_items import some_items
from truthing.survey.design import Survey, refuse_survey
from truthing.truth import checks, known_noise
from truthing.truth.consensus import Entries
from truthing.truth.labeler_groups import LabelerGroups
from truthing.truth.link.views import Views, read_consensus
from truthing.truth.outcome import NoiseSummary

TOGETHER = (
    "Quality is measured against what the panel as a whole supports: where all are wrong together, "
    "labels alone cannot show it (on public crowds learned errors were 1 to 9 points too low)"
)

MOST_CELLS = 2_000_000  # labelers × classes × classes
MOST_LABELERS = 200_000


def labelers(
    labels: Any,
    *,
    gold: Any = None,
    noise: Any = None,
    prior: Any = None,
    panel: str | None = None,
    groups: Any = None,
    scale: str | None = None,
    cluster: Any = None,
    weights: Any = None,
    stratum: Any = None,
    by: Any = None,
    repeats: Repeats = "error",
    draws: int = 1000,
    engine: str = "auto",
    seed: int = 0,
    progress: bool | Progress = False,
) -> LabelersReport:
    """Who labels well, who adds what, and who copies whom.

    For each labeler: confusion matrix, error rate, the bits that a label carries about the truth,
    and
    the bits that it adds to the labels of the others on the same items. Quality is measured against
    what the panel as a whole supports: without gold, a panel that is wrong together does not show.

    Parameters
    ----------
    labels : Labels, path, data frame or matrix
        Who said what about which item: a file, a data frame, a `Labels`, or a matrix with items in
        rows and labelers in columns.
    gold : mapping, path or data frame, optional
        Items whose truth is known, item to class.
    noise : float, tuple, mapping or noise model, optional
        What is known about the labelers. None: it is learned from the labels. A number is an error
        rate, ``(low, high)`` a range, a mapping goes from labeler to rate or matrix; or a model of
        `truthing.noise`.
    prior : sequence or mapping, optional
        Share of each class, if it is known.
    panel : {"people", "models", "mixed"}, optional
        What the labelers are: it decides which measured panels say how often they are wrong
        together. None: as their names say, if they do.
    groups : mapping, path or data frame, optional
        Labeler to group (maker of a model, prompt, resident or consultant). The report then says
        how many independent labels an item's labels are worth.
    scale : {"nominal", "ordinal"}, optional
        "ordinal": classes are grades in order; agreement is also measured by distance.
    cluster : column, sequence or mapping, optional
        Items that belong together (images of a patient, answers to a prompt) and share mistakes:
        intervals are about new ones like them, and wider.
    weights : column, sequence or mapping, optional
        How many items each stands for, where items were not drawn with equal chances.
    stratum : column, sequence or mapping, optional
        Strata that the items were drawn from; labelers may err otherwise in each.
    by : column, sequence or mapping, optional
        Slices: each labeler's error by the others is also given for each (`by_slice`).
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.
    draws : int, default 1000
        Draws of the posterior.
    engine : {"auto", "memory", "stream"}, default "auto"
        "stream": labels in Parquet or CSV that need not fit in memory are answered for by a random
        choice of their items, and gold items beside it; the report says so. "auto" does so for
        Parquet files of more than 20 million labels and for folders.
    seed : int, default 0
        Same seed, same answer, on any number of threads.
    progress : bool or callable, default False
        True writes what is being done to standard error; a callable gets the share done and words,
        and may stop the work by raising.

    Returns
    -------
    LabelersReport
        ``report.frame()`` is a table with a row for each labeler.

    Raises
    ------
    InputError
        An argument or a file cannot be used as it is; the message says what to change.
    NotIdentified
        The labels cannot answer under any amount of computing, for example one labeler of unknown
        quality and no gold.

    See Also
    --------
    agreement : kappa and its relatives.
    information : bits of a panel with known errors.

    Examples
    --------
    >>> import truthing as tr
    >>> data = tr.simulate(300, 4, prior=[0.5, 0.5], fallibility=[0.1, 0.3, 0.6, 1.0], seed=1)
    >>> report = labelers(data.labels)
    >>> report.to_frame()["labeler"].to_list(), report.kinds[3]
    (['w1', 'w2', 'w3', 'w4'], 'spammer')
    """
    draws, seed = as_draws(draws), as_seed(seed)
    asked_for = cluster, weights, stratum, by
    source, known = some_items(labels, engine, gold=gold, columns=asked_for)
    joined, order = in_order(prepare(None, source, gold=known, repeats=repeats))
    votes = joined.labels
    _require_names(votes)
    survey = survey_of(joined, order, cluster=cluster, weights=weights, stratum=stratum, by=by)
    model = order.model(as_noise(Kinds(scale=scale).model(noise), votes))
    fixed = None if prior is None else as_prior(prior, votes.classes)
    learned = known_noise.must_be_learned(model, votes)
    if learned and not isinstance(model, TableNoise):
        checks.require_identified(votes, joined.gold)
    say = listener(progress)
    say(0.0, "looking for copies")
    copies = copying.find_copies(votes, joined.gold)
    notes = list(joined.remarks)
    kind = panel_of(panel, votes.labelers, notes)
    values, among = _scale_and_groups(scale, groups, joined, kind, seed, notes)
    readings = read_consensus(Entries.of(copies.kept))
    graded: dict[Any, SurveyedError] = {}
    together = None
    if learned:
        common: dict[str, Any] = {"n_draws": draws, "seed": seed}
        summary, doubts = _learned(
            votes, copies, joined.gold, model, fixed, progress=part(say, 0.1, 0.8), **common
        )
        common["panel"] = kind
        if not survey.plain:
            summary = surveyed_noise(summary, votes, copies.fit.posterior, survey)
        together = _consensus_error(readings, joined.gold, survey, common)
        common["progress"] = part(say, 0.8, 0.95)
        graded = graded_errors(copies.kept, joined.gold, survey=survey, **common)
    else:
        refuse_survey(survey.used, "where the labelers' noise is given: leave noise= out.")
        summary, doubts = given_noise(votes, joined.gold, model, fixed), []
    tables, priors = summary.confusion_draws, summary.prior_draws
    assert tables is not None
    assert priors is not None
    say(0.95, "counting what labels tell")
    bits = label_bits(tables, priors[:, None, :])
    worth, added = _bits_collected(votes, copies, tables, priors, seed)
    swaps, kinds = _swaps_and_kinds(votes, copies, tables, priors, bits)
    error = 1 - (priors[:, None, :] * tables.diagonal(axis1=2, axis2=3)).sum(axis=2)
    checked, wrong = _on_gold(votes, joined.gold)
    return LabelersReport(
        labelers=order.labels.labelers,
        classes=votes.classes,
        given=order.by_labeler(votes.per_labeler),
        noise=order.summary(summary),
        error=order.by_labeler(error, 1),
        bits=order.by_labeler(bits, 1),
        adds=order.by_labeler(added, 1),
        panel_bits=worth,
        kinds=tuple(order.by_labeler(kinds).tolist()),
        readings={
            name: swaps[name] for name, kind in zip(votes.labelers, kinds) if kind == "adversary"
        },
        pairs=copies.pairs,
        agreement=_agreement(votes, values),
        effective_size=None if among is None else among.effective_size,
        gold_checked=order.by_labeler(checked),
        gold_wrong=order.by_labeler(wrong),
        consensus_error=together,
        graded={name: found.error for name, found in graded.items()},
        slices={name: found.slices for name, found in graded.items() if found.slices},
        sizes=sizes(joined),
        seed=seed,
        warnings=[*joined.warnings, *doubts, *_warned(joined, copies, readings, learned)],
        assumptions=[
            *notes,
            *_assumptions(summary.model, learned, bool(graded), joined, copies),
            *about_labelers(survey, votes.n_items),
        ],
        source=votes,
        gold=_known(joined),
    )


def _consensus_error(
    readings: Views, gold: Array, survey: Survey, common: dict[str, Any]
) -> Estimate:
    """How often the labelers' consensus is wrong."""
    found = error_by_link(readings, gold, survey=survey, own=True, **common)
    return Estimate.from_draws(found.error, slack=NEARLY)


def _swaps_and_kinds(
    votes: Labels, copies: copying.Copies, tables: Array, priors: Array, bits: Array
) -> tuple[dict[Any, dict[Any, Any]], tuple[str, ...]]:
    """Labelers who mean other classes than they name, and the kind of each labeler."""
    swaps = {
        name: meant
        for t, name in enumerate(votes.labelers)
        if (meant := copying.reading(tables[:, t], votes.classes))
    }
    kinds = tuple(
        copying.kind(name in copies.original, name in swaps, bits[:, t], entropy(priors))
        for t, name in enumerate(votes.labelers)
    )
    return swaps, kinds


def _scale_and_groups(
    scale: str | None, groups: Any, joined: Joined, kind: str | None, seed: int, notes: list[str]
) -> tuple[Array | None, LabelerGroups | None]:
    """Values of the grades, and groups of labelers; what is to be said joins the notes."""
    kinds = Kinds(scale=scale, groups=groups)
    among = kinds.panel(joined, kind, seed, notes).groups
    notes += [] if among is None else [among.words()]
    return kinds.question(joined)["values"], among


def _agreement(votes: Labels, values: Array | None) -> dict[str, Coefficient]:
    if votes.per_item.max() < 2:
        return {}
    return agreement(votes) | ({} if values is None else graded_agreement(votes, values))


def _learned(
    panel: Labels,
    copies: copying.Copies,
    gold: Array,
    model: Any,
    prior: Array | None,
    **options: Any,
) -> tuple[NoiseSummary, list[str]]:
    """Learned from those who keep a vote; copies are judged by the others."""
    if isinstance(model, Confusion) and not isinstance(
        model.matrices, Mapping
    ):  # by name, for whoever keeps a vote
        model = Confusion(dict(zip(panel.labelers, model.tables(panel))), model.weight)
    summary, doubts = learned_noise(copies.kept, gold, model, prior, copies.fit, **options)
    return with_copies(summary, panel, copies.fit, options["seed"]), doubts


def _bits_collected(
    labels: Labels, copies: copying.Copies, tables: Array, priors: Array, seed: int
) -> tuple[Array, Array]:
    """Bits in an average item's labels and what each labeler adds; copies count once, and pairs
    that repeat each other add less.
    """
    everyone = collected_bits(labels.indptr, labels.labeler, tables, priors, seed=seed)
    worth, added = everyone.panel, everyone.added
    if copies.original:
        own = [t for t, name in enumerate(labels.labelers) if name not in copies.original]
        alone = collected_bits(
            copies.kept.indptr, copies.kept.labeler, tables[:, own], priors, seed=seed
        )
        added = added[: len(alone.added)].copy()
        worth, added[:, own] = alone.panel, alone.added[: len(added)]
    return worth, added * copying.independent_share(labels, copies.pairs)


def _require_names(labels: Labels) -> None:
    if labels.anonymous:
        raise InputError(
            "these votes are anonymous: who gave which label is not in the file, so labelers "
            "cannot be judged. "
            "Give a table with a labeler column; tr.agreement(labels) works on votes."
        )
    if labels.n_labelers > MOST_LABELERS:
        raise InputError(
            f"{labels.n_labelers:,} labelers are too many to describe one by one (at most "
            f"{MOST_LABELERS:,}): keep those with the most labels. tr.grade, tr.prevalence and "
            "tr.compare answer as it is."
        )
    if labels.n_labelers * labels.n_classes**2 > MOST_CELLS:
        raise InputError(
            f"{labels.n_labelers:,} labelers and {labels.n_classes:,} classes are too many for a "
            "confusion matrix of each labeler. Merge rare classes; tr.grade, tr.prevalence and "
            "tr.agreement answer as it is."
        )
    if labels.n_classes < 2:
        raise InputError(
            f"only one class occurs ({labels.classes[0]!r}): its labels tell nothing. Check the "
            f"labels."
        )


def _warned(joined: Joined, copies: copying.Copies, readings: Views, learned: bool) -> list[str]:
    votes, nobody = joined.labels, np.zeros(joined.labels.n_labelers)
    return [
        *checks.structure_warnings(votes, nobody, votes.n_classes, classifier=False),
        *_who_of_two(copies.kept, joined.gold, learned),
        *wrong_together(readings, joined.gold, votes),
    ]


def _who_of_two(labels: Labels, gold: Array, learned: bool) -> list[str]:
    if learned and int((labels.per_labeler > 0).sum()) == 2 and not (gold >= 0).any():
        return [
            "Two labelers show only how often they agree, not who of them is right: their "
            "errors lean on the assumption that both are better "
            "than chance. A third labeler or gold on some random items would tell them apart."
        ]
    return []


def _on_gold(labels: Labels, gold: Array) -> tuple[Array, Array]:
    """Labels on gold items and how many of them are wrong, for each labeler."""
    known = gold[labels.item]
    checked = np.bincount(labels.labeler[known >= 0], minlength=labels.n_labelers)
    missed = (known >= 0) & (known != labels.label)
    return checked, np.bincount(labels.labeler[missed], minlength=labels.n_labelers)


def _known(joined: Joined) -> dict[Any, Any]:
    """Gold items and their classes, by name."""
    labels, known = joined.labels, np.flatnonzero(joined.gold >= 0)
    truths = [labels.classes[k] for k in joined.gold[known]]
    return dict(zip(names_at(labels.items, known), truths))


def _assumptions(
    model: str, learned: bool, graded: bool, joined: Joined, copies: copying.Copies
) -> list[str]:
    has_gold, pairs = bool((joined.gold >= 0).any()), copies.pairs
    sentences = [
        f"The labelers' quality was learned: {model}."
        if learned
        else f"The labelers' quality is as given ({model})."
    ]
    sentences.append(
        "Labelers err independently of each other, given the true class; what labels tell is an "
        "average over classes and items."
    )
    if learned:
        sentences.append(
            TOGETHER
            + (
                "; gold items count as certain."
                if has_gold
                else ": gold on random items (--gold) would."
            )
        )
    if graded:
        sentences.append(
            "By the others: each labeler (of the 60 busiest) graded by the others' labels "
            "and gold as `grade` grades a classifier, shared mistakes allowed for as "
            "far as public panels shared them."
        )
    if any(pair.z > 0 for pair in pairs):
        sentences.append(
            "Where two labelers agree more than independence allows, what each adds is cut by the "
            "share it would have copied."
        )
    return sentences
