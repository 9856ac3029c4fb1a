"""Reads: every reader's score of every case, in one or two modalities, and the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array, sort_key
from truthing.errors import InputError, did_you_mean, listing
from truthing.spelling import letters
from truthing.tables.columns import ROLES
from truthing.tables.source import open_table
from truthing.tables.table import Table

COLUMNS: dict[str, tuple[str, ...]] = {
    "case": ("case", *ROLES["item"], "patient", "scan"),
    "reader": ("reader", *ROLES["labeler"]),
    "modality": ("modality", "treatment", "test", "condition", "arm"),
    "truth": ROLES["truth"],
    "score": (*ROLES["score"], "rating", "grade", "read"),
}
POSITIVE = ("1", "true", "yes", "positive", "diseased", "malignant", "abnormal")


@dataclass(frozen=True, eq=False)
class Reads:
    """``score`` is modalities × readers × cases; ``diseased`` says the truth of each case."""

    modalities: tuple[Any, ...]
    readers: tuple[Any, ...]
    cases: tuple[Any, ...]
    score: Array
    diseased: Array
    remarks: tuple[str, ...] = ()


def read_reads(source: Any, gold: Any, columns: Mapping[str, str | None], positive: Any) -> Reads:
    """A long table, fully crossed: every reader read every case in every modality."""
    table = open_table(source)
    found = find_columns(table, columns)
    cases, readers = (_cells(table, found[role], role) for role in ("case", "reader"))
    arms = _cells(table, found["modality"], "modality") if "modality" in found else None
    named = [tuple(sorted(set(x), key=sort_key)) for x in (arms or ["all"], readers, cases)]
    place = [{name: n for n, name in enumerate(names)} for names in named]
    score = np.full([len(names) for names in named], np.nan)
    numbers = table.numbers(found["score"], "score")
    for n, value in enumerate(numbers):
        arm = "all" if arms is None else arms[n]
        where = place[0][arm], place[1][readers[n]], place[2][cases[n]]
        if not np.isnan(score[where]):
            raise InputError(
                f"{table.place(n)}: reader {readers[n]!r} read case {cases[n]!r} twice. Keep one "
                "of the rows, or name the column of the modality with `modality_column=...`."
            )
        score[where] = value
    absent = int(np.isnan(score).sum())
    if absent:
        _, r, c = (int(x[0]) for x in np.nonzero(np.isnan(score)))
        raise InputError(
            f"{absent:,} reads are missing, the first of reader {named[1][r]!r} on case "
            f"{named[2][c]!r}: this analysis needs every reader on every case. Keep the cases "
            "that all have read, or use grade or compare, which allow gaps."
        )
    truth, words = _truth(table, found, gold, cases, named[2])
    diseased, remark = _diseased(truth, named[2], positive)
    return Reads(named[0], named[1], named[2], score, diseased, (*words, remark))


def find_columns(table: Table, wanted: Mapping[str, str | None]) -> dict[str, str]:
    columns = list(table.frame.columns)
    plain = {c.strip().lower().replace(" ", "_").removesuffix("_id"): c for c in reversed(columns)}
    found: dict[str, str] = {}
    for role, words in COLUMNS.items():
        name = wanted.get(role)
        if name is not None and name not in columns:
            raise InputError(
                f"{table.name} has no column {name!r} for the {role}."
                f"{did_you_mean(name, columns)} It has {listing(columns)}."
            )
        hits = [plain[w] for w in words if w in plain and plain[w] not in found.values()]
        if name is not None or hits:
            found[role] = name if name is not None else hits[0]
    for role in ("case", "reader", "score"):
        if role not in found:
            if role == "reader" and "case" in found and len(columns) > 2:
                raise InputError(
                    f"{table.name} has no column for the reader (it has {listing(columns)}). One "
                    "row for each read is needed: case, reader, score. If there is such a column, "
                    "name it with `reader_column=...`; readers who gave classes are graded by "
                    "`truthing labelers` and `truthing grade`."
                )
            raise InputError(
                f"{table.name} has no column for the {role} (it has {listing(columns)}). Name it "
                f"with `{role}_column=...`."
            )
    return found


def _cells(table: Table, column: str, role: str) -> list[Any]:
    codes, names = table.required(column, role)
    return [names[code] for code in codes]


def _truth(
    table: Table, found: Mapping[str, str], gold: Any, cases: list[Any], names: tuple[Any, ...]
) -> tuple[dict[Any, Any], tuple[str, ...]]:
    """The truth of every case, from the table or from a source of its own."""
    if gold is not None:
        from truthing.tables import read_gold

        given = gold if isinstance(gold, Mapping) else read_gold(gold).as_dict()
        truth = {case: given[case] for case in names if case in given}
    elif "truth" in found:
        codes, words = table.codes(found["truth"])
        truth = {}
        for n, code in enumerate(codes):
            if code >= 0 and truth.setdefault(cases[n], words[code]) != words[code]:
                raise InputError(
                    f"{table.place(n)}: case {cases[n]!r} has two truths. Correct one of its rows."
                )
    else:
        raise InputError(
            f"{table.name} has no column of truth: name it with `truth_column=...`, or give gold."
        )
    open_cases = [case for case in names if case not in truth]
    if open_cases:
        raise InputError(
            f"{len(open_cases):,} of {len(names):,} cases have no truth "
            f"({listing(open_cases, 3)}): "
            "the analysis of readers as a sample needs the truth of every case. Leave these "
            "cases out, or use compare, which works with partial gold for these readers."
        )
    return truth, ()


def _diseased(truth: Mapping[Any, Any], cases: tuple[Any, ...], positive: Any) -> tuple[Array, str]:
    classes = sorted({truth[case] for case in cases}, key=sort_key)
    if len(classes) != 2:
        raise InputError(f"truth has the classes {listing(classes)}: two are needed.")
    chosen = [c for c in classes if letters(c) == letters(positive)] if positive is not None else []
    if positive is not None and not chosen:
        raise InputError(f"no class is called {positive!r}: there are {listing(classes)}.")
    if not chosen:
        chosen = [c for c in classes if letters(c) in POSITIVE] or [classes[-1]]
    sentence = f"{chosen[0]} is the class that scores grow with."
    return np.array([truth[case] == chosen[0] for case in cases]), sentence
