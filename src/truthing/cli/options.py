"""Options that several commands share, said once."""

from __future__ import annotations

from typing import Annotated

import typer

Layout = Annotated[
    str | None,
    typer.Option(
        "--layout",
        help="How the table is laid out: long, wide, counts or grouped. Default: recognised.",
    ),
]
ItemColumn = Annotated[
    str | None,
    typer.Option(
        "--item-column",
        help="Column that names the item; several, split by commas, where files differ.",
    ),
]
LabelerColumn = Annotated[
    str | None, typer.Option("--labeler-column", help="Column that names the labeler.")
]
LabelColumn = Annotated[str | None, typer.Option("--label-column", help="Column with the label.")]
LabelerColumns = Annotated[
    str | None,
    typer.Option(
        "--labeler-columns",
        help="Columns that are labelers in a wide table, split by commas. Default: recognised.",
    ),
]
Ignore = Annotated[
    str | None, typer.Option("--ignore", help="Columns to leave out, split by commas.")
]
Missing = Annotated[
    str | None,
    typer.Option("--missing", help="Words that mean no label, split by commas: ERROR,N/A,unsure."),
]
Classes = Annotated[
    str | None, typer.Option("--classes", help="All classes in order, split by commas.")
]
Map = Annotated[
    str | None,
    typer.Option("--map", help="What written names mean, as WRITTEN=CLASS: false=0,true=1."),
]
Question = Annotated[
    str | None,
    typer.Option(
        "--question", help="Which of several questions (judges, sheets) that a tool's file holds."
    ),
]
PredictionColumn = Annotated[
    str | None, typer.Option("--prediction-column", help="Column with the prediction.")
]
ScoreColumn = Annotated[str | None, typer.Option("--score-column", help="Column with the score.")]
TruthColumn = Annotated[
    str | None, typer.Option("--truth-column", help="Column with the known truth.")
]
Seed = Annotated[
    int, typer.Option("--seed", help="Seed of the random numbers: same seed, same answer.")
]
Level = Annotated[float, typer.Option("--level", help="Level of the intervals.")]
Gold = Annotated[
    str | None, typer.Option("--gold", help="File with the known truth of some items.")
]
Noise = Annotated[
    str | None,
    typer.Option(
        "--noise",
        help="What is known about the labelers: 0.05, a range 0.02-0.08, or a file (labeler, "
        "error). Default: learned.",
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="Class prior: P(positive class), or one share for each class split by commas. "
        "Default: learned.",
    ),
]
Positive = Annotated[
    str | None, typer.Option("--positive", help="The positive one of two classes.")
]
Target = Annotated[
    str, typer.Option("--target", help="sample: on these items; population: on new data like them.")
]
PanelError = Annotated[
    str | None,
    typer.Option(
        "--panel-error",
        help="Share of items on which the panel may be wrong together; 0 trusts the noise model.",
    ),
]
Panel = Annotated[
    str | None,
    typer.Option(
        "--panel",
        metavar="KIND",
        help="What the panel is made of: people, models or mixed. Default: as the names tell.",
    ),
]
Repeats = Annotated[
    str,
    typer.Option(
        "--repeats", help="When a labeler contradicts itself: error, first, last or keep."
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="COLUMN", help="Column with the slices of items to show one by one."
    ),
]
Deployment = Annotated[
    str | None,
    typer.Option(
        "--deployment",
        metavar="SHARES",
        help="Class shares where the classifier is used: 0.05 (of the positive class), a range "
        "0.02-0.08, or CLASS=SHARE split by commas.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="Where the work is done: memory, stream (Parquet or CSV that need not fit in memory), "
        "dask (or the address of its scheduler), or auto.",
    ),
]
SomeItems = Annotated[
    str,
    typer.Option(
        "--engine",
        help="memory, stream (a random choice of the items of Parquet or CSV that need not fit in "
        "memory), or auto.",
    ),
]
Draws = Annotated[int, typer.Option("--draws", help="Number of posterior draws.")]
