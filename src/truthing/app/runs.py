"""Runs: each in a process of its own, so that the page stays alive and cancelling really stops
the work.
"""

from __future__ import annotations

import secrets
import shutil
import threading
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from truthing.app.task import Task
from truthing.app.worker import work

MOST_RUNS = 3  # of one visitor at the same time
MOST_TOGETHER = 12  # of all visitors
DIED = "The computation ended without an answer: the machine may be out of memory. Try fewer items."


class Run:
    """One computation: its state, how far it is, and the folder with its results."""

    def __init__(self, task: Task, answers: Mapping[str, str]) -> None:
        self.key = secrets.token_urlsafe(12)
        self.task = task
        self.answers = answers  # to the questions of its form, to ask again
        self.state = "running"  # then done, failed or cancelled
        self.fraction: float | None = None
        self.words = "starting"
        self.problem = ""
        spawn = get_context("spawn")
        listening, telling = spawn.Pipe(duplex=False)
        self._process = spawn.Process(target=work, args=(task, telling), daemon=True)
        self._process.start()
        telling.close()
        self._follower = threading.Thread(target=self._follow, args=(listening,), daemon=True)
        self._follower.start()

    @property
    def folder(self) -> Path:
        return self.task.folder

    def _follow(self, listening: Connection) -> None:
        """Take what the process says until it ends."""
        end, problem = "failed", DIED
        with listening:
            try:
                while True:
                    what, *told = listening.recv()
                    if what == "progress":
                        self.fraction, self.words = told
                    else:
                        end, problem = what, told[0]
            except (EOFError, OSError):
                pass
        self._process.join()
        if self.state == "running":
            self.problem = problem
            self.state = end

    def cancel(self) -> None:
        """Stop the process and throw away what it wrote; a finished run stays as it is."""
        if self.state != "running":
            return
        self.state = "cancelled"
        self._process.terminate()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        shutil.rmtree(self.folder, ignore_errors=True)
