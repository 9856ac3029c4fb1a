"""Documentation that cannot drift: command pages equal --help, and every Python block of README and docs runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    (page.name, n, block)
    for page in PAGES
    for n, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


def test_command_pages_are_what_help_says() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = {path.stem: path.read_text() for path in (ROOT / "docs" / "commands").glob("*.md")}
    assert written == module.pages(), "run `make docs`"


@pytest.mark.parametrize(
    ("page", "number", "block"), BLOCKS, ids=[f"{page}-{n}" for page, n, _ in BLOCKS]
)
def test_blocks_run(
    page: str,
    number: int,
    block: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT / "src" / "truthing" / "examples" / "spam")
    exec(compile(block, f"{page} block {number}", "exec"), {"__name__": "docs"})
    assert "Traceback" not in capsys.readouterr().out


def test_readme_transcript_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from truthing.cli.main import app

    monkeypatch.chdir(ROOT / "src" / "truthing" / "examples" / "spam")
    (command, transcript), *_ = re.findall(
        r"```\n\$ truthing ([^\n]+)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    app(command.split(), standalone_mode=False)
    printed = " ".join(capsys.readouterr().out.split())
    for said in re.split(r"…|\n\n|\n(?=\S)", transcript):
        assert_said(" ".join(said.split()), printed)


def assert_said(said: str, printed: str) -> None:
    """The words as they are; drawn numbers as near as another processor's rounding leaves them."""
    words = re.split(r"(\d+(?:\.\d+)?)", re.sub(r"[━● ]+", " ", said))
    pattern = r"(\d+(?:\.\d+)?)".join(re.escape(part) for part in words[::2])
    found = re.search(pattern, re.sub(r"[━● ]+", " ", printed))
    assert found is not None, said
    for number, there in zip(words[1::2], found.groups()):
        assert float(there) == pytest.approx(float(number), abs=0.02 if "." in number else 2), said


def test_readme_shows_the_two_commands_first() -> None:
    first = (ROOT / "README.md").read_text()[:1200]
    assert "make demo" in first
    assert "make test" in first
