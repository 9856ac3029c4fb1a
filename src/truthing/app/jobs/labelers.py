"""Who labels well, and what each label is worth."""

from __future__ import annotations

import json

from truthing import __version__
from truthing.app.jobs.job import Job, Slot
from truthing.app.jobs.questions import GOLD, NOISE, REPEATS
from truthing.app.task import Answer, Say, Task, patient
from truthing.render.summary import Line
from truthing.render.words import one_line

MOST_LINES = 40


def run(task: Task, say: Say) -> Answer:
    from truthing.people.labelers import labelers
    from truthing.render.labelers import error_by_others

    say(None, "reading the files")
    case = task.case("looking at labelers needs labels: say which file holds them.")
    result = labelers(case.labels, gold=case.gold, progress=patient(say), **task.options)
    rows = result.frame(task.level).to_dicts()[:MOST_LINES]
    worth = [("labeler", "labels", "error by the others", "bits a label", "adds", "note")]
    worth += [
        (
            one_line(row["labeler"]), f"{row['labels']:,}", error_by_others(row), f"{row['bits']:.3f}", f"{row['adds']:.3f}", row["kind"]
        )
        for row in rows
    ]  # fmt: skip
    return Answer(
        (result.verdict(task.level),),
        json.dumps({**result.to_dict(task.level), "version": __version__}, default=str),
        tuple(
            Line(
                f"error of {one_line(r['labeler'])}",
                r["error"],
                [(r["error_low"], r["error_high"])],
            )
            for r in rows
        ),
        tuple(result.assumptions),
        (*map(str, result.pairs), *result.warnings),
        table=tuple(worth),
    )


JOB = Job(
    "labelers",
    "Look at the labelers",
    "Who labels well, who adds what, who copies whom?",
    (
        Slot(
            "labels",
            "Labels",
            ("item_column", "labeler_column", "label_column", "truth_column", "layout"),
        ),
        GOLD,
    ),
    (NOISE, REPEATS),
    run,
)
