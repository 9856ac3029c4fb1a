"""A case: predictions, labels and gold, read together from whatever holds them.

Python, the command line and the web page all read through `read_case`, so that a file means the
same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from truthing.errors import InputError
from truthing.labels import Labels
from truthing.matching import as_gold, as_predictions
from truthing.notes import Notes
from truthing.predictions import Gold, Predictions
from truthing.tables.asked import UNASKED, Asked
from truthing.tables.frames import is_frame
from truthing.tables.layouts import merge
from truthing.tables.lean import lean_table
from truthing.tables.read import Reading, check_ignored, read_as
from truthing.tables.source import open_table
from truthing.tables.table import Table
from truthing.tables.tags import gathered

OF_PREDICTIONS = ("labeler", "label", "truth", "count", "pattern")
OF_MODELS = ("prediction", "score")
OF_GOLD = ("labeler", "label", "prediction", "score", "count", "pattern")


@dataclass(frozen=True)
class File:
    """A file or frame and what is said about it."""

    source: Any
    asked: Asked = UNASKED


@dataclass(frozen=True)
class Case:
    """What was read; ``models`` has one entry per classifier, ``readings`` one per file."""

    labels: Labels
    models: Mapping[str, Predictions] = field(default_factory=dict)
    gold: Gold | None = None
    readings: Sequence[Reading] = ()

    @property
    def predictions(self) -> Predictions | None:
        return next(iter(self.models.values()), None)


def is_source(value: Any) -> bool:
    """Whether something has to be read: a path, a table, a frame, rows."""
    return isinstance(value, str | Path | Table | File) or is_frame(value)


def read_case(
    labels: Any,
    models: Mapping[str, Any] | None = None,
    gold: Any = None,
    *,
    asked: Asked = UNASKED,
    scores: Any = None,
) -> Case:
    """Labels, the predictions of each model, and gold, each as it is given or from its source.

    ``labels`` may be several files. A file may serve several purposes: labels and predictions of
    one file, or gold that stands beside the labels, which is used unless other gold is given. A
    `Case` that was read before keeps its files.
    """
    if isinstance(labels, Case):
        return replace(
            read_case(labels.labels, models, gold, scores=scores), readings=labels.readings
        )
    shelf = _Shelf(asked, [_file(part, asked) for part in _parts(labels)])
    guesses = {
        name: shelf.read(value, OF_PREDICTIONS).predictions if is_source(value) else value
        for name, value in (models or {}).items()
    }
    known = shelf.read(gold, OF_GOLD).gold if is_source(gold) else as_gold(gold)
    hint = [c for given in (*guesses.values(), known) for c in _classes(given)]
    others = (*(OF_MODELS if models else ()), *(("truth",) if gold is not None else ()))
    reads = [shelf.read_labels(file, others, hint) for file in shelf.files]
    if asked.ignore:
        check_ignored(asked, list(shelf.tables.values()))
    panel = _panel(labels, reads)
    if gold is None:
        known = _beside(reads)
    found = {name: as_predictions(value, panel, scores) for name, value in guesses.items()}
    whole = {name: value for name, value in found.items() if value is not None}
    return Case(panel, whole, known, [*reads, *shelf.readings])


class _Shelf:
    """Files of a case; each is opened once, however many purposes it serves."""

    def __init__(self, asked: Asked, files: Sequence[File]) -> None:
        self.asked, self.files = asked, files
        self.tables: dict[Any, Table] = {}
        self.readings: list[Reading] = []
        self._shared: set[Any] = set()

    def _table(self, file: File, role: str = "label") -> Table:
        place = _place(file)
        if place not in self.tables:
            asked = file.asked
            table = lean_table(file.source, asked) or open_table(
                file.source, delimiter=asked.delimiter, question=asked.question
            )
            several = asked.tags is not None
            self.tables[place] = gathered(table, asked.tags, role) if several else table
        return self.tables[place]

    def read(self, value: Any, others: tuple[str, ...]) -> Reading:
        """Predictions or gold; what was said of the labels does not hold for a file of its own."""
        file = _file(value, self.asked)
        asked = file.asked
        if _place(file) in {_place(f) for f in self.files}:
            self._shared.add(_place(file))
        else:
            asked = replace(asked.without(*others), layout=None, labeler_columns=(), question=None)
        role = "truth" if others == OF_GOLD else "prediction"
        reading = read_as(self._table(replace(file, asked=asked), role), asked)
        self.readings.append(reading)
        return reading

    def read_labels(self, file: File, others: tuple[str, ...], hint: Sequence[Any]) -> Reading:
        asked = file.asked if _place(file) in self._shared else file.asked.without(*others)
        return read_as(self._table(file), asked, hint)


def _place(file: File) -> Any:
    """What tells one file from another."""
    return str(file.source) if isinstance(file.source, str | Path) else id(file.source)


def _panel(labels: Any, reads: Sequence[Reading]) -> Labels:
    if isinstance(labels, Labels):
        return labels
    if not reads:
        return Labels.from_matrix(labels)
    return merge([(Path(r.table.name).stem, r.labels) for r in reads])


def _beside(reads: Sequence[Reading]) -> Gold | None:
    """Gold that stands in the files of labels, and a word on it."""
    golden = [r for r in reads if r.has_gold]
    if not golden:
        return None
    if len(golden) > 1:
        raise InputError("several files of labels hold gold too: name the one with `gold=...`.")
    column = golden[0].columns.get("truth")
    notes = Notes(remarks=(f"{golden[0].table.name}: gold is taken from its column {column!r}.",))
    found = golden[0].gold
    return replace(found, notes=found.notes + notes)


def _parts(labels: Any) -> list[Any]:
    """The files of labels; none where labels are given in Python."""
    if isinstance(labels, Labels):
        return []
    if is_source(labels):
        return [labels]
    if isinstance(labels, list | tuple) and labels and all(is_source(part) for part in labels):
        return list(labels)
    return []


def _file(value: Any, asked: Asked) -> File:
    return value if isinstance(value, File) else File(value, asked)


def _classes(given: Any) -> Sequence[Any]:
    """Classes of predictions or gold in any form, a hint of what labels look like."""
    if isinstance(given, Predictions):
        return (*given.classes, *given.score_classes)
    if isinstance(given, Gold):
        return given.classes
    if given is None:
        return ()
    if not isinstance(given, Iterable):
        raise InputError(
            f"predictions cannot be read from a {type(given).__name__}: give a path, a data frame, "
            "a mapping from item to class, or one class for each item."
        )
    values = list(given.values()) if isinstance(given, Mapping) else list(given)
    if len(values) > 200_000 or any(isinstance(v, np.ndarray | list | dict) for v in values[:10]):
        return ()
    unique = list(dict.fromkeys(values))
    return unique if len(unique) <= 1000 else ()
