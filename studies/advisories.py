"""Are libraries that we allow or have installed named in a published advisory?

``python studies/advisories.py FILE``: an export in OSV format, one JSON record, a list of them, or
a
zip file or folder of records. Without a file (or TRUTHING_ADVISORIES) there is nothing to compare
with, and that is said. Ends with 1 where an advisory fits.
"""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Every advisory in a file or folder."""
    if path.is_dir():
        texts = [file.read_text("utf-8") for file in sorted(path.rglob("*.json"))]
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            texts = [archive.read(name).decode() for name in archive.namelist()]
    else:
        texts = [path.read_text("utf-8")]
    for text in texts:
        found = json.loads(text)
        yield from found if isinstance(found, list) else [found]


def plain_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def allowed() -> dict[str, set[Version]]:
    """The oldest version allowed and the one installed, of everything we need at any depth."""
    pins = [Requirement(r) for r in (ROOT / ".ci/lowest.txt").read_text().splitlines() if "==" in r]
    found = {plain_name(r.name): {Version(next(iter(r.specifier)).version)} for r in pins}
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        try:
            there = distribution(name)
        except PackageNotFoundError:
            continue
        found.setdefault(name, set()).add(Version(there.version))
        for needed in map(Requirement, there.requires or ()):
            other = plain_name(needed.name)
            if other not in found and (needed.marker is None or needed.marker.evaluate()):
                found[other] = set()
                waiting.append(other)
    return found


def affects(affected: dict[str, Any], version: Version) -> bool:
    """Does one entry of an advisory hold this version: listed, or between introduced and fixed?"""
    if str(version) in affected.get("versions", ()):
        return True
    for span in affected.get("ranges", ()):
        inside = False
        for event in span.get("events", ()) if span.get("type") == "ECOSYSTEM" else ():
            kind, text = next(iter(event.items()))
            try:
                at = Version(text)
            except InvalidVersion:
                continue
            if kind == "introduced" and version >= at:
                inside = True
            elif (kind == "fixed" and version >= at) or (kind == "last_affected" and version > at):
                inside = False
        if inside:
            return True
    return False


def findings(path: Path, ours: dict[str, set[Version]]) -> list[str]:
    """One line for each library version that an advisory names."""
    return sorted(
        f"{name} {version}: {record['id']} {record.get('summary', '')}".strip()
        for record in records(path)
        if not record.get("withdrawn")
        for affected in record.get("affected", ())
        if affected.get("package", {}).get("ecosystem") == "PyPI"
        for name in [plain_name(affected["package"]["name"])]
        for version in sorted(ours.get(name, ()))
        if affects(affected, version)
    )


def main() -> int:
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TRUTHING_ADVISORIES")
    if given is None:
        print("skipped: no file of advisories (OSV export) was given.")
        return 0
    ours = allowed()
    found = findings(Path(given), ours)
    print("\n".join(found) or f"no advisory fits any of {len(ours)} libraries.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
