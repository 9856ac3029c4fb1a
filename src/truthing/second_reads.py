"""How often gold itself is wrong: a number, a range, or the reads of a second expert."""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.arguments import as_number
from truthing.case import is_source
from truthing.errors import InputError
from truthing.matching import Joined, as_gold
from truthing.names import names_at
from truthing.truth.gold_error import LARGEST, GoldError

FEWEST = 10


def as_gold_error(value: Any, joined: Joined) -> GoldError | None:
    """What a user says about the experts' error.

    A share of gold items, ``(low, high)``, or a second expert's answers for some gold items: a
    mapping, a file, a table.
    """
    if value is None:
        return None
    if not (joined.gold >= 0).any():
        raise InputError("gold_error= is about gold, and there is none: give gold= too.")
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise InputError(f"gold_error {value!r}: give one share, or two, (low, high).")
        low, high = map(as_number, value)
    elif isinstance(value, int | float | np.number) and not isinstance(value, bool):
        low = high = float(value)
    else:
        return _from_second_reads(value, joined)
    if not 0 <= low <= high < LARGEST:
        raise InputError(
            f"gold_error {value!r}: it is the share of gold items that are wrong, from 0 to below "
            f"{LARGEST:g}; a range has the lower one first."
        )
    return GoldError(low, high) if high > 0 else None


def _from_second_reads(value: Any, joined: Joined) -> GoldError:
    from truthing.tables.read import read_gold

    second = read_gold(value) if is_source(value) else as_gold(value)
    first, again = _first_reads(joined), {}
    if second is not None:
        again = {str(item): str(second.classes[c]) for item, c in zip(second.items, second.label)}
    both = [item for item in first if item in again]
    if len(both) < FEWEST:
        raise InputError(
            f"gold_error: {len(both)} gold items were read by the second expert too; their error "
            f"needs at least {FEWEST}. Give a range instead, gold_error=(0.01, 0.1)."
        )
    known = set(first.values()) | {str(c) for c in joined.labels.classes}
    strange = sorted({again[item] for item in both} - known)
    if strange:
        raise InputError(
            f"gold_error: the second expert says {strange[0]!r}, which is no class here: write "
            "classes as gold does."
        )
    differ = sum(first[item] != again[item] for item in both)
    return GoldError(0.0, LARGEST, differ, len(both))


def _first_reads(joined: Joined) -> dict[str, str]:
    labels = joined.labels
    known = np.flatnonzero(joined.gold >= 0)
    truths = [str(labels.classes[k]) for k in joined.gold[known]]
    return dict(zip(map(str, names_at(labels.items, known)), truths))
