"""The `truthing` command and how it ends.

0 done, 1 could not run (one line why), 2 usage, 3 missed and 4 undecided (--require), 130 stopped
by Ctrl-C, 141 nobody reads any more.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from truthing import __version__
from truthing.cli import (
    ceiling,
    compare,
    doctor,
    error,
    example,
    grade,
    labelers,
    monitor,
    plan,
    prefer,
    rate,
    readers,
    reproduce,
    serve,
    simulate,
)
from truthing.errors import TruthingError, in_options, in_words


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C or an error of the operating system, on its way past typer's own exit codes."""

    def __init__(self, reason: OSError | KeyboardInterrupt) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Commands(TyperGroup):
    """The commands; how they end is decided in `main`."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (OSError, KeyboardInterrupt) as reason:
            raise Interrupted(reason) from reason


app = typer.Typer(
    name="truthing",
    cls=Commands,
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
app.command("prefer")(prefer.prefer)
app.command("monitor")(monitor.monitor)
app.command("readers")(readers.readers)
app.command("ceiling")(ceiling.ceiling)
app.command("labelers", cls=labelers.OldCsv)(labelers.labelers)
app.command("error")(error.error)
app.command("plan")(plan.plan)
app.command("example")(example.example)
app.command("simulate")(simulate.simulate)
app.command("reproduce")(reproduce.reproduce)
app.command("serve")(serve.serve)


def main() -> None:
    """Run, and turn every error a user can mend into one line."""
    # numpy's matrices are small here: more threads would only wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_streams()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # what cannot be written must fail here, not when Python ends
    except TruthingError as problem:
        fail(str(problem))
    except OSError as problem:
        _refused(problem)
    except Interrupted as problem:
        _refused(problem.reason)
    except KeyboardInterrupt as stopped:  # before or after the command itself
        _refused(stopped)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # rich and typer end with 1 then
            _refused(ended.__context__)
        raise


def _open_streams() -> None:
    """Streams that somebody closed: no answer without an output, and no file in their place."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        fail(
            "standard output is closed, so nobody would see the answer. Send it somewhere: > FILE."
        )
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal without these letters shows question marks
            stream.reconfigure(errors="replace")


def _refused(problem: OSError | KeyboardInterrupt) -> NoReturn:
    """Stopped from outside: one line why; a reader who had enough is not told anything."""
    # what is left in the buffer would fail once more when Python ends
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(problem, KeyboardInterrupt):
        print("truthing: stopped.", file=sys.stderr)
        sys.exit(130)
    if isinstance(problem, BrokenPipeError):
        sys.exit(141)  # as other programs do; not 0, which a gate would take for a pass
    where = problem.filename2 or problem.filename
    fail(in_words(problem) if where is None else f"{where}: {in_words(problem)}")


def fail(problem: str) -> NoReturn:
    """One line on stderr: what was found, where, and what to do."""
    from truthing.render.console import safe

    print(f"truthing: {safe(in_options(str(problem)), 2000)}", file=sys.stderr)
    sys.exit(1)
