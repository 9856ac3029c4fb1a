"""Every error of the library: what was found, where, and what to do about it."""

from __future__ import annotations

import ast
import difflib
import errno
import re
from collections.abc import Iterable, Mapping


class TruthingError(ValueError):
    """Something the user can put right; the message is one sentence with the remedy in it."""


class InputError(TruthingError):
    """A file, table or argument that cannot be used as it is."""


class NotIdentified(TruthingError):  # noqa: N818  (a public name of the contract)
    """The data cannot answer the question under any amount of computing; the message names what
    would.
    """


class NotConverged(TruthingError):  # noqa: N818
    """A sampler or an iteration did not settle, so no interval is printed."""


_REMEDIES = {
    errno.ENOSPC: "the disk is full. Free some space, or choose another place.",
    errno.EDQUOT: "your share of the disk is used up. Free some space, or choose another place.",
    errno.EROFS: "this place can only be read. Choose another folder.",
    errno.EACCES: "you have no permission. Check it, or choose another place.",
    errno.EPERM: "you have no permission. Check it, or choose another place.",
    errno.EISDIR: "it is a folder. Name a file.",
    errno.ENOTDIR: "a part of this path is a file, not a folder. Choose another name.",
    errno.EEXIST: "there is a file of that name. Choose another name.",
    errno.ENOENT: "there is no such file or folder. Check the path and the current folder.",
    errno.ENAMETOOLONG: "the name is too long. Choose a shorter one.",
    errno.EMFILE: "too many files are open. Close some programs.",
}


def in_words(problem: OSError) -> str:
    """What the operating system refused, and what to do about it.

    >>> in_words(OSError(errno.ENOSPC, "No space left on device"))
    'the disk is full. Free some space, or choose another place.'
    """
    known = _REMEDIES.get(problem.errno or 0)
    return known or f"the operating system says: {problem.strerror or problem}."


def did_you_mean(word: str, known: Iterable[object]) -> str:
    """A hint for a misspelt name, or an empty string.

    >>> did_you_mean("acuracy", ["accuracy", "recall"])
    " Did you mean 'accuracy'?"
    """
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def listing(values: Iterable[object], most: int = 6) -> str:
    """Names for a message, cut to a readable number.

    >>> listing(range(9), most=3)
    '0, 1, 2 and 6 more'
    """
    names = [str(v) for v in values]
    if len(names) <= most:
        return ", ".join(names)
    return ", ".join(names[:most]) + f" and {len(names) - most:,} more"


OPTION_NAMES = {"gold_weights": "gold_chances"}  # called otherwise on the command line
_PARAMETER = re.compile(r"`(\w+)=([^`]*)`")


def in_options(message: str) -> str:
    """A message in the words of the command line: its parameters in backquotes become options.

    >>> in_options("Give `labeler_columns=['ann', 'bob']` or `map={'0': 'ham'}`.")
    'Give --labeler-columns ann,bob or --map 0=ham.'
    >>> in_options("Give `costs={'label': 0.05, 'gold': 2}`.")
    'Give --label-cost 0.05 --gold-cost 2.'
    """
    return _PARAMETER.sub(lambda found: _option(found[1], found[2]), message)


def in_fields(message: str, captions: Mapping[str, str] | None = None) -> str:
    """A message in the words of the web page: its parameters in backquotes become the captions of
    fields, or plain names.

    >>> in_fields("Give `item_column='task'`.")
    'Give “item column: task”.'
    >>> in_fields("`panel_error=` changes it.")
    '“panel error” changes it.'
    """
    known = captions or {}
    return _PARAMETER.sub(lambda found: f"“{_field(found[1], found[2], known)}”", message)


def _field(name: str, value: str, captions: Mapping[str, str]) -> str:
    words = captions.get(name, name.replace("_", " "))
    return f"{words}: {_plain(value)}" if value else words


def _option(name: str, value: str) -> str:
    if name == "costs":  # one option for each price
        prices = dict(part.split("=") for part in _plain(value).split(","))
        return " ".join(f"--{what}-cost {price}" for what, price in prices.items())
    name = OPTION_NAMES.get(name, name)
    return f"--{name.replace('_', '-')} {_plain(value)}".rstrip()


def _plain(value: str) -> str:
    """A Python value as somebody types it behind an option."""
    try:
        meant = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    if isinstance(meant, dict):
        return ",".join(f"{k}={'…' if v is ... else v}" for k, v in meant.items())
    if isinstance(meant, list | tuple):
        return ",".join("…" if v is ... else str(v) for v in meant)
    return "…" if meant is ... else str(meant)
