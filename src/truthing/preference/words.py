"""What is written in a table of verdicts: its columns, its verdicts and its orders, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truthing.errors import InputError, did_you_mean, listing
from truthing.spelling import is_missing_word, letters
from truthing.tables.columns import ROLES
from truthing.tables.table import Table

COLUMNS: dict[str, tuple[str, ...]] = {
    "item": (*ROLES["item"], "prompt", "instruction"),
    "judge": ROLES["labeler"],
    "system_a": ("system_a", "model_a", "assistant_a", "system_1", "model_1"),
    "system_b": ("system_b", "model_b", "assistant_b", "system_2", "model_2"),
    "verdict": ("verdict", "winner", "preference", "preferred", *ROLES["label"]),
    "order": ("order", "shown_first", "presented_first", "swapped", "shown_order"),
    "truth": (*ROLES["truth"], "human", "human_winner", "human_verdict"),
}
_SUFFIXES = ("_id", "_name")
A_WORDS = ("a", "model_a", "system_a", "assistant_a", "[[a]]", "model a", "system a")
B_WORDS = ("b", "model_b", "system_b", "assistant_b", "[[b]]", "model b", "system b")
TIES = ("tie", "draw", "equal", "same", "tie (bothbad)", "both", "neither", "c", "[[c]]")
A_FIRST = ("a", "ab", "a,b", "a first", "a_first", "original", "unswapped", "not swapped")
B_FIRST = ("b", "ba", "b,a", "b first", "b_first", "swapped", "reversed")
A, B, TIE = "A", "B", "tie"


def find_columns(
    table: Table, named: Mapping[str, str | None], needed: tuple[str, ...]
) -> dict[str, str]:
    """Which column holds what: the user's word first, then the usual names."""
    columns = list(table.frame.columns)
    plain = {_plain(c): c for c in reversed(columns)}
    found: dict[str, str] = {}
    for role, words in COLUMNS.items():
        wanted = named.get(role)
        if wanted is not None:
            if wanted not in columns:
                raise InputError(
                    f"{table.name} has no column {wanted!r} for the {role}."
                    f"{did_you_mean(wanted, columns)} It has {listing(columns)}."
                )
            found[role] = wanted
            continue
        taken = set(found.values()) | {c for c in named.values() if c is not None}
        hits = [plain[w] for w in words if w in plain and plain[w] not in taken]
        if hits:
            found[role] = hits[0]
    absent = [role for role in needed if role not in found]
    if absent:
        raise InputError(
            f"{table.name} has no column for the {absent[0]} (it has {listing(columns)}). "
            f"Name it with `{absent[0]}_column=...`."
        )
    if ("system_a" in found) != ("system_b" in found):
        raise InputError(
            f"{table.name} names one of the two systems only: it needs system_a and system_b, or "
            "neither, where all rows are about the same two."
        )
    return found


def _plain(column: str) -> str:
    name = column.strip().lower().replace(" ", "_").replace("-", "_")
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix) if name not in ("model_a_name",) else name
    return name


def check_systems(names: tuple[Any, ...], place: str) -> None:
    """Names that are also words of a verdict can be read in two ways."""
    for name in names:
        if letters(name) in TIES[:6]:
            raise InputError(
                f"{place}: a system is called {name!r}, which is a verdict too. Rename the system."
            )


def winner(word: Any, a: Any, b: Any, meant: Mapping[str, str], place: str) -> str | None:
    """A, B or tie for what is written in a row about systems ``a`` and ``b``; None: no verdict.

    >>> winner("model_a", "x", "y", {}, "row 1"), winner("y", "x", "y", {}, "row 1")
    ('A', 'B')
    """
    if word is None or is_missing_word(word):
        return None
    text = letters(word)
    text = letters(meant.get(text, text))
    by_name = A if text == letters(a) else B if text == letters(b) else None
    by_word = A if text in A_WORDS else B if text in B_WORDS else TIE if text in TIES else None
    if by_name and by_word and by_name != by_word:
        raise InputError(
            f"{place}: verdict {word!r} names the system {word!r} and the other column's letter. "
            "Rename the systems, or write system_a, system_b or tie."
        )
    found = by_name or by_word
    if found is None:
        raise InputError(
            f"{place}: verdict {word!r} is not A, B, tie or the name of one of the two systems "
            f"({a}, {b}). Say what it means with `map={{{str(word)!r}: 'A'}}`, or with "
            f"`missing={str(word)!r}` that it is no verdict."
        )
    return found


def shown_first(word: Any, a: Any, b: Any, swapped: bool, place: str) -> str:
    """Which of both systems the judge saw first, as the column of orders says it."""
    text = letters("" if word is None else word)
    if swapped and text in ("true", "1", "yes", "false", "0", "no"):
        return B if text in ("true", "1", "yes") else A
    by_name = A if text == letters(a) else B if text == letters(b) else None
    by_word = A if text in A_FIRST else B if text in B_FIRST else None
    if by_name and by_word and by_name != by_word:
        raise InputError(f"{place}: order {word!r} can be read in two ways: write AB or BA.")
    found = by_name or by_word
    if found is None:
        raise InputError(
            f"{place}: order {word!r} does not say which system was shown first. Write AB (A "
            "first) or BA."
        )
    return found
