"""SageMaker Ground Truth: the output manifest, and what each worker answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from truthing.errors import InputError
from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, ask_question, require_known

MANIFEST, ANSWERS = "Ground Truth manifest", "Ground Truth workers' answers"
_META = "-metadata"
_EVERYBODY = "annotationsFromAllWorkers"


def is_manifest(records: list[Any]) -> bool:
    return all(isinstance(r, dict) and bool(_jobs(r)) for r in records[:20])


def is_answers(records: list[Any]) -> bool:
    """Requests for consolidation (one object per item), or responses of workers (one per file)."""
    some = [r for r in records[:20] if isinstance(r, dict)]
    requests = all({"datasetObjectId", "annotations"} <= set(r) for r in some)
    responses = all(
        isinstance(r.get("answers"), list)
        and all(isinstance(a, dict) and "workerId" in a for a in r["answers"])
        for r in some
    )
    return len(some) == len(records[:20]) and bool(some) and (requests or responses)


def manifest(records: list[Any], name: str, question: str | None) -> Table:
    """The consolidated label of each item is one labeler's: it is no gold, but what the workers'
    answers were taken to say. What the machine labeled by itself is left out.
    """
    jobs = list(dict.fromkeys(job for r in records for job in _jobs(r)))
    require_known(name, None if question is None else {question}, jobs)
    if question is None and len(jobs) > 1:
        raise ask_question(name, MANIFEST, "labeling jobs", jobs)
    job = question or jobs[0]
    if any(_workers(r, job) for r in records):
        found = ((_source(r, n), w) for n, r in enumerate(records) for w in _workers(r, job))
        return _from_workers(Rows(name, ANSWERS, "worker"), found, None)
    rows = Rows(name, MANIFEST, "labeler")
    for position, record in enumerate(records):
        about = record.get(job + _META)
        if not isinstance(about, dict):
            rows.left_out["items that the job did not label"] += 1
        elif "class-map" in about:
            raise InputError(
                f"{name} entry {position + 1}: job {job!r} gives an item several classes. Grading "
                "needs one class for each item."
            )
        elif about.get("human-annotated") == "no":
            rows.left_out["labels given by the machine alone"] += 1
        elif "class-name" in about:
            rows.label(_source(record, position), "workers together", about["class-name"])
        else:
            rows.left_out["labels that are no class"] += 1
    rows.checks.append(
        f"{name}: its labels are consolidated from several workers, and are taken for one labeler. "
        "Read what each worker answered (annotations/consolidated-annotation/"
        "consolidation-request) to learn how good they are."
    )
    return rows.table()


def answers(records: list[Any], name: str, question: str | None) -> Table:
    """Item = the object's id or the number of the entry; labeler = the worker."""
    rows = Rows(name, ANSWERS, "worker")
    if "answers" in records[0]:
        if len(records) == 1:
            raise InputError(
                f"{name} holds the answers about one item, which only its folder names. Read the "
                "file in annotations/consolidated-annotation/consolidation-request, which holds "
                "all items."
            )
        rows.remarks.append(f"{name}: items are numbered as they come, from 0.")
        found = ((n, a) for n, r in enumerate(records) for a in r["answers"])
    else:
        found = ((r["datasetObjectId"], a) for r in records for a in r["annotations"])
    return _from_workers(rows, found, question)


def _from_workers(rows: Rows, found: Iterator[tuple[Any, Any]], question: str | None) -> Table:
    given = [(item, answer.get("workerId"), _content(answer)) for item, answer in found]
    questions = list(dict.fromkeys(q for _, _, content in given for q in content))
    require_known(rows.name, None if question is None else {question}, questions)
    if question is None and len(questions) > 1:
        raise ask_question(rows.name, ANSWERS, "questions", questions)
    asked = question or next(iter(questions), "")
    for item, worker, content in given:
        value = content.get(asked)
        if isinstance(value, dict) and isinstance(value.get("labels"), list):
            where = f"{rows.name} item {item}"
            rows.label(item, worker, rows.one_or_more(value["labels"], where))
            continue
        value = value.get("label") if isinstance(value, dict) else value
        if isinstance(value, dict | list):
            rows.left_out["answers that are no class"] += 1
        else:
            rows.label(item, worker, value)
    return rows.table()


def _content(answer: dict[str, Any]) -> dict[str, Any]:
    """What a worker's form held, by the name of its element."""
    content = answer.get("answerContent")
    if content is None:
        content = (answer.get("annotationData") or {}).get("content")
    if isinstance(content, str):
        content = json.loads(content)
    return content if isinstance(content, dict) else {}


def _jobs(record: dict[str, Any]) -> list[str]:
    return [
        key.removesuffix(_META)
        for key, about in record.items()
        if key.endswith(_META)
        and isinstance(about, dict)
        and (str(about.get("type", "")).startswith("groundtruth/") or "human-annotated" in about)
    ]


def _workers(record: dict[str, Any], job: str) -> list[Any]:
    """The answers that a custom job keeps beside each other."""
    label = record.get(job)
    found = label.get(_EVERYBODY) if isinstance(label, dict) else None
    return found if isinstance(found, list) else []


def _source(record: dict[str, Any], position: int) -> Any:
    return record.get("source-ref") or record.get("id") or position
