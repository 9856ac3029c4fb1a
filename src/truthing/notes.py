"""What has to be said about a reading: what was assumed, and what somebody should check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Notes:
    """``remarks`` go to the assumptions of an answer, ``checks`` to its warnings.

    >>> (Notes(remarks=("a",)) + Notes(remarks=("a", "b"), checks=("c",))).remarks
    ('a', 'b')
    """

    remarks: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    def __add__(self, other: Notes) -> Notes:
        return Notes(
            tuple(dict.fromkeys(self.remarks + other.remarks)),
            tuple(dict.fromkeys(self.checks + other.checks)),
        )

    @property
    def all(self) -> tuple[str, ...]:
        return self.remarks + self.checks

    @property
    def said(self) -> tuple[str, ...]:
        """The old name of ``remarks``, for one more version."""
        return self.remarks


NOTHING = Notes()


def drop_warnings(dropped: Mapping[str, int]) -> list[str]:
    """Sentences on the items that were dropped."""
    return [
        f"{count:,} items are {what} and were dropped."
        if count > 1
        else f"1 item is {what} and was dropped."
        for what, count in dropped.items()
        if count
    ]


def about_bare_gold(lost: int) -> list[str]:
    """Gold must be a random choice of the items that are graded: with gold on other items than
    those with labels it would not be."""
    if not lost:
        return []
    what = "1 gold item has" if lost == 1 else f"{lost:,} gold items have"
    return [f"{what} no label and left with the items without any label: have them labelled too."]
