"""A progress bar with the time left, on standard error, for anything that takes longer than a moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from truthing.progress import Progress, compiled_before, silent
from truthing.render.console import err

PATIENCE = 1.5  # seconds before a bar is worth looking at


@contextmanager
def waiting() -> Iterator[Progress]:
    """Something to tell progress to; nothing is shown where standard error is not a terminal that can redraw."""
    console = err()
    if not console.is_terminal:
        yield silent
        return
    if not compiled_before():
        console.print("First run on this machine: compiling takes up to a minute; later runs start at once.")
    if console.is_dumb_terminal:
        yield silent
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"), BarColumn(24), TaskProgressColumn(), TimeRemainingColumn(), console=console, transient=True
    )  # fmt: skip
    task = bar.add_task("reading", total=1.0)
    timer = Timer(PATIENCE, bar.start)
    timer.start()
    try:
        yield lambda done, words: bar.update(task, completed=done, description=words)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
