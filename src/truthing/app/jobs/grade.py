"""Grade a classifier."""

from __future__ import annotations

from typing import Any

from truthing.app.fields import Field
from truthing.app.jobs.job import REPEATS, Job, Slot
from truthing.app.task import Answer, Given, Say, Task
from truthing.errors import InputError
from truthing.progress import compiled_before, part
from truthing.tables import inspect


def run(task: Task, say: Say) -> Answer:
    from truthing.grading import grade

    say(None, "reading the files")
    predictions, labels, gold, notes = read(task.one("predictions"), task.one("labels"), task.one("gold"))
    options = dict(task.options)
    sensitivity = options.pop("sensitivity", False)
    late = "" if compiled_before() else " (the first run on this machine takes about half a minute more)"
    telling = part(lambda done, words: say(done, words + late), 0, 0.4 if sensitivity else 0.95)
    report = grade(predictions, labels, gold=gold, progress=telling, **options)
    if sensitivity:
        report.sensitivity(task.level, progress=part(say, 0.4, 0.95))
    report.warnings.extend(notes)
    report.provenance.update(task.provenance())
    say(0.95, "writing the report")
    page = report.to_html(level=task.level, sensitivity=sensitivity)
    return Answer((report.verdict(task.level),), report.to_json(task.level), document=page)


def read(predicted: Given | None, labeled: Given | None, known: Given | None) -> tuple[Any, Any, Any, list[str]]:
    """Predictions, labels, gold and what had to be said about the columns, as the command line reads them."""
    if predicted is None or labeled is None:
        raise InputError("grading needs predictions and labels: say which file holds them.")
    if predicted == labeled:
        reading = inspect(labeled.table(), layout=labeled.layout, **labeled.named("item", "labeler", "label", "prediction", "score", "truth"))  # fmt: skip
        predictions = reading.predictions
        gold = reading.gold if reading.has_gold else None
    else:
        predictions = inspect(predicted.table(), **predicted.named("item", "prediction", "score")).predictions
        reading = inspect(labeled.table(), layout=labeled.layout, **labeled.named("item", "labeler", "label"))
        gold = None
    if known is not None:
        gold = inspect(known.table(), **known.named("item", "truth")).gold
    return predictions, reading.labels, gold, list(reading.columns.notes)


JOB = Job(
    "grade",
    "Grade a classifier",
    "How good is it really, and how sure can one be?",
    (
        Slot("predictions", "Predictions"),
        Slot("labels", "Labels"),
        Slot("gold", "Gold: the known truth of some items", "--gold", needed=False),
    ),
    (
        Field("noise", "What is known about the labelers?", "noise"),
        Field("positive", "Positive class", "class", "With two classes: the one that recall and precision are about."),
        Field("target", "About", "choice", choices=(("", "these items"), ("population", "new data like them (a wider interval)"))),
        Field("panel_error", "How often may all labelers be wrong together?", "percent",
              "Share of items. Empty: as often as public crowds were when the labelers are learned, never when their error is given.", rare=True),
        Field("threshold", "Cut the scores at", "number", "Instead of using the predictions. Empty: use the predictions.", rare=True),
        REPEATS,
        Field("sensitivity", "Also show what the assumptions do to accuracy (takes a few runs)", "yes", rare=True),
    ),
    ("item_column", "labeler_column", "label_column", "prediction_column", "score_column", "truth_column", "layout"),
    run,
)  # fmt: skip
