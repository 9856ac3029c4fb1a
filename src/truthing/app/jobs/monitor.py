"""Has quality fallen over time."""

from __future__ import annotations

from truthing.app.fields import Field
from truthing.app.jobs.job import Job, Slot, answered
from truthing.app.look import Look
from truthing.app.task import JobAnswer, Say, Task
from truthing.errors import InputError

DATED = ("date", "time", "timestamp", "day", "batch", "week", "month", "version")


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.monitoring.monitor import monitor

    say(None, "reading the file")
    given = task.one("labels")
    if given is None:
        raise InputError("an alarm needs items in the order of time: say which file holds them.")
    columns = {k: v for k, v in given.columns.items() if k in ("truth_column", "label_column")}
    result = monitor(given.table(), **columns, **task.options)  # type: ignore[arg-type]
    return answered(result, {"level": task.level})


def hinders(found: Look) -> str:
    """Some column must tell the time, or the batch."""
    if any(name.strip().lower() in DATED for seen in found.files for name in seen.columns):
        return ""
    return "needs a column of dates, batches or versions beside the truth or the labels"


JOB = Job(
    "monitor",
    "Watch over time",
    "Has the pass rate fallen, batch by batch? An alarm that may be looked at every day.",
    (
        Slot(
            "labels",
            "Items: truth or label, and a date, a batch or a version",
            ("truth_column", "label_column"),
            any_file=True,
        ),
    ),
    (
        Field("floor", "Ring when the pass rate has been below", "percent", default="90"),
        Field(
            "wrong_fails",
            "With labels instead of gold: passing items that are labelled failing, at most",
            "percent",
            rare=True,
        ),
        Field("passing", "The class that counts as a pass", "class", rare=True),
    ),
    run,
    hinders,
)
