"""Inspect's evaluation logs, .json or .eval: each scorer is a judge, a person's edit is gold."""

from __future__ import annotations

import json
from typing import Any

from truthing.class_codes import is_missing
from truthing.errors import InputError
from truthing.tables.table import Table
from truthing.tables.tools.rows import Rows, chosen, require_known
from truthing.tables.unpack import Archive

LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def matches(log: Any) -> bool:
    return isinstance(log, dict) and isinstance(log.get("eval"), dict) and "samples" in log


def from_archive(archive: Archive, question: str | None) -> Table:
    """A .eval file: a zip with one member for each sample."""
    members = [m for m in archive.members if m.startswith("samples/") and m.endswith(".json")]
    try:
        if members:
            samples = [json.loads(archive.read(m)) for m in members]
        elif "summaries.json" in archive.members:
            samples = json.loads(archive.read("summaries.json"))
        else:
            samples = []
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise InputError(f"{archive.name}: a sample of this Inspect log is not JSON.") from None
    return read({"eval": {}, "samples": samples}, archive.name, question)


def read(log: dict[str, Any], name: str, question: str | None) -> Table:
    rows = Rows(name, "Inspect log", "scorer")
    samples = [s for s in log.get("samples") or [] if isinstance(s, dict)]
    if not samples:
        raise InputError(f"{name} is an Inspect log without samples: nothing was scored.")
    epochs = {s.get("epoch", 1) for s in samples}
    scorers = list(dict.fromkeys(k for s in samples for k in s.get("scores") or {}))
    wanted = chosen(question)
    require_known(name, wanted, scorers)
    known = {k: [_value(s, k) for s in samples] for k in scorers}
    graded = {k for k, values in known.items() if not _is_right_or_wrong(values)}
    if len(graded) < len(scorers) and wanted is None:
        for scorer in sorted(graded):
            rows.left_out[f"scorer {scorer!r}, which does not say right or wrong"] += 1
        scorers = [k for k in scorers if k not in graded]
    for sample in samples:
        item = sample.get("id")
        item = item if len(epochs) == 1 else f"{item} (epoch {sample.get('epoch', 1)})"
        for scorer in scorers:
            score = (sample.get("scores") or {}).get(scorer)
            if score is None or (wanted is not None and scorer not in wanted):
                continue
            first, person = _history(score)
            if isinstance(first, dict | list):
                rows.left_out["scores with several values"] += 1
                continue
            rows.label(item, scorer, first if scorer in graded else _letter(first))
            if person is not None:
                rows.human(item, person if scorer in graded else _letter(person))
    return rows.table()


def _value(sample: dict[str, Any], scorer: str) -> Any:
    score = (sample.get("scores") or {}).get(scorer)
    return score.get("value") if isinstance(score, dict) else score


def _is_right_or_wrong(values: list[Any]) -> bool:
    given = [v for v in values if not is_missing(v)]
    return all(isinstance(v, bool | int | float | str) for v in given) and all(
        v in ("C", "I", "N") or v in (0, 1) for v in given
    )


def _letter(value: Any) -> Any:
    """C for right and I for wrong, as Inspect's own scorers write it."""
    if is_missing(value):
        return None
    if value == "N":
        return "I"
    return value if isinstance(value, str) else ("C" if value else "I")


def _history(score: Any) -> tuple[Any, Any]:
    """The scorer's own value, and the last that a person put in its place."""
    if not isinstance(score, dict):
        return score, None
    history = [edit for edit in score.get("history") or [] if isinstance(edit, dict)]
    people = [edit for edit in history if (edit.get("provenance") or {}).get("author")]
    if not people:
        return score.get("value"), None
    own = [edit for edit in history if edit not in people]
    first = own[0].get("value") if own else None
    last = next(
        (e["value"] for e in reversed(people) if e.get("value") not in (None, "UNCHANGED")), None
    )
    return first, last
