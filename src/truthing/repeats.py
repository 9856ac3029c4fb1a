"""Labelers who label an item more than once: the same again, or something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError

Repeats = Literal["error", "first", "last", "keep"]


def check_rule(rule: Any) -> None:
    if rule not in get_args(Repeats):
        raise InputError(f"`repeats={rule!r}` is no rule: choose error, first, last or keep.")


def identical_repeats(label: Array, same: Array) -> Array:
    """Mask of entries that repeat an earlier entry of the same labeler on the same item, label
    included; ``same`` are the entries whose labeler and item are those of the entry before.
    """
    drop = np.zeros(len(label), dtype=bool)
    begins = np.append(True, np.diff(same) > 1) if len(same) else np.empty(0, dtype=bool)
    start = (same[begins] - 1)[np.cumsum(begins) - 1]
    for position, first in zip(same, start):
        drop[position] = (label[first:position] == label[position]).any()
    return drop


def places_in_words(
    pairs: Sequence[Any], rows: Array, source: str, lines: Array | int | None
) -> dict[Any, str]:
    """Where contradictions stood, by item and labeler. ``rows`` are theirs, ``lines`` those of all
    rows in the source, or a single number, the line of the first.
    """
    if not source:
        return {}
    if lines is None:
        return dict.fromkeys(pairs, f"{source}: ")
    found = rows + lines if isinstance(lines, int) else lines[rows]
    return {pair: f"{source} {line}: " for pair, line in zip(pairs, found)}


def contradiction(where: str, names: tuple[Any, Any], said: tuple[Any, Any], n: int) -> str:
    """The first of ``n`` contradictions, in words."""
    return (
        f"{where}labeler {names[1]!r} says both {said[0]!r} and "
        f"{said[1]!r} for item {names[0]!r} ({n:,} such repeats in all). "
        "Keep one with `repeats='first'` or `repeats='last'`, both with `repeats='keep'`, or "
        "remove a line."
    )


def about_repeats(identical: int, contradictions: int, rule: Repeats) -> list[str]:
    """What is done where a labeler labels an item twice, in sentences.

    >>> about_repeats(2, 1, "last")[1]
    "Once a labeler contradicts itself on an item: the last label counts (`repeats='last'`)."
    """
    sentences = []
    if identical:
        what = "1 label repeats" if identical == 1 else f"{identical:,} labels repeat"
        once = "counts" if identical == 1 else "count"
        sentences.append(f"{what} an earlier one of the same labeler and item and {once} once.")
    if rule in ("first", "last") and contradictions:
        times = "Once" if contradictions == 1 else f"{contradictions:,} times"
        sentences.append(
            f"{times} a labeler contradicts itself on an item: the {rule} label counts "
            f"(`repeats={rule!r}`)."
        )
    return sentences
