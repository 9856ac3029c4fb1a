"""The `truthing` command and how it ends: 0 done, 1 could not run (one line why), 2 usage."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from truthing import __version__
from truthing.cli import (
    ceiling,
    compare,
    doctor,
    error,
    grade,
    labelers,
    plan,
    rate,
    reproduce,
    serve,
    simulate,
)
from truthing.errors import TruthingError, in_options

app = typer.Typer(
    name="truthing",
    help="Grade classifiers with dirty answer keys: honest metrics from noisy labels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"truthing {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Grade classifiers with dirty answer keys: honest metrics from noisy labels."""


app.command("doctor")(doctor.doctor)
app.command("grade")(grade.grade)
app.command("compare")(compare.compare)
app.command("rate")(rate.rate)
app.command("ceiling")(ceiling.ceiling)
app.command("labelers")(labelers.labelers)
app.command("error")(error.error)
app.command("plan")(plan.plan)
app.command("simulate")(simulate.simulate)
app.command("reproduce")(reproduce.reproduce)
app.command("serve")(serve.serve)


def main() -> None:
    """Run, and turn every error a user can mend into one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal without these letters shows question marks
    try:
        app()
    except TruthingError as problem:
        fail(problem)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        print("truthing: stopped.", file=sys.stderr)
        sys.exit(130)


def fail(problem: Exception) -> None:
    """One line on stderr: what was found, where, and what to do."""
    from truthing.render.console import safe

    print(f"truthing: {safe(in_options(str(problem)), 2000)}", file=sys.stderr)
    sys.exit(1)
