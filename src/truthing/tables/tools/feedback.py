"""Scores and annotations of tracing tools: Langfuse, MLflow and Phoenix."""

from __future__ import annotations

import json
import re
from typing import Any

from truthing.class_codes import is_missing
from truthing.spelling import key
from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, ask_question, chosen, require_known

Record = dict[str, Any]


def named(record: Any) -> Record:
    """Fields as snake_case, as all three write them somewhere."""
    if not isinstance(record, dict):
        return {}
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(k)).lower(): v for k, v in record.items()}


def is_langfuse(fields: set[str]) -> bool:
    return {"name", "source", "data_type", "trace_id"} <= fields


def is_mlflow(fields: set[str]) -> bool:
    return {"trace_id", "source"} <= fields and bool({"feedback", "expectation"} & fields)


def is_phoenix(fields: set[str]) -> bool:
    inside = "result" in fields or {"label", "score"} & fields
    return "annotator_kind" in fields and "span_id" in fields and bool(inside)


def langfuse(records: list[Record], name: str, question: str | None) -> Table:
    """Item = observation or trace, labeler = name; an ANNOTATION is gold; TEXT is left out."""
    rows = Rows(name, "Langfuse scores")
    wanted = chosen(question)
    require_known(name, wanted, [str(r.get("name")) for r in records])
    whole = all(not _empty(r.get("observation_id")) for r in records)
    for record in records:
        if wanted is not None and str(record.get("name")) not in wanted:
            continue
        item = record.get("observation_id") if whole else record.get("trace_id")
        kind = str(record.get("data_type", "")).upper()
        if _empty(item):
            rows.left_out["scores of no trace"] += 1
        elif kind == "TEXT":
            rows.left_out["scores that are texts"] += 1
        else:
            number, word = record.get("value"), record.get("string_value")
            value: Any = word if kind == "CATEGORICAL" and not _empty(word) else number
            value = bool(float(value)) if kind == "BOOLEAN" and not _empty(value) else value
            _add(
                rows,
                item,
                record.get("name"),
                None if _empty(value) else value,
                str(record.get("source", "")).upper() == "ANNOTATION",
            )
    return _one_question(rows, records, wanted)


def mlflow(records: list[Record], name: str, question: str | None) -> Table:
    """Item = trace, labeler = the source; HUMAN is gold; an error is no label."""
    rows = Rows(name, "MLflow assessments")
    label = "assessment_name" if any("assessment_name" in r for r in records) else "name"
    questions = list(
        dict.fromkeys(str(r.get(label)) for r in records if _object(r.get("feedback")))
    )
    wanted = chosen(question)
    require_known(name, wanted, questions)
    if wanted is None and len(questions) > 1:
        raise ask_question(name, "MLflow assessments", "questions", questions)
    for record in records:
        feedback, source = _object(record.get("feedback")), _object(record.get("source"))
        if not feedback:
            rows.left_out["expectations"] += 1
        elif wanted is not None and str(record.get(label)) not in wanted:
            continue
        elif record.get("error") or feedback.get("error"):
            rows.left_out["assessments that ended in an error"] += 1
        else:
            kind = str(source.get("source_type", "")).upper()
            who = source.get("source_id") or kind.lower() or "unknown"
            _add(rows, record.get("trace_id"), who, feedback.get("value"), kind == "HUMAN")
    return rows.table()


def phoenix(records: list[Record], name: str, question: str | None) -> Table:
    """Item = span, labeler = the annotation's name; HUMAN is gold; a label before a score."""
    rows = Rows(name, "Phoenix annotations")
    label = "annotation_name" if any("annotation_name" in r for r in records) else "name"
    wanted = chosen(question)
    require_known(name, wanted, [str(r.get(label)) for r in records])
    for record in records:
        if wanted is not None and str(record.get(label)) not in wanted:
            continue
        result = _object(record.get("result")) or record
        value = result.get("label") if not _empty(result.get("label")) else result.get("score")
        human = str(record.get("annotator_kind", "")).upper() == "HUMAN"
        _add(
            rows, record.get("span_id"), record.get(label), None if _empty(value) else value, human
        )
    return _one_question(rows, [{"name": r.get(label), **r} for r in records], wanted)


def _add(rows: Rows, item: Any, who: Any, value: Any, human: bool) -> None:
    if human:
        rows.human(item, value)
    else:
        rows.label(item, who, value)


def _one_question(rows: Rows, records: list[Record], wanted: set[str] | None) -> Table:
    """Names whose values share no class answer different questions: ask which."""
    people = {
        str(r["name"])
        for r in records
        if "ANNOTATION" in str(r.get("source", "")).upper()
        or "HUMAN" in str(r.get("annotator_kind", "")).upper()
        if wanted is None or str(r["name"]) in wanted
    }
    if len(people) > 1:
        raise ask_question(rows.name, rows.tool, "questions to people", sorted(people))
    words: dict[Any, set[Any]] = {}
    for _, who, value in rows.labels:
        words.setdefault(who, set()).add(key(value))
    if rows.gold:
        words["what people said"] = {key(v) for v in rows.gold.values()}
    names = list(words)
    if len(names) > 1 and wanted is None:
        strangers = [n for n in names[1:] if not words[n] & words[names[0]]]
        if strangers:
            raise ask_question(
                rows.name, rows.tool, "scores that share no class", [str(n) for n in names]
            )
        rows.checks.append(
            f"{rows.name}: {len(names)} scores are taken for answers to one question. Choose those "
            f"that are with `question={','.join(map(str, names))!r}`."
        )
    return rows.table()


def _object(value: Any) -> Record:
    """A nested object, also where a table holds it as text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _empty(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())
