"""The script that compares our libraries with published advisories."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "studies" / "advisories.py"
OLD = {"introduced": "0"}


def advisory(name: str, *events: dict[str, str], **more: object) -> dict[str, object]:
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}]
    package = {"name": name, "ecosystem": "PyPI"}
    return {"id": "X-1", "affected": [{"package": package, "ranges": ranges}], **more}


def check(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, str(path)], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("record", "fits"),
    [
        (advisory("Jinja2", OLD, {"fixed": "3.1.6"}), False),
        (advisory("Jinja2", OLD, {"fixed": "3.1.7"}), True),
        (advisory("jinja2", {"introduced": "99"}), False),
        (advisory("python_multipart", OLD, {"last_affected": "0.0.32"}), True),
        (advisory("somebody-elses", OLD), False),
        (advisory("numba", OLD, withdrawn="2026-01-01"), False),
    ],
)
def test_one_record(tmp_path: Path, record: dict[str, object], fits: bool) -> None:
    (tmp_path / "one.json").write_text(json.dumps(record))
    done = check(tmp_path / "one.json")
    assert done.returncode == fits, done.stderr
    assert ("X-1" in done.stdout) == fits


def test_archives_folders_and_lists(tmp_path: Path) -> None:
    bad = [advisory("numba", OLD), advisory("polars", OLD)]
    (tmp_path / "both.json").write_text(json.dumps(bad))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a.json", json.dumps(bad[0]))
    assert "numba 0.63" in check(tmp_path / "all.zip").stdout
    assert "polars 1.22" in check(tmp_path).stdout


def test_without_advisories_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRUTHING_ADVISORIES", raising=False)
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("skipped: ")
