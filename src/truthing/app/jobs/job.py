"""Job: its question, the files and answers it needs, its function, and the command that does
the same.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from truthing.app.fields import Field, option
from truthing.app.look import Look
from truthing.app.task import JobAnswer, Say, Task
from truthing.app.words import plain, plain_document
from truthing.errors import in_options
from truthing.results import Result
from truthing.tables.asked import WORDS


@dataclass(frozen=True)
class Slot:
    """A place for a file.

    ``use`` is what must be in it, ``columns`` what the command can be told about it, ``flag`` its
    option (none: an argument); ``many`` takes several.
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
    run: Callable[[Task, Say], JobAnswer]
    hinders: Callable[[Look], str] = lambda _: (
        ""
    )  # why it cannot run on these files, beyond missing ones

    def missing(self, found: Look) -> str:
        """Why this job cannot run on these files; empty where it can."""
        absent = [
            slot.use
            for slot in self.slots
            if slot.needed and not slot.any_file and not found.holding(slot.use)
        ]
        if absent:
            return f"needs a file of {' and '.join(absent)}"
        if not found.files and any(slot.needed for slot in self.slots):
            return "needs a file"
        return self.hinders(found)

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
        """What was said about columns, as options; where files call their items differently,
        all their names.
        """
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


def answered(result: Result, about: dict[str, Any], **words: Any) -> JobAnswer:
    """A result in every form that the page hands out."""
    from truthing.render.sheet import as_csv, sheet

    data, table = _as_the_command(result, about), as_csv(result.to_frame(**about))
    shown = sheet(result, **about, **{k: v for k, v in words.items() if k != "sensitivity"})
    sentences = (*shown.more, *shown.warnings, *shown.assumptions, shown.following, shown.methods)
    page = plain_document(result.to_html(**about, **words), filter(None, sentences))
    return JobAnswer(plain(shown.headline), data, page, table)


def _as_the_command(result: Result, about: dict[str, Any]) -> str:
    """The JSON object that the command prints: its sentences speak of options."""
    found = result.json_object(**about)
    for kind in ("assumptions", "warnings"):
        if kind in found:
            found[kind] = [in_options(sentence) for sentence in found[kind]]
    return json.dumps(found, default=str)


def two_opinions(found: Look) -> str:
    """One labeler and no gold can be told apart from no other story."""
    if found.labelers == 1 and not found.holding("gold"):
        return "one labeler alone says nothing about its own mistakes: add gold or a second labeler"
    return ""


def typed_path(name: str) -> str:
    """A file's name as an argument, also where it looks like an option.

    >>> typed_path("my labels.csv"), typed_path("-x.csv")
    ("'my labels.csv'", './-x.csv')
    """
    return shlex.quote(f"./{name}" if name.startswith("-") else name)
