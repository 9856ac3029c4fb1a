"""Doctor: what each file is, how files fit together, what can be computed, what is missing.

`findings.py` is what it finds, `files.py` looks at one file, `other_tables.py` at files that are no
labels (verdicts of preferences, reads of a reader study, dated outcomes), `offers.py` at all
together. Uses what recognises columns in `tables`, `preference`, `mrmc` and `monitoring`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from truthing.doctor.files import examine_one
from truthing.doctor.findings import FileFinding, Findings, Offer
from truthing.doctor.offers import together
from truthing.doctor.other_tables import preferences, reader_study
from truthing.errors import InputError
from truthing.tables import Reading
from truthing.tables.asked import UNASKED, Asked
from truthing.tables.columns import Columns
from truthing.tables.read import check_ignored, read_as
from truthing.tables.source import open_table
from truthing.tables.table import Table

__all__ = [
    "FileFinding",
    "Findings",
    "Offer",
    "examine",
    "examine_tables",
    "together",
]


def examine(sources: Sequence[Any], asked: Asked = UNASKED) -> Findings:
    """Read each file as what it is and say what follows."""
    if not sources:
        raise InputError("no file to examine: name one or more.")
    opened = [
        (
            s.name if isinstance(s, Table) else str(s),
            open_table(s, delimiter=asked.delimiter, question=asked.question),
        )
        for s in sources
    ]
    check_ignored(asked, [table for _, table in opened])
    return together(
        examine_tables([(name, table, _where(asked, table, opened)) for name, table in opened])
    )


def _where(asked: Asked, table: Table, opened: Sequence[tuple[str, Table]]) -> Asked:
    """What was said about columns holds for the files that have them."""
    here = set(table.frame.columns)
    elsewhere = {c for _, other in opened if other is not table for c in other.frame.columns}

    def belongs(names: Sequence[str]) -> bool:
        return any(n in here for n in names) or not any(n in elsewhere for n in names)

    columns = {r: c for r, c in asked.columns.items() if belongs([c, *c.split(",")])}
    labelers = asked.labeler_columns if belongs(asked.labeler_columns) else ()
    return replace(asked, columns=columns, labeler_columns=labelers)


def examine_tables(tables: Sequence[tuple[str, Table, Asked]]) -> list[FileFinding]:
    """Files that belong together; predictions and gold tell what labels look like. A file that
    cannot be read is refused where it stands alone, else said among the others."""
    looks = [_Look(name, table, asked, len(tables) == 1) for name, table, asked in tables]
    hint = [name for look in looks for name in look.classes()]
    return [look.finding(hint) for look in looks]


class _Look:
    """One of several files: read as labels, predictions or gold, or known for something else."""

    def __init__(self, name: str, table: Table, asked: Asked, alone: bool) -> None:
        self.name, self.table, self.alone = name, table, alone
        self.asked = replace(asked, tags="auto") if table.several else asked
        self.reading: Reading | None = None
        self.other = preferences(name, table, asked)
        if self.other is None:
            try:
                self.reading = read_as(table, self.asked)
            except InputError as problem:
                self.other = self._despite(problem)

    def classes(self) -> list[Any]:
        """Those of predictions and gold, which tell what labels look like."""
        reading = self.reading
        if reading is None or reading.has_labels:
            return []
        try:
            return [
                *(reading.predictions.classes if reading.has_predictions else ()),
                *(reading.gold.classes if reading.has_gold else ()),
            ]
        except InputError as problem:
            self.reading, self.other = None, self._despite(problem)
            return []

    def finding(self, hint: Sequence[Any]) -> FileFinding:
        """What the file holds; ``hint`` are classes of the other files."""
        if self.reading is None:
            assert self.other is not None
            return self.other
        try:
            if hint and self.reading.has_labels:
                return examine_one(self.name, read_as(self.table, self.asked, hint))
            return examine_one(self.name, self.reading)
        except InputError as problem:
            return self._despite(problem)

    def _despite(self, problem: InputError) -> FileFinding:
        found = reader_study(self.name, self.table, self.asked)
        if found is None and self.alone:
            raise problem
        sentence = f"could not be read: {problem}"
        return found or FileFinding(self.name, (sentence,), Columns({}, ()), unread=True)
