"""How frequent is each class."""

from __future__ import annotations

from truthing.app.jobs.job import Job, Slot, answered, known_truth, two_opinions
from truthing.app.jobs.questions import GOLD, NOISE, PANEL_ERROR, REPEATS, TARGET
from truthing.app.task import Answer, Say, Task, patient
from truthing.errors import InputError


def run(task: Task, say: Say) -> Answer:
    from truthing.rate import prevalence

    say(None, "reading the files")
    labeled, known = task.one("labels"), task.one("gold")
    if labeled is None:
        raise InputError("shares of classes need labels: say which file holds them.")
    reading = labeled.reading()
    result = prevalence(
        reading.labels, gold=known_truth(known, reading), progress=patient(say), **task.options
    )
    result.warnings.extend(reading.columns.notes)
    return answered(result, {"level": task.level})


JOB = Job(
    "rate",
    "Count the classes",
    "How frequent is each class: prevalence, or the pass rate that judges give?",
    (
        Slot(
            "labels",
            "Labels",
            ("item_column", "labeler_column", "label_column", "truth_column", "layout"),
        ),
        GOLD,
    ),
    (NOISE, TARGET, PANEL_ERROR, REPEATS),
    run,
    two_opinions,
)
