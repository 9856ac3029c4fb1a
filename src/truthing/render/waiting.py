"""A progress bar with the time left, on standard error, for anything that takes longer than a
moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Timer
from typing import TypeVar

from truthing.compiled import when_compiling
from truthing.progress import Progress, silent
from truthing.render.console import err

Item = TypeVar("Item")
PATIENCE = 1.5  # seconds before a bar is worth looking at


@cache
def _say_compiling() -> None:
    """Once a process."""
    err().print(
        "First run of this kind on this machine: compiling takes up to a minute; later runs start "
        "at once."
    )


@contextmanager
def waiting() -> Iterator[Progress]:
    """Something to tell progress to; nothing is shown where standard error is not a terminal that
    can redraw.
    """
    console = err()
    if not console.is_terminal:
        yield silent
        return
    when_compiling(_say_compiling)
    if console.is_dumb_terminal:
        yield silent
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(24),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("reading", total=1.0)
    timer = Timer(PATIENCE, bar.start)
    timer.start()
    try:
        yield lambda done, words: bar.update(task, completed=done, description=words)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def counted(items: Iterable[Item], words: str) -> Iterator[Item]:
    """The items of a long loop, one after the other, under a bar.

    >>> [n * n for n in counted(range(3), "squaring")]
    [0, 1, 4]
    """
    everything = list(items)
    with waiting() as say:
        for done, item in enumerate(everything):
            say(done / len(everything), words)
            yield item
