"""A place for compiled code where nothing can be written but temporary files."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from truthing import compiled

# the library and the home are read-only: so says the system, and so numba finds it
READ_ONLY = """
import os
allowed = os.access
os.access = lambda path, mode: str(path).startswith({room!r}) and allowed(path, mode)
import numba.core.caching as caching

def refuse(self):
    raise OSError(30, "Read-only file system")

for kind in ("InTreeCacheLocator", "UserWideCacheLocator"):
    for name in (kind, "_" + kind):
        if hasattr(caching, name):
            getattr(caching, name).ensure_cache_path = refuse
import numpy as np
from truthing.noise.steps import _add_logs
print(_add_logs.__name__, len(_add_logs.made().signatures))
"""


def run(room: Path) -> subprocess.CompletedProcess[str]:
    variables = {k: v for k, v in os.environ.items() if k != compiled.VARIABLE}
    variables |= {"TMPDIR": str(room), "PYTHONPATH": str(compiled.HOUSE.parent)}
    code = READ_ONLY.format(room=str(room))
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have other rights there")
def test_a_read_only_library_works_and_says_so_once(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path)
    assert first.returncode == second.returncode == 0, first.stderr
    assert first.stderr.count("Compiled code cannot be kept beside the library") == 1
    assert "NUMBA_CACHE_DIR" in first.stderr
    assert "cannot be kept" not in second.stderr
    (folder,) = tmp_path.glob("truthing-compiled-*")
    assert folder.stat().st_mode & 0o077 == 0


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Neither the library nor a home can be written."""
    wall = tmp_path / "wall"
    wall.write_text("a file, where a folder should be")
    monkeypatch.setattr(compiled, "HOUSE", wall)
    monkeypatch.setattr(compiled, "_home", lambda: wall / "home")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(compiled, "_use", lambda folder: None)
    monkeypatch.delenv(compiled.VARIABLE, raising=False)
    return tmp_path


def test_nothing_is_said_where_there_is_a_place(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(compiled.VARIABLE, str(nowhere / "mine"))
    assert compiled.settle() == ""
    assert not compiled.compiled_before(run)
    (nowhere / "mine").mkdir()
    (nowhere / "mine" / "test_compiled.run-1.py311.nbi").touch()
    assert compiled.compiled_before(run)
    monkeypatch.delenv(compiled.VARIABLE)
    monkeypatch.setattr(compiled, "HOUSE", nowhere / "house")
    assert compiled.settle() == ""


def test_a_place_that_cannot_be_written_is_named(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(compiled.VARIABLE, str(nowhere / "wall" / "cache"))
    assert "wall/cache cannot be written" in compiled.settle()


@pytest.mark.skipif(sys.platform == "win32", reason="folders have other rights there")
def test_a_folder_of_somebody_else_is_not_trusted(nowhere: Path) -> None:
    foreign = nowhere / f"truthing-compiled-{os.getuid()}"
    foreign.mkdir(mode=0o755)
    foreign.chmod(0o777)
    said = compiled.settle()
    assert "Compiled code cannot be kept" in said
    assert f"{foreign}:" not in said
    other = nowhere / "elsewhere"
    other.mkdir(mode=0o700)
    foreign.rmdir()
    foreign.symlink_to(other)
    assert f"{foreign}:" not in compiled.settle()


NO_COMPILER = """
import sys
sys.argv = ["truthing", "grade", {predictions!r}, {labels!r}, "--json"]
from truthing.cli import main
try:
    main()
finally:
    print("numba" in sys.modules, file=sys.stderr)
"""


def test_the_first_table_of_a_small_panel_compiles_nothing() -> None:
    """Importing numba and compiling took most of the first minute (benchmarks/startup.py)."""
    example = compiled.HOUSE / "examples" / "spam"
    files = {name: str(example / f"{name}.csv") for name in ("predictions", "labels")}
    command = [sys.executable, "-c", NO_COMPILER.format(**files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert '"auc"' in done.stdout
    assert done.stderr.splitlines()[-1] == "False"


def test_compiled_functions_call_each_other_and_say_who_they_are() -> None:
    from truthing.truth.counted import _root, _roots

    name = getattr(_roots, "__name__", None)
    assert name == "_roots"
    assert _roots(np.array([0, 0, 1, 3], dtype=np.int32)).tolist() == [0, 0, 0, 3]
    assert _root(np.array([0, 0, 1], dtype=np.int32), 2) == 0


CALLER = """
import gc, weakref
import numpy as np
from truthing import sorting

class Column: ...

def caller():
    column, codes = Column(), np.zeros(3, dtype=np.int32)
    sorting.sorted_by(codes, codes, codes, 1)
    return weakref.ref(column)

gc.disable()  # so that luck does not decide
print("gone" if caller()() is None else "held")
"""


def test_compiling_lets_go_of_its_callers(tmp_path: Path) -> None:
    """Exceptions inside numba hold frames: columns of millions of rows stayed in memory."""
    variables = os.environ | {compiled.VARIABLE: str(tmp_path)}
    command = [sys.executable, "-c", CALLER]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert done.stdout.strip() == "gone", done.stderr
