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

from truthing.errors import InputError

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


def damaged(name: str, why: str = "damaged") -> InputError:
    return InputError(f"{name} is not a readable Parquet file ({why}): write it again.")


@contextlib.contextmanager
def careful(data: bytes, name: str) -> Iterator[None]:
    """Read Parquet inside this."""
    if _apart:
        _read_apart(data, name)
    with _ONE_AT_A_TIME, _silent() as words, _last_words(words, f"truthing: {damaged(name)}\n"):
        yield


def _read_apart(data: bytes, name: str) -> None:
    mark = hashlib.sha256(data).digest()
    if mark in _survived:
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
