"""Files people drop: kept under names of our own in a private folder that is emptied.

A server that was killed cannot empty its folder: the next one does, when nobody holds its lock.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import IO, Any

from polars.exceptions import PanicException

from truthing.app.kept import Kept
from truthing.errors import InputError, TruthingError
from truthing.render.console import safe
from truthing.tables.source import from_bytes
from truthing.tables.table import Table

KEPT_SECONDS = 2 * 3600.0  # without a look at them
OWN_FOLDER = re.compile(r"truthing-serve-[a-z0-9_]{8}")


def bundled() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The bundled examples: what each is about, and its files."""
    found = {}
    for entry in resources.files("truthing").joinpath("examples").iterdir():
        about = entry.joinpath("README.txt")
        if about.is_file():
            names = [file.name for file in entry.iterdir() if file.name.endswith(".csv")]
            files = sorted(names, key=lambda name: (name in ("gold.csv", "biopsies.csv"), name))
            found[entry.name] = (about.read_text("utf-8").splitlines()[0], tuple(files))
    return dict(sorted(found.items(), key=lambda item: (item[0] != "spam", item[0])))


EXAMPLES = bundled()


@dataclass(frozen=True)
class Upload:
    """One file: where it is kept, what people call it, and what they said about its columns."""

    path: Path
    name: str
    columns: Mapping[str, str] = field(default_factory=dict)
    uses: frozenset[str] | None = None  # None: as recognised

    def table(self) -> Table:
        with reading(self.name):
            question = self.columns.get("question")
            return from_bytes(self.path.read_bytes(), self.name, question=question)


@contextlib.contextmanager
def reading(name: str) -> Iterator[None]:
    """A file that breaks its reader is refused like any other that cannot be read."""
    try:
        yield
    except TruthingError:
        raise
    except (Exception, PanicException) as problem:
        traceback.print_exc()
        raise InputError(
            f"{name} cannot be read: it led to an error of this program "
            f"({type(problem).__name__}), which the terminal shows. Leave the file out, or "
            "save it as plain CSV."
        ) from problem


@dataclass(eq=False)
class UploadedCase:
    """Files that belong together, and the runs on them."""

    key: str
    session: str
    folder: Path
    uploads: list[Upload] = field(default_factory=list)
    runs: dict[str, Any] = field(default_factory=dict)
    look: Any = None  # what was found in the files, until they change
    touched: float = field(default_factory=time.monotonic)

    def add(self, name: str, content: IO[bytes]) -> None:
        path = self.folder / f"file-{secrets.token_hex(4)}"
        try:
            with path.open("wb") as kept:
                shutil.copyfileobj(content, kept, 1 << 20)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        self.uploads.append(Upload(path, shown_name(name)))
        self.look = None

    def add_example(self, name: str) -> None:
        for file in EXAMPLES[name][1]:
            with (resources.files("truthing") / "examples" / name / file).open("rb") as content:
                self.add(file, content)


class Store:
    """Every case, in one folder that only this user can read and that goes when the server goes."""

    def __init__(self, kept: Kept | None = None) -> None:
        self.kept = kept or Kept()
        sweep_dead(Path(tempfile.gettempdir()))
        new = Path(tempfile.mkdtemp(prefix=".truthing-new-"))
        self._lock_on_folder = _locked(new)
        # only once it is locked it gets a name that others may sweep
        self.folder = new.rename(new.with_name(new.name.replace(".truthing-new", "truthing-serve")))
        self.cases: dict[str, UploadedCase] = {}
        self._lock = threading.Lock()
        atexit.register(self.close)

    def new(self, session: str) -> UploadedCase:
        key = secrets.token_urlsafe(12)
        folder = self.folder / key
        folder.mkdir(mode=0o700)
        case = UploadedCase(key, session, folder)
        with self._lock:
            self.cases[key] = case
        return case

    def find(self, key: str, session: str) -> UploadedCase | None:
        """A case of this visitor; nobody else's."""
        case = self.cases.get(key)
        if case is None or case.session != session:
            return None
        case.touched = time.monotonic()
        return case

    def bytes_of(self, session: str) -> int:
        """How much a visitor keeps here."""
        return sum(up.path.stat().st_size for case in self.of(session) for up in case.uploads)

    def of(self, session: str) -> list[UploadedCase]:
        return [case for case in list(self.cases.values()) if case.session == session]

    def runs(self, session: str | None = None) -> list[Any]:
        """The runs of one visitor, or of all."""
        cases = list(self.cases.values()) if session is None else self.of(session)
        return [run for case in cases for run in list(case.runs.values())]

    def remove(self, case: UploadedCase) -> None:
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
        if self._lock_on_folder is not None:
            os.close(self._lock_on_folder)
            self._lock_on_folder = None


def sweep_dead(place: Path) -> None:
    """Remove what killed servers of this user left: folders on which nobody has a lock."""
    if sys.platform == "win32":
        return
    for folder in place.glob("truthing-serve-*"):
        with contextlib.suppress(OSError):  # somebody else's, or swept by another server just now
            found = folder.lstat()
            private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
            if not (private and OWN_FOLDER.fullmatch(folder.name) and found.st_uid == os.getuid()):
                continue
            lock = _locked(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """A lock on a folder that goes with this process however it ends; None where another has it."""
    if sys.platform == "win32":  # no such locks: folders of killed servers wait for their user
        return None
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def shown_name(name: str) -> str:
    """Somebody's file name as text for people; it never becomes a path.

    >>> shown_name(" my\\nlabels.csv")
    'my labels.csv'
    """
    return safe(" ".join(name.split()), 100) or "unnamed file"
