"""How frequent is each class."""

from __future__ import annotations

import json

from truthing.app.jobs.job import Job, Slot
from truthing.app.jobs.questions import GOLD, NOISE, PANEL_ERROR, REPEATS, TARGET
from truthing.app.task import Answer, Say, Task, patient
from truthing.render.summary import Line
from truthing.render.words import one_line

MOST_LINES = 40


def run(task: Task, say: Say) -> Answer:
    from truthing.rate import prevalence

    say(None, "reading the files")
    case = task.case("shares of classes need labels: say which file holds them.")
    result = prevalence(case.labels, gold=case.gold, progress=patient(say), **task.options)
    shares = list(zip(result.classes, result.face_value))[:MOST_LINES]
    return Answer(
        (result.verdict(task.level),),
        json.dumps(result.to_dict(task.level), default=str),
        tuple(
            Line.of(one_line(name), result[name], [task.level], float(naive))
            for name, naive in shares
        ),
        tuple(result.assumptions),
        tuple(result.warnings),
    )


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
)
