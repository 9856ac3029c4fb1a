"""What a run is told, and what it hands back: plain data that crosses from one process to
another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from truthing.case import Case, File, read_case
from truthing.compiled import when_compiling
from truthing.errors import InputError
from truthing.progress import Progress
from truthing.tables.asked import Asked
from truthing.tables.read import Reading, read_as
from truthing.tables.source import from_bytes
from truthing.tables.table import Table

Say = Callable[[float | None, str], None]


def patient(say: Say) -> Progress:
    """Progress for a long computation, which says so where it has to be compiled first."""
    last: tuple[float | None, str] = (None, "starting")
    late = ""

    def compiling() -> None:
        nonlocal late
        late = " (the first run of this kind on this machine takes about half a minute more)"
        say(last[0], last[1] + late)

    def told(done: float, words: str) -> None:
        nonlocal last
        last = done, words
        say(done, words + late)

    when_compiling(compiling)
    return told


@dataclass(frozen=True)
class Given:
    """A file for a run."""

    path: Path
    name: str
    columns: Mapping[str, str] = field(default_factory=dict)
    item: str | None = None  # the column that was recognised as the item's

    def table(self) -> Table:
        question = self.columns.get("question")
        return from_bytes(self.path.read_bytes(), self.name, question=question)

    def asked(self) -> Asked:
        return Asked.from_text(**self.columns)

    def reading(self) -> Reading:
        return read_as(self.table(), self.asked())


@dataclass(frozen=True)
class Task:
    """A job on files with options, and the folder for its results."""

    job: str
    files: Mapping[str, tuple[Given, ...]]
    options: Mapping[str, Any]
    level: float
    folder: Path
    command: str = ""  # the command line that does the same
    title: str = ""
    keep: Path | None = None  # where its results outlive the server

    def one(self, use: str) -> Given | None:
        return next(iter(self.files.get(use, ())), None)

    def case(self, need: str) -> Case:
        """Predictions, labels and gold, as the command line reads them; each file is opened once.

        ``need`` says what labels and predictions are for, where one of them is missing.
        """
        labeled, known = self.one("labels"), self.one("gold")
        if labeled is None:
            raise InputError(need)
        opened: dict[Path, File] = {}

        def file(given: Given) -> File:
            if given.path not in opened:
                asked = replace(given.asked(), tags=self.options.get("tags"))
                opened[given.path] = File(given.table(), asked)
            return opened[given.path]

        models = {given.name: file(given) for given in self.files.get("predictions", ())}
        case = read_case(file(labeled), models, None if known is None else file(known))
        if known is None and case.gold is not None:
            raise InputError(
                f"{labeled.name} holds gold, which the command would use: choose it as gold too, "
                "or take that column out."
            )
        return case

    def calibration(self) -> Case | None:
        """The calibration set, where one was chosen."""
        given = self.one("calibration_set")
        return None if given is None else read_case(File(given.table(), given.asked()))

    def groups(self) -> dict[str, str] | None:
        """Groups of labelers, where a file of them was chosen."""
        from truthing.labeler_kinds import read_groups

        given = self.one("groups")
        return None if given is None else read_groups(given.table())

    def provenance(self) -> dict[str, Any]:
        """The command, and a checksum of every file, for a report to repeat."""
        files = {given.name: given.path for chosen in self.files.values() for given in chosen}
        sums = [
            {"file": name, "sha256": sha256(path.read_bytes()).hexdigest()}
            for name, path in files.items()
        ]
        return {"command": self.command, "inputs": sums}


@dataclass(frozen=True)
class JobAnswer:
    """The headline, the result as data, as a page and as a table."""

    sentence: str
    data: str
    document: str
    table: str = ""
    following: str = ""  # which items to buy for next

    def save(self, task: Task) -> None:
        """Into the folder of the run, and where the user keeps results."""
        about = {"title": task.title, "sentence": self.sentence, "command": task.command}
        about["when"] = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
        for folder in filter(None, (task.folder, task.keep)):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / "result.json").write_text(self.data, encoding="utf-8")
            (folder / "report.html").write_text(self.document, encoding="utf-8")
            (folder / "table.csv").write_text(self.table, encoding="utf-8")
            if self.following:
                (folder / "next.csv").write_text(self.following, encoding="utf-8")
            (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
