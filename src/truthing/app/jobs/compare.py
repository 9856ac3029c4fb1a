"""Which of several models is better."""

from __future__ import annotations

from pathlib import PurePath

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
from truthing.app.look import Look
from truthing.app.task import Given, JobAnswer, Say, Task, patient
from truthing.errors import InputError

METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "f1", "precision", "recall", "mcc")


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.comparison.compare import compare

    say(None, "reading the files")
    case = task.case("comparing needs labels: say which file holds them.")
    models = dict(zip(named(task.files.get("predictions", ())), case.models.values()))
    options = dict(task.options)
    metric = options.pop("metric", "macro_f1" if "tags" in options else "accuracy")
    result = compare(
        models,
        case,
        gold=case.gold,
        calibration_set=task.calibration(),
        groups=task.groups(),
        progress=patient(say),
        **of_kinds(options),
    )
    return answered(result, {"metric": metric, "level": task.level})


def hinders(found: Look) -> str:
    return (
        ""
        if len(found.holding("predictions")) > 1
        else "needs the predictions of two models or more, a file each"
    )


def named(files: tuple[Given, ...]) -> dict[str, Given]:
    """Models are called like their files, as on the command line."""
    found = {PurePath(given.name).stem: given for given in files}
    if len(found) < len(files):
        raise InputError(
            "two prediction files have the same name: rename one, models are called like "
            "their files."
        )
    return found


JOB = Job(
    "compare",
    "Compare models",
    "Is one model better than another?",
    (
        Slot(
            "labels",
            "Labels",
            ("item_column", "labeler_column", "label_column", "truth_column", "layout"),
        ),
        Slot(
            "predictions",
            "Predictions, one file for each model",
            ("item_column", "prediction_column", "score_column"),
            many=True,
        ),
        GOLD,
        CALIBRATION,
        GROUPS,
    ),
    (
        Field(
            "metric",
            "Compared in",
            "choice",
            choices=(("", "accuracy"), *((m, m.replace("_", " ")) for m in METRICS[1:])),
        ),
        NOISE,
        Field(
            "positive", "Positive class", "class", "The one that recall and precision are about."
        ),
        TARGET,
        BY,
        PANEL,
        Field(
            "trained_on_labels",
            "Models that learned from these very labels or labelers",
            "names",
            "Called like their files, split by commas. They repeat the labels' mistakes.",
        ),
        *DRAWN,
        *KINDS,
        DEPLOYMENT,
        PANEL_ERROR,
        REPEATS,
    ),
    run,
    hinders,
)
