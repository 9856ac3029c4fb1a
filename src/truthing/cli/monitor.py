"""truthing monitor."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import options, parse, showing
from truthing.cli.groups import spread


@spread
def monitor(
    stream: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="One row for each item: truth or label, perhaps date, batch, version; - is "
            "standard input.",
        ),
    ],
    floor: Annotated[
        float, typer.Option("--floor", help="Ring when the pass rate has been below this.")
    ] = 0.9,
    alarm: Annotated[
        float, typer.Option("--alarm", help="Chance of a false alarm over all looks together.")
    ] = 0.05,
    evidence: Annotated[
        str | None,
        typer.Option("--evidence", metavar="gold|labels", help="What to believe. Default: gold."),
    ] = None,
    wrong_fails: Annotated[
        float | None,
        typer.Option(
            "--wrong-fails", help="With labels: share of passing items labelled failing, at most."
        ),
    ] = None,
    passing: Annotated[
        str | None, typer.Option("--passing", help="The class that counts as a pass.")
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 3 when there is an alarm.")
    ] = False,
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    time_column: Annotated[
        str | None, typer.Option("--time-column", help="Column with the date.")
    ] = None,
    batch_column: Annotated[
        str | None, typer.Option("--batch-column", help="Column that names the batch.")
    ] = None,
    version_column: Annotated[
        str | None, typer.Option("--version-column", help="Column with the judge's version.")
    ] = None,
    truth_column: options.TruthColumn = None,
    label_column: options.LabelColumn = None,
) -> None:
    """Has the pass rate fallen? An alarm that may be looked at every day, and drift by batch."""
    from truthing.monitoring.monitor import monitor as watched
    from truthing.render.monitor import show

    output.check()
    result = watched(
        stream,
        floor=floor,
        alarm=alarm,
        evidence=evidence,
        wrong_fails=wrong_fails,
        passing=passing,
        time_column=time_column,
        batch_column=batch_column,
        version_column=version_column,
        truth_column=truth_column,
        label_column=label_column,
    )
    parse.in_words_of_options(result)
    showing.deliver(result, output, show, about={"level": level})
    if exit_code and result.alarm:
        raise typer.Exit(3)
