"""compare(): several models, one posterior of the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truthing.arguments import as_draws, as_panel_error, as_seed, check_target
from truthing.asking import (
    MOST_CELLS,
    as_noise,
    calibrated,
    chosen_gold,
    positive_class,
    sizes,
    survey_of,
    unseen_choice,
)
from truthing.class_codes import Array
from truthing.comparison.draws import Scored
from truthing.comparison.models import (
    check_classes,
    join_models,
    model_names,
    panels_beside,
    slice_warnings,
    slices_of,
    trained_models,
    without_any_copies,
)
from truthing.comparison.result import Comparison
from truthing.comparison.streamed import compare_streamed
from truthing.kinds import Kinds
from truthing.labels import Labels
from truthing.matching import Joined
from truthing.metrics.counts import Tally
from truthing.metrics.estimate import NEARLY
from truthing.metrics.face_value import face_value
from truthing.multi_label.compared import compare_tags
from truthing.ordering import in_order
from truthing.panel_kind import panel_of
from truthing.predicted import predicted_classes, share_of_votes
from truthing.progress import Progress, listener
from truthing.repeats import Repeats
from truthing.scale import nearest_grades
from truthing.streaming.choice import runs_streamed
from truthing.survey.calibration import CalibrationItems
from truthing.survey.deployment import Deployment, as_deployment
from truthing.survey.design import Survey
from truthing.survey.together import said_together
from truthing.truth.trusted_clusters import refuse_new_clusters

if TYPE_CHECKING:
    from truthing.truth.several_models import SharedTruth

MOST_ANSWERS = 100_000_000  # drawn truths kept, draws × items
FEW_CLASSES, FEW_DRAWS = 3, 500
MOST_SCORED = 2000  # drawn truths given scores, as in `grade`

NO_AREAS = (
    "Areas under curves are left out: of several models they do not take a calibration set. Grade "
    "each model by itself for its own."
)


def compare(
    predictions: Mapping[str, Any],
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
    deployment: Any = None,
    noise: Any = None,
    threshold: float | None = None,
    target: str = "sample",
    positive: Any = None,
    panel_error: float | tuple[float, float] | None = None,
    panel: str | None = None,
    trained_on_labels: str | Sequence[str] | bool | None = (),
    repeats: Repeats = "error",
    by: Any = None,
    draws: int = 4000,
    engine: Any = "auto",
    seed: int = 0,
    progress: bool | Progress = False,
) -> Comparison:
    """Which model is better, although the labels are noisy.

    All models are graded by the same draws of the truth, so differences are paired. Nothing is
    assumed about how the models' mistakes depend on each other.

    Parameters
    ----------
    predictions : mapping
        Name of each model to its predictions, as `grade` takes them.
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
        share mistakes, and count less than as many others. For models named in it,
        the votes of their own group count still less.
    unsure : value or sequence, optional
        Answers that are no class ("unsure", a refusal): they mark items as hard.
    skips : {"random", "hard"}, optional
        Why labels are missing. "hard": labelers leave out what is hard, so such items count as
        doubtful. None: by chance, with a warning where it does not look like that.
    tags : str or sequence, optional
        Several labels at once: "auto", the sign between the tags of a cell (";"), or the names of
        all tags. Each tag is then a question of its own, and the answer is a `TagComparison`.
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
    deployment : float, range, sequence, mapping or Prevalence, optional
        Class shares where the classifier will be used: metrics are given for those.
    noise : float, tuple, mapping or noise model, optional
        What is known about the labelers. None: it is learned from the labels. A number is an error
        rate, ``(low, high)`` a range, a mapping goes from labeler to rate or matrix; or a model of
        `truthing.noise`.
    threshold : float, optional
        Items with at least this score count as predicted positive.
    target : {"sample", "population"}, default "sample"
        "sample" asks about these items, "population" about new data like them.
    positive : class, optional
        The positive one of two classes. None: the last in order.
    panel_error : float or tuple, optional
        How often the panel may be wrong together. None: as public panels were, also where the noise
        is given. 0: never, as the papers assume. A share of items, or ``(a, b)`` of a Beta
        distribution, states it.
    panel : {"people", "models", "mixed"}, optional
        What the panel is made of. None: guessed from the labelers' names, and said.
    trained_on_labels : str or sequence of str, default ()
        Models that learned from these very labels or labelers. Without gold they cannot be compared
        with models that did not.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.
    by : column, sequence or mapping, optional
        Slices: every metric is also given for each, partially pooled.
    draws : int, default 4000
        Draws of the posterior.
    engine : {"auto", "memory", "stream", "dask"}, default "auto"
        Where the passes over the labels run. "stream" and "dask" (or a Dask client, or the address
        of its scheduler) read Parquet or CSV files that need not fit in memory; "auto" streams
        folders, and Parquet files of more than 20 million labels.
    seed : int, default 0
        Same seed, same answer, on any number of threads.
    progress : bool or callable, default False
        True writes what is being done to standard error; a callable gets the share done and words,
        and may stop the work by raising.

    Returns
    -------
    Comparison
        ``result.difference("accuracy")``, ``result.probability_best()``, ``result.by_slice()``.

    Raises
    ------
    InputError
        An argument or a file cannot be used as it is; the message says what to change.
    NotIdentified
        The labels cannot answer under any amount of computing, for example one labeler of unknown
        quality and no gold.

    See Also
    --------
    grade : one model.

    Examples
    --------
    >>> import truthing as tr
    >>> data = tr.simulate(300, 4, prior=[0.6, 0.4], operating_point=(0.9, 0.1), fallibility=0.3,
    ...     seed=1)
    >>> other = np.where(np.arange(300) % 5 == 0, 1 - data.truth, data.truth)
    >>> result = compare({"a": data.predictions, "b": other}, data.labels, noise=0.15,
    ...     panel_error=0)
    >>> result.difference("accuracy").probability_better > 0.9
    True
    """
    arguments = dict(locals())
    names = model_names(predictions)
    check_target(target)
    draws, seed, panel_error = as_draws(draws), as_seed(seed), as_panel_error(panel_error)
    if tags is not None:
        return compare_tags(compare, arguments)  # type: ignore[return-value]  # asked for by tags=
    if runs_streamed({**arguments, "models": names}):
        return compare_streamed(**arguments)
    kinds = Kinds(gold_error, scale, cut, groups, None, unsure, skips)
    kinds.refuse_calibration(calibration_set)
    about = dict(zip(names, predictions.values())), labels, gold, repeats, kinds, positive
    joined, orders = zip(*map(in_order, join_models(*about)))
    votes, order, assumptions = joined[0].labels, orders[0], _remarks(joined)
    place = positive_class(votes.classes, positive, assumptions)
    kind = panel_of(panel, votes.labelers, assumptions)
    among = kinds.panel(joined[0], kind, seed, assumptions, names)
    trained = trained_models(trained_on_labels, names, gold=bool((joined[0].gold >= 0).any()))
    survey = survey_of(joined[0], order, cluster=cluster, weights=weights, stratum=stratum)
    refuse_new_clusters(survey, target, panel_error)
    also = {"deployment": deployment, "gold_weights": gold_weights}
    asked = kinds.question(joined[0], survey.used, **also, calibration_set=calibration_set)
    graded = [nearest_grades(j, asked["values"], assumptions) for j in joined]
    how = place, threshold, assumptions
    columns = [predicted_classes(j, *how, told=positive is not None) for j in graded]
    codes = _codes([column[0] for column in columns])
    by_item = noise, by, deployment, calibration_set, asked["values"]
    plain = survey.plain and panel_error != 0 and all(given is None for given in by_item)
    draws, counted, rough = _fitting(draws, votes, len(names), plain)
    shares = as_deployment(deployment, votes.classes, place)
    chosen = chosen_gold(joined[0], codes, gold_weights, gold_choice)
    err = {"noise": noise, "panel_error": panel_error, "cluster": cluster}
    first, calibration = calibrated(joined, calibration_set, calibration_chosen, **err)
    assumptions += said_together(survey, chosen, calibration_set, deployment, by)
    if chosen.kind == "unseen":
        first, words = unseen_choice(first, None)
        joined[0].warnings.insert(0, words)
    panels, said = panels_beside(votes, codes, names, trained)
    warnings = list(dict.fromkeys([*(w for j in joined for w in j.warnings), *rough, *said]))
    ask = partial(
        _shared_truth,
        votes if panel_error != 0 else without_any_copies(votes, panels),
        codes,
        first.gold,
        order.model(as_noise(kinds.model(noise), votes)),
        panel_error,
        gold_weights=chosen.chances,
        gold_chosen=chosen,
        survey=survey,
        n_draws=draws,
        seed=seed,
        say=listener(progress),
        panel=kind,
        trained=[a or b for a, b in zip(trained, among.own)],
        kinds={**asked, **among.fields()},
        only_counts=counted,
        panels=panels,
    )
    parts = slices_of(by, first, order)
    found = ask() if calibration is None else _calibrated_truth(ask, first, calibration, parts)
    slices = _slices(parts, len(names), warnings)
    scored = _scored([c[1] for c in columns], votes, place, ask, draws, calibration, warnings)
    told = tuple(names), votes.classes, place, found.truth, codes, target, seed
    return Comparison(
        *told,
        sizes(first),
        joined[0].dropped,
        tuple(_at_face_value(votes, c, survey, shares) for c in codes),
        slices,
        [*warnings, *found.warnings],
        [*dict.fromkeys(assumptions), *found.assumptions],
        found.diagnostics,
        scored,
        survey,
        shares,
        found.pairs,
        asked["values"],
        1.0 if panel_error == 0 else NEARLY,
        by_item=partial(ask, n_draws=_few(votes), only_counts=False) if counted else None,
        accuracies=found.accuracies,
    )


def _slices(parts: Survey, n_models: int, warnings: list[str]) -> dict[str, Array]:
    """The items of each slice; what must be said of them joins the warnings."""
    slices = {name: parts.items_of(name) for name in parts.slice_names}
    warnings += slice_warnings(slices, n_models) if slices else []
    return slices


def _remarks(joined: Sequence[Joined]) -> list[str]:
    return list(dict.fromkeys(remark for each in joined for remark in each.remarks))


def _at_face_value(votes: Labels, codes: Array, survey: Survey, shares: Deployment | None) -> Tally:
    naive = face_value(votes, codes, survey.weight)
    return Tally.from_confusion(naive if shares is None else shares.at_mean(naive))


def _shared_truth(*given: Any, **how: Any) -> SharedTruth:
    """Imported where it is used: it is slow to load."""
    from truthing.truth.several_models import shared_truth

    return shared_truth(*given, **how)


def _fitting(draws: int, votes: Labels, n_models: int, plain: bool) -> tuple[int, bool, list[str]]:
    """So many answer keys as fit in memory, whether only their counts are kept, and a warning where
    they are few."""
    check_classes(votes.n_classes)
    one_by_one = MOST_ANSWERS // votes.n_items
    # groups of items that look alike are few where classes are
    worth = votes.n_classes <= FEW_CLASSES or one_by_one < FEW_DRAWS
    counted = plain and worth and draws > one_by_one
    fitting = MOST_CELLS // (n_models * votes.n_classes)
    if not counted:
        fitting = min(fitting, one_by_one)
    fitting = max(100, fitting)
    few = (
        f"{votes.n_items:,} items leave memory for {fitting} draws only: limits of intervals are "
        "rough."
    )
    return min(draws, fitting), counted, [few] if draws > fitting else []


def _codes(predicted: Sequence[Array]) -> Array:
    """Models × items in one memory layout: samplers are compiled anew for every other, which takes
    longer than they do."""
    return np.ascontiguousarray(np.stack(predicted), dtype=np.int64)


def _few(votes: Labels) -> int:
    """Draws of every item that fit in memory."""
    return max(100, MOST_ANSWERS // votes.n_items)


def _scored(
    scores: Sequence[Array | None],
    votes: Labels,
    place: int | None,
    ask: Any,
    n_draws: int,
    calibration: CalibrationItems | None,
    warnings: list[str],
) -> Scored | None:
    """What areas under curves need, where every model has scores."""
    every = [score for score in scores if score is not None]
    if place is None or len(every) < len(scores):
        return None
    if calibration is not None:
        warnings.append(NO_AREAS)
        return None
    share = share_of_votes(votes, place)
    table = np.stack(every)
    most = min(n_draws, MOST_SCORED, _few(votes))
    run = partial(ask, scores=table, positive=place, n_draws=most, only_counts=False)
    return Scored(table, share, run)


def _calibrated_truth(ask: Any, joined: Joined, items: CalibrationItems, by: Survey) -> SharedTruth:
    """Answer keys by a calibration set instead of the link; ``by`` holds the slices."""
    from truthing.truth.by_calibration import truths_by_calibration
    from truthing.truth.question import Question
    from truthing.truth.several_models import SharedTruth

    codes, how = ask.args[1], ask.keywords
    survey = replace(how["survey"], slice=by.slice, slice_names=by.slice_names)
    question = Question(
        joined.labels,
        codes[0],
        joined.gold,
        n_draws=how["n_draws"],
        seed=how["seed"],
        survey=survey,
    )
    return SharedTruth(*truths_by_calibration(question, codes, items))
