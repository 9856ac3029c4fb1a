"""What to buy next, from the data in hand."""

from __future__ import annotations

import json
from typing import Any

from truthing.app.fields import Field
from truthing.app.jobs.job import Job, Slot
from truthing.app.jobs.questions import GOLD, NOISE
from truthing.app.task import Answer, Say, Task, patient
from truthing.planning.design import Design


def run(task: Task, say: Say) -> Answer:
    from truthing.planning.plan import plan

    say(None, "reading the files")
    case = task.case(
        "a plan from data in hand needs labels and predictions: say which files hold them."
    )
    options: dict[str, Any] = dict(task.options)
    costs = {kind: options.pop(f"{kind}_cost", None) for kind in ("item", "label", "gold")}
    pilot = {"labels": case.labels, "predictions": case.predictions, "gold": case.gold}
    found = plan(
        pilot=pilot,
        level=task.level,
        progress=patient(say),
        costs={k: v for k, v in costs.items() if v is not None},
        **options,
    )
    kinds = list(found.best.labels_per_item)
    table = [("", "items", "labels an item", "gold", "cost", "interval")]
    rivals = found.table if found.best in found.table else [found.best, *found.table]
    for mark, design in [
        ("now", found.now),
        *(("best" if d == found.best else "", d) for d in rivals),
    ]:
        if design is not None:
            table.append((mark, *cells(design, kinds)))
    return Answer(
        (found.sentence,), json.dumps(found.to_dict(), default=str), (), tuple(found.assumptions), tuple(found.warnings), table=tuple(table)
    )  # fmt: skip


def cells(design: Design, kinds: list[str]) -> tuple[str, str, str, str, str]:
    labels = sum(design.labels_per_item.get(kind, 0) for kind in kinds)
    return (
        f"{design.items:,}",
        f"{labels:.3g}",
        f"{design.gold:,}",
        f"{design.cost:,.2f}",
        f"±{design.width / 2:.3f}",
    )


JOB = Job(
    "plan",
    "Plan what to buy",
    "More items, more labels or some gold: what narrows the interval most for the money?",
    (
        Slot("labels", "Labels in hand", ("item_column", "labeler_column", "label_column", "truth_column", "layout"), "--pilot"),
        Slot("predictions", "Predictions", ("item_column", "prediction_column"), "--predictions"),
        GOLD,
    ),
    (
        Field("width", "Wanted interval, from end to end", "number", "0.06 is ±0.03. Empty: the best that the budget buys."),
        Field("budget", "What may be spent", "number", "In the unit of the prices. Empty: as little as the wanted interval needs."),
        Field("item_cost", "Price of one more item, without labels", "number", "Empty: not for sale."),
        Field("label_cost", "Price of a label", "number", "Empty: not for sale."),
        Field("gold_cost", "Price of a gold label", "number", "Empty: not for sale."),
        NOISE,
    ),
    run,
)  # fmt: skip
