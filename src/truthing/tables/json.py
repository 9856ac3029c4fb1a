"""JSON: one object per line, a list of flat objects, or what a tool writes."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.tables.frames import from_records
from truthing.tables.table import Table
from truthing.tables.tools import (
    annotation,
    cvat,
    deepeval,
    delimited,
    feedback,
    ground_truth,
    inspect_log,
    label_studio,
    lm_harness,
    promptfoo,
)

MOST_DIGITS = 400
_SHAPE = (
    *(AttributeError, KeyError, TypeError, IndexError, OverflowError),
    json.JSONDecodeError,  # of a text inside
)


def read(content: str, name: str, question: str | None = None) -> Table:
    """Whatever JSON this is, as rows."""
    if content.lstrip().startswith("["):
        records = _parse(content, name)
        if not isinstance(records, list):
            raise InputError(f"{name} is not a list of objects.")
        return _rows(records, name, "JSON", question)
    plain = _plain_lines(content)
    if plain is not None and not {"_input_hash", "doc_id"} & set(plain.columns):
        table = Table(plain, name, "JSON lines", True, 1, "line", _numbers(content))
        return delimited.recognise(table, question)
    records = _parse_lines(content, name)
    if len(records) == 1 and isinstance(records[0], dict):
        whole = _whole(records[0], name, question)
        if whole is not None:
            return whole
    table = _rows(records, name, "JSON lines", question)
    return replace(table, unit=table.unit and "line", lines=_numbers(content))


def _numbers(content: str) -> Array | None:
    """The number of each line that is not blank; None where all of them count."""
    lines = content.rstrip().split("\n")
    filled = [number for number, line in enumerate(lines, start=1) if line.strip()]
    return None if len(filled) == len(lines) else np.array(filled, dtype=np.int32)


def _plain_lines(content: str) -> pl.DataFrame | None:
    """Flat lines by the fast way; None where they are not flat, or not all of one type."""
    try:
        frame = pl.read_ndjson(io.BytesIO(content.encode()), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, UnicodeError):
        return None
    nested = any(dtype.is_nested() or dtype == pl.Null for dtype in frame.dtypes)
    return None if nested or frame.height == 0 else frame


def _whole(whole: dict[str, Any], name: str, question: str | None) -> Table | None:
    """One object that is a tool's report."""
    try:
        if inspect_log.matches(whole):
            return inspect_log.read(whole, name, question)
        if promptfoo.matches(whole):
            return promptfoo.read(whole["results"]["results"], name, question)
        if deepeval.matches(whole):
            return deepeval.read(whole, name, question)
        if cvat.is_datumaro(whole):
            return cvat.datumaro(whole, name, question)
        for field in ("data", "assessments", "annotations", "scores"):
            inner = whole.get(field)
            if isinstance(inner, list) and inner and all(isinstance(r, dict) for r in inner):
                return _rows(inner, name, "JSON", question)
    except _SHAPE as problem:
        raise _unexpected(name, problem) from None
    if whole and all(isinstance(inner, dict) for inner in whole.values()):
        raise InputError(
            f"{name} is an object of objects ({listing(whole, 3)}): which are items and which "
            'labelers cannot be told. Write a list of {"item": …, "labeler": …, "label": …}.'
        )
    return None


def _rows(records: list[Any], name: str, kind: str, question: str | None) -> Table:
    if not records:
        raise InputError(f"{name} is empty: it needs at least one object.")
    try:
        found = _tool(records, name, question)
    except _SHAPE as problem:
        raise _unexpected(name, problem) from None
    if found is not None:
        return found
    return delimited.recognise(from_records(records, name, kind), question)


def _tool(records: list[Any], name: str, question: str | None) -> Table | None:
    if ground_truth.is_manifest(records):
        return ground_truth.manifest(records, name, question)
    if ground_truth.is_answers(records):
        return ground_truth.answers(records, name, question)
    if cvat.is_backup(records):
        return cvat.backup(records, name, question)
    if label_studio.matches(records):
        return label_studio.read(records, name, question)
    if lm_harness.matches(records):
        return lm_harness.read(records, name, question)
    if promptfoo.matches_lines(records):
        return promptfoo.read(records, name, question)
    if annotation.is_argilla(records):
        return annotation.argilla(records, name, question)
    if annotation.is_prodigy(records):
        return annotation.prodigy(records, name, question)
    if annotation.is_doccano(records):
        return annotation.doccano(records, name, question)
    fields = set(feedback.named(records[0]))
    some = [feedback.named(r) for r in records]
    if feedback.is_langfuse(fields):
        return feedback.langfuse(some, name, question)
    if feedback.is_mlflow(fields):
        return feedback.mlflow(some, name, question)
    if feedback.is_phoenix(fields):
        return feedback.phoenix(some, name, question)
    return None


def _unexpected(name: str, problem: Exception) -> InputError:
    return InputError(
        f"{name} begins like the export of a tool but is shaped otherwise "
        f"({type(problem).__name__}: {str(problem)[:80]}). Export it again, or write item, "
        "labeler and label as CSV."
    )


def _integer(digits: str) -> int | float:
    """Numbers of hundreds of digits are no names; Python would take very long over them."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits[:MOST_DIGITS])


def _load(text: str) -> Any:
    return json.loads(text, parse_int=_integer)


def _parse(content: str, name: str) -> Any:
    try:
        return _load(content)
    except json.JSONDecodeError as problem:
        raise InputError(
            f"{name} line {problem.lineno} is not JSON: {problem.msg}. Correct it or export it "
            "again."
        ) from None
    except (RecursionError, ValueError, MemoryError):
        raise _too_deep(name) from None


def _too_deep(name: str) -> InputError:
    return InputError(f"{name} is nested too deeply to be a table or a known export.")


def _parse_lines(content: str, name: str) -> list[Any]:
    try:
        return [_load(content)]
    except json.JSONDecodeError:
        pass
    except (RecursionError, ValueError, MemoryError):
        raise _too_deep(name) from None
    records = []
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            try:
                records.append(_load(line))
            except json.JSONDecodeError as problem:
                raise InputError(
                    f"{name} line {number} is not JSON: {problem.msg}. Put one object on each line."
                ) from None
            except (RecursionError, ValueError, MemoryError):
                raise _too_deep(name) from None
    return records
