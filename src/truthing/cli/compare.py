"""truthing compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from truthing.cli import checking, gates, kinds, options, parse, reading, showing, survey
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
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="What to compare: accuracy (the default), f1, recall[cat], auc, …; of several "
            "tags macro_f1 (the default), macro_recall, hamming_accuracy, f1[sports], …",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="Column (of the labels or of a prediction file) that splits the items into "
            "slices.",
        ),
    ] = None,
    within: Annotated[
        float,
        typer.Option(
            "--within", help="Models that differ by at most this much count as practically equal."
        ),
    ] = 0.01,
    more_labels: Annotated[
        list[str] | None,
        typer.Option("--labels", help="One more file of labels (may be repeated)."),
    ] = None,
    gold: options.Gold = None,
    drawn: survey.DrawnOptions = survey.AS_USUAL,
    said_of_labels: kinds.Said = kinds.PLAIN,
    deployment: options.Deployment = None,
    noise: options.Noise = None,
    positive: options.Positive = None,
    threshold: Annotated[
        float | None, typer.Option(help="Cut the scores here instead of using the predictions.")
    ] = None,
    target: options.Target = "sample",
    panel_error: options.PanelError = None,
    panel: options.Panel = None,
    trained_on_labels: Annotated[
        list[str] | None,
        typer.Option(
            "--trained-on-labels",
            metavar="NAME",
            help="A model that learned from these very labels or labelers (may be repeated).",
        ),
    ] = None,
    repeats: options.Repeats = "error",
    draws: options.Draws = 4000,
    engine: options.Engine = "auto",
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    gate: gates.Gate = gates.OPEN,
    seed: options.Seed = 0,
    files_are: reading.AllFiles = reading.ALL,
) -> None:
    """Is model B better than A? Paired differences, ranks and slices, from noisy labels.

    As a gate: --require "accuracy: new - old >= 0", where new and old are models.
    """
    from truthing.case import read_case
    from truthing.comparison.compare import compare as compare_models
    from truthing.comparison.streamed import compare_streamed
    from truthing.render.compare import show
    from truthing.render.tags import show as show_tags
    from truthing.render.waiting import waiting
    from truthing.streaming.choice import runs_streamed

    output.check()
    if metrics and len(metrics) > 1:
        raise InputError(
            f"compare looks at one metric at a time, and --metric names {listing(metrics)}: run it "
            "once for each."
        )
    metric = metrics[0] if metrics else None
    asked = gate.asked("compare")
    wanted = files_are.asked(said_of_labels.tags)
    files, tagged = named_files(predictions), said_of_labels.tags is not None
    common: dict[str, Any] = {
        "by": by,
        "deployment": survey.deployment(deployment),
        "noise": parse.noise(noise),
        "threshold": threshold,
        "target": target,
        "positive": positive,
        "panel_error": parse.panel_error(panel_error),
        "repeats": repeats,
        "draws": draws,
        "seed": seed,
        "panel": panel,
        "trained_on_labels": trained_on_labels or (),
        **drawn.arguments,
        **said_of_labels.arguments,
    }
    beside = {"predictions": files, "labels": None if more_labels else labels, "models": files}
    streams = runs_streamed({**common, **beside, "engine": engine})
    if streams:
        checking.known_models(asked, files)
    else:
        case = read_case([labels, *(more_labels or [])], files, gold, asked=wanted)
        seen = said_of_labels.settled(case, positive)
        if tagged:
            checking.for_tags(asked, case, said_of_labels.tags, repeats)
        else:
            about: Any = {"positive": positive, "threshold": threshold, "repeats": repeats}
            checking.for_compare(asked, seen.models, seen.labels, seen.gold, **about)
    with waiting() as progress:
        common["progress"] = progress
        if streams:
            common |= {"gold": gold, "engine": engine, "asked": wanted}
            result = compare_streamed(files, labels, **common)
        else:
            result = compare_models(case.models, case, gold=case.gold, **common)
    parse.in_words_of_options(result)
    verdicts = gate.judge(result, asked)
    showing.deliver(
        result,
        output,
        show_tags if tagged else show,
        about={"metric": metric or ("macro_f1" if tagged else "accuracy"), "level": level},
        words={"within": within},
        verdicts=verdicts,
    )
    gate.end(verdicts, "compare")


def named_files(files: list[str]) -> dict[str, str]:
    """Names of models and their files; a file without a name is called like itself, with its
    folder where that is needed.
    """
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
