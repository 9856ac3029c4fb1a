"""The terminal: one place that decides on colour, width and what is safe to print."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from rich.console import Console

_CONTROL = re.compile(  # what moves or hides what stands around it, or cannot be seen
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)


def safe(text: Any, most: int = 200) -> str:
    """Somebody's text without terminal control codes, and cut where it would flood the screen.

    >>> safe("a\\x1b[31mred")
    'a\\ufffd[31mred'
    """
    clean = _CONTROL.sub("\ufffd", str(text))
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def out() -> Console:
    """Standard output; plain text in a pipe."""
    # a pipe has no width of its own: let long lines be long there, unless COLUMNS says otherwise
    endless = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(
        highlight=False,
        width=160 if endless else None,
        soft_wrap=endless,
        emoji=False,
        markup=False,
    )


def err() -> Console:
    """Standard error, for warnings and progress."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False)
