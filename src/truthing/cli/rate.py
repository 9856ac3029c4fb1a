"""truthing rate."""

from __future__ import annotations

from typing import Annotated

import typer

from truthing.cli import options, parse, showing


def rate(
    labels: Annotated[str, typer.Argument(metavar="LABELS", help="Labels; - is standard input.")],
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
) -> None:
    """How frequent is each class (prevalence, pass rate), from noisy labels and perhaps some gold."""
    from truthing.rate import prevalence
    from truthing.render.waiting import waiting

    form = showing.form(as_json, as_markdown, as_csv)
    panel, known, notes = parse.labels_and_gold(
        labels, gold, layout, item_column=item_column, labeler_column=labeler_column, label_column=label_column,
        truth_column=truth_column,
    )  # fmt: skip
    with waiting() as progress:
        result = prevalence(
            panel, gold=known, noise=parse.noise(noise), target=target, panel_error=parse.panel_error(panel_error), repeats=repeats, seed=seed,  # type: ignore[arg-type]
            progress=progress,
        )  # fmt: skip
    result.warnings.extend(notes)
    showing.show_rate(result, form, level)
