"""Label Studio's JSON export: one choice, rating or number for each annotation."""

from __future__ import annotations

from collections import Counter
from typing import Any

from truthing.errors import InputError
from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, ask_question, require_known

KINDS = ("choices", "rating", "number", "taxonomy", "selected")


def matches(records: list[Any]) -> bool:
    return any(
        isinstance(r, dict) and (isinstance(r.get("annotations"), list) or "completions" in r)
        for r in records[:50]
    )


def read(tasks: list[Any], name: str, question: str | None) -> Table:
    """Cancelled annotations are skipped, ``ground_truth`` is gold, predictions are predictions."""
    rows = Rows(name, "Label Studio export", "labeler")
    questions = _questions(tasks)
    if question is not None:
        require_known(name, {question}, questions)
    elif len(questions) > 1:
        raise ask_question(name, "Label Studio export", "questions", questions)
    versions: dict[Any, dict[Any, tuple[Any, Any]]] = {}
    reviews: Counter[str] = Counter()
    for position, task in enumerate(tasks):
        item = task.get("id", position)
        rows.items.setdefault(item)
        for annotation in _annotations(task):
            if annotation.get("was_cancelled"):
                rows.left_out["cancelled annotations"] += 1
                continue
            where = f"{name} task {item}"
            if annotation.get("ground_truth"):
                rows.human(item, _choice(rows, annotation, question, where))
            else:
                value = _choice(rows, _own(annotation, reviews), question, where)
                rows.label(item, _who(annotation.get("completed_by")), value)
        for predicted in task.get("predictions") or []:
            value = _choice(rows, predicted, question, f"{name} task {item}")
            if value is not None:
                version = versions.setdefault(predicted.get("model_version"), {})
                version[item] = value, predicted.get("score")
    if len(versions) == 2 and None in versions:  # a version that was not written down
        nameless = versions.pop(None)
        only = next(iter(versions))
        versions[only] = {**nameless, **versions[only]}
    if len(versions) == 1:
        rows.predictions = next(iter(versions.values()))
    elif versions:
        rows.checks.append(
            f"{name}: predictions of {len(versions)} model versions are not used: export one."
        )
    if reviews:
        # as gold, what was accepted would make every labeler look right
        rows.remarks.append(
            f"{name}: reviews are left out ({', '.join(f'{n:,} {w}' for w, n in reviews.items())}):"
            " who reviews a label has seen it. A labeler's own answer counts; mark what you know "
            "for certain as ground truth."
        )
    return rows.table()


def _own(annotation: dict[str, Any], reviews: Counter[str]) -> dict[str, Any]:
    """The annotation as its author left it, before a reviewer changed it."""
    changed = []
    for review in annotation.get("reviews") or []:
        fixed = review.get("fixed_annotation_history") is not None
        fixed = fixed or review.get("fixed_annotation_history_result") is not None
        changed += [review] if fixed else []
        reviews["changed" if fixed else "accepted" if review.get("accepted") else "rejected"] += 1
    if not changed:
        return annotation
    return {**annotation, "result": changed[0].get("previous_annotation_history_result")}


def _annotations(task: dict[str, Any]) -> list[dict[str, Any]]:
    return task.get("annotations") or task.get("completions") or []


def _questions(tasks: list[Any]) -> list[str]:
    found: dict[str, None] = {}
    for task in tasks:
        for annotation in _annotations(task):
            for result in annotation.get("result") or []:
                if any(kind in (result.get("value") or {}) for kind in KINDS):
                    found.setdefault(str(result.get("from_name", "")))
    return list(found)


def _choice(rows: Rows, annotation: dict[str, Any], question: str | None, where: str) -> Any:
    """The class or classes that an annotation names; None or an empty list: it names none."""
    found = []
    for result in annotation.get("result") or []:
        value = result.get("value") or {}
        kind = next((k for k in KINDS if k in value), None)
        if kind is None or (question is not None and str(result.get("from_name", "")) != question):
            continue
        given = value[kind]
        if isinstance(given, list):  # each may be a path in a taxonomy
            paths = [" / ".join(map(str, g)) if isinstance(g, list) else g for g in given]
            given = rows.one_or_more(paths, where)
        if given is not None:
            found.append(given)
    if len(found) > 1 and any(f != found[0] for f in found):
        first, second = (f[0] if isinstance(f, list) and len(f) == 1 else f for f in found[:2])
        raise InputError(
            f"{where}: one annotation answers twice ({first!r}, {second!r}), as for parts of "
            "the item. Grading needs one class for each item."
        )
    return found[0] if found else []


def _who(completed_by: Any) -> Any:
    if isinstance(completed_by, dict):
        return completed_by.get("email") or completed_by.get("id")
    return "unknown" if completed_by is None else completed_by
