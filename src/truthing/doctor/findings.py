"""What doctor finds: each file, how files fit together, what to do with them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from truthing.labels import Labels
from truthing.predictions import Gold, Predictions
from truthing.results import Result
from truthing.tables.asked import UNASKED, Asked
from truthing.tables.columns import Columns


@dataclass(frozen=True)
class FileFinding:
    """One file: how it was read and what it holds, in sentences, and its first rows as read."""

    path: str
    sentences: tuple[str, ...]
    columns: Columns
    labels: Labels | None = None
    predictions: Predictions | None = None
    gold: Gold | None = None
    sample: tuple[str, ...] = ()
    use: str = ""  # of a table that another command reads (`other_tables`)
    asked: Asked = UNASKED  # what was said of how to read it
    unread: bool = False


@dataclass(frozen=True)
class Offer:
    """Something to do next: what, and the command or the missing piece."""

    what: str
    how: str


@dataclass(frozen=True)
class Findings(Result):
    """Every file, how they fit together, and what to do with them now and later."""

    kind = "doctor"
    files: tuple[FileFinding, ...]
    together: tuple[str, ...] = ()
    now: tuple[Offer, ...] = ()
    later: tuple[Offer, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        return {
            "files": [
                {
                    "file": f.path,
                    "layout": f.columns.layout,
                    "columns": dict(f.columns.role),
                    "labels": f.labels is not None,
                    "predictions": f.predictions is not None,
                    "gold": f.gold is not None,
                    "sentences": list(f.sentences),
                }
                for f in self.files
            ],
            "together": list(self.together),
            "now": [asdict(offer) for offer in self.now],
            "later": [asdict(offer) for offer in self.later],
        }

    def to_frame(self) -> Any:
        """One row for each sentence about a file, as a polars table."""
        import polars as pl

        rows = [(f.path, sentence) for f in self.files for sentence in f.sentences]
        return pl.DataFrame(rows, schema=["file", "found"], orient="row")
