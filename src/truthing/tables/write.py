"""Writing what the readers read; nothing is left behind when it fails half way."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from truthing.coding import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.predictions import Gold, Predictions


def write_bytes(path: str | Path, data: bytes) -> None:
    """All of it or nothing: into a temporary neighbour first, then renamed."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {target.parent}. Create it first.")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """A frame in the format that the file's name says: .csv .tsv .parquet .jsonl, with .gz or without."""
    suffixes = [s.lower().lstrip(".") for s in Path(path).suffixes]
    packed = suffixes[-1:] == ["gz"]
    kind = (suffixes[:-1] if packed else suffixes)[-1:] or [""]
    buffer = io.BytesIO()
    if kind == ["csv"]:
        frame.write_csv(buffer)
    elif kind == ["tsv"]:
        frame.write_csv(buffer, separator="\t")
    elif kind == ["parquet"]:
        frame.write_parquet(buffer)
    elif kind == ["jsonl"]:
        frame.write_ndjson(buffer)
    else:
        raise InputError(
            f"cannot tell the format of {path}: end its name in .csv, .tsv, .parquet or .jsonl (.gz may follow)."
        )
    write_bytes(path, gzip.compress(buffer.getvalue()) if packed else buffer.getvalue())


def labels_frame(labels: Labels, layout: str = "long") -> pl.DataFrame:
    """Labels as a long, wide, counts or grouped table."""
    if layout == "long":
        names = np.array(labels.classes, dtype=object)
        return pl.DataFrame(
            {
                "item": _named(labels.items, labels.item),
                "labeler": _named(labels.labelers, labels.labeler),
                "label": pl.Series("label", names[labels.label].tolist()),
            }
        )
    if layout == "counts":
        votes = labels.counts()
        return pl.DataFrame(
            {"item": list(labels.items), **{f"count_{c}": votes[:, k] for k, c in enumerate(labels.classes)}}
        )
    grid = labels.matrix()
    cells = {
        str(who): [None if c < 0 else labels.classes[c] for c in grid[:, t]] for t, who in enumerate(labels.labelers)
    }
    if layout == "wide":
        return pl.DataFrame({"item": list(labels.items), **cells})
    if layout == "grouped":
        return (
            pl.DataFrame(cells)
            .group_by(pl.all(), maintain_order=True)
            .len(name="count")
            .with_columns(pl.col("count").cast(pl.Int64))
        )
    raise InputError(f"layout {layout!r} is not known: choose long, wide, counts or grouped.")


def predictions_frame(predictions: Predictions) -> pl.DataFrame:
    columns: dict[str, Any] = {"item": list(predictions.items)}
    if predictions.label is not None:
        columns["prediction"] = [predictions.classes[c] for c in predictions.label]
    if predictions.scores is not None and predictions.scores.ndim == 1:
        columns["score"] = predictions.scores
    elif predictions.scores is not None:
        columns |= {f"score_{c}": predictions.scores[:, k] for k, c in enumerate(predictions.score_classes)}
    return pl.DataFrame(columns)


def gold_frame(gold: Gold) -> pl.DataFrame:
    return pl.DataFrame({"item": list(gold.items), "truth": [gold.classes[c] for c in gold.label]})


def _named(names: Sequence[Any], codes: Array) -> pl.Series:
    return pl.Series(list(names)).gather(codes)
