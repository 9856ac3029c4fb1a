"""Tables that other commands than `grade` read: verdicts of preferences, reads of a reader study,
dated outcomes. They are known by the names of their columns, where nobody named columns."""

from __future__ import annotations

import polars as pl

from truthing.doctor.findings import FileFinding
from truthing.errors import InputError
from truthing.monitoring import stream
from truthing.mrmc import reads
from truthing.preference import words
from truthing.preference.verdicts import read_verdicts
from truthing.spelling import letters
from truthing.tables.asked import Asked
from truthing.tables.columns import Columns
from truthing.tables.table import Table

VERDICTS, KNOWN_WINNERS, READS, DATED = "verdicts", "known winners", "reads", "dated"
PASS_OR_FAIL = {"pass", "passed", "fail", "failed"}
PLAIN_VERDICTS = ("verdict", "winner", "preference", "preferred")


def preferences(path: str, table: Table, asked: Asked) -> FileFinding | None:
    """Verdicts on two systems' answers, or the known winners of such pairs."""
    if _named(asked):
        return None
    try:
        found = words.find_columns(table, {}, ())
    except InputError:
        return None
    plain = {role: column.strip().lower() for role, column in found.items()}
    named = plain.get("system_a", "").endswith("a") and plain.get("system_b", "").endswith("b")
    if "system_a" not in found or not (named or plain.get("verdict") in PLAIN_VERDICTS):
        return None
    answer = found.get("verdict") or found.get("truth")
    if answer is None or "item" not in found or not _names_winners(table, found, answer):
        return None
    if "verdict" not in found:
        rows = table.frame[found["truth"]].drop_nulls().len()
        told = [f"the known winner of {rows:,} comparisons of two systems"]
        return _finding(path, table, found, "known winners", told, KNOWN_WINNERS)
    try:
        verdicts = read_verdicts(table, repeats="keep")
    except InputError as problem:
        return _finding(path, table, found, "verdicts", [str(problem)], "")
    told = [
        f"{len(verdicts.outcome):,} verdicts of {len(verdicts.judges):,} judges on "
        f"{verdicts.n_comparisons:,} comparisons of {len(verdicts.systems):,} systems",
        *verdicts.notes.all,
    ]
    return _finding(path, table, found, "verdicts", told, VERDICTS)


def _named(asked: Asked) -> bool:
    """Whether the user said what columns hold: then the table is what they say."""
    return bool(asked.columns or asked.labeler_columns or asked.layout)


def _names_winners(table: Table, found: dict[str, str], answer: str) -> bool:
    """Whether two columns name different systems and a third says which is better: columns of two
    labelers often hold the same."""
    frame = table.frame
    first, second = (frame[found[role]].cast(pl.String) for role in ("system_a", "system_b"))
    if (first == second).any():
        return False
    systems = {letters(name) for column in (first, second) for name in column.unique().drop_nulls()}
    said = [v for v in frame[answer].cast(pl.String).unique().drop_nulls() if v.strip()]
    known = {*systems, *words.A_WORDS, *words.B_WORDS, *words.TIES}
    return bool(said) and any(letters(value) in known for value in said)


def reader_study(path: str, table: Table, asked: Asked) -> FileFinding | None:
    """A row for each read: a score in place of a label, and the truth of the case."""
    if _named(asked):
        return None
    try:
        found = reads.find_columns(table, {})
        table.numbers(found["score"], "score")
    except InputError:
        return None
    if "truth" not in found:
        return None
    cases, readers = (table.frame[found[role]].n_unique() for role in ("case", "reader"))
    told = [f"{table.frame.height:,} reads of {cases:,} cases by {readers:,} readers"]
    return _finding(path, table, found, "reads", told, READS)


def is_dated(table: Table) -> bool:
    """Whether rows have a date and a pass or fail."""
    found = stream.find_columns(table, {})
    outcome = found.get("truth") or found.get("label")
    if "time" not in found or outcome is None:
        return False
    values = {letters(v) for v in table.frame[outcome].cast(pl.String).unique().drop_nulls()}
    if not values & PASS_OR_FAIL:
        return False
    try:
        stream.read_stream(table, {}, None, None)
    except InputError:
        return False
    return True


def _finding(
    path: str, table: Table, roles: dict[str, str], what: str, told: list[str], use: str
) -> FileFinding:
    columns = Columns(roles, ())
    sentences = (f"{table.kind}, table of {what}: {columns.describe()}", *told)
    return FileFinding(path, sentences, columns, use=use)
