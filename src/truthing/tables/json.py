"""JSON: one object per line, a list of flat objects, or an export of Label Studio."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl

from truthing.errors import InputError
from truthing.tables.table import Table


def read(content: str, name: str) -> Table:
    """Whatever JSON this is, as rows."""
    if content.lstrip().startswith("["):
        records = _parse(content, name)
        if any(isinstance(r, dict) and ("annotations" in r or "completions" in r) for r in records):
            return label_studio(records, name)
        return _flat(records, name, "JSON")
    try:
        frame = pl.read_ndjson(io.BytesIO(content.encode()), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        return _flat(_parse_lines(content, name), name, "JSON lines")
    if any(dtype.is_nested() for dtype in frame.dtypes):
        return _flat(_parse_lines(content, name), name, "JSON lines")
    return Table(frame, name, "JSON lines", first_line=1)


def label_studio(tasks: list[Any], name: str) -> Table:
    """Annotations by ``completed_by``; cancelled ones skipped; ``ground_truth`` is gold; ``predictions`` are predictions."""
    rows: list[dict[str, Any]] = []
    for position, task in enumerate(tasks):
        item = task.get("id", position)
        predicted = [(_choice(p), p.get("score")) for p in task.get("predictions") or []]
        predicted = [(choice, score) for choice, score in predicted if choice is not None]
        common = {
            "item": item,
            "prediction": predicted[-1][0] if predicted else None,
            "score": predicted[-1][1] if predicted else None,
        }
        gold, labels = None, []
        for annotation in task.get("annotations") or task.get("completions") or []:
            choice = _choice(annotation)
            if annotation.get("was_cancelled") or choice is None:
                continue
            if annotation.get("ground_truth"):
                gold = choice
            else:
                labels.append({"labeler": _who(annotation.get("completed_by")), "label": choice})
        rows += [
            {**common, "truth": gold, **label}
            for label in labels or [{"labeler": None, "label": None}]
        ]
    frame = _flat(rows, name, "Label Studio export").frame
    empty = [c for c in ("prediction", "score", "truth") if frame[c].null_count() == frame.height]
    if frame["label"].null_count() == frame.height:
        raise InputError(
            f"{name}: no annotation of this Label Studio export holds a single choice. Export choices or ratings."
        )
    return Table(frame.drop(empty), name, "Label Studio export")


def _choice(annotation: dict[str, Any]) -> Any:
    """The one class that an annotation names: a choice, a rating or a taxonomy leaf."""
    for result in annotation.get("result") or []:
        value = result.get("value") or {}
        for kind in ("choices", "rating", "number", "taxonomy", "labels"):
            if kind in value:
                found = value[kind]
                while isinstance(found, list) and found:
                    found = found[-1] if kind == "taxonomy" else found[0]
                return found if found != [] else None
    return None


def _who(completed_by: Any) -> Any:
    if isinstance(completed_by, dict):
        return completed_by.get("email") or completed_by.get("id")
    return "unknown" if completed_by is None else completed_by


def _parse(content: str, name: str) -> list[Any]:
    try:
        return list(json.loads(content))
    except json.JSONDecodeError as problem:
        raise InputError(
            f"{name} line {problem.lineno} is not JSON: {problem.msg}. Correct it or export it again."
        ) from None


def _parse_lines(content: str, name: str) -> list[Any]:
    try:
        whole = json.loads(content)
        return [whole]
    except json.JSONDecodeError:
        pass
    records = []
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError as problem:
                raise InputError(
                    f"{name} line {number} is not JSON: {problem.msg}. Put one object on each line."
                ) from None
    return records


def _flat(records: list[Any], name: str, kind: str) -> Table:
    if not records:
        raise InputError(f"{name} is empty: it needs at least one object.")
    columns: dict[str, None] = {}
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise InputError(
                f"{name} entry {number} is {type(record).__name__}, not an object with named fields."
            )
        columns.update(dict.fromkeys(record))
    data = {
        c: pl.Series(c, [r.get(c) for r in records], dtype=_dtype([r.get(c) for r in records]))
        for c in columns
    }
    return Table(pl.DataFrame(data), name, kind, first_line=1)


def _dtype(values: list[Any]) -> Any:
    """A plain type where all values have one; Python objects, kept apart by type, where they are mixed."""
    kinds = {type(v) for v in values if v is not None}
    if kinds <= {int}:
        return pl.Int64
    if kinds <= {int, float}:
        return pl.Float64
    if kinds == {str}:
        return pl.String
    return pl.Boolean if kinds == {bool} else pl.Object
