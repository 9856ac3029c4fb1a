"""Files people drop: kept under names of our own in a private folder that is emptied."""

from __future__ import annotations

import atexit
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import IO, Any

from truthing.app.runs import Run
from truthing.render.console import safe
from truthing.tables.source import from_bytes
from truthing.tables.table import Table

KEPT_SECONDS = 2 * 3600.0  # without a look at them
EXAMPLES = {"spam": ("labels.csv", "predictions.csv", "gold.csv")}


@dataclass(frozen=True)
class Upload:
    """One file: where it is kept, what people call it, and what they said about its columns."""

    path: Path
    name: str
    columns: Mapping[str, str] = field(default_factory=dict)
    uses: frozenset[str] | None = None  # None: as recognised

    def table(self) -> Table:
        question = self.columns.get("question")
        return from_bytes(self.path.read_bytes(), self.name, question=question)


@dataclass(eq=False)
class Case:
    """Files that belong together, and the runs on them."""

    key: str
    session: str
    folder: Path
    uploads: list[Upload] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    look: Any = None  # what was found in the files, until they change
    touched: float = field(default_factory=time.monotonic)

    def add(self, name: str, content: IO[bytes]) -> None:
        path = self.folder / f"file-{secrets.token_hex(4)}"
        with path.open("wb") as kept:
            shutil.copyfileobj(content, kept, 1 << 20)
        self.uploads.append(Upload(path, shown_name(name)))
        self.look = None

    def add_example(self, name: str) -> None:
        for file in EXAMPLES[name]:
            with (resources.files("truthing") / "examples" / name / file).open("rb") as content:
                self.add(file, content)


class Store:
    """Every case, in one folder that only this user can read and that goes when the server goes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="truthing-"))
        self.cases: dict[str, Case] = {}
        self._lock = threading.Lock()
        atexit.register(self.close)

    def new(self, session: str) -> Case:
        key = secrets.token_urlsafe(12)
        folder = self.folder / key
        folder.mkdir(mode=0o700)
        case = Case(key, session, folder)
        with self._lock:
            self.cases[key] = case
        return case

    def find(self, key: str, session: str) -> Case | None:
        """A case of this visitor; nobody else's."""
        case = self.cases.get(key)
        if case is None or case.session != session:
            return None
        case.touched = time.monotonic()
        return case

    def of(self, session: str) -> list[Case]:
        return [case for case in list(self.cases.values()) if case.session == session]

    def runs(self) -> list[Run]:
        return [run for case in list(self.cases.values()) for run in list(case.runs.values())]

    def remove(self, case: Case) -> None:
        with self._lock:
            self.cases.pop(case.key, None)
        for run in list(case.runs.values()):
            run.cancel()
        shutil.rmtree(case.folder, ignore_errors=True)

    def expire(self, seconds: float = KEPT_SECONDS) -> None:
        """Forget what nobody looked at for so long; a case that is computing is not forgotten."""
        for case in list(self.cases.values()):
            busy = any(run.state == "running" for run in list(case.runs.values()))
            if not busy and time.monotonic() - case.touched >= seconds:
                self.remove(case)

    def close(self) -> None:
        for case in list(self.cases.values()):
            self.remove(case)
        shutil.rmtree(self.folder, ignore_errors=True)


def shown_name(name: str) -> str:
    """Somebody's file name as text for people; it never becomes a path.

    >>> shown_name(" my\\nlabels.csv")
    'my labels.csv'
    """
    return safe(" ".join(name.split()), 100) or "unnamed file"
