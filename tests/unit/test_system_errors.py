"""What the operating system refuses: one line, the right exit code, results whole or absent."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import truthing
from truthing.errors import InputError, in_words
from truthing.tables.write import whole, write_bytes

TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]
LABELS = str(Path(truthing.__file__).parent / "examples" / "spam" / "labels.csv")
PREDICTIONS = LABELS.replace("labels.csv", "predictions.csv")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*TRUTHING, *arguments], text=True, **{"stderr": subprocess.PIPE, **more})


def assert_one_line(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 1
    assert done.stderr.startswith("truthing: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


@needs_full
def test_a_full_disk_behind_standard_output() -> None:
    with FULL.open("w") as full:
        assert_one_line(run("doctor", LABELS, stdout=full), "the disk is full")
        assert_one_line(run("simulate", "--help", stdout=full), "the disk is full")


def test_a_reader_who_leaves_is_told_nothing() -> None:
    """As `| head` does; 141 is what a shell says of other programs that lose their reader."""
    for arguments in (
        ["doctor", LABELS],
        ["--help"],
        ["error", "--apparent=.1", "--mislabeling=0"],
    ):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as nobody:
            done = run(*arguments, stdout=nobody)
        assert done.returncode == 141
        assert done.stderr == ""


def closing(*streams: int) -> dict[str, Any]:
    return {"preexec_fn": lambda: [os.close(stream) for stream in streams]}


def test_closed_streams() -> None:
    assert_one_line(run("doctor", LABELS, **closing(1)), "standard output is closed")
    assert_one_line(run("doctor", "-", **closing(0)), "standard input is empty")
    done = run("doctor", "nowhere.csv", stdout=subprocess.PIPE, **closing(2))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_folders_and_files_in_the_wrong_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert_one_line(run("simulate", str(tmp_path / "file")), "there is a file of that name")
    assert_one_line(run("simulate", str(tmp_path / "file" / "x")), "is a file, not a folder")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_working_directory_that_was_deleted(tmp_path: Path) -> None:
    for arguments in (["doctor", "labels.csv"], ["simulate", "out"]):
        gone = tmp_path / "gone"
        gone.mkdir()
        done = run(*arguments, cwd=gone, preexec_fn=gone.rmdir)
        assert_one_line(done, "there is no such file or folder")


@needs_full
def test_the_answer_comes_before_the_page_that_cannot_be_written(tmp_path: Path) -> None:
    arguments = ["grade", PREDICTIONS, LABELS, "--noise", "0.2", "--html"]
    for place, words in ((str(FULL), "the disk is full"), (str(tmp_path), "it is a folder")):
        done = run(*arguments, place, stdout=subprocess.PIPE)
        assert_one_line(done, words)
        assert done.stdout.startswith("Accuracy ")
    assert FULL.is_char_device()
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_is_one_line() -> None:
    process = subprocess.Popen(
        [*TRUTHING, "doctor", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdin is not None
    # more than a pipe holds: once all of it is taken, the command is reading and waits for more
    process.stdin.write("item,labeler,label\n" + "1,a,x\n" * 100_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said) == (130, "truthing: stopped.\n")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EROFS, "only be read"),
        (errno.EACCES, "permission"),
        (errno.EIO, "the operating system says: Input/output error"),
    ],
)
@pytest.mark.parametrize("nameless", [True, False])
def test_in_words(
    tmp_path: Path, monkeypatch: Any, number: int, words: str, nameless: bool
) -> None:
    """A write that fails leaves the old file as it was and nothing beside it."""
    if not nameless:  # as on systems that have no files without a name
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    kept = tmp_path / "report.html"
    kept.write_text("old")

    def fail() -> None:
        with whole(kept) as file:
            file.write(b"new")
            raise OSError(number, os.strerror(number), str(kept))

    with pytest.raises(InputError, match=words):
        fail()
    assert words in in_words(OSError(number, os.strerror(number)))
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert kept.read_text() == "old"


def test_links_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize("nameless", [True, False])
def test_a_file_stands_under_its_name_when_it_is_complete(
    tmp_path: Path, monkeypatch: Any, nameless: bool
) -> None:
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    kept = tmp_path / "table.csv"
    with whole(kept) as file:
        file.write(b"half")
        assert not kept.exists()
        if nameless and hasattr(os, "O_TMPFILE"):
            assert list(tmp_path.iterdir()) == []  # a process killed now leaves nothing
        file.write(b" and half")
    assert kept.read_bytes() == b"half and half"
    assert list(tmp_path.iterdir()) == [kept]
