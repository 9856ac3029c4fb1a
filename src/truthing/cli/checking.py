"""Can these requirements be asked of these data? Found out from classes and models, before anything
is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truthing.cli.gates import usage
from truthing.errors import InputError, did_you_mean, listing

if TYPE_CHECKING:
    from truthing.requirements import Requirement

AREAS = ("auc", "average_precision")
WITHOUT_INTERVAL = ("majority", "labeler-mean", "labeler-median")


def for_grade(
    asked: Sequence[Requirement],
    predictions: Any,
    labels: Any,
    gold: Any,
    *,
    method: str,
    **options: Any,
) -> None:
    """Metrics that exist for these classes, by a method that gives an interval."""
    if not asked:
        return
    if method in WITHOUT_INTERVAL:
        with usage():
            raise InputError(
                f"method {method!r} gives no probability to judge by: use the default method."
            )
    _metrics(asked, [predictions], labels, gold, **options)


def for_compare(
    asked: Sequence[Requirement], models: Mapping[str, Any], labels: Any, gold: Any, **options: Any
) -> None:
    """The same for every model, and models that were given."""
    if not asked:
        return
    known_models(asked, models)
    _metrics(asked, list(models.values()), labels, gold, **options)


def known_models(asked: Sequence[Requirement], models: Mapping[str, Any]) -> None:
    """Models that were given."""
    with usage():
        for requirement in asked:
            for name in (requirement.first, requirement.second):
                if name not in models:
                    raise InputError(
                        f"no model is called {name!r}.{did_you_mean(name, models)} There are "
                        f"{listing(models)}."
                    )


def for_rate(asked: Sequence[Requirement], labels: Any, gold: Any, *, repeats: Any) -> None:
    """Classes that occur."""
    if not asked:
        return
    from truthing.asking import prepare

    classes = [str(c) for c in prepare(None, labels, gold=gold, repeats=repeats).labels.classes]
    with usage():
        for requirement in asked:
            if requirement.metric not in classes:
                raise InputError(
                    f"no class is called "
                    f"{requirement.metric!r}.{did_you_mean(requirement.metric, classes)} "
                    f"There are {listing(classes)}."
                )


def for_tags(
    asked: Sequence[Requirement],
    case: Any,
    tags: Any,
    repeats: Any,
    sensitivity: bool = False,
    truth_to: str | None = None,
) -> None:
    """Metrics over tags or of a tag that occurs, in `rate` a tag; and models that were given."""
    from truthing.multi_label.graded import metric_name
    from truthing.multi_label.sets import read_tagged

    for option, given in (("--sensitivity", sensitivity), ("--truth", truth_to)):
        if given:
            raise InputError(f"{option} is about one question: grade one tag at a time.")
    if not asked:
        return
    found = read_tagged(case, case.models, case.gold, tags, repeats).cases
    with usage():
        for requirement in asked:
            if case.models:
                metric_name(requirement.metric, found)
            elif requirement.metric.casefold() not in {tag.casefold() for tag in found}:
                hint = did_you_mean(requirement.metric, found)
                raise InputError(f"no tag is called {requirement.metric!r}.{hint}")
            for name in filter(None, (requirement.first, requirement.second)):
                if name not in case.models:
                    raise InputError(
                        f"no model is called {name!r}.{did_you_mean(name, case.models)} There are "
                        f"{listing(case.models)}."
                    )


def _metrics(
    asked: Sequence[Requirement],
    models: Sequence[Any],
    labels: Any,
    gold: Any,
    *,
    positive: Any,
    threshold: float | None,
    repeats: Any,
) -> None:
    from truthing.asking import positive_class, prepare
    from truthing.kinds import check_metrics
    from truthing.predicted import predicted_classes

    scored = []
    for predictions in models:
        joined = prepare(predictions, labels, gold=gold, repeats=repeats)
        classes = joined.labels.classes
        place = positive_class(classes, positive, [])
        how = {"told": positive is not None}
        scored.append(predicted_classes(joined, place, threshold, [], **how)[1] is not None)
        with usage():
            for requirement in asked:
                check_metrics([requirement.metric], classes, place)
    with usage():
        for requirement in asked:
            if requirement.metric in AREAS and not all(scored):
                raise InputError(
                    f"{requirement.metric} needs scores of two classes beside the predictions."
                )
