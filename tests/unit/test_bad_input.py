"""Bad input: one line that says what, where and what to do; exit code 1; no output file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from truthing.cli import main

TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command in this process: what is no sentence leaves it as an exception. To start it takes
    most of a second, so that a process of its own is for what needs one.
    """

    def ended(*arguments: str) -> Done:
        monkeypatch.setattr("sys.argv", ["truthing", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return Done(end.value.code or 0, *capsys.readouterr())

    return ended


FILES: dict[str, tuple[bytes | None, str]] = {
    "missing file": (None, "no such file"),
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "is empty"),
    "header only": (b"item,labeler,label\n", "no rows"),
    "unknown columns": (b"foo,bar\n1,2\n", "no column"),
    "needed column absent": (b"item,labeler\n1,a\n", "no column of labels"),
    "no item": (b"labeler,label\na,x\n", "no column of items"),
    "too many cells": (b"item,labeler,label\n1,a,x\n2,b,y,z\n", "line 3 has 4 cells"),
    "too few cells": (b"item,labeler,label\n1,a,x\n2,b\n", "line 3 has 2 cells"),
    "not UTF-8": ("item,labeler,label\n1,a,x\n2,b,é\n".encode("latin1"), "line 3 is not UTF-8"),
    "NUL byte": (b"item,labeler,label\n1,a,x\n2,\x00,y\n", "line 3 holds a NUL byte"),
    "cut gzip": (b"\x1f\x8b\x08\x00\x00", "damaged or cut short"),
    "item missing": (b"item,labeler,label\n1,a,x\n,a,y\n", "line 3: no item"),
    "labeler missing": (b"item,labeler,label\n1,a,x\n2,,y\n", "line 3: a label without a labeler"),
    "all labels missing": (b"item,labeler,label\n1,a,\n2,a,NA\n", "no label at all"),
    "column twice": (b"item,label,label\n1,a,x\n", "twice"),
    "model column": (b"item,model,label\n1,a,x\n", "Say which"),
    "bad JSON": (b'{"item": 1, "label": "x"}\n{"item": 2,\n', "line 2 is not JSON"),
    "two rows an item": (b"item,a,b\n1,x,y\n1,y,y\n", "more than one row"),
}


@pytest.mark.parametrize("case", FILES)
def test_one_line_and_exit_code_1(tmp_path: Path, case: str, run: Run) -> None:
    content, message = FILES[case]
    path = tmp_path / "labels.csv"
    if content is not None:
        path.write_bytes(content)
    done = run("doctor", str(path))
    assert done.returncode == 1, done.stdout
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.startswith("truthing: ")
    assert done.stderr.count("\n") == 1


def test_pickled_arrays_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.array([[1, None]], dtype=object), allow_pickle=True)
    done = subprocess.run([*TRUTHING, "doctor", str(path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "unpickled" in done.stderr
    assert done.stderr.startswith("truthing: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["error", "--apparent", "0.1", "--mislabeling", "0.5"], 1, "½"),
        (["error", "--apparent", "0.1", "--mislabeling", "1.5"], 1, "outside [0, 1]"),
        (["error", "--apparent", "0.1"], 1, "mislabeling rate is missing"),
        (["error", "--mislabeling", "0.1"], 1, "nothing to compute"),
        (["error", "--joint", "4,1;1,4", "--labeler", ".9,.2;.1,.9"], 1, "sums to"),
        (["error", "--joint", "4,1;1,4", "--labeler", ".5,.5;.5,.5"], 1, "singular"),
        (["error", "--apparent", "0.1", "--checked", "five"], 1, "WRONG/TOTAL"),
        (["reproduce", "lam-stok"], 1, "Did you mean 'lam-stork'"),
        (["nonsense"], 2, "No such command"),
        (["error", "--no-such-option"], 2, "No such option"),
    ],
)
def test_command_lines(arguments: list[str], code: int, message: str, run: Run) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert message in done.stderr


def test_nothing_is_left_half_written(tmp_path: Path, run: Run) -> None:
    done = run("simulate", str(tmp_path / "out"), "--prior", "0.2", "--gold", "5000")
    assert done.returncode == 1
    assert not (tmp_path / "out").exists()
    done = run("simulate", str(tmp_path / "out"), "--format", "xls")
    assert done.returncode == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("labels", "predictions", "extra", "message"),
    [
        ("item,labeler,label\n1,a,x\n1,b,y\n", "item,prediction\n8,x\n9,y\n", [], "share no item"),
        ("item,labeler,label\n1,a,x\n1,b,x\n", "item,prediction\n1,x\n", [], "only one class"),
        (
            "item,labeler,label\n1,a,x\n1,a,y\n1,b,x\n",
            "item,prediction\n1,x\n",
            [],
            "line 3: labeler 'a' says both 'x' and 'y' for item 1",
        ),
        (
            "item,labeler,label\n1,a,x\n2,a,y\n",
            "item,prediction\n1,x\n2,y\n",
            [],
            "there is one labeler",
        ),
        (
            "item,labeler,label\n1,a,x\n1,b,y\n",
            "item,prediction\n1,x\n",
            ["--noise", "1.5"],
            "outside [0, 1]",
        ),
        (
            "item,labeler,label\n1,a,x\n1,b,y\n",
            "item,prediction\n1,x\n",
            ["--noise", "nofile"],
            "no such file",
        ),
        (
            "item,labeler,label\n1,a,x\n1,b,y\n",
            "item,prediction\n1,x\n",
            ["--positive", "z"],
            "does not occur",
        ),
        (
            "item,labeler,label\n1,a,x\n1,b,y\n",
            "item,prediction\n1,x\n",
            ["--method", "exakt"],
            "Did you mean 'exact'",
        ),
        ("item,labeler,label\n1,a,x\n1,b,y\n", "item,score\n1,0.5\n", [], "need a threshold"),
        (
            "item,labeler,label\n1,a,x\n1,b,y\n",
            "item,prediction\n1,x\n1,y\n",
            [],
            "more than one row",
        ),
        (
            "item,labeler,label\n1,a,x\n1,b,y\n",
            "item,prediction\n1,x\n",
            ["--noise", "0.1", "--metric", "acc"],
            "no metric is called",
        ),
    ],
)
def test_grade_says_what_is_wrong(
    tmp_path: Path, labels: str, predictions: str, extra: list[str], message: str, run: Run
) -> None:
    (tmp_path / "labels.csv").write_text(labels)
    (tmp_path / "predictions.csv").write_text(predictions)
    arguments = ["grade", str(tmp_path / "predictions.csv"), str(tmp_path / "labels.csv"), *extra]
    done = run(*arguments)
    assert done.returncode == 1, done.stdout
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
