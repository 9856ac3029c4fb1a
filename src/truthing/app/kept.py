"""Results that survive a restart: finished runs in a folder of the user's choosing; off unless
asked for.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from truthing.errors import InputError

NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z]+-[0-9a-f]{8}")
FILES = {
    "report.html": "text/html",
    "result.json": "application/json",
    "table.csv": "text/csv",
    "next.csv": "text/csv",
}


@dataclass(frozen=True)
class KeptResult:
    """One finished run: what was asked, what was found, when, and the command that does the
    same.
    """

    name: str
    title: str
    sentence: str
    when: str
    command: str


@dataclass(frozen=True)
class Kept:
    """The folder; ``None`` keeps nothing."""

    folder: Path | None = None

    @classmethod
    def at(cls, folder: str | None) -> Kept:
        if folder is None:
            return cls()
        place = Path(folder).expanduser()
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(
                f"--keep {folder} cannot be a folder ({problem}): name another."
            ) from None
        return cls(place)

    def all(self) -> list[KeptResult]:
        """Newest first; folders that are not ours are left alone."""
        if self.folder is None:
            return []
        names = sorted(
            (p.name for p in self.folder.iterdir() if NAME.fullmatch(p.name)), reverse=True
        )
        found = (self.find(name) for name in names)
        return [result for result in found if result is not None]

    def find(self, name: str) -> KeptResult | None:
        """A finished run by its name; nothing where it is not there or not whole."""
        path = self.file(name, "about.json")
        if path is None:
            return None
        try:
            about = json.loads(path.read_text("utf-8"))
            return KeptResult(
                name, *(str(about[k]) for k in ("title", "sentence", "when", "command"))
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def file(self, name: str, file: str) -> Path | None:
        if self.folder is None or not NAME.fullmatch(name):
            return None
        if file not in FILES and file != "about.json":
            return None
        path = self.folder / name / file
        return path if path.is_file() else None
