"""prevalence(): how frequent each class is, from labels and gold alone; under LLM judges that
is the pass rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.arguments import as_draws, as_panel_error, as_seed, check_target
from truthing.asking import (
    as_noise,
    as_prior,
    calibrated,
    chosen_gold,
    fitting_draws,
    prepare,
    sizes,
    survey_of,
    unseen_choice,
)
from truthing.errors import InputError
from truthing.kinds import Kinds
from truthing.multi_label.shares import rate_tags
from truthing.noise.known import Confusion, Symmetric
from truthing.ordering import in_order
from truthing.panel_kind import panel_of
from truthing.progress import Progress, listener
from truthing.repeats import Repeats
from truthing.shares import Prevalence, as_prevalence, require_two_classes
from truthing.streaming.choice import runs_streamed
from truthing.survey.slices import kinder_to
from truthing.survey.together import said_together
from truthing.tables.pairs import shared_item
from truthing.truth.outcome import Outcome
from truthing.truth.question import Question


def prevalence(
    labels: Any,
    *,
    gold: Any = None,
    gold_weights: Mapping[Any, float] | str | None = None,
    gold_choice: str | None = None,
    calibration_set: Any = None,
    calibration_chosen: str | None = None,
    gold_error: Any = None,
    scale: str | None = None,
    cut: Any = None,
    groups: Any = None,
    unsure: Any = None,
    skips: str | None = None,
    tags: Any = None,
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
    gold_weights : mapping or column, optional
        Where gold items were not chosen with equal chances: item to its chance of being chosen.
    gold_error : float, tuple, mapping, path or data frame, optional
        Experts err too: the share of gold items that are wrong, a range ``(low, high)``, or a
        second expert's answers for some of the gold items. None: gold is the truth.
    scale : {"nominal", "ordinal"}, optional
        "ordinal": classes are grades in order (1 to 5). Far misses count more than near ones, and
        metrics of a scale are shown.
    cut : grade, optional
        Cut grades in two: this grade and those above it count as one class, lower ones as the
        other, in labels, predictions and gold alike.
    groups : mapping, path or data frame, optional
        Labeler to group (maker of a model, prompt, resident or consultant): labelers of one group
        share mistakes, and count less than as many others.
    unsure : value or sequence, optional
        Answers that are no class ("unsure", a refusal): they mark items as hard.
    skips : {"random", "hard"}, optional
        Why labels are missing. "hard": labelers leave out what is hard, so such items count as
        doubtful. None: by chance, with a warning where it does not look like that.
    tags : str or sequence, optional
        Several labels at once: "auto", the sign between the tags of a cell (";"), or the names of
        all tags. Each tag is then a question of its own, and the answer is a `TagShares`.
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
    arguments = dict(locals())
    from truthing.truth.by_calibration import answer_by_calibration

    check_target(target)
    draws, seed, panel_error = as_draws(draws), as_seed(seed), as_panel_error(panel_error)
    if tags is not None:
        return rate_tags(prevalence, arguments)  # type: ignore[return-value]  # asked for by tags=
    if runs_streamed(arguments):
        from truthing.streaming.rate import prevalence_streamed

        return prevalence_streamed(**arguments)
    per = by if isinstance(by, str) else None
    kinds = Kinds(gold_error, scale, cut, groups, None, unsure, skips)
    kinds.refuse_calibration(calibration_set)
    joined, order = in_order(
        prepare(None, labels, gold=gold, repeats=repeats, per=per, kinds=kinds)
    )
    if cluster is None and any(getattr(r, "paired", False) for r in joined.readings):
        # the same prompt for each system: paired
        cluster = {item: shared_item(item) for item in joined.labels.items}
    votes = joined.labels
    require_two_classes(votes.classes)
    model = order.model(as_noise(kinds.model(noise), votes))
    fixed = None if prior is None else as_prior(prior, votes.classes)
    survey = survey_of(joined, order, cluster=cluster, weights=weights, stratum=stratum, by=by)
    err: dict[str, Any] = {"noise": noise, "panel_error": panel_error, "cluster": cluster}
    joined, calibration = calibrated([joined], calibration_set, calibration_chosen, **err)
    votes = joined.labels
    chosen = chosen_gold(joined, None, gold_weights, gold_choice)
    if chosen.kind == "unseen":
        joined, words = unseen_choice(joined, None)
        joined.warnings.insert(0, words)
    assumptions = [*joined.remarks, *said_together(survey, chosen, calibration_set, None)]
    kind = panel_of(panel, votes.labelers, assumptions)
    nobody = np.zeros(votes.n_items, dtype=np.int64)
    question = Question(
        votes,
        nobody,
        joined.gold,
        prior=fixed,
        target=target,
        n_draws=fitting_draws(draws, votes.n_classes, joined.warnings),
        seed=seed,
        gold_weights=chosen.chances,
        gold_chosen=chosen,
        survey=survey,
        progress=listener(progress),
        panel=kind,
        **kinds.question(
            joined, survey.used, gold_weights=gold_weights, calibration_set=calibration_set
        ),
        **kinds.panel(joined, kind, seed, assumptions).fields(0),
    )
    if calibration is not None:
        if fixed is not None:
            raise InputError("`prior=...` is not used beside a calibration set: leave it out.")
        outcome = answer_by_calibration(question, calibration)
    else:
        outcome = _answered(question, model, panel_error, joined.warnings)
    outcome = replace(
        outcome,
        truth=order.truth(outcome.truth),
        noise=None if outcome.noise is None else order.summary(outcome.noise),
    )
    counts = votes.counts().astype(float)
    if survey.slice is not None:
        place = 1 if votes.n_classes == 2 else int(counts.sum(axis=0).argmax())
        about = question.gold, survey.slice, survey.slice_names, place, votes.classes[place]
        bias = kinder_to(counts, *about)
        joined.warnings.extend([bias] if bias else [])
    given = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return as_prevalence(
        outcome,
        question,
        np.average(given, axis=0, weights=survey.weight),
        sizes(joined),
        [*joined.warnings, *outcome.warnings],
        assumptions,
    )


def _answered(question: Question, model: Any, panel_error: Any, warnings: list[str]) -> Outcome:
    """The class shares by the link, or by a noise model that is given or trusted."""
    from truthing.truth import answer, checks, known_noise

    votes, trusted = question.labels, panel_error is not None and panel_error == 0
    known_noise.check_prior(question.prior, model, votes, trusted=trusted)
    if known_noise.must_be_learned(model, votes):
        if not isinstance(model, Symmetric | Confusion):
            checks.require_identified(votes, question.gold)
            two = votes.n_labelers == 2 and not votes.anonymous
            if two and not question.n_gold and trusted:
                warnings.append(
                    "Two labelers without a classifier or gold leave the shares open; the "
                    "answer leans on the prior."
                )
        return answer.with_learned_noise(question, model, panel_error)
    return answer.with_known_noise(question, model, panel_error)
