"""Compiled functions, made when they are first called, and where they are kept between runs, also
where neither the library's own folder nor a home can be written.
"""

from __future__ import annotations

import gc
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Any

VARIABLE = "NUMBA_CACHE_DIR"
HOUSE = Path(__file__).parent
_ONE_AT_A_TIME = RLock()
_tell: list[Callable[[], None]] = []


class Compiled:
    """A function that numba compiles when it is first called; until then numba is not imported,
    which alone takes as long as a table of a few thousand labels."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.function, self.options = function, options
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._made: Any = None
        self._seen = 0  # how many kinds of arguments it was called with

    def __call__(self, *arguments: Any) -> Any:
        made = self.made()
        found = made(*arguments)
        kinds = len(getattr(made, "overloads", ()))  # none where compiling is switched off
        if kinds > self._seen:
            self._seen = kinds
            if made.stats.cache_misses:
                gc.collect()  # what compiling leaves behind holds the frames of all callers
        return found

    def made(self) -> Any:
        """What numba makes of it, and of the functions that it calls."""
        with _ONE_AT_A_TIME:
            if self._made is None:
                import numba

                if _tell and not compiled_before(self.function):
                    while _tell:
                        _tell.pop()()
                known = self.function.__globals__
                for name in self.function.__code__.co_names:
                    if isinstance(known.get(name), Compiled):
                        known[name] = known[name].made()
                self._made = numba.njit(cache=True, **self.options)(self.function)
        return self._made


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``numba.njit`` that waits for the first call; compiled code is kept between runs.

    >>> @njit
    ... def twice(x):
    ...     return 2 * x
    >>> twice
    <truthing.compiled.Compiled object at ...>
    """
    if function is None:
        return lambda given: Compiled(given, options)
    return Compiled(function, options)


def settle() -> str:
    """See to it that there is a place for compiled code; what the user must be told, or nothing.

    Without a place numba refuses to work at all. The last resort is a private folder among the
    temporary files.
    """
    given = os.environ.get(VARIABLE)
    if given and _usable(Path(given)):
        return ""
    wrong = f"{VARIABLE}={given} cannot be written. " if given else ""
    if _usable(HOUSE / "noise" / "__pycache__") or _usable(_home()):
        return wrong.strip()
    folder, new = _private()
    _use(folder)
    if not new:
        return wrong.strip()
    return (
        f"{wrong}Compiled code cannot be kept beside the library or in a home folder. It is kept "
        f"in {folder}: the first run takes up to a minute longer, and again when that folder is "
        f"emptied. Set {VARIABLE} to a folder that lasts."
    )


def when_compiling(say: Callable[[], None]) -> None:
    """``say`` is called once, before this machine compiles anything that it has not kept."""
    with _ONE_AT_A_TIME:
        if say not in _tell:
            _tell.append(say)


def compiled_before(function: Callable[..., Any]) -> bool:
    """Is compiled code of this function kept from an earlier run?"""
    source, given = Path(function.__code__.co_filename), os.environ.get(VARIABLE)
    places = [Path(given)] if given else [source.parent / "__pycache__", _home()]
    name = f"{source.stem}.{function.__name__}-*.nbi"
    return any(next(place.rglob(name), None) is not None for place in places)


def _use(folder: Path) -> None:
    os.environ[VARIABLE] = str(folder)
    if "numba" in sys.modules:  # it has looked at the variable already
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def _usable(folder: Path) -> bool:
    """Whether the folder, or the nearest one above that exists, can be written."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _home() -> Path:
    """Where numba keeps compiled code of libraries that cannot be written."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", os.path.expanduser("~"))) / "numba" / "Cache"
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~/Library/Caches")) / "numba"
    return Path(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))) / "numba"


def _private() -> tuple[Path, bool]:
    """A folder that nobody else can write, and whether it is new: code is loaded from it."""
    who = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"truthing-compiled-{who}"
    try:
        folder.mkdir(mode=0o700)
        return folder, True
    except FileExistsError:
        found = folder.lstat()
        private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
        if private and (not hasattr(os, "getuid") or found.st_uid == os.getuid()):
            return folder, False
    return Path(tempfile.mkdtemp(prefix="truthing-compiled-")), True
