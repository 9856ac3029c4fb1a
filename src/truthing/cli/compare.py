"""truthing compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from truthing.cli import checking, gates, options, parse, showing
from truthing.cli.groups import spread
from truthing.errors import InputError, listing


@spread
def compare(
    labels: Annotated[str, typer.Argument(metavar="LABELS", help="Labels; - is standard input.")],
    predictions: Annotated[
        list[str],
        typer.Argument(
            metavar="PREDICTIONS…",
            help="One file for each model; NAME=FILE names a model, otherwise the file does.",
        ),
    ],
    metric: Annotated[
        str, typer.Option("--metric", help="What to compare: accuracy, f1, recall[cat], auc, …")
    ] = "accuracy",
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="Column (of the labels or of a prediction file) that splits the items into slices.",
        ),
    ] = None,
    within: Annotated[
        float,
        typer.Option(
            "--within", help="Models that differ by at most this much count as practically equal."
        ),
    ] = 0.01,
    gold: options.Gold = None,
    noise: options.Noise = None,
    positive: options.Positive = None,
    threshold: Annotated[
        float | None, typer.Option(help="Cut the scores here instead of using the predictions.")
    ] = None,
    target: options.Target = "sample",
    panel_error: options.PanelError = None,
    repeats: options.Repeats = "error",
    draws: options.Draws = 4000,
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    gate: gates.Gate = gates.OPEN,
    seed: options.Seed = 0,
    layout: options.Layout = None,
    item_column: options.ItemColumn = None,
    labeler_column: options.LabelerColumn = None,
    label_column: options.LabelColumn = None,
    prediction_column: options.PredictionColumn = None,
    score_column: options.ScoreColumn = None,
    truth_column: options.TruthColumn = None,
) -> None:
    """Is model B better than A? Paired differences, ranks and slices, from noisy labels.

    As a gate: --require "accuracy: new - old >= 0", where new and old are models.
    """
    from truthing.comparison.compare import compare as compare_models
    from truthing.render.compare import show
    from truthing.render.waiting import waiting
    from truthing.tables import inspect

    output.check()
    asked = gate.asked("compare")
    panel, known, notes = parse.labels_and_gold(
        labels, gold, layout, item_column=item_column, labeler_column=labeler_column, label_column=label_column,
        truth_column=truth_column,
    )  # fmt: skip
    columns = {
        "item_column": item_column,
        "prediction_column": prediction_column,
        "score_column": score_column,
    }
    files = named_files(predictions)
    readings = {name: inspect(file, **columns) for name, file in files.items()}
    slices = None
    if by is not None:
        sources = (
            [inspect(labels, layout=layout, item_column=item_column), *readings.values()]
            if labels != "-"
            else list(readings.values())
        )
        slices = slice_column(by, sources)
    models = {name: reading.predictions for name, reading in readings.items()}
    checking.for_compare(
        asked, models, panel, known, positive=positive, threshold=threshold, repeats=repeats
    )
    with waiting() as progress:
        result = compare_models(
            models, panel, gold=known, noise=parse.noise(noise), threshold=threshold,
            target=target, positive=positive, panel_error=parse.panel_error(panel_error), repeats=repeats, by=slices, draws=draws, seed=seed,  # type: ignore[arg-type]
            progress=progress,
        )  # fmt: skip
    result.warnings.extend(notes)
    verdicts = gate.judge(result, asked)
    showing.deliver(
        result,
        output,
        show,
        about={"metric": metric, "level": level},
        words={"within": within},
        verdicts=verdicts,
    )
    gate.end(verdicts, "compare")


def named_files(files: list[str]) -> dict[str, str]:
    """Names of models and their files; a file without a name is called like itself, with its folder where that is needed."""
    found: dict[str, str] = {}
    stems = [Path(f).stem for f in files]
    for text in files:
        name, equals, file = text.partition("=")
        if not equals or Path(text).exists():
            file = text
            name = Path(text).stem if stems.count(Path(text).stem) == 1 else text
        if name in found:
            raise InputError(f"two models are called {name!r}: name them with NAME=FILE.")
        found[name] = file
    return found


def slice_column(name: str, sources: list[Any]) -> dict[Any, Any]:
    """The column from the first file that has it."""
    for reading in sources:
        if name in reading.table.frame.columns:
            return dict(reading.column(name))
    has = dict.fromkeys(c for reading in sources for c in reading.table.frame.columns)
    raise InputError(f"--by {name}: no file has a column {name!r}; there are {listing(has, 20)}.")
