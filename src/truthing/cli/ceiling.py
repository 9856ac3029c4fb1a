"""truthing ceiling."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from truthing.cli import options, showing
from truthing.cli.groups import spread


@spread
def ceiling(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Labels (votes), soft labels, or scores with decisions; - is standard input.",
        ),
    ],
    predictions: Annotated[
        str | None,
        typer.Option("--predictions", help="A model's predictions: is it too good to be true?"),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="What the file holds: soft, uncertainty, noisy, positive_confidence, scores or "
            "labels. Default: recognised.",
        ),
    ] = None,
    prior: Annotated[
        float | None,
        typer.Option("--prior", help="Share of the positive class, for positive confidences."),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive", help="Merge classes into two: these (split by commas) against the rest."
        ),
    ] = None,
    reading: Annotated[
        str,
        typer.Option(
            "--reading",
            help='What disagreement is: "ambiguity" of the items, or "labeler error" about a '
            "definite truth.",
        ),
    ] = "ambiguity",
    calibration: Annotated[
        str,
        typer.Option(
            "--calibration", help="How scores are calibrated on decisions: platt or isotonic."
        ),
    ] = "platt",
    output: showing.Output = showing.ON_SCREEN,
    layout: options.Layout = None,
    engine: options.SomeItems = "auto",
    repeats: options.Repeats = "error",
    item_column: options.ItemColumn = None,
    labeler_column: options.LabelerColumn = None,
    label_column: options.LabelColumn = None,
    score_column: options.ScoreColumn = None,
    truth_column: options.TruthColumn = None,
    prediction_column: options.PredictionColumn = None,
    labeler_columns: options.LabelerColumns = None,
    ignore: options.Ignore = None,
    missing: options.Missing = None,
    classes: options.Classes = None,
    map: options.Map = None,
    question: options.Question = None,
    level: options.Level = 0.95,
) -> None:
    """Bayes error: the least error any classifier can reach, and whether a model is too good to
    be true.
    """
    from truthing.ceiling.bayes_error import bayes_error
    from truthing.ceiling.files import align, merge_classes, merge_predictions, read_ceiling
    from truthing.render.ceiling import show
    from truthing.render.waiting import waiting
    from truthing.tables import read_predictions
    from truthing.tables.asked import keywords

    output.check()
    words = keywords(ignore=ignore, missing=missing, classes=classes, map=map)
    panel = keywords(labeler_columns=labeler_columns, question=question)
    found = read_ceiling(
        file,
        kind=kind,
        column=score_column,
        layout=layout,
        repeats=repeats,  # type: ignore[arg-type]
        engine=engine,
        item_column=item_column,
        labeler_column=labeler_column,
        label_column=label_column,
        truth_column=truth_column,
        **words,
        **panel,
    )
    own: dict[str, Any] = (
        {"labeler_column": labeler_column, **panel} if predictions == file else {}
    )  # one file may hold votes and predictions
    model = (
        None
        if predictions is None
        else read_predictions(
            predictions,
            item_column=item_column,
            prediction_column=prediction_column,
            **words,
            **own,
        )
    )
    arguments = dict(found.arguments)
    if positive is not None and "counts" in arguments:
        names = positive.split(",")
        arguments["counts"] = merge_classes(arguments["counts"], names)
        model = None if model is None else merge_predictions(model, names)
    chosen = None if model is None else align(found, model)
    with waiting() as progress:
        progress(0.1, "bounding the Bayes error")
        result = bayes_error(
            **arguments, prior=prior, predictions=chosen, reading=reading, calibration=calibration
        )
    result.details["source"] = found.remarks
    showing.deliver(result, output, show, about={"level": level}, words={"remarks": found.remarks})
