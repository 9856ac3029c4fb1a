"""Readers as a random sample."""

from __future__ import annotations

from truthing.app.fields import Field
from truthing.app.jobs.job import Job, Slot, answered
from truthing.app.look import Look
from truthing.app.task import JobAnswer, Say, Task
from truthing.errors import InputError


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.mrmc.study import readers

    say(None, "reading the file")
    given = task.one("labels")
    if given is None:
        raise InputError("a reader study needs reads: say which file holds them.")
    columns = {k: v for k, v in given.columns.items() if k in ("truth_column", "score_column")}
    result = readers(given.table(), **columns, **task.options)  # type: ignore[arg-type]
    return answered(result, {"level": task.level})


def hinders(found: Look) -> str:
    """A file with a reader, a score and the truth of every case."""
    for seen in found.files:
        names = {name.strip().lower() for name in seen.columns}
        if "reader" in names and names & {"score", "rating", "grade"}:
            return ""
    return "needs reads: columns case, reader, score, truth, and modality where there are two"


JOB = Job(
    "readers",
    "Average over readers",
    "How good would other readers be on other cases (multi-reader multi-case study)?",
    (
        Slot(
            "labels",
            "Reads: case, reader, modality, score, truth",
            ("truth_column", "score_column"),
            any_file=True,
        ),
    ),
    (
        Field(
            "metric",
            "Figure of merit",
            "choice",
            choices=(
                ("", "AUC"),
                ("accuracy", "accuracy"),
                ("sensitivity", "sensitivity"),
                ("specificity", "specificity"),
            ),
        ),
        Field("threshold", "Positive from this score on (not for the AUC)", "number"),
    ),
    run,
    hinders,
)
