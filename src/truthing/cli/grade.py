"""truthing grade."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from truthing.cli import checking, gates, kinds, options, parse, reading, showing, survey
from truthing.cli.groups import spread
from truthing.progress import part


@spread
def grade(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="PREDICTIONS LABELS…",
            help="Predictions and labels (several files may hold them), or ONE file that holds "
            "everything; - is standard input.",
        ),
    ],
    gold: options.Gold = None,
    drawn: survey.DrawnOptions = survey.AS_USUAL,
    said_of_labels: kinds.Said = kinds.PLAIN,
    by: options.By = None,
    deployment: options.Deployment = None,
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
            help="posterior, or a method of the papers: ratios, sampling, exact, "
            "estimated-labels, labeler-mean, …"
        ),
    ] = "posterior",
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Show only this metric (may be repeated).")
    ] = None,
    panel_error: options.PanelError = None,
    panel: options.Panel = None,
    trained_on_labels: Annotated[
        bool,
        typer.Option(
            "--trained-on-labels",
            help="The classifier learned from these very labels or labelers.",
        ),
    ] = False,
    classifier_group: Annotated[
        str | None,
        typer.Option(
            "--classifier-group",
            metavar="NAME",
            help="The group (--groups) of the classifier itself: its siblings' votes count less.",
        ),
    ] = None,
    repeats: options.Repeats = "error",
    draws: options.Draws = 4000,
    engine: options.Engine = "auto",
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
    files_are: reading.AllFiles = reading.ALL,
) -> None:
    """How good is the classifier really, and how sure can one be? Noisy labels in, honest intervals
    out.

    As a gate: --require "accuracy >= 0.8" --require "recall[spam] >= 0.7".
    """
    from truthing import grading
    from truthing.case import read_case
    from truthing.render.tags import show as show_tags
    from truthing.render.terminal import show
    from truthing.render.waiting import waiting
    from truthing.render.words import check_terms
    from truthing.streaming.choice import runs_streamed
    from truthing.streaming.grade import grade_streamed

    output.check()
    check_terms(terms)
    asked = gate.asked("grade")
    wanted = files_are.asked(said_of_labels.tags)
    common: dict[str, Any] = {
        "by": by,
        "deployment": survey.deployment(deployment),
        "noise": parse.noise(noise),
        "positive": positive,
        "threshold": threshold,
        "target": target,
        "method": method,
        "panel_error": parse.panel_error(panel_error),
        "repeats": repeats,
        "panel": panel,
        "trained_on_labels": trained_on_labels,
        "classifier_group": classifier_group,
        "metrics": metric,
        "draws": draws,
        "seed": seed,
        **drawn.arguments,
        **said_of_labels.arguments,
    }
    beside = {"predictions": files[0], "labels": files[-1] if len(files) == 2 else None}
    streams = runs_streamed({**common, **beside, "prior": prior, "engine": engine})
    if not streams:
        case = read_case(files[1:] or files, {"model": files[0]}, gold, asked=wanted)
        seen = said_of_labels.settled(case, positive)
        about = {k: common[k] for k in ("method", "positive", "threshold", "repeats")}
        if said_of_labels.tags is None:
            checking.for_grade(asked, seen.predictions, seen.labels, seen.gold, **about)
        else:
            checking.for_tags(asked, case, said_of_labels.tags, repeats, sensitivity, truth_to)
        common["prior"] = parse.prior(prior, seen.labels.classes, positive)
    with waiting() as progress:
        common["progress"] = part(progress, 0, 0.4 if sensitivity else 1)
        if streams:
            report = grade_streamed(*files, gold=gold, engine=engine, asked=wanted, **common)
        else:
            report = grading.grade(case.predictions, case, gold=case.gold, **common)
        found = report.sensitivity(level, progress=part(progress, 0.4, 1)) if sensitivity else None
        for name in report.metrics:  # areas are drawn when first asked: here, while one waits
            report[name]
        parse.in_words_of_options(report)
        report.provenance.update(showing.provenance([*files, gold, noise]))
    if truth_to is not None:
        report.write_truth(truth_to)
    verdicts = gate.judge(report, asked)
    showing.deliver(
        report,
        output,
        partial(show, sensitivity=found) if said_of_labels.tags is None else show_tags,
        about={"level": level},
        words={"terms": terms},
        verdicts=verdicts,
    )
    gate.end(verdicts, "grade")
