"""What a user says about a file: the names of its columns, what is missing, and its classes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from truthing.errors import InputError, listing
from truthing.spelling import as_column, letters
from truthing.tables.table import parse_names

COLUMNS = ("item", "labeler", "label", "prediction", "score", "truth", "count", "pattern")
LISTS = ("missing", "labeler_columns", "ignore", "classes")
WORDS = ("labeler_columns", "ignore", "missing", "classes", "map", "question")
KEYWORDS = (
    *(f"{role}_column" for role in COLUMNS),
    "layout",
    "delimiter",
    "question",
    "map",
    *LISTS,
)


@dataclass(frozen=True)
class Asked:
    """Everything that may be said about how to read a file; nothing by default."""

    columns: Mapping[str, str] = field(default_factory=dict)
    layout: str | None = None
    delimiter: str | None = None
    question: str | None = None
    labeler_columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    missing: tuple[Any, ...] | None = None
    classes: tuple[Any, ...] | None = None
    map: Mapping[Any, Any] = field(default_factory=dict)
    tags: Any = None  # several labels at once: "auto", the sign between tags, or their names
    per: str | None = None  # a column that may split an item into several: one for each system

    @classmethod
    def of(cls, **keywords: Any) -> Asked:
        """From keyword arguments; one that is not known is an error with a suggestion.

        >>> Asked.of(item_colum="case")
        Traceback (most recent call last):
        truthing.errors.InputError: no argument is called 'item_colum'. Did you mean 'item_column'?
        """
        for name in keywords:
            if name not in KEYWORDS:
                raise InputError(f"no argument is called {name!r}.{_suggestion(name)}")
        columns = {
            role: str(keywords[f"{role}_column"])
            for role in COLUMNS
            if keywords.get(f"{role}_column") is not None
        }
        given = {k: v for k, v in keywords.items() if not k.endswith("_column") and v is not None}
        for name in LISTS:
            if name in given:
                given[name] = _several(given[name])
        made = cls(columns, **given)
        if made.labeler_columns and "labeler" in columns:
            raise InputError(
                "`labeler_columns=...` is for a file with one column for each labeler, "
                f"`labeler_column={columns['labeler']!r}` for one with a row for each label: "
                "give one of them."
            )
        return made

    @classmethod
    def from_text(cls, **options: str | None) -> Asked:
        """From options or fields, as `keywords` reads them."""
        return cls.of(**keywords(**options))

    def without(self, *roles: str) -> Asked:
        """The same without what was said of some columns: another file has those."""
        return replace(self, columns={k: v for k, v in self.columns.items() if k not in roles})

    def among(self, columns: Sequence[str]) -> Asked:
        """The same with names of columns as the file writes them."""
        named = {
            role: ",".join(as_column(part, columns) for part in name.split(","))
            for role, name in self.columns.items()
        }
        lists = (self.labeler_columns, self.ignore)
        several, ignored = (tuple(as_column(str(n), columns) for n in names) for names in lists)
        return replace(self, columns=named, labeler_columns=several, ignore=ignored)

    def is_missing(self, name: Any) -> bool:
        """Whether the user called this value missing."""
        return self.missing is not None and letters(name) in {letters(m) for m in self.missing}

    def meant(self, name: Any) -> Any:
        """The class that a name stands for by ``map``, or the name."""
        return {letters(k): v for k, v in self.map.items()}.get(letters(name), name)


UNASKED = Asked()


def keywords(**options: str | None) -> dict[str, Any]:
    """What people type, as arguments: lists are split by commas, a map is WRITTEN=CLASS,…

    >>> keywords(missing="ERROR, N/A", map="false=0,true=1", ignore=None)
    {'missing': ('ERROR', 'N/A'), 'map': {'false': '0', 'true': '1'}}
    """
    given: dict[str, Any] = {k: v for k, v in options.items() if v is not None}
    for name in LISTS:
        if name in given:
            given[name] = tuple(part.strip() for part in given[name].split(","))
    if "classes" in given:
        given["classes"] = parse_names(given["classes"])
    if "map" in given:
        given["map"] = _mapping(given["map"])
    return given


def _suggestion(name: str) -> str:
    """The argument that was meant, also where only the role was named: item for item_column."""
    meant = {**{role: f"{role}_column" for role in COLUMNS}, **{k: k for k in KEYWORDS}}
    close = difflib.get_close_matches(name, meant, n=1)
    return (
        f" Did you mean {meant[close[0]]!r}?" if close else f" There are {listing(KEYWORDS, 20)}."
    )


def _mapping(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    wrong = [a + b + c for a, b, c in pairs if not a.strip() or not b or not c.strip()]
    if wrong:
        raise InputError(f"map {text!r}: {wrong[0]!r} is not WRITTEN=CLASS, such as false=0.")
    return {written.strip(): meant.strip() for written, _, meant in pairs}


def _several(value: Any) -> tuple[Any, ...]:
    """One word or several."""
    if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
        return (value,)
    return tuple(value)
