"""Grade a classifier."""

from __future__ import annotations

from typing import Any

from truthing.app.fields import Field
from truthing.app.jobs.job import Job, Slot, answered, known_truth
from truthing.app.jobs.questions import GOLD, NOISE, PANEL_ERROR, REPEATS, TARGET
from truthing.app.task import Answer, Given, Say, Task, patient
from truthing.errors import InputError
from truthing.progress import part


def run(task: Task, say: Say) -> Answer:
    from truthing.grading import grade

    say(None, "reading the files")
    predictions, labels, gold, notes = read(
        task.one("predictions"), task.one("labels"), task.one("gold")
    )
    options = dict(task.options)
    sensitivity = options.pop("sensitivity", False)
    progress = part(patient(say), 0, 0.4 if sensitivity else 0.95)
    report = grade(predictions, labels, gold=gold, progress=progress, **options)
    if sensitivity:
        report.sensitivity(task.level, progress=part(say, 0.4, 0.95))
    report.warnings.extend(notes)
    report.provenance.update(task.provenance())
    say(0.95, "writing the report")
    return answered(report, {"level": task.level}, sensitivity=sensitivity)


def read(
    predicted: Given | None, labeled: Given | None, known: Given | None
) -> tuple[Any, Any, Any, list[str]]:
    """Predictions, labels, gold and what had to be said about the columns, as the command line reads them."""
    if predicted is None or labeled is None:
        raise InputError("grading needs predictions and labels: say which file holds them.")
    reading = labeled.reading()
    predictions = (reading if predicted == labeled else predicted.reading()).predictions
    gold = known_truth(known, reading if predicted == labeled else None)
    return predictions, reading.labels, gold, list(reading.columns.notes)


JOB = Job(
    "grade",
    "Grade a classifier",
    "How good is it really, and how sure can one be?",
    (
        Slot("predictions", "Predictions", ("item_column", "prediction_column", "score_column")),
        Slot("labels", "Labels", ("item_column", "labeler_column", "label_column", "layout")),
        GOLD,
    ),
    (
        NOISE,
        Field("positive", "Positive class", "class", "The one that recall and precision are about."),
        TARGET,
        PANEL_ERROR,
        Field("threshold", "Cut the scores at", "number", "Instead of using the predictions. Empty: use the predictions.", rare=True),
        REPEATS,
        Field("sensitivity", "Also show what the assumptions do to accuracy (takes a few runs)", "yes", rare=True),
    ),
    run,
)  # fmt: skip
