"""Which of two answers is preferred."""

from __future__ import annotations

from truthing.app.jobs.job import Job, Slot, answered
from truthing.app.jobs.questions import GOLD, PANEL, PANEL_ERROR, REPEATS, TARGET
from truthing.app.look import Look
from truthing.app.task import JobAnswer, Say, Task
from truthing.errors import InputError


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.preference.prefer import prefer

    say(None, "reading the files")
    given, gold = task.one("labels"), task.one("gold")
    if given is None:
        raise InputError("preferences need verdicts: say which file holds them.")
    known = None if gold is None or gold.path == given.path else gold.table()
    say(None, "weighing the verdicts")
    columns = {k: v for k, v in given.columns.items() if k in ("item_column", "truth_column")}
    result = prefer(given.table(), gold=known, **columns, **task.options)  # type: ignore[arg-type]
    return answered(result, {"level": task.level})


def hinders(found: Look) -> str:
    """Verdicts are about two systems, or are A, B and tie."""
    named = any({"system_a", "model_a"} & set(seen.columns) for seen in found.holding("labels"))
    letters = {name.casefold() for name in found.classes}
    if named or ("a" in letters and letters <= {"a", "b", "tie"}):
        return ""
    return "needs verdicts: columns item, judge, system_a, system_b and verdict (A, B or tie)"


JOB = Job(
    "prefer",
    "Compare two answers",
    "Which system's answers are preferred, from verdicts A, B or tie in both orders?",
    (
        Slot(
            "labels",
            "Verdicts: item, judge, system_a, system_b, verdict, order",
            ("item_column", "truth_column"),
        ),
        GOLD,
    ),
    (TARGET, PANEL, PANEL_ERROR, REPEATS),
    run,
    hinders,
)
