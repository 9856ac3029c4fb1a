"""grade(): labels, noise, truth, metrics and report wired together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from truthing.arguments import as_draws, as_panel_error, as_seed
from truthing.asking import hint_at_survey, prepare
from truthing.by_items import grade_items
from truthing.by_the_book import check_method
from truthing.kinds import Kinds
from truthing.multi_label.graded import grade_tags
from truthing.progress import Progress, listener
from truthing.repeats import Repeats
from truthing.report import Report
from truthing.streaming.choice import counts_in_groups, runs_streamed

DATA = ("predictions", "labels", "gold", "scores")  # read before anything is computed


def grade(
    predictions: Any,
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
    classifier_group: str | None = None,
    unsure: Any = None,
    skips: str | None = None,
    tags: Any = None,
    cluster: Any = None,
    weights: Any = None,
    stratum: Any = None,
    by: Any = None,
    deployment: Any = None,
    noise: Any = None,
    prior: Any = None,
    scores: Any = None,
    threshold: float | None = None,
    method: str = "posterior",
    target: str = "sample",
    positive: Any = None,
    panel_error: float | tuple[float, float] | None = None,
    panel: str | None = None,
    trained_on_labels: bool = False,
    repeats: Repeats = "error",
    metrics: Sequence[str] | None = None,
    draws: int = 4000,
    engine: Any = "auto",
    seed: int = 0,
    progress: bool | Progress = False,
) -> Report:
    """How good a classifier really is, although its test labels are noisy, and how sure one can be.

    The truth of each item is unknown; labels are evidence about it. The answer is the posterior of
    every metric against the truth.

    Parameters
    ----------
    predictions : sequence, path, data frame or Predictions
        What the classifier says: a class for each item, in the order of the labels' items or by
        name, or scores of the classes.
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
    classifier_group : str, optional
        The group that the classifier itself is of: its siblings' votes count less.
    unsure : value or sequence, optional
        Answers that are no class ("unsure", a refusal): they mark items as hard.
    skips : {"random", "hard"}, optional
        Why labels are missing. "hard": labelers leave out what is hard, so such items count as
        doubtful. None: by chance, with a warning where it does not look like that.
    tags : str or sequence, optional
        Several labels at once: "auto", the sign between tags (";"), or the names of all tags.
        The answer is then a `TagReport`.
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
    deployment : float, range, sequence, mapping or Prevalence, optional
        Class shares where the classifier will be used: metrics are given for those.
    noise : float, tuple, mapping or noise model, optional
        What is known about the labelers. None: it is learned from the labels. A number is an error
        rate, ``(low, high)`` a range, a mapping goes from labeler to rate or matrix; or a model of
        `truthing.noise`.
    prior : sequence or mapping, optional
        Share of each class, if it is known. None: it is learned.
    scores : sequence, optional
        The classifier's scores of the positive class: they add curves, areas and thresholds.
    threshold : float, optional
        Items with at least this score count as predicted positive.
    method : str, default "posterior"
        The default method, or one of the papers' by name ("exact", "majority", ...).
    target : {"sample", "population"}, default "sample"
        "sample" asks about these items, "population" about new data like them.
    positive : class, optional
        The positive one of two classes. None: the last in order, and the report says so.
    panel_error : float or tuple, optional
        How often the panel may be wrong together. None: as public panels were, also where the noise
        is given. 0: never, as the papers assume. A share of items, or ``(a, b)`` of a Beta
        distribution, states it.
    panel : {"people", "models", "mixed"}, optional
        What the panel is made of. None: guessed from the labelers' names, and said.
    trained_on_labels : bool, default False
        The classifier learned from these very labels or labelers: it repeats their mistakes.
    repeats : {"error", "first", "last", "keep"}, default "error"
        What to do when a labeler gave one item two different labels.
    metrics : sequence of str, optional
        Names of the metrics to show. None: all that apply.
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
    Report
        ``report["accuracy"]`` is an `Estimate`; ``print(report)`` is worth reading.

    Raises
    ------
    InputError
        An argument or a file cannot be used as it is; the message says what to change.
    NotIdentified
        The labels cannot answer under any amount of computing, for example one labeler of unknown
        quality and no gold.

    See Also
    --------
    prevalence : how frequent each class is; needs no predictions.
    compare : several models, one truth.

    Examples
    --------
    >>> import truthing as tr
    >>> data = tr.simulate(500, 5, prior=[0.7, 0.3], operating_point=(0.85, 0.1), fallibility=0.3,
    ...     seed=1)
    >>> report = grade(data.predictions, data.labels, noise=0.15)
    >>> low, high = report["accuracy"].interval(0.95)
    >>> bool(low <= (data.predictions == data.truth).mean() <= high)
    True
    """
    given = dict(locals())
    check_method(method, target)
    draws, seed, panel_error = as_draws(draws), as_seed(seed), as_panel_error(panel_error)
    if tags is not None:
        return grade_tags(grade, given)  # type: ignore[return-value]  # asked for by tags=
    if runs_streamed(given):
        from truthing.streaming.grade import grade_streamed

        return grade_streamed(**given)
    say = listener(progress)
    kinds = Kinds(gold_error, scale, cut, groups, classifier_group, unsure, skips)
    kinds.refuse_calibration(calibration_set)
    about: dict[str, Any] = {"repeats": repeats, "kinds": kinds, "positive": positive}
    held = [prepare(predictions, labels, gold=gold, scores=scores, **about)]
    asked = {name: given[name] for name in given if name not in DATA}
    asked |= {"progress": say, "draws": draws, "seed": seed, "panel_error": panel_error}
    if not counts_in_groups(given, held[0]):
        return grade_items(held, kinds, **asked)
    from truthing.streaming.grade import grade_in_groups

    joined = held.pop()
    alone = replace(joined, warnings=list(joined.warnings))
    hint_at_survey(joined, joined.labels.items)
    if isinstance(gold_weights, Mapping):
        asked["gold_weights"] = dict(gold_weights)  # as it is now, for later too

    def by_items(progress: Progress) -> Report:
        return grade_items([alone], kinds, **{**asked, "progress": progress})

    return grade_in_groups(joined, by_items, **asked)
