"""truthing rate."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import options, parse, showing


def rate(
    labels: Annotated[
        list[str],
        typer.Argument(metavar="LABELS…", help="One file or several; - is standard input."),
    ],
    gold: options.Gold = None,
    noise: options.Noise = None,
    target: options.Target = "sample",
    panel_error: options.PanelError = None,
    repeats: options.Repeats = "error",
    level: options.Level = 0.95,
    as_json: options.Json = False,
    as_markdown: options.Markdown = False,
    as_csv: options.Csv = False,
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
    """How frequent is each class (prevalence, pass rate), from noisy labels and perhaps some gold."""
    from truthing.case import read_case
    from truthing.rate import prevalence
    from truthing.render.waiting import waiting

    form = showing.form(as_json, as_markdown, as_csv)
    said = parse.asked(
        layout=layout, item_column=item_column, labeler_column=labeler_column,
        label_column=label_column, truth_column=truth_column, labeler_columns=labeler_columns,
        ignore=ignore, missing=missing, classes=classes, map=map, question=question,
    )  # fmt: skip
    case = read_case(labels, gold=gold, asked=said)
    panel, known = case.labels, case.gold
    with waiting() as progress:
        result = prevalence(
            panel, gold=known, noise=parse.noise(noise), target=target, panel_error=parse.panel_error(panel_error), repeats=repeats, seed=seed,  # type: ignore[arg-type]
            progress=progress,
        )  # fmt: skip
    parse.in_words_of_options(result)
    showing.show_rate(result, form, level)
