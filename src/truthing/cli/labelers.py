"""truthing labelers."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from truthing import __version__
from truthing.cli import options, parse


def labelers(
    labels: Annotated[
        list[str],
        typer.Argument(metavar="LABELS…", help="One file or several; - is standard input."),
    ],
    gold: options.Gold = None,
    noise: options.Noise = None,
    prior: options.Prior = None,
    expert: Annotated[
        float,
        typer.Option(
            "--expert", help="Error rate of the expert that labelers are counted against."
        ),
    ] = 0.05,
    top: Annotated[
        int, typer.Option("--top", help="How many labelers to list, best and worst.")
    ] = 20,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot", help="Also draw what labels are worth into this file (PNG, SVG, PDF)."
        ),
    ] = None,
    csv: Annotated[
        str | None,
        typer.Option(
            "--csv", help="Also write one row for each labeler to this file (.csv, .parquet …)."
        ),
    ] = None,
    repeats: options.Repeats = "error",
    level: options.Level = 0.95,
    as_json: options.Json = False,
    seed: options.Seed = 0,
    layout: options.Layout = None,
    item_column: options.ItemColumn = None,
    labeler_column: options.LabelerColumn = None,
    label_column: options.LabelColumn = None,
    truth_column: options.TruthColumn = None,
    labeler_columns: options.LabelerColumns = None,
    ignore: options.Ignore = None,
    missing: options.Missing = None,
    classes: options.Classes = None,
    map: options.Map = None,
    question: options.Question = None,
) -> None:
    """Who is good, who adds what, who copies whom: error, bits in a label and bits it adds, for each labeler."""
    from truthing.case import read_case
    from truthing.people.labelers import labelers as describe
    from truthing.render import labelers as render
    from truthing.render.console import err, out
    from truthing.render.waiting import waiting
    from truthing.tables.write import write_frame

    said = parse.asked(
        layout=layout, item_column=item_column, labeler_column=labeler_column,
        label_column=label_column, truth_column=truth_column, labeler_columns=labeler_columns,
        ignore=ignore, missing=missing, classes=classes, map=map, question=question,
    )  # fmt: skip
    case = read_case(labels, gold=gold, asked=said)
    panel, known = case.labels, case.gold
    with waiting() as progress:
        result = describe(
            panel, gold=known, noise=parse.noise(noise), prior=parse.prior(prior, panel.classes, None), repeats=repeats, seed=seed,  # type: ignore[arg-type]
            progress=progress,
        )  # fmt: skip
    parse.in_words_of_options(result)
    if as_json:
        typer.echo(json.dumps({**result.to_dict(level), "version": __version__}, default=str))
    else:
        render.show(result, out(), level=level, expert=expert, top=top)
    if csv is not None:
        write_frame(result.frame(level), csv)
        err().print(f"table written: {csv}")
    if plot is not None:
        render.save(result, plot, level)
        err().print(f"figure written: {plot}")
