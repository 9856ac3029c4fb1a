"""truthing rate."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from truthing.cli import checking, gates, kinds, options, parse, reading, showing, survey
from truthing.cli.groups import spread


@spread
def rate(
    labels: Annotated[
        list[str],
        typer.Argument(metavar="LABELS…", help="One file or several; - is standard input."),
    ],
    gold: options.Gold = None,
    drawn: survey.DrawnOptions = survey.AS_USUAL,
    said_of_labels: kinds.Said = kinds.PLAIN,
    by: options.By = None,
    noise: options.Noise = None,
    target: options.Target = "sample",
    panel_error: options.PanelError = None,
    panel: options.Panel = None,
    repeats: options.Repeats = "error",
    engine: options.Engine = "auto",
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    gate: gates.Gate = gates.OPEN,
    seed: options.Seed = 0,
    files_are: reading.LabelFiles = reading.LABELS,
) -> None:
    """How frequent is each class (prevalence, pass rate), from noisy labels and perhaps some gold.

    As a gate: --require "pass >= 0.9", where pass is a class.
    """
    from truthing.case import read_case
    from truthing.rate import prevalence
    from truthing.render.rate import show
    from truthing.render.tags import show as show_tags
    from truthing.render.waiting import waiting
    from truthing.streaming.choice import runs_streamed
    from truthing.streaming.rate import prevalence_streamed

    output.check()
    asked = gate.asked("rate")
    wanted = files_are.asked(said_of_labels.tags)
    common: dict[str, Any] = {
        "by": by,
        "noise": parse.noise(noise),
        "target": target,
        "panel": panel,
        "panel_error": parse.panel_error(panel_error),
        "repeats": repeats,
        "seed": seed,
        **drawn.arguments,
        **said_of_labels.arguments,
    }
    only = labels[0] if len(labels) == 1 else None
    streams = runs_streamed({**common, "labels": only, "engine": engine})
    if not streams:
        case = read_case(labels, gold=gold, asked=replace(wanted, per=by))
        seen = said_of_labels.settled(case)
        if said_of_labels.tags is not None:
            checking.for_tags(asked, case, said_of_labels.tags, repeats)
        else:
            checking.for_rate(asked, seen.labels, seen.gold, repeats=repeats)
    with waiting() as progress:
        common["progress"] = progress
        if streams:
            result = prevalence_streamed(only, gold=gold, engine=engine, asked=wanted, **common)
        else:
            result = prevalence(case, gold=case.gold, **common)
    parse.in_words_of_options(result)
    verdicts = gate.judge(result, asked)
    shown = show if said_of_labels.tags is None else show_tags
    showing.deliver(result, output, shown, about={"level": level}, verdicts=verdicts)
    gate.end(verdicts, "rate")
