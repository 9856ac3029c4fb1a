"""truthing grade."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from truthing.cli import checking, gates, options, parse, showing
from truthing.cli.groups import spread
from truthing.errors import InputError
from truthing.progress import part


@spread
def grade(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="PREDICTIONS LABELS",
            help="Predictions and labels, or ONE file that holds everything; - is standard input.",
        ),
    ],
    gold: options.Gold = None,
    noise: options.Noise = None,
    prior: options.Prior = None,
    positive: options.Positive = None,
    threshold: Annotated[
        float | None, typer.Option(help="Cut the scores here instead of using the predictions.")
    ] = None,
    target: options.Target = "sample",
    method: Annotated[
        str,
        typer.Option(
            help="posterior, or a method of the papers: ratios, sampling, exact, estimated-labels, labeler-mean, …"
        ),
    ] = "posterior",
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Show only this metric (may be repeated).")
    ] = None,
    panel_error: options.PanelError = None,
    repeats: options.Repeats = "error",
    draws: options.Draws = 4000,
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    gate: gates.Gate = gates.OPEN,
    terms: Annotated[
        str,
        typer.Option(
            "--terms", help="usual (recall, precision) or medical (sensitivity, specificity)."
        ),
    ] = "usual",
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Also show how accuracy moves with what was assumed (takes a few runs).",
        ),
    ] = False,
    truth_to: Annotated[
        str | None,
        typer.Option("--truth", help="Write each item's class probabilities to this file."),
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
    """How good is the classifier really, and how sure can one be? Noisy labels in, honest intervals
    out.

    As a gate: --require "accuracy >= 0.8" --require "recall[spam] >= 0.7".
    """
    from truthing import grading
    from truthing.render.terminal import show
    from truthing.render.waiting import waiting
    from truthing.render.words import check_terms

    output.check()
    check_terms(terms)
    asked = gate.asked("grade")
    named = {
        "item_column": item_column,
        "labeler_column": labeler_column,
        "label_column": label_column,
    }
    others = {
        "prediction_column": prediction_column,
        "score_column": score_column,
        "truth_column": truth_column,
    }
    predictions, labels, known, notes = _read(files, gold, layout, named, others)
    checking.for_grade(
        asked,
        predictions,
        labels,
        known,
        method=method,
        positive=positive,
        threshold=threshold,
        repeats=repeats,
    )
    with waiting() as progress:
        report = grading.grade(
            predictions, labels, gold=known, noise=parse.noise(noise), prior=parse.prior(prior, labels.classes, positive), positive=positive,
            threshold=threshold, target=target, method=method, panel_error=parse.panel_error(panel_error), repeats=repeats,  # type: ignore[arg-type]
            metrics=metric, draws=draws, seed=seed, progress=part(progress, 0, 0.4 if sensitivity else 1),
        )  # fmt: skip
        found = report.sensitivity(level, progress=part(progress, 0.4, 1)) if sensitivity else None
        for name in (
            report.metrics
        ):  # areas under curves are drawn when first asked: here, while somebody is told to wait
            report[name]
        report.warnings.extend(notes)
        report.provenance.update(showing.provenance([*files, gold, noise]))
    if truth_to is not None:
        from truthing.tables.write import write_frame

        write_frame(report.truth_frame(), truth_to)
    verdicts = gate.judge(report, asked)
    showing.deliver(
        report,
        output,
        partial(show, sensitivity=found),
        about={"level": level},
        words={"terms": terms},
        verdicts=verdicts,
    )
    gate.end(verdicts, "grade")


def _read(
    files: list[str],
    gold: str | None,
    layout: str | None,
    named: dict[str, str | None],
    others: dict[str, str | None],
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
        raise InputError(
            f"grade takes predictions and labels, or one file with both; {len(files)} files were given."
        )
    if gold is not None:
        own = (
            {**named, "layout": layout} if gold == files[-1] else item
        )  # one file may hold labels and gold
        known = inspect(gold, **own, **truth).gold
    return predictions, reading.labels, known, list(reading.columns.notes)
