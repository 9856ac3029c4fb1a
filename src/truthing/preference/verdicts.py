"""Verdicts: who preferred which of two systems' answers on which item, in which order shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array, sort_key
from truthing.errors import InputError, listing
from truthing.notes import NOTHING, Notes
from truthing.preference import words
from truthing.preference.words import TIE, A, B
from truthing.spelling import letters
from truthing.tables.source import open_table
from truthing.tables.table import Table

REPEATS = ("error", "first", "last", "keep")
FIRST, SECOND, TIED = range(3)  # outcomes of a comparison, of its own first and second system
Key = tuple[Any, int, int]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """One comparison is an item and two systems; outcomes are 0 (its first system is better),
    1 (its second) and 2 (tie). ``swapped``: the second system was shown first.
    """

    systems: tuple[Any, ...]
    judges: tuple[Any, ...]
    items: tuple[Any, ...]  # of each comparison
    pair: Array  # comparisons × 2, codes of systems
    comparison: Array  # of each verdict, as the next three
    judge: Array
    outcome: Array
    swapped: Array
    gold: Array  # outcome of each comparison, -1 where not known
    ordered: bool  # the file said which was shown first
    notes: Notes = NOTHING

    @property
    def n_comparisons(self) -> int:
        return len(self.items)

    @property
    def has_ties(self) -> bool:
        return bool((self.outcome == TIED).any() or (self.gold == TIED).any())

    @property
    def both_orders(self) -> bool:
        """Some judge saw some comparison in both orders."""
        return bool(len(twice(self)[0]))


def read_verdicts(
    source: Any,
    gold: Any = None,
    *,
    columns: Mapping[str, str | None] | None = None,
    meant: Mapping[Any, Any] | None = None,
    missing: Sequence[Any] = (),
    repeats: str = "error",
) -> Verdicts:
    """A table of verdicts and, perhaps, gold of some comparisons."""
    if repeats not in REPEATS:
        raise InputError(f"repeats {repeats!r} is not known: choose {', '.join(REPEATS)}.")
    reader = _Reader(open_table(source), columns or {}, meant or {}, missing)
    rows = reader.rows()
    kept, notes = _without_repeats(rows, repeats, reader.table.name)
    systems = reader.systems
    judges = tuple(sorted({row.judge for row in kept}, key=sort_key))
    keys = sorted({row.key for row in rows}, key=lambda k: (k[1:], sort_key(k[0])))
    place, who = ({name: n for n, name in enumerate(names)} for names in (keys, judges))
    known = reader.beside(rows) if gold is None else _given_gold(gold, reader, keys)
    truth = np.full(len(keys), -1)
    for key, outcome in known.items():
        if key in place:
            truth[place[key]] = outcome
    absent = sum(key not in place for key in known)
    if known and absent == len(known):
        raise InputError("gold is about none of these comparisons: are the items' names the same?")
    sentences = [f"{absent:,} gold items are in no comparison and were left out."] if absent else []
    return Verdicts(
        systems,
        judges,
        tuple(key[0] for key in keys),
        np.array([key[1:] for key in keys]),
        np.array([place[row.key] for row in kept]),
        np.array([who[row.judge] for row in kept]),
        np.array([row.outcome for row in kept]),
        np.array([row.swapped for row in kept]),
        truth,
        "order" in reader.found,
        Notes(tuple(reader.remarks + sentences + notes)),
    )


@dataclass(frozen=True)
class _Row:
    key: Key
    judge: Any
    outcome: int
    swapped: bool
    line: int

    @property
    def where(self) -> tuple[Any, ...]:
        return self.key, self.judge, self.swapped


class _Reader:
    """A table of verdicts and what its words mean."""

    def __init__(
        self,
        table: Table,
        named: Mapping[str, str | None],
        meant: Mapping[Any, Any],
        missing: Sequence[Any],
    ) -> None:
        self.table = table
        self.found = words.find_columns(table, named, ("item", "verdict"))
        self.meant = {letters(k): str(v) for k, v in meant.items()}
        self.missing = {letters(word) for word in missing}
        self.remarks: list[str] = []
        self.items = _cells(table, "item", self.found["item"])
        self.a, self.b = self._systems()
        names = {*self.a, *self.b}
        words.check_systems(tuple(names), table.name)
        self.systems = tuple(sorted(names, key=sort_key))
        self.code = {name: n for n, name in enumerate(self.systems)}

    def _systems(self) -> tuple[list[Any], list[Any]]:
        if "system_a" not in self.found:
            self.remarks.append("No column names the systems: they are called A and B.")
            return [A] * len(self.items), [B] * len(self.items)
        pairs = [_cells(self.table, role, self.found[role]) for role in ("system_a", "system_b")]
        for row, (a, b) in enumerate(zip(*pairs)):
            if a == b:
                raise InputError(
                    f"{self.table.place(row)}: system_a and system_b are both {a!r}. A verdict "
                    "compares two systems: remove the line."
                )
        return pairs[0], pairs[1]

    def key(self, row: int) -> tuple[Key, bool]:
        """The comparison of a row, and whether its systems stand the other way round there."""
        a, b = self.code[self.a[row]], self.code[self.b[row]]
        return (self.items[row], min(a, b), max(a, b)), a > b

    def outcome(self, row: int, word: Any) -> int | None:
        if letters("" if word is None else word) in self.missing:
            return None
        a, b = self.a[row], self.b[row]
        winner = words.winner(word, a, b, self.meant, self.table.place(row))
        if winner is None or winner == TIE:
            return None if winner is None else TIED
        return FIRST if (winner == A) != self.key(row)[1] else SECOND

    def rows(self) -> list[_Row]:
        verdicts = _texts(self.table, self.found["verdict"])
        judges: list[Any] = ["judge"] * len(self.items)
        if "judge" in self.found:
            judges = _cells(self.table, "judge", self.found["judge"])
        else:
            self.remarks.append("No column names the judge: all verdicts are of one judge.")
        order = _texts(self.table, self.found["order"]) if "order" in self.found else None
        swapped_column = letters(self.found.get("order", "")) == "swapped"
        rows, empty = [], 0
        for n, word in enumerate(verdicts):
            outcome = self.outcome(n, word)
            if outcome is None:
                empty += 1
                continue
            key, turned = self.key(n)
            first = A
            if order is not None:
                pair = self.a[n], self.b[n]
                first = words.shown_first(order[n], *pair, swapped_column, self.table.place(n))
            rows.append(_Row(key, judges[n], outcome, (first == B) != turned, n))
        if not rows:
            raise InputError(f"{self.table.name} holds no verdict: write A, B or tie.")
        if empty:
            self.remarks.append(f"{empty:,} rows hold no verdict and were left out.")
        return rows

    def beside(self, rows: list[_Row]) -> dict[Key, int]:
        """Gold that stands in the table of verdicts."""
        if "truth" not in self.found:
            return {}
        known: dict[Key, int] = {}
        for n, word in enumerate(_texts(self.table, self.found["truth"])):
            outcome = self.outcome(n, word)
            if outcome is not None:
                _put(known, self.key(n)[0], outcome, self.table.place(n))
        self.remarks.append(f"Gold is taken from column {self.found['truth']!r}.")
        return known


def _put(known: dict[Key, int], key: Key, outcome: int, place: str) -> None:
    if known.setdefault(key, outcome) != outcome:
        raise InputError(
            f"{place}: gold says two things about item {key[0]!r}. Keep one of its rows."
        )


def _given_gold(gold: Any, reader: _Reader, keys: Sequence[Key]) -> dict[Key, int]:
    """Gold as a mapping from item to winner, or a table of its own."""
    if isinstance(gold, Mapping) and not all(isinstance(v, list | tuple) for v in gold.values()):
        source = {"item": list(gold), "truth": [str(v) for v in gold.values()]}
        table = open_table(source)
    else:
        table = open_table(gold)
    named = {"truth": None}
    columns = words.find_columns(table, named, ("item",))
    column = columns.get("truth") or columns.get("verdict")
    if column is None:
        raise InputError(
            f"{table.name} has no column with the known winner: call it truth (A, B, tie or a "
            "system's name)."
        )
    items, answers = _cells(table, "item", columns["item"]), _texts(table, column)
    if "system_a" in columns:
        meant = {"item": columns["item"], "system_a": columns["system_a"]}
        meant |= {"system_b": columns["system_b"], "verdict": column}
        own = _Reader(table, meant, reader.meant, tuple(reader.missing))
        return _gold_of_pairs(own, reader, answers)
    return _gold_of_items(table, items, answers, reader, keys)


def _gold_of_pairs(own: _Reader, reader: _Reader, answers: Sequence[Any]) -> dict[Key, int]:
    strange = set(own.systems) - set(reader.systems)
    if strange:
        raise InputError(
            f"{own.table.name}: no verdict is about {listing(sorted(map(str, strange)), 3)}; the "
            f"systems are {listing(reader.systems)}."
        )
    own.code = reader.code
    known: dict[Key, int] = {}
    for n, word in enumerate(answers):
        outcome = own.outcome(n, word)
        if outcome is not None:
            _put(known, own.key(n)[0], outcome, own.table.place(n))
    return known


def _gold_of_items(
    table: Table, items: Sequence[Any], answers: Sequence[Any], reader: _Reader, keys: Sequence[Key]
) -> dict[Key, int]:
    """Gold that names the item only: its comparison, and what A means there, must be one."""
    several = Counter(key[0] for key in keys)
    home = {key[0]: key for key in keys}
    turned: dict[Any, set[bool]] = {}
    for row, item in enumerate(reader.items):
        turned.setdefault(item, set()).add(reader.key(row)[1])
    known: dict[Key, int] = {}
    for n, (item, word) in enumerate(zip(items, answers)):
        if item not in home:
            known[(item, -1, -1)] = TIED
            continue
        if several[item] > 1:
            raise InputError(
                f"{table.place(n)}: item {item!r} compares several pairs of systems. Add columns "
                "system_a and system_b to the gold."
            )
        key = home[item]
        names = [reader.systems[code] for code in key[1:]]
        letter = letters(word) in (*words.A_WORDS, *words.B_WORDS)
        if len(turned[item]) == 2 and letter and letters(word) not in map(letters, names):
            raise InputError(
                f"{table.place(n)}: {word!r} is unclear, because item {item!r} has each system "
                "as A in one row and as B in another. Write the winning system's name."
            )
        a, b = names if turned[item] != {True} else names[::-1]
        outcome = words.winner(word, a, b, reader.meant, table.place(n))
        if outcome is not None and letters(word) not in reader.missing:
            won = TIED if outcome == TIE else FIRST if (outcome == A) == (a == names[0]) else SECOND
            _put(known, key, won, table.place(n))
    return known


def _without_repeats(rows: list[_Row], repeats: str, name: str) -> tuple[list[_Row], list[str]]:
    """One verdict of a judge on a comparison in one order; the same one twice counts once."""
    if repeats == "keep":
        return rows, []
    seen: dict[tuple[Any, ...], _Row] = {}
    for row in rows:
        before = seen.setdefault(row.where, row)
        if before.outcome == row.outcome:
            continue
        if repeats == "error":
            raise InputError(
                f"{name}: judge {row.judge!r} gives two verdicts on item {row.key[0]!r} in the "
                "same order. Keep one with `repeats='first'` or `repeats='last'`, or all with "
                "`repeats='keep'`; if orders differ, add a column order (AB or BA)."
            )
        if repeats == "last":
            seen[row.where] = row
    again = len(rows) - len(seen)
    sentences = [f"{again:,} rows repeat a judge's verdict in the same order and count once."]
    return list(seen.values()), sentences if again else []


def twice(verdicts: Verdicts) -> tuple[Array, Array]:
    """Verdicts of one judge on one comparison in both orders: rows as shown, rows swapped."""
    n = len(verdicts.judges)
    where = verdicts.comparison.astype(np.int64) * n + verdicts.judge
    straight, turned = (np.flatnonzero(verdicts.swapped == s) for s in (False, True))
    _, one, other = np.intersect1d(where[straight], where[turned], return_indices=True)
    return straight[one], turned[other]


def _cells(table: Table, role: str, column: str) -> list[Any]:
    codes, names = table.required(column, role)
    return [names[code] for code in codes]


def _texts(table: Table, column: str) -> list[Any]:
    codes, names = table.raw(column)
    return [None if code < 0 else names[code] for code in codes]
