"""Grade a classifier."""

from __future__ import annotations

from truthing.app.fields import Field
from truthing.app.jobs.job import Job, Slot, answered
from truthing.app.jobs.questions import (
    BY,
    CALIBRATION,
    DEPLOYMENT,
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
from truthing.progress import part


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.grading import grade

    say(None, "reading the files")
    case = task.case("grading needs predictions and labels: say which file holds them.")
    options = dict(task.options)
    sensitivity = options.pop("sensitivity", False)
    progress = part(patient(say), 0, 0.4 if sensitivity else 0.95)
    report = grade(
        case.predictions,
        case,
        gold=case.gold,
        calibration_set=task.calibration(),
        groups=task.groups(),
        progress=progress,
        **of_kinds(options),
    )
    tagged = "tags" in options
    if sensitivity and not tagged:
        report.sensitivity(task.level, progress=part(say, 0.4, 0.95))
    report.provenance.update(task.provenance())
    say(0.95, "writing the report")
    words = {} if tagged else {"sensitivity": sensitivity}
    return answered(report, {"level": task.level}, **words)


JOB = Job(
    "grade",
    "Grade a classifier",
    "How good is it really, and how sure can one be?",
    (
        Slot("predictions", "Predictions", ("item_column", "prediction_column", "score_column")),
        Slot("labels", "Labels", ("item_column", "labeler_column", "label_column", "layout")),
        GOLD,
        CALIBRATION,
        GROUPS,
    ),
    (
        NOISE,
        Field(
            "positive", "Positive class", "class", "The one that recall and precision are about."
        ),
        TARGET,
        BY,
        PANEL,
        Field(
            "trained_on_labels",
            "The classifier learned from these very labels or labelers",
            "yes",
            "It then repeats their mistakes, and looks better than it is.",
        ),
        *DRAWN,
        *KINDS,
        DEPLOYMENT,
        PANEL_ERROR,
        Field(
            "threshold",
            "Cut the scores at",
            "number",
            "Instead of using the predictions. Empty: use the predictions.",
            rare=True,
        ),
        REPEATS,
        Field(
            "sensitivity",
            "Also show what the assumptions do to accuracy (takes a few runs)",
            "yes",
            rare=True,
        ),
    ),
    run,
)
