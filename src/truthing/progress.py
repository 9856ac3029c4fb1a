"""How far a long computation is: a callable that is given the share done and words. Raising
from it stops the work.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator

Progress = Callable[[float, str], None]
AT_ONCE = 20_000_000  # elementary steps between two words: a fraction of a second


def silent(done: float, words: str) -> None:
    """Nobody listens."""


def part(progress: Progress, start: float, stop: float) -> Progress:
    """Progress of one part of a longer way.

    >>> part(lambda done, words: print(f"{done:.0%} {words}"), 0.5, 1.0)(0.2, "drawing")
    60% drawing
    """
    return lambda done, words: progress(start + (stop - start) * done, words)


def stretches(n_steps: int, work: float) -> Iterator[tuple[int, int]]:
    """Steps of a loop cut into stretches with time for a word in between; depends on the work only,
    so that the answer cannot depend on who listens.

    >>> list(stretches(5, work=8e6))
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(1, int(AT_ONCE // max(work, 1)))
    return ((start, min(start + size, n_steps)) for start in range(0, n_steps, size))


def listener(progress: bool | Progress) -> Progress:
    """What a caller asked for: a callable of its own, a line on standard error for each new
    word (True), or nothing.
    """
    if callable(progress):
        return progress
    if not progress:
        return silent
    return _Widget() if _in_notebook() else _Lines()


def _in_notebook() -> bool:
    """Only a notebook's kernel has loaded these, and only it can show and replace a widget."""
    return "ipykernel" in sys.modules and "IPython.display" in sys.modules


class _Widget:
    """One bar in a notebook, with the time left; it goes when the work is done."""

    def __init__(self) -> None:
        display = sys.modules["IPython.display"]
        self._html = display.HTML
        self._start = time.monotonic()
        self._handle = display.display(self._html(""), display_id=True)

    def __call__(self, done: float, words: str) -> None:
        if done >= 1:
            self._handle.update(self._html(""))
            return
        passed = time.monotonic() - self._start
        left = f", about {passed * (1 - done) / done:.0f} s left" if done > 0.05 else ""
        text = f"{html.escape(words)} {done:.0%}{left}"
        self._handle.update(self._html(f'<progress value="{done:.3f}" max="1"></progress> {text}'))


class _Lines:
    """One line for each thing that is being done."""

    last = ""

    def __call__(self, done: float, words: str) -> None:
        if words != self.last:
            print(f"truthing: {words} …", file=sys.stderr)
            self.last = words
