"""The bundled examples: small, marked as simulated, copied safely, and made by their script."""

from __future__ import annotations

import importlib.util
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(tr.__file__).parent / "examples"
NAMES = ("compare", "crowd", "judges", "prefer", "readers", "spam")
RUN = CliRunner()


def test_the_gallery_is_listed_small_and_marked() -> None:
    listed = RUN.invoke(app, ["example"]).stdout
    assert all(f"\n{name}" in f"\n{listed}" for name in NAMES)
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 300_000
    for name in NAMES:
        assert "Simulated by examples/make_example.py" in (FOLDER / name / "README.txt").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_copied_with_commands_that_fit_its_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = RUN.invoke(app, ["example", name])
    assert done.exit_code == 0
    commands = [line for line in done.stdout.splitlines() if line.startswith("truthing ")]
    assert len(commands) >= 2
    files = {path.name for path in (tmp_path / name).iterdir()}
    for command in commands:
        before_output = command.split(" --html")[0].split(" --table")[0]
        named = {word for word in shlex.split(before_output) if word.endswith(".csv")}
        assert named <= files, command
    assert RUN.invoke(app, ["example", name]).exit_code == 0  # the same again changes nothing


def test_nothing_of_the_users_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "labels.csv").write_text("my own")
    done = RUN.invoke(app, ["example", "spam", "mine"])
    assert "is there already" in str(done.exception)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["labels.csv"]
    assert "Did you mean 'spam'" in str(RUN.invoke(app, ["example", "spma"]).exception)


def test_the_script_makes_these_very_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make", ROOT / "examples" / "make_example.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    monkeypatch.setattr(make, "FOLDER", tmp_path)
    make.main()
    for path in sorted(tmp_path.rglob("*.csv")):
        assert path.read_text() == (FOLDER / path.relative_to(tmp_path)).read_text(), path.name
    assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*.csv")} == {
        path.relative_to(FOLDER) for path in FOLDER.rglob("*.csv")
    }


def test_the_pytest_example_is_a_passing_gate() -> None:
    assert (
        pytest.main([str(ROOT / "examples" / "test_gate.py"), "-q", "-p", "no:cacheprovider"]) == 0
    )
