"""A small version of studies/faults.py: killed commands leave nothing half, the page outlives its
visitors."""

from __future__ import annotations

import importlib.util
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

STUDY = Path(__file__).resolve().parents[2] / "studies" / "faults.py"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")


@pytest.fixture(scope="module")
def study() -> Any:
    spec = importlib.util.spec_from_file_location("faults", STUDY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_killed_commands_leave_whole_files_or_none(study: Any) -> None:
    assert study.killed_commands(4, seed=1) == []


def test_half_a_file_and_what_is_left_over_are_noticed(study: Any, tmp_path: Path) -> None:
    for name in ("out", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "out" / "truth.csv").write_text("item,p_ham")
    (tmp_path / "out" / ".truthing.1.part").touch()
    (tmp_path / "tmp" / "piece").touch()
    found = study.faults_of(tmp_path, b'{"metrics": ', {"truth.csv": 5000})
    assert sorted(word.split(" ")[0] for word in found) == [
        *(".truthing.1.part", "half", "piece", "truth.csv")
    ]


def test_a_command_that_ends_before_it_is_killed_is_whole(study: Any, tmp_path: Path) -> None:
    sizes = dict.fromkeys(study.FILES, 1)  # so that whole files are seen to differ
    found = study.kill_once(tmp_path, 600.0, signal.SIGKILL, sizes)
    assert sorted(word.split(" ")[0] for word in found) == sorted(study.FILES)


def test_the_page_outlives_its_visitors(study: Any) -> None:
    assert study.abused_page(12) == []
