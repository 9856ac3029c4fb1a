"""Every error of the library: what was found, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TruthingError(ValueError):
    """Something the user can put right; the message is one sentence with the remedy in it."""


class InputError(TruthingError):
    """A file, table or argument that cannot be used as it is."""


class NotIdentified(TruthingError):  # noqa: N818  (a public name of the contract)
    """The data cannot answer the question under any amount of computing; the message names what would."""


class NotConverged(TruthingError):  # noqa: N818
    """A sampler or an iteration did not settle, so no interval is printed."""


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
