"""The ceiling: the least error that any classifier can reach."""

from __future__ import annotations

from truthing.app.fields import Field
from truthing.app.jobs.job import Job, Slot, answered
from truthing.app.jobs.questions import REPEATS
from truthing.app.task import JobAnswer, Say, Task
from truthing.errors import InputError


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.ceiling.bayes_error import bayes_error
    from truthing.ceiling.files import align, read_ceiling
    from truthing.tables.asked import keywords

    say(None, "reading the files")
    labeled, predicted = task.one("labels"), task.one("predictions")
    if labeled is None:
        raise InputError("the ceiling needs labels: say which file holds them.")
    options, columns = dict(task.options), dict(labeled.columns)
    columns.pop("prediction_column", None)
    found = read_ceiling(
        labeled.table(),
        kind=options.pop("kind", None),
        column=columns.pop("score_column", None),
        repeats=options.pop("repeats", "error"),
        **keywords(**columns),
    )
    chosen = None if predicted is None else align(found, predicted.reading().predictions)
    say(None, "bounding the Bayes error")
    result = bayes_error(**found.arguments, predictions=chosen, **options)
    result.details["source"] = found.remarks
    return answered(result, {"level": task.level}, remarks=found.remarks)


JOB = Job(
    "ceiling",
    "Find the ceiling",
    "What is the least error any classifier can reach; is a model too good to be true?",
    (
        Slot(
            "labels",
            "Votes, soft labels, or scores with decisions",
            (
                "item_column",
                "labeler_column",
                "label_column",
                "score_column",
                "truth_column",
                "layout",
            ),
            any_file=True,
        ),
        Slot(
            "predictions",
            "A model's predictions",
            ("item_column", "prediction_column"),
            "--predictions",
            needed=False,
        ),
    ),
    (
        Field(
            "kind",
            "What the file holds",
            "choice",
            choices=(
                ("", "as recognised"),
                ("labels", "labels of several labelers"),
                ("soft", "soft labels: the probability of the positive class"),
                ("uncertainty", "uncertainty: min(c, 1 - c)"),
                ("noisy", "noisy soft labels"),
                ("positive_confidence", "positive confidences"),
                ("scores", "scores with decisions"),
            ),
        ),
        Field(
            "prior",
            "Share of the positive class",
            "percent",
            "Only for positive confidences.",
            rare=True,
        ),
        Field(
            "reading",
            "Where labelers disagree",
            "choice",
            choices=(
                ("", "the item itself is ambiguous"),
                ("labeler error", "somebody is wrong about a definite truth"),
            ),
        ),
        REPEATS,
    ),
    run,
)
