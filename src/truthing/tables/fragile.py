"""Reading files that may be damaged with a library that may not survive it.

On a damaged Parquet file polars writes pages to standard error before it raises, and on some it
ends the whole process (an impossible allocation). Here such a file ends in one line, and a server
first tries it in a process of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from truthing.errors import InputError

BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
PATIENCE = 60  # seconds for the first look at one file
_READ = """
import sys
from truthing.errors import TruthingError
from truthing.tables.binary import parquet
try:
    parquet(sys.stdin.buffer.read(), "file")
except TruthingError:
    pass
print("alive")
"""
_ONE_AT_A_TIME = threading.Lock()  # standard error is one for all threads
_survived: set[bytes] = set()
_apart = False


def try_apart() -> None:
    """From now on: a file is first read in another process. For servers, which must not end."""
    global _apart
    _apart = True


def tries_apart() -> bool:
    """Is this a server?"""
    return _apart


def damaged(name: str, why: str | BaseException = "damaged", kind: str = "Parquet") -> InputError:
    """``why``: a reason in words, or what the library raised."""
    if isinstance(why, pl.exceptions.PanicException):
        why = "damaged"  # its words mean nothing to users
    words = (str(why).splitlines() or ["damaged"])[0][:150]
    return InputError(f"{name} is not a readable {kind} file ({words}): write it again.")


@contextlib.contextmanager
def careful(name: str) -> Iterator[None]:
    """Read Parquet inside this."""
    with _ONE_AT_A_TIME, _silent() as words, _last_words(words, f"truthing: {damaged(name)}\n"):
        yield


@contextlib.contextmanager
def reading(file: Path) -> Iterator[None]:
    """As `careful`; what goes wrong becomes one line on the file."""
    try:
        with careful(file.name):
            yield
    except BROKEN as problem:
        if not file.exists():
            raise InputError(f"{file} is gone: put it back and start again.") from None
        raise damaged(str(file), problem) from None


def read_scan(scan: pl.LazyFrame, file: Path, rows: int | None = None) -> pl.DataFrame:
    """The rows of a file, ``rows`` of them if given."""
    with reading(file):
        found = scan.collect()
    if rows is not None and found.height != rows:
        raise InputError(f"{file} changed while it was read: start again.")
    return found


def shape_of(file: Path) -> tuple[pl.Schema, int]:
    """Columns and number of rows."""
    with reading(file):
        scan = pl.scan_parquet(file)
        return scan.collect_schema(), int(scan.select(pl.len()).collect().item())


def read_apart(data: bytes, name: str) -> None:
    """Where files are first read in another process: do it, once for each content."""
    mark = hashlib.sha256(data).digest() if _apart else b""
    if not _apart or mark in _survived:
        return
    try:
        command = [sys.executable, "-c", _READ]
        done = subprocess.run(command, input=data, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise damaged(name, f"reading it takes more than {PATIENCE} seconds") from None
    if done.stdout.strip() != b"alive":
        raise damaged(name)
    _survived.add(mark)


@contextlib.contextmanager
def _silent() -> Iterator[int]:
    """Nothing is written to standard error; gives a descriptor that still is."""
    try:
        kept = os.dup(2)
    except OSError:  # closed: nothing can be written there
        yield -1
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield kept
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextlib.contextmanager
def _last_words(where: int, words: str) -> Iterator[None]:
    """Should the process be aborted, it says these words and ends with code 1."""
    if os.name != "posix":
        yield
        return

    def end(number: int) -> None:
        if where >= 0:
            os.write(where, words.encode())
        os._exit(1)

    # a handler of Python's own would only be called after the abort
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(end)
    install = ctypes.CDLL(None).signal
    install.restype, install.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
    before = install(signal.SIGABRT, ctypes.cast(handler, ctypes.c_void_p))
    try:
        yield
    finally:
        install(signal.SIGABRT, before)
