"""The other process: do the job, say how far it is, leave the results in the run's folder."""

from __future__ import annotations

import signal
import traceback
from multiprocessing.connection import Connection

from truthing.app.task import Task
from truthing.errors import TruthingError, in_words
from truthing.render.console import safe


def work(task: Task, telling: Connection) -> None:
    """Run a task to its end: done, or failed with the sentence that the command line would
    print.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its runs
    from truthing.app.jobs import JOBS

    def say(fraction: float | None, words: str) -> None:
        telling.send(("progress", fraction, words))

    try:
        JOBS[task.job].run(task, say).save(task)
    except TruthingError as problem:
        telling.send(("failed", safe(problem, 2000)))
    except OSError as problem:
        telling.send(("failed", f"The result could not be kept: {in_words(problem)}"))
    except Exception as problem:
        traceback.print_exc()
        telling.send(
            (
                "failed",
                f"Something went wrong that should not ({type(problem).__name__}: "
                f"{safe(problem)}). "
                "The terminal that runs the page shows the details.",
            )
        )
    else:
        telling.send(("done", ""))
