"""The walk-throughs are run: every command of docs/walk-*.md, what it prints, and how it ends."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from truthing.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
WALKS = sorted((ROOT / "docs").glob("walk-*.md"))
NUMBER = r"\d[\d,]*(?:\.\d+)?"


def steps(page: str) -> list[tuple[str, str]]:
    """Commands of a page, each with what the page says that it prints."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = step.partition("\n")
            found.append((command, printed))
    return found


def assert_said(said: str, printed: str) -> None:
    """Words as they are; drawn numbers near enough that nobody would decide otherwise."""
    said, printed = (re.sub(r"[━●\s]+", " ", text).strip() for text in (said, printed))
    words = re.split(rf"({NUMBER})", said)
    found = re.search(rf"({NUMBER})".join(map(re.escape, words[::2])), printed)
    assert found is not None, f"{said!r} is not in {printed[:3000]!r}"
    for number, there in zip(words[1::2], found.groups()):
        wanted, is_there = (float(text.replace(",", "")) for text in (number, there))
        room = 0.06 if 0 < wanted < 1 else max(3.0, 0.25 * wanted)
        assert is_there == pytest.approx(wanted, abs=room), said


def test_there_is_one_for_each_kind_of_user() -> None:
    assert [path.stem for path in WALKS] == [
        f"walk-{name}" for name in ("annotators", "audit", "judges", "models", "readers")
    ]
    for path in WALKS:
        assert "**The decision" in path.read_text("utf-8"), f"{path.name} ends without a decision"
        assert path.name in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("path", WALKS, ids=lambda path: path.stem)
def test_the_walk(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, where = 0, tmp_path
    for command, said in steps(path.read_text("utf-8")):
        words = shlex.split(command)
        if words[0] == "cd":
            where = where / words[1]
            monkeypatch.chdir(where)
        elif words[0] == "echo":
            assert str(code) == said.strip(), command
        else:
            assert words[0] == "truthing", command
            done = CliRunner().invoke(app, words[1:])
            assert done.exception is None or isinstance(done.exception, SystemExit), command
            code = done.exit_code
            for part in re.split(r"^…$", said, flags=re.MULTILINE):
                assert_said(part, done.stdout)
