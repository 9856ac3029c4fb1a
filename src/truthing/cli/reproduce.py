"""truthing reproduce."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import showing
from truthing.cli.groups import spread
from truthing.errors import InputError, did_you_mean


@spread
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="Which paper; without a name, the list.")
    ] = None,
    figures: Annotated[str, typer.Option(help="Folder for the figures (PNG and SVG).")] = "figures",
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer random draws: minutes become seconds.")
    ] = False,
    forms: showing.Forms = showing.PRINTED,
) -> None:
    """Tables and figures of the papers, ours beside the printed ones."""
    from truthing.reproduce import PAPERS, run
    from truthing.reproduce.tables import keeping

    if name is None:
        for paper, what in PAPERS.items():
            typer.echo(f"{paper:<12} {what}")
        return
    if name not in PAPERS:
        raise InputError(
            f"no reproduction is called {name!r}.{did_you_mean(name, PAPERS)} There are "
            f"{', '.join(PAPERS)}."
        )
    forms.check()
    if not (forms.as_json or forms.as_markdown or forms.as_csv):
        run(name, figures=figures, quick=quick)
        return
    with keeping(name) as kept:
        run(name, figures=figures, quick=quick)
    showing.deliver(kept, forms, lambda *_: None, about={})
