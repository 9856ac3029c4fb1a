"""The library's sentences for people who see a page: no options, no Python."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import escape

from truthing.errors import in_fields

CAPTIONS = {
    "labeler_columns": "Columns that are labelers, split by commas",
    "ignore": "Columns to leave out",
    "missing": "Words that mean no label",
    "classes": "All classes in order",
    "map": "What names mean (0=ham,1=spam)",
    "question": "Which question of a tool's file",
}
SAID = CAPTIONS | {
    "map": "What names mean",
    "labeler_columns": "Columns that are labelers",
    "repeats": "When a labeler contradicts itself on an item",
}
KNOWN = {
    "ask for its sensitivity": "tick it under “More questions”",
    "as a file: --next FILE, or plan.next_items()": "as a file: download it above",
}
_QUOTED = re.compile(r"(`\w+=[^`]*`)")
_ASIDE = re.compile(r"\s*\([^()]*(?:--[a-z]|[a-z_]+=)[^()]*\)")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_ARGUMENT = re.compile(r"\b([a-z]+(?:_[a-z]+)*)=(?=\S|$)")


def plain(sentence: str) -> str:
    """A sentence without options and Python.

    >>> plain("The positive class is 'spam'; set `positive=` to choose the other.")
    "The positive class is 'spam'; set “positive” to choose the other."
    >>> plain("Check the item column of both (--item-column), or say --layout wide.")
    'Check the item column of both, or say “layout” wide.'
    >>> plain("Give `map={'0': 'ham'}`.")
    'Give “What names mean: 0=ham”.'
    """
    parts = _QUOTED.split(sentence)
    return "".join(in_fields(p, SAID) if n % 2 else _unquoted(p) for n, p in enumerate(parts))


def _unquoted(sentence: str) -> str:
    for word, meant in KNOWN.items():
        sentence = sentence.replace(word, meant)
    sentence = _ASIDE.sub("", sentence)
    sentence = _OPTION.sub(lambda found: f"“{found[1].replace('-', ' ')}”", sentence)
    return _ARGUMENT.sub(lambda found: f"{found[1].replace('_', ' ')} ", sentence)


def plain_document(page: str, sentences: Iterable[str]) -> str:
    """A page with these sentences of its in plain words."""
    for sentence in sentences:
        page = page.replace(str(escape(sentence)), str(escape(plain(sentence))))
        first = sentence[:1].upper() + sentence[1:]
        page = page.replace(str(escape(first)), str(escape(plain(first))))
    return page
