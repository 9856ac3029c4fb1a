"""Annotation tools that write one object for each record: Argilla, Prodigy and doccano."""

from __future__ import annotations

from typing import Any

from truthing.errors import InputError
from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, ask_question, require_known


def is_argilla(records: list[Any]) -> bool:
    return all(isinstance(r, dict) and {"fields", "responses"} <= set(r) for r in records[:20])


def is_prodigy(records: list[Any]) -> bool:
    return all(isinstance(r, dict) and {"_input_hash", "answer"} <= set(r) for r in records[:20])


def is_doccano(records: list[Any]) -> bool:
    some = records[:20]
    return all(
        isinstance(r, dict) and "text" in r and isinstance(r.get("label"), list) for r in some
    )


def argilla(records: list[Any], name: str, question: str | None) -> Table:
    """Responses by user; suggestions are predictions."""
    rows = Rows(name, "Argilla records", "labeler")
    questions = list(
        dict.fromkeys(
            q for r in records for q in (r["responses"] if isinstance(r["responses"], dict) else {})
        )
    )
    require_known(name, None if question is None else {question}, questions)
    if question is None and len(questions) > 1:
        raise ask_question(name, "Argilla records", "questions", questions)
    asked = question or next(iter(questions), None)
    for position, record in enumerate(records):
        item = record.get("id", position)
        rows.items.setdefault(item)
        for response in (record["responses"] or {}).get(asked) or []:
            value = _single(rows, response.get("value"), f"{name} record {item}")
            rows.label(item, response.get("user_id"), value)
        suggestion = (record.get("suggestions") or {}).get(asked)
        if isinstance(suggestion, dict) and suggestion.get("value") is not None:
            value = _single(rows, suggestion["value"], f"{name} record {item}")
            rows.predictions[item] = value, None
    return rows.table()


def prodigy(records: list[Any], name: str, question: str | None) -> Table:
    """A choice, or accept and reject of one label; what was ignored is no label."""
    rows = Rows(name, "Prodigy annotations", "labeler")
    choice = any("accept" in r for r in records)
    questions = [] if choice else list(dict.fromkeys(str(r.get("label")) for r in records))
    require_known(name, None if question is None else {question}, questions)
    if question is None and len(questions) > 1:
        raise ask_question(name, "Prodigy annotations", "labels to accept or reject", questions)
    for record in records:
        if record["answer"] == "ignore":
            rows.left_out["ignored examples"] += 1
            continue
        if question is not None and str(record.get("label")) != question:
            continue
        item = record["_input_hash"]
        who = record.get("_annotator_id") or record.get("_session_id") or "labeler"
        if not choice:
            rows.label(item, who, record["answer"])
        elif record["answer"] == "reject":
            rows.left_out["rejected choices"] += 1
        else:
            value = _single(rows, record.get("accept"), f"{name} example {item}")
            rows.label(item, who, value)
    return rows.table()


def doccano(records: list[Any], name: str, question: str | None) -> Table:
    rows = Rows(name, "doccano export", "labeler")
    for position, record in enumerate(records):
        item = record.get("id", position)
        who = record.get("annotator") or record.get("username") or "labeler"
        value = _single(rows, record["label"], f"{name} line {position + 1}")
        rows.label(item, who, value)
    return rows.table()


def _single(rows: Rows, value: Any, where: str) -> Any:
    """A class, or a list of them."""
    if isinstance(value, list) and not any(isinstance(v, dict | list) for v in value):
        return rows.one_or_more(value, where)
    if isinstance(value, dict | list):
        raise InputError(f"{where}: parts of the item are labeled, not the item. Export classes.")
    return value
