"""Who labels well, and what each label is worth."""

from __future__ import annotations

from truthing.app.jobs.job import Job, Slot, answered, two_opinions
from truthing.app.jobs.questions import (
    BY,
    CLUSTER,
    GOLD,
    NOISE,
    PANEL,
    REPEATS,
    STRATUM,
    WEIGHTS,
)
from truthing.app.look import Look
from truthing.app.task import JobAnswer, Say, Task, patient


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.people.labelers import labelers

    say(None, "reading the files")
    case = task.case("looking at labelers needs labels: say which file holds them.")
    result = labelers(case, gold=case.gold, progress=patient(say), **task.options)
    return answered(result, {"level": task.level})


def hinders(found: Look) -> str:
    if found.anonymous:
        return "these are votes without names, so nobody can be told apart"
    return two_opinions(found)


JOB = Job(
    "labelers",
    "Look at the labelers",
    "Whom to keep, retrain or drop: who labels well, who adds what, who copies whom?",
    (
        Slot(
            "labels",
            "Labels",
            ("item_column", "labeler_column", "label_column", "truth_column", "layout"),
        ),
        GOLD,
    ),
    (NOISE, PANEL, BY, CLUSTER, WEIGHTS, STRATUM, REPEATS),
    run,
    hinders,
)
