"""truthing doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import options, parse, showing
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
    layout: options.Layout = None,
    item_column: options.ItemColumn = None,
    labeler_column: options.LabelerColumn = None,
    label_column: options.LabelColumn = None,
    prediction_column: options.PredictionColumn = None,
    score_column: options.ScoreColumn = None,
    truth_column: options.TruthColumn = None,
    labeler_columns: options.LabelerColumns = None,
    ignore: options.Ignore = None,
    missing: options.Missing = None,
    classes: options.Classes = None,
    map: options.Map = None,
    question: options.Question = None,
) -> None:
    """What is in these files, what can be computed, and what is missing for the rest."""
    from truthing.doctor import examine
    from truthing.render.doctor import show

    output.check()
    asked = parse.asked(
        layout=layout,
        item_column=item_column,
        labeler_column=labeler_column,
        label_column=label_column,
        prediction_column=prediction_column,
        score_column=score_column,
        truth_column=truth_column,
        labeler_columns=labeler_columns,
        ignore=ignore,
        missing=missing,
        classes=classes,
        map=map,
        question=question,
    )
    found = examine(files, asked)
    showing.deliver(found, output, show, about={})
