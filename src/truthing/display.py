"""Who shows a result: the package's front door offers renderers, results ask for one by name when
something is to be shown.

A result is data on a lower floor than pages and pictures, and knows none of them by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_offered: dict[str, Callable[[], Any]] = {}


def offer(name: str, load: Callable[[], Any]) -> None:
    """``load()`` gives the module that shows results in this way; it runs when somebody asks."""
    _offered[name] = load


def renderer(name: str) -> Any:
    """The module behind a way to show results."""
    return _offered[name]()
