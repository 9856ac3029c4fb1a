"""Options that say what kind of labels and gold there are, the same for grade, rate and compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from truthing.cli import parse

GoldError = Annotated[
    str | None,
    typer.Option(
        "--gold-error",
        help="How often gold itself is wrong: 0.03, a range 0.01-0.05, or a file with a second "
        "expert's answers. Default: never.",
    ),
]
IsOrdinal = Annotated[
    bool,
    typer.Option("--ordinal", help="Classes are grades in order: near misses are half right."),
]
Cut = Annotated[
    str | None,
    typer.Option(
        "--cut",
        metavar="GRADE",
        help="Cut grades in two: this grade and above against those below.",
    ),
]


Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help="File with labeler and group: labelers of one group share mistakes and count less.",
    ),
]


Unsure = Annotated[
    str | None,
    typer.Option(
        "--unsure",
        help="Answers that are no class, split by commas: they mark items as hard.",
    ),
]
Skips = Annotated[
    str | None,
    typer.Option(
        "--skips",
        metavar="WHY",
        help="Why labels are missing: random, or hard (labelers leave out what is hard). "
        "Default: random, and checked.",
    ),
]


Tags = Annotated[
    str | None,
    typer.Option(
        "--tags",
        metavar="SIGN|NAMES|auto",
        help="Several labels at once: the sign between the tags of a cell (';'), the names of all "
        "tags split by commas, or auto. Each tag is a question of its own.",
    ),
]


@dataclass(frozen=True)
class Said:
    """What the labels are."""

    gold_error: GoldError = None
    ordinal: IsOrdinal = False
    cut: Cut = None
    groups: Groups = None
    unsure: Unsure = None
    skips: Skips = None
    tags: Tags = None

    @property
    def arguments(self) -> dict[str, Any]:
        """As the library takes them."""
        return {
            "gold_error": parse.gold_error(self.gold_error),
            "scale": "ordinal" if self.ordinal else None,
            "cut": self.cut,
            "unsure": self.unsure,
            "groups": self.groups,
            "skips": self.skips,
            "tags": self.tags,
        }

    def settled(self, case: Any, positive: str | None = None) -> Any:
        """The case as its classes will be, for whoever has to look at them first."""
        from truthing.kinds import Kinds

        return Kinds(cut=self.cut, unsure=self.unsure).case(case, positive)[0]


PLAIN = Said()
