"""truthing doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import reading, showing
from truthing.cli.groups import spread


@spread
def doctor(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…", help="Label, prediction and gold files; - is standard input."
        ),
    ],
    output: showing.Output = showing.ON_SCREEN,
    files_are: reading.AllFiles = reading.ALL,
) -> None:
    """What is in these files, what can be computed, and what is missing for the rest."""
    from truthing.doctor import examine
    from truthing.render.doctor import show

    output.check()
    asked = files_are.asked()
    found = examine(files, asked)
    showing.deliver(found, output, show, about={})
