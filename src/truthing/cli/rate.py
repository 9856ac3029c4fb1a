"""truthing rate."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from truthing.cli import options
from truthing.cli.grade import _noise, _panel_error


def rate(
    labels: Annotated[str, typer.Argument(metavar="LABELS", help="Labels; - is standard input.")],
    gold: Annotated[str | None, typer.Option(help="File with the known truth of some items.")] = None,
    noise: Annotated[
        str | None, typer.Option(help="What is known about the labelers: 0.05, 0.02-0.08, or a file.")
    ] = None,
    target: Annotated[str, typer.Option(help="sample: on these items; population: on new data like them.")] = "sample",
    panel_error: Annotated[
        str | None,
        typer.Option(help="Share of items on which the panel may be wrong together; 0 trusts the noise model."),
    ] = None,
    repeats: Annotated[
        str, typer.Option(help="When a labeler contradicts itself: error, first, last or keep.")
    ] = "error",
    level: options.Level = 0.95,
    as_json: options.Json = False,
    seed: options.Seed = 0,
    layout: options.Layout = None,
    item_column: options.ItemColumn = None,
    labeler_column: options.LabelerColumn = None,
    label_column: options.LabelColumn = None,
    truth_column: options.TruthColumn = None,
) -> None:
    """How frequent is each class (prevalence, pass rate), from noisy labels and perhaps some gold."""
    from truthing.rate import prevalence
    from truthing.render.console import out
    from truthing.tables import inspect

    reading = inspect(
        labels,
        layout=layout,
        item_column=item_column,
        labeler_column=labeler_column,
        label_column=label_column,
        truth_column=truth_column,
    )
    known = (
        inspect(gold, item_column=item_column, truth_column=truth_column).gold
        if gold is not None
        else reading.gold
        if reading.has_gold
        else None
    )
    result = prevalence(
        reading.labels, gold=known, noise=_noise(noise), target=target, panel_error=_panel_error(panel_error), repeats=repeats, seed=seed  # type: ignore[arg-type]
    )  # fmt: skip
    result.warnings.extend(reading.columns.notes)
    if as_json:
        typer.echo(json.dumps(result.to_dict(level), default=str))
    else:
        from truthing.render.terminal import show_rate

        show_rate(result, out(), level)
