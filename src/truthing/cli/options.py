"""Options that several commands share, said once."""

from __future__ import annotations

from typing import Annotated

import typer

Layout = Annotated[
    str | None,
    typer.Option("--layout", help="How the table is laid out: long, wide, counts or grouped. Default: recognised."),
]
ItemColumn = Annotated[str | None, typer.Option("--item-column", help="Column that names the item.")]
LabelerColumn = Annotated[str | None, typer.Option("--labeler-column", help="Column that names the labeler.")]
LabelColumn = Annotated[str | None, typer.Option("--label-column", help="Column with the label.")]
PredictionColumn = Annotated[str | None, typer.Option("--prediction-column", help="Column with the prediction.")]
ScoreColumn = Annotated[str | None, typer.Option("--score-column", help="Column with the score.")]
TruthColumn = Annotated[str | None, typer.Option("--truth-column", help="Column with the known truth.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random numbers: same seed, same answer.")]
Level = Annotated[float, typer.Option("--level", help="Level of the intervals.")]
