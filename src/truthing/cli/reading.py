"""Options that say how files are read, the same for every command that reads labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from truthing.cli import options


@dataclass(frozen=True)
class _Columns:
    layout: options.Layout = None
    item_column: options.ItemColumn = None
    labeler_column: options.LabelerColumn = None
    label_column: options.LabelColumn = None


@dataclass(frozen=True)
class _OfPredictions(_Columns):
    prediction_column: options.PredictionColumn = None
    score_column: options.ScoreColumn = None


@dataclass(frozen=True)
class LabelFiles(_Columns):
    """How files with labels and gold are read."""

    truth_column: options.TruthColumn = None
    labeler_columns: options.LabelerColumns = None
    ignore: options.Ignore = None
    missing: options.Missing = None
    classes: options.Classes = None
    map: options.Map = None
    question: options.Question = None

    def asked(self, tags: str | None = None) -> Any:
        """As the readers take it, and whether cells hold several tags."""
        from truthing.tables.asked import Asked

        return replace(Asked.from_text(**asdict(self)), tags=tags)


@dataclass(frozen=True)
class AllFiles(LabelFiles, _OfPredictions):
    """The same with predictions, whose columns come before the truth's."""


LABELS, ALL = LabelFiles(), AllFiles()
