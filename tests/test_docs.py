"""Documentation that cannot drift: command pages equal --help, and every Python block of README and
docs runs."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import truthing as tr

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


def public_functions() -> list[str]:
    return [name for name in tr.__all__ if inspect.isfunction(getattr(tr, name))]


@pytest.mark.parametrize("name", [n for n in public_functions() if not n.startswith("read_")])
def test_every_argument_of_a_public_function_is_explained(name: str) -> None:
    function = getattr(tr, name)
    text = inspect.getdoc(function) or ""
    for section in ("Parameters", "Returns", "See Also", "Examples"):
        assert re.search(rf"^{section}\n-+$", text, re.MULTILINE), f"{name} has no {section}"
    part = text.split("Parameters\n")[1].split("Returns\n")[0]
    explained = {
        argument.strip()
        for line in re.findall(r"^(\w[\w, ]*) : ", part, re.MULTILINE)
        for argument in line.split(",")
    }
    silent = set(inspect.signature(function).parameters) - explained
    assert not silent, f"{name} does not explain {sorted(silent)}"


@pytest.mark.parametrize("name", sorted(tr.__all__))
def test_every_public_name_says_what_it_is(name: str) -> None:
    assert len(inspect.getdoc(getattr(tr, name)) or "") > 30


def test_every_public_name_is_in_the_reference() -> None:
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md"))
    absent = [name for name in tr.__all__ if name not in pages]
    assert not absent


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Strict mode: a link, an anchor or a reference that leads nowhere fails."""
    if importlib.util.find_spec("mkdocs") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("mkdocs is not installed")
        pytest.skip("mkdocs is not installed: pip install 'truthing[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    page = (tmp_path / "api" / "grading.html").read_text()
    assert "gold_weights" in page
    assert not re.search(r'(src|href)="https?://[^"]*\.(js|css|woff2?)"', page)  # no network


def test_every_package_says_what_lives_there() -> None:
    for init in (ROOT / "src" / "truthing").rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(init.read_text())) or ""
        assert len(text) > 80, f"{init.parent.name}: what lives here, and who may import it?"
