"""What has to be said about a reading: what was assumed, and what somebody should check."""

from __future__ import annotations

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
