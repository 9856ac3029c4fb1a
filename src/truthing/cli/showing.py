"""In which forms a result is shown and written, the same for every command."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truthing.errors import InputError, TruthingError
from truthing.results import Result

if TYPE_CHECKING:
    from truthing.requirements import Verdict

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object that follows the published schema.")
]
Markdown = Annotated[
    bool, typer.Option("--markdown", help="Print Markdown, for notes and pull requests.")
]
Csv = Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")]
Html = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Also write one HTML page.")
]
TableFile = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="FILE",
        help="Also write the table to this file (.csv, .tsv, .parquet, .jsonl).",
    ),
]
Figures = Annotated[
    str | None,
    typer.Option(
        "--figures",
        metavar="FOLDER",
        help="Also draw every picture into this folder (PNG, SVG, PDF, captions).",
    ),
]
Plot = Annotated[str | None, typer.Option("--plot", metavar="FILE", hidden=True)]


@dataclass(frozen=True)
class Forms:
    """What is printed: one of these, or words and tables for people."""

    as_json: Json = False
    as_markdown: Markdown = False
    as_csv: Csv = False

    def check(self) -> None:
        named = {"json": self.as_json, "markdown": self.as_markdown, "csv": self.as_csv}
        chosen = [f"--{name}" for name, wanted in named.items() if wanted]
        if len(chosen) > 1:
            raise InputError(f"{' and '.join(chosen)} cannot be printed together: choose one.")


@dataclass(frozen=True)
class Output(Forms):
    """What is printed, and which files are written."""

    html: Html = None
    table: TableFile = None
    figures: Figures = None
    plot: Plot = None

    def check(self) -> None:
        """Refuse before anything is computed."""
        super().check()
        for option, name in (("--html", self.html), ("--table", self.table), ("--plot", self.plot)):
            if name is not None and not Path(name).parent.is_dir():
                raise InputError(
                    f"{option} {name}: there is no folder {Path(name).parent}. Create it first."
                )


ON_SCREEN, PRINTED = Output(), Forms()


def deliver(
    result: Result,
    forms: Forms,
    show: Callable[..., None],
    *,
    about: dict[str, Any],
    words: dict[str, Any] | None = None,
    verdicts: Sequence[Verdict] = (),
) -> None:
    """Write the files that were asked for, then print: neither a full disk nor a reader who leaves
    early (``| head``) loses both.

    ``about`` is asked of the result itself (level, metric); ``words`` is only for people.
    """
    words = words or {}
    written: list[str] = []
    problem: Exception | None = None
    if isinstance(forms, Output):
        try:
            for sentence in _files(result, forms, about, words, verdicts):
                written.append(sentence)
        except (TruthingError, OSError) as failed:
            problem = failed
    _print(result, forms, show, about, words, verdicts)
    if written:
        from truthing.render.console import err

        for sentence in written:
            err().print(sentence)
    if problem is not None:
        raise problem


def _print(
    result: Result,
    forms: Forms,
    show: Callable[..., None],
    about: dict[str, Any],
    words: dict[str, Any],
    verdicts: Sequence[Verdict],
) -> None:
    if forms.as_json:
        found = result.json_object(**about)
        if verdicts:
            found["requirements"] = [verdict.to_dict() for verdict in verdicts]
        typer.echo(json.dumps(found, default=str))
    elif forms.as_csv:
        from truthing.render.sheet import as_csv

        typer.echo(as_csv(result.to_frame(**about)), nl=False)
        # a table of numbers has no room for them
        for check in getattr(result, "warnings", ()):
            typer.echo(f"Check: {check}", err=True)
    elif forms.as_markdown:
        page = result.to_markdown(**about, **words, requirements=verdicts)
        typer.echo(page, nl=False)
    else:
        from truthing.render.console import out

        show(result, out(), **about, **words)
        if verdicts:
            from truthing.render.terminal import required

            required(out(), verdicts)


def _files(
    result: Result, output: Output, about: dict[str, Any], words: dict[str, Any], verdicts: Any
) -> Iterator[str]:
    """Write each file, and say where it is."""
    if output.html is not None:
        result.to_html(output.html, **about, **words, requirements=verdicts)
        yield f"The page is in {output.html}."
    if output.table is not None:
        from truthing.tables.write import write_frame

        write_frame(result.to_frame(**about), output.table)
        yield f"The table is in {output.table}."
    drawn = {k: v for k, v in (about | words).items() if k in ("level", "metric", "terms")}
    if output.figures is not None:
        written = result.save_figures(output.figures, **drawn)
        yield f"{len(written) - 1} figures and their captions are in {output.figures}."
    if output.plot is not None:
        from truthing.render.pictures import pictures, save

        save(next(iter(pictures(result, **drawn).values())), output.plot)
        yield f"The figure is in {output.plot}. Soon --figures FOLDER will replace --plot."


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
