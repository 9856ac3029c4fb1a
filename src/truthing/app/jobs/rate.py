"""How frequent is each class."""

from __future__ import annotations

from truthing.app.jobs.job import Job, Slot, answered, two_opinions
from truthing.app.jobs.questions import (
    BY,
    CALIBRATION,
    DRAWN,
    GOLD,
    GROUPS,
    KINDS,
    NOISE,
    PANEL,
    PANEL_ERROR,
    REPEATS,
    TARGET,
    of_kinds,
)
from truthing.app.task import JobAnswer, Say, Task, patient


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.rate import prevalence

    say(None, "reading the files")
    case = task.case("shares of classes need labels: say which file holds them.")
    result = prevalence(
        case,
        gold=case.gold,
        calibration_set=task.calibration(),
        groups=task.groups(),
        progress=patient(say),
        **of_kinds(task.options),
    )
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
        CALIBRATION,
        GROUPS,
    ),
    (BY, NOISE, TARGET, PANEL, *DRAWN, *KINDS, PANEL_ERROR, REPEATS),
    run,
    two_opinions,
)
