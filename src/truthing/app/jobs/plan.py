"""What to buy next, from the data in hand or from guesses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truthing.app.fields import Field
from truthing.app.jobs.job import Job, Slot, answered
from truthing.app.jobs.questions import CLUSTER, GOLD, NOISE, PANEL, WEIGHTS
from truthing.app.look import Look
from truthing.app.task import JobAnswer, Say, Task, patient
from truthing.errors import InputError


def run(task: Task, say: Say) -> JobAnswer:
    from truthing.planning.plan import plan

    say(None, "reading the files")
    options: dict[str, Any] = dict(task.options)
    costs = {kind: options.pop(f"{kind}_cost", None) for kind in ("item", "label", "gold")}
    options["costs"] = {k: v for k, v in costs.items() if v is not None}
    options["pilot"] = in_hand(task)
    if options["pilot"] is None:
        options["labelers"] = options.pop("labeler_error", None)
    if "items" in options:
        options["items"] = int(options["items"])
    found = plan(level=task.level, progress=patient(say), **options)
    answer = answered(found, {})
    if found.pilot is None:
        return answer
    from truthing.render.sheet import as_csv

    return replace(answer, following=as_csv(found.next_items().to_frame()))


def in_hand(task: Task) -> dict[str, Any] | None:
    """Labels, predictions and gold that are there already; nothing where the plan starts from
    guesses.
    """
    labeled, predicted = task.one("labels"), task.one("predictions")
    if labeled is None and predicted is None:
        return None
    need = "a plan from data in hand needs labels and predictions: say which files hold them."
    if predicted is None:
        raise InputError(need)
    case = task.case(need)
    return {"labels": case, "predictions": case.predictions, "gold": case.gold}


def hinders(found: Look) -> str:
    if not found.files:
        return ""
    absent = [use for use in ("labels", "predictions") if not found.holding(use)]
    return f"needs a file of {' and '.join(absent)}, or no files at all" if absent else ""


JOB = Job(
    "plan",
    "Plan what to buy",
    "More items, more labels or some gold: what narrows the interval most for the money?",
    (
        Slot(
            "labels",
            "Labels in hand",
            ("item_column", "labeler_column", "label_column", "truth_column", "layout"),
            "--pilot",
            needed=False,
        ),
        Slot(
            "predictions",
            "Predictions",
            ("item_column", "prediction_column"),
            "--predictions",
            needed=False,
        ),
        GOLD,
    ),
    (
        Field(
            "width",
            "Wanted interval, from end to end",
            "number",
            "0.08 is ±0.04. Empty: the best that the budget buys.",
            default="0.08",
        ),
        Field(
            "budget",
            "What may be spent",
            "number",
            "In the unit of the prices. Empty: as little as the wanted interval needs.",
        ),
        Field(
            "item_cost", "Price of one more item, without labels", "number", "Empty: not for sale."
        ),
        Field(
            "label_cost",
            "Price of a label",
            "number",
            "In any unit, the same for all prices.",
            default="0.1",
        ),
        Field(
            "gold_cost",
            "Price of a gold label",
            "number",
            "The truth of one item, from somebody who knows. Empty: not for sale.",
            default="2",
        ),
        Field(
            "items",
            "How many items are there?",
            "number",
            "Empty: as many as it takes, at their price.",
            default="500",
            when="no files",
        ),
        Field(
            "labeler_error",
            "How often are labels wrong?",
            "percent",
            "A guess will do.",
            default="15",
            when="no files",
        ),
        Field(
            "accuracy",
            "How often is the classifier right?",
            "percent",
            "A guess will do.",
            default="80",
            when="no files",
        ),
        PANEL,
        replace(NOISE, when="files"),
        replace(CLUSTER, when="files"),
        replace(WEIGHTS, when="files"),
    ),
    run,
    hinders,
)
