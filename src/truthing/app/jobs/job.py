"""Job: its question, the files and answers it needs, its function, and the command that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from truthing.app.fields import Field, option
from truthing.app.task import Answer, Say, Task
from truthing.tables.asked import WORDS


@dataclass(frozen=True)
class Slot:
    """A place for a file.

    ``use`` is what must be in it, ``columns`` what the command can be told about it, ``flag`` its option (none: an argument); ``many`` takes several.
    """

    use: str
    words: str
    columns: tuple[str, ...]
    flag: str = ""
    needed: bool = True
    any_file: bool = False
    many: bool = False


@dataclass(frozen=True)
class Job:
    """One thing the page can do."""

    name: str
    title: str
    question: str
    slots: tuple[Slot, ...]
    fields: tuple[Field, ...]
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
        options = {
            **self._columns(task),
            **task.options,
            **({} if task.level == 0.95 else {"level": task.level}),
        }
        for name, value in options.items():
            flags += option(name, value)
        return " ".join(["truthing", self.name, *arguments, *flags])

    def _columns(self, task: Task) -> dict[str, str]:
        """What was said about columns, as options; where files call their items differently, all their names."""
        files = [(slot, given) for slot in self.slots for given in task.files.get(slot.use, ())]
        found = {
            name: given.columns[name]
            for slot, given in files
            for name in (*slot.columns, *WORDS)
            if name in given.columns
        }
        if "item_column" in found:
            names = [given.columns.get("item_column") or given.item for _, given in files]
            found["item_column"] = ",".join(dict.fromkeys(name for name in names if name))
        return found


def typed_path(name: str) -> str:
    """A file's name as an argument, also where it looks like an option.

    >>> typed_path("my labels.csv"), typed_path("-x.csv")
    ("'my labels.csv'", './-x.csv')
    """
    return shlex.quote(f"./{name}" if name.startswith("-") else name)
