"""Writing what the readers read; nothing is left behind when it fails half way."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.errors import InputError, in_words
from truthing.labels import Labels
from truthing.predictions import Gold, Predictions

_FORMULA = re.compile(r"\s*[=+\-@|%]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_bytes(path: str | Path, data: bytes) -> None:
    """All of it or nothing.

    A device or a pipe is written as it is: a rename would put a file in its place.
    """
    with whole(path) as file:
        file.write(data)


@contextlib.contextmanager
def whole(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write that stands under its name when it is complete, and never before.

    It has no name until then where the system has such files (Linux): not even a process that is
    killed leaves a piece of it. Elsewhere it is a temporary neighbour.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(
            f"cannot write {path}: there is no folder {target.parent}. Create it first."
        )
    try:
        target = target.resolve()  # through a link, not over it
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        temporary = target.with_name(f".truthing.{os.getpid()}.part")
        try:
            temporary.unlink(missing_ok=True)
            with _nameless(target.parent) or temporary.open("wb") as file:
                yield file
                file.flush()
                if not temporary.exists():
                    _give_name(file, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        raise InputError(f"cannot write {path}: {in_words(problem)}") from None


def _give_name(file: IO[bytes], path: Path) -> None:
    """Give a file without a name one."""
    folder = os.open(path.parent, os.O_RDONLY)  # without it, Python links to the link in /proc
    try:
        os.link(f"/proc/self/fd/{file.fileno()}", path.name, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _nameless(folder: Path) -> IO[bytes] | None:
    """A file without a name in this folder, where the system has them."""
    if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir():
        with contextlib.suppress(OSError):  # not on every file system
            return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    return None


def harmless(text: str) -> str:
    """Text that a spreadsheet would take for a formula gets an apostrophe in front; numbers stay
    numbers.

    >>> harmless("=cmd|' /C calc'!A0"), harmless("-1.5"), harmless("spam")
    ("'=cmd|' /C calc'!A0", '-1.5', 'spam')
    """
    return text if not _FORMULA.match(text) or _NUMBER.fullmatch(text) else "'" + text


def csv_text(frame: pl.DataFrame, separator: str = ",") -> str:
    """A frame as CSV that is safe to open in a spreadsheet."""
    cured = {
        name: column.replace_strict(list(changed), list(changed.values()), default=column)
        for name, column in zip(frame.columns, frame.iter_columns())
        if column.dtype == pl.String and (changed := _formulas(column))
    }
    return frame.with_columns(**cured).rename(harmless).write_csv(separator=separator)


def _formulas(column: pl.Series) -> dict[str, str]:
    return {text: safe for text in column.unique().drop_nulls() if (safe := harmless(text)) != text}


def write_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """A frame in the format that the file's name says: .csv .tsv .parquet .jsonl, with .gz or
    without.
    """
    suffixes = [s.lower().lstrip(".") for s in Path(path).suffixes]
    packed = suffixes[-1:] == ["gz"]
    kind = (suffixes[:-1] if packed else suffixes)[-1:] or [""]
    buffer = io.BytesIO()
    if kind == ["csv"]:
        buffer.write(csv_text(frame).encode())
    elif kind == ["tsv"]:
        buffer.write(csv_text(frame, "\t").encode())
    elif kind == ["parquet"]:
        frame.write_parquet(buffer)
    elif kind == ["jsonl"]:
        frame.write_ndjson(buffer)
    else:
        raise InputError(
            f"cannot tell the format of {path}: end its name in .csv, .tsv, .parquet or "
            ".jsonl (.gz may follow)."
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
            {
                "item": list(labels.items),
                **{f"count_{c}": votes[:, k] for k, c in enumerate(labels.classes)},
            }
        )
    grid = labels.matrix()
    cells = {
        str(who): [None if c < 0 else labels.classes[c] for c in grid[:, t]]
        for t, who in enumerate(labels.labelers)
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
        columns |= {
            f"score_{c}": predictions.scores[:, k] for k, c in enumerate(predictions.score_classes)
        }
    return pl.DataFrame(columns)


def gold_frame(gold: Gold) -> pl.DataFrame:
    return pl.DataFrame({"item": list(gold.items), "truth": [gold.classes[c] for c in gold.label]})


def _named(names: Sequence[Any], codes: Array) -> pl.Series:
    return pl.Series(list(names)).gather(codes)
