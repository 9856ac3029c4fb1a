"""A stream: which item passed when, in which batch and under which version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean, listing
from truthing.spelling import is_missing_word, letters
from truthing.tables.columns import ROLES
from truthing.tables.frames import is_frame
from truthing.tables.source import open_table
from truthing.tables.table import Table

COLUMNS: dict[str, tuple[str, ...]] = {
    "time": ("date", "time", "timestamp", "day", "created_at", "when"),
    "batch": ("batch", "week", "month", "release"),
    "version": ("version", "judge_version", "model_version", "prompt_version"),
    "truth": (*ROLES["truth"], "outcome", "passed"),
    "label": ROLES["label"],
}
PASSES = ("pass", "passed", "yes", "true", "1", "ok", "good", "correct")
FAILS = ("fail", "failed", "no", "false", "0", "not ok", "bad", "incorrect")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")


@dataclass(frozen=True, eq=False)
class MonitoredStream:
    """Items in the order of time; ``gold``: what passed was known, not labelled."""

    passed: Array
    time: tuple[str, ...]
    batch: tuple[str, ...]
    gold: bool
    remarks: tuple[str, ...] = ()
    agreed: Array | None = None  # of rows with both: whether the label is the truth
    judged: tuple[str, ...] = ()  # the version or batch of those rows


def read_stream(
    source: Any, columns: Mapping[str, str | None], passing: Any, evidence: str | None
) -> MonitoredStream:
    """A table, or outcomes in their order."""
    if (
        not is_frame(source)
        and not isinstance(source, str | Table)
        and not hasattr(source, "suffix")
    ):
        values = list(source)
        passed = np.array([_passes(v, passing, f"entry {n + 1}") for n, v in enumerate(values)])
        places = tuple(f"item {n + 1}" for n in range(len(values)))
        return MonitoredStream(passed, places, ("all",) * len(values), evidence != "labels")
    table = open_table(source)
    found = find_columns(table, columns)
    what = "truth" if evidence != "labels" and "truth" in found else "label"
    if evidence == "gold" or what not in found:
        what = "truth" if "truth" in found else what
    if what not in found:
        raise InputError(
            f"{table.name} has no column that says what passed (it has "
            f"{listing(table.frame.columns)}). Name it with `truth_column=...` or "
            "`label_column=...`."
        )
    cells = [None if is_missing_word(v) else v for v in table.frame[found[what]].to_list()]
    kept = [n for n, value in enumerate(cells) if value is not None and str(value).strip()]
    if not kept:
        raise InputError(f"{table.name}: column {found[what]!r} is empty.")
    sentences = [f"{found[what]!r} says what passed."]
    if len(kept) < len(cells):
        sentences.append(f"{len(cells) - len(kept):,} rows without it were left out.")
    passed = np.array([_passes(cells[n], passing, table.place(n)) for n in kept])
    time, order = _times(table, found, kept, sentences)
    group = found.get("version") or found.get("batch")
    if "version" in found and "batch" in found:
        sentences.append("Rows are grouped by version; batches are not shown.")
    names = ["all"] * len(kept)
    if group is not None:
        names = [str(table.frame[group][n]) for n in kept]
    elif "time" in found:
        names = [when[:10] for when in time]
    agreed, judged = _agreement(table, found, [kept[n] for n in order], passing)
    return MonitoredStream(
        passed[order],
        tuple(time[n] for n in order),
        tuple(names[n] for n in order),
        what == "truth",
        tuple(sentences),
        agreed,
        tuple(names[order[n]] for n in judged),
    )


def _agreement(
    table: Table, found: Mapping[str, str], rows: list[int], passing: Any
) -> tuple[Array | None, list[int]]:
    """Whether the label is the truth, of rows that have both, and which of the rows these are."""
    if "truth" not in found or "label" not in found:
        return None, []
    agreed, judged = [], []
    for n, row in enumerate(rows):
        both = [table.frame[found[what]][row] for what in ("truth", "label")]
        if any(is_missing_word(v) or not str(v).strip() for v in both):
            continue
        first, second = (_passes(v, passing, table.place(row)) for v in both)
        agreed.append(first == second)
        judged.append(n)
    return (np.array(agreed, dtype=float), judged) if agreed else (None, [])


def find_columns(table: Table, named: Mapping[str, str | None]) -> dict[str, str]:
    columns = list(table.frame.columns)
    plain = {c.strip().lower().replace(" ", "_"): c for c in reversed(columns)}
    found: dict[str, str] = {}
    for role, words in COLUMNS.items():
        wanted = named.get(role)
        if wanted is not None and wanted not in columns:
            raise InputError(
                f"{table.name} has no column {wanted!r} for the {role}."
                f"{did_you_mean(wanted, columns)} It has {listing(columns)}."
            )
        hits = [plain[w] for w in words if w in plain and plain[w] not in found.values()]
        if wanted is not None or hits:
            found[role] = wanted if wanted is not None else hits[0]
    return found


def _times(
    table: Table, found: Mapping[str, str], kept: list[int], sentences: list[str]
) -> tuple[list[str], Array]:
    """What is said of each row's time, and the order in which rows happened."""
    if "time" not in found:
        sentences.append("No column of dates: rows are taken to stand in the order of time.")
        return [table.place(n) for n in kept], np.arange(len(kept))
    values = [table.frame[found["time"]][n] for n in kept]
    numbers = all(isinstance(v, int | float) for v in values)
    for n, value in zip(kept, values):
        if not numbers and not _DATE.fullmatch(str(value).strip()):
            raise InputError(
                f"{table.place(n)}: {value!r} in column {found['time']!r} is not a date as "
                "2026-05-31 or a number, so the order of time is not known. Rewrite the dates."
            )
    keys = values if numbers else [str(v).strip() for v in values]
    order = sorted(range(len(keys)), key=lambda n: keys[n])
    return [str(v) for v in values], np.array(order)


def _passes(value: Any, passing: Any, place: str) -> bool:
    """Whether a value is a pass, by the user's word or by the usual words."""
    word = letters(value)
    if passing is not None:
        return word == letters(passing)
    if word in PASSES or word in FAILS:
        return word in PASSES
    raise InputError(
        f"{place}: {value!r} is neither pass nor fail. Say which class counts as a pass with "
        f"`passing={str(value)!r}`."
    )
