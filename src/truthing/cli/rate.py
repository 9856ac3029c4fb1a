"""truthing rate."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import checking, gates, options, parse, showing
from truthing.cli.groups import spread


@spread
def rate(
    labels: Annotated[str, typer.Argument(metavar="LABELS", help="Labels; - is standard input.")],
    gold: options.Gold = None,
    noise: options.Noise = None,
    target: options.Target = "sample",
    panel_error: options.PanelError = None,
    repeats: options.Repeats = "error",
    level: options.Level = 0.95,
    output: showing.Output = showing.ON_SCREEN,
    gate: gates.Gate = gates.OPEN,
    seed: options.Seed = 0,
    layout: options.Layout = None,
    item_column: options.ItemColumn = None,
    labeler_column: options.LabelerColumn = None,
    label_column: options.LabelColumn = None,
    truth_column: options.TruthColumn = None,
) -> None:
    """How frequent is each class (prevalence, pass rate), from noisy labels and perhaps some gold.

    As a gate: --require "pass >= 0.9", where pass is a class.
    """
    from truthing.rate import prevalence
    from truthing.render.rate import show
    from truthing.render.waiting import waiting

    output.check()
    asked = gate.asked("rate")
    panel, known, notes = parse.labels_and_gold(
        labels, gold, layout, item_column=item_column, labeler_column=labeler_column, label_column=label_column,
        truth_column=truth_column,
    )  # fmt: skip
    checking.for_rate(asked, panel, known, repeats=repeats)
    with waiting() as progress:
        result = prevalence(
            panel, gold=known, noise=parse.noise(noise), target=target, panel_error=parse.panel_error(panel_error), repeats=repeats, seed=seed,  # type: ignore[arg-type]
            progress=progress,
        )  # fmt: skip
    result.warnings.extend(notes)
    verdicts = gate.judge(result, asked)
    showing.deliver(result, output, show, about={"level": level}, verdicts=verdicts)
    gate.end(verdicts, "rate")
