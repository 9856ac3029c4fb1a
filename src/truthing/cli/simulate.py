"""truthing simulate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from truthing.cli import options, showing
from truthing.cli.groups import spread
from truthing.errors import InputError
from truthing.results import Result


@dataclass(frozen=True)
class Written(Result):
    """The files that were written, and how many rows each has."""

    rows: Mapping[str, int]

    kind = "simulate"

    def to_dict(self) -> dict[str, Any]:
        return {"files": [{"file": file, "rows": rows} for file, rows in self.rows.items()]}

    def to_frame(self) -> Any:
        import polars as pl

        return pl.DataFrame(list(self.rows.items()), schema=["file", "rows"], orient="row")


@spread
def simulate(
    folder: Annotated[
        str, typer.Argument(help="Folder for labels, predictions and truth; it is created.")
    ],
    items: Annotated[int, typer.Option("--items", help="Number of items.")] = 1000,
    labelers: Annotated[int, typer.Option("--labelers", help="Number of labelers.")] = 5,
    prior: Annotated[
        str,
        typer.Option(help="Class prior: P(class 1), or one share for each class split by commas."),
    ] = "0.2",
    operating_point: Annotated[
        str | None,
        typer.Option(help="Detection and false-alarm rate of the classifier, e.g. 0.8,0.3."),
    ] = None,
    difficulty: Annotated[
        str, typer.Option(help="Difficulty of the items: a number, or beta:A,B.")
    ] = "0",
    fallibility: Annotated[
        str,
        typer.Option(
            help="Fallibility of the labelers: a number, or one for each split by commas."
        ),
    ] = "0.2",
    availability: Annotated[
        str, typer.Option(help="Chance that a labeler labels an item: a number, or one for each.")
    ] = "1",
    copying: Annotated[
        float, typer.Option(help="Chance that a labeler copies the one before.")
    ] = 0.0,
    shared_difficulty: Annotated[
        float,
        typer.Option(help="Chance that an answer hangs on the item alone: mistakes in common."),
    ] = 0.0,
    gold: Annotated[
        int, typer.Option(help="Also write the truth of this many random items as gold.")
    ] = 0,
    classes: Annotated[str | None, typer.Option(help="Class names, split by commas.")] = None,
    file_format: Annotated[
        str, typer.Option("--format", help="csv, tsv, parquet or jsonl.")
    ] = "csv",
    layout: Annotated[
        str, typer.Option(help="Layout of the labels: long, wide, counts or grouped.")
    ] = "long",
    seed: options.Seed = 0,
    forms: showing.Forms = showing.PRINTED,
) -> None:
    """Simulate a data set with known truth: labels, predictions, scores and truth files that the
    readers read.
    """
    from truthing import simulation
    from truthing.predictions import Gold
    from truthing.render.simulate import show
    from truthing.render.waiting import waiting
    from truthing.tables import write

    forms.check()
    if file_format not in ("csv", "tsv", "parquet", "jsonl"):
        raise InputError(f"--format {file_format} is not known: choose csv, tsv, parquet or jsonl.")
    hard = tuple(_list(difficulty[5:])) if difficulty.startswith("beta:") else _numbers(difficulty)
    with waiting() as progress:
        progress(0.1, "drawing truth and labels")
        data = simulation.simulate(
            items,
            labelers,
            prior=_numbers(prior),
            operating_point=None if operating_point is None else tuple(_list(operating_point)),
            difficulty=hard,
            fallibility=_numbers(fallibility),
            availability=_numbers(availability),
            copying=copying,
            shared_difficulty=shared_difficulty,
            classes=None if classes is None else classes.split(","),
            seed=seed,
        )
    if gold > items:
        raise InputError(f"--gold {gold}: there are only {items} items.")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    truth = Gold.from_mapping(dict(zip(data.labels.items, data.truth)))
    frames = {
        "labels": write.labels_frame(data.labels, layout),
        "predictions": write.predictions_frame(data.as_predictions()),
        "truth": write.gold_frame(truth),
    }
    if gold:
        frames["gold"] = write.gold_frame(Gold.from_mapping(data.gold(gold, seed)))
    written = {}
    for name, frame in frames.items():
        path = target / f"{name}.{file_format}"
        write.write_frame(frame, path)
        written[str(path)] = len(frame)
    showing.deliver(Written(written), forms, show, about={})


def _list(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"{text!r} is not a number or a list of numbers split by commas."
        ) from None


def _numbers(text: str) -> float | list[float]:
    values = _list(text)
    return values if len(values) > 1 else values[0]
