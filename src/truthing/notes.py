"""What has to be said about a reading: what was assumed, and what somebody should check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Notes:
    """``said`` goes to the assumptions of an answer, ``checks`` to its warnings.

    >>> (Notes(said=("a",)) + Notes(said=("a", "b"), checks=("c",))).said
    ('a', 'b')
    """

    said: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    def __add__(self, other: Notes) -> Notes:
        return Notes(
            tuple(dict.fromkeys(self.said + other.said)),
            tuple(dict.fromkeys(self.checks + other.checks)),
        )

    @property
    def all(self) -> tuple[str, ...]:
        return self.said + self.checks


NOTHING = Notes()
