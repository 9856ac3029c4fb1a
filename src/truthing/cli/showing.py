"""In which form a result is shown, and where it came from."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import typer

from truthing.errors import InputError

Form = Literal["table", "json", "markdown", "csv"]


def form(as_json: bool, as_markdown: bool, as_csv: bool) -> Form:
    """The one form that was asked for."""
    forms: tuple[tuple[Form, bool], ...] = (
        ("json", as_json),
        ("markdown", as_markdown),
        ("csv", as_csv),
    )
    chosen = [name for name, wanted in forms if wanted]
    if len(chosen) > 1:
        raise InputError(
            f"{' and '.join(f'--{name}' for name in chosen)} cannot be printed together: choose one."
        )
    return chosen[0] if chosen else "table"


def show_grade(report: Any, form: Form, level: float, sensitivity: Any = None) -> None:
    if form == "json":
        typer.echo(report.to_json(level))
    elif form != "table":
        _export(report, form, level)
    else:
        from truthing.render.console import out
        from truthing.render.terminal import show

        show(report, out(), level, sensitivity)


def show_rate(result: Any, form: Form, level: float) -> None:
    if form == "json":
        typer.echo(json.dumps(result.to_dict(level), default=str))
    elif form != "table":
        _export(result, form, level)
    else:
        from truthing.render import terminal
        from truthing.render.console import out

        terminal.show_rate(result, out(), level)


def _export(result: Any, form: Form, level: float) -> None:
    from truthing.render.export import as_csv, as_markdown

    typer.echo((as_markdown if form == "markdown" else as_csv)(result, level), nl=False)


def provenance(files: Sequence[str | None]) -> dict[str, Any]:
    """The command, and a checksum of every file that it read."""
    inputs = []
    for name in dict.fromkeys(files):
        if name is not None and Path(name).is_file():
            with Path(name).open("rb") as file:
                inputs.append(
                    {"file": name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
                )
    return {"command": shlex.join(["truthing", *sys.argv[1:]]), "inputs": inputs}
