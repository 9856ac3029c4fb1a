"""Job: its question, the files and answers it needs, its function, and the command that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from truthing.app.fields import Field, option
from truthing.app.task import Answer, Say, Task


@dataclass(frozen=True)
class Slot:
    """A place for a file: ``use`` is what must be in it, ``flag`` its option on the command line (none: an argument)."""

    use: str
    words: str
    flag: str = ""
    needed: bool = True
    any_file: bool = False


@dataclass(frozen=True)
class Job:
    """One thing the page can do. ``columns`` are what its command can be told about the columns of its files."""

    name: str
    title: str
    question: str
    slots: tuple[Slot, ...]
    fields: tuple[Field, ...]
    columns: tuple[str, ...]
    run: Callable[[Task, Say], Answer]

    def command(self, task: Task) -> str:
        """The command line that does the same."""
        arguments: list[str] = []
        flags: list[str] = []
        for slot in self.slots:
            for given in task.files.get(slot.use, ()):
                name = typed_path(given.name)
                if slot.flag:
                    flags += [slot.flag, name]
                elif name not in arguments:  # one file that holds everything is named once
                    arguments.append(name)
        options = {**self._columns(task), **task.options, **({} if task.level == 0.95 else {"level": task.level})}
        for name, value in options.items():
            flags += option(name, value)
        return " ".join(["truthing", self.name, *arguments, *flags])

    def _columns(self, task: Task) -> dict[str, str]:
        """Column names as options; where files call their items differently, all their names."""
        files = [given for chosen in task.files.values() for given in chosen]
        found: dict[str, str] = {}
        for role in self.columns:
            names = [given.columns[role] for given in files if role in given.columns]
            if role == "item_column" and names:
                names = [given.columns.get(role) or given.item or "" for given in files]
            if names:
                found[role] = ",".join(dict.fromkeys(filter(None, names)))
        return found


def typed_path(name: str) -> str:
    """A file's name as an argument, also where it looks like an option.

    >>> typed_path("my labels.csv"), typed_path("-x.csv")
    ("'my labels.csv'", './-x.csv')
    """
    return shlex.quote(f"./{name}" if name.startswith("-") else name)
