"""truthing grade."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from truthing.cli import options
from truthing.errors import InputError


def grade(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="PREDICTIONS LABELS",
            help="Predictions and labels, or ONE file that holds everything; - is standard input.",
        ),
    ],
    gold: Annotated[str | None, typer.Option(help="File with the known truth of some items.")] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="What is known about the labelers: 0.05, a range 0.02-0.08, or a file (labeler, error). Default: learned."
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="Class prior: P(positive class), or one share for each class split by commas. Default: learned."
        ),
    ] = None,
    positive: Annotated[str | None, typer.Option(help="The positive one of two classes.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Cut the scores here instead of using the predictions.")
    ] = None,
    target: Annotated[str, typer.Option(help="sample: on these items; population: on new data like them.")] = "sample",
    method: Annotated[
        str,
        typer.Option(
            help="posterior, or a method of the papers: ratios, sampling, exact, estimated-labels, labeler-mean, …"
        ),
    ] = "posterior",
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Show only this metric (may be repeated).")
    ] = None,
    panel_error: Annotated[
        str | None,
        typer.Option(help="Share of items on which the panel may be wrong together; 0 trusts the noise model."),
    ] = None,
    repeats: Annotated[
        str, typer.Option(help="When a labeler contradicts itself: error, first, last or keep.")
    ] = "error",
    draws: Annotated[int, typer.Option(help="Number of posterior draws.")] = 4000,
    level: options.Level = 0.95,
    as_json: options.Json = False,
    sensitivity: Annotated[
        bool,
        typer.Option("--sensitivity", help="Also show how accuracy moves with what was assumed (takes a few runs)."),
    ] = False,
    truth_to: Annotated[
        str | None, typer.Option("--truth", help="Write each item's class probabilities to this file.")
    ] = None,
    seed: options.Seed = 0,
    layout: options.Layout = None,
    item_column: options.ItemColumn = None,
    labeler_column: options.LabelerColumn = None,
    label_column: options.LabelColumn = None,
    prediction_column: options.PredictionColumn = None,
    score_column: options.ScoreColumn = None,
    truth_column: options.TruthColumn = None,
) -> None:
    """How good is the classifier really, and how sure can one be? Noisy labels in, honest intervals out."""
    from truthing import grading
    from truthing.render.console import err, out

    named = {"item_column": item_column, "labeler_column": labeler_column, "label_column": label_column}
    others = {"prediction_column": prediction_column, "score_column": score_column, "truth_column": truth_column}
    predictions, labels, known, notes = _read(files, gold, layout, named, others)
    report = grading.grade(
        predictions, labels, gold=known, noise=_noise(noise), prior=_prior(prior, labels.classes, positive), positive=positive,
        threshold=threshold, target=target, method=method, panel_error=_panel_error(panel_error), repeats=repeats,  # type: ignore[arg-type]
        metrics=metric, draws=draws, seed=seed, progress=err().is_terminal,
    )  # fmt: skip
    report.warnings.extend(notes)
    if truth_to is not None:
        from truthing.tables.write import write_frame

        write_frame(report.truth_frame(), truth_to)
    if as_json:
        typer.echo(report.to_json(level))
    else:
        from truthing.render.terminal import show

        show(report, out(), level)
        if sensitivity:
            out().print(f"\n{report.sensitivity(level)}")


def _read(
    files: list[str], gold: str | None, layout: str | None, named: dict[str, str | None], others: dict[str, str | None]
) -> tuple[Any, Any, Any, list[str]]:
    """Predictions, labels, gold and what had to be said about the files."""
    from truthing.tables import inspect

    item, truth = {"item_column": named["item_column"]}, {"truth_column": others["truth_column"]}
    known = None
    if len(files) == 1:
        reading = inspect(files[0], layout=layout, **named, **others)
        predictions = reading.predictions
        known = reading.gold if reading.has_gold and gold is None else None
    elif len(files) == 2:
        scored = {k: v for k, v in others.items() if k != "truth_column"}
        predictions = inspect(files[0], **item, **scored).predictions
        reading = inspect(files[1], layout=layout, **named)
    else:
        raise InputError(f"grade takes predictions and labels, or one file with both; {len(files)} files were given.")
    if gold is not None:
        known = inspect(gold, **item, **truth).gold
    return predictions, reading.labels, known, list(reading.columns.notes)


def _noise(text: str | None) -> Any:
    """0.05, 0.02-0.08, or a file: labeler and error columns, or a JSON object from labeler to rate or matrix."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    low, dash, high = text.partition("-")
    if dash:
        try:
            return float(low), float(high)
        except ValueError:
            pass
    path = Path(text)
    if not path.is_file():
        raise InputError(f"--noise {text}: not a number, not a range such as 0.02-0.08, and no such file.")
    if path.suffix == ".json":
        try:
            return {
                k: v if isinstance(v, int | float) else [list(map(float, row)) for row in v]
                for k, v in json.loads(path.read_text()).items()
            }
        except (json.JSONDecodeError, AttributeError, TypeError, ValueError):
            raise InputError(f"{text} is not a JSON object from labeler to error rate or confusion matrix.") from None
    from truthing.tables.source import open_table

    table = open_table(text)
    columns = {c.lower(): c for c in table.frame.columns}
    who = next((columns[c] for c in ("labeler", "worker", "annotator", "rater", "judge") if c in columns), None)
    rate = next((columns[c] for c in ("error", "rate", "noise", "error_rate") if c in columns), None)
    if who is None or rate is None:
        raise InputError(f"{text} needs a labeler and an error column; it has {', '.join(table.frame.columns)}.")
    codes, names = table.required(who, "labeler")
    return {names[c]: float(v) for c, v in zip(codes, table.numbers(rate, "error"))}


def _prior(text: str | None, classes: tuple[Any, ...], positive: str | None) -> Any:
    if text is None:
        return None
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--prior {text}: give a number, or one for each class split by commas.") from None
    if len(shares) == 1 and len(classes) == 2 and positive is not None and str(classes[0]) == positive:
        return [shares[0], 1 - shares[0]]
    return shares if len(shares) > 1 else shares[0]


def _panel_error(text: str | None) -> Any:
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"--panel-error {text}: give a share such as 0.02, 0 to switch it off, or A,B of a Beta distribution."
        ) from None
    return values[0] if len(values) == 1 else tuple(values)
