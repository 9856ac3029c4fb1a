"""Where the passes over the labels run, and what cannot run there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from truthing.errors import InputError

ENGINES = ("auto", "memory", "stream", "dask")
MANY_ROWS = 20_000_000  # labels beyond which "auto" streams


def runs_streamed(engine: Any, labels: Any, reasons: Mapping[str, bool]) -> bool:
    """Whether these labels are streamed. ``reasons`` are things that need them in memory, and
    whether each was asked for."""
    named = not isinstance(engine, str)
    if not named and engine not in ENGINES and "://" not in engine:
        raise InputError(f"engine {engine!r} is not known: choose {', '.join(ENGINES)}.")
    if engine == "memory":
        return False
    on_disk = isinstance(labels, str | Path) and str(labels) != "-"
    if engine == "auto":
        return on_disk and not any(reasons.values()) and _is_large(Path(str(labels)))
    if not on_disk:
        raise InputError(
            f"engine={engine!r} reads labels from a Parquet or CSV file or a folder of Parquet "
            "files: give its path, or use engine='memory'."
        )
    for what, wanted in reasons.items():
        if wanted:
            raise InputError(
                f"engine={engine!r} answers by the link with learned noise; {what} needs the "
                "labels in memory: leave it out, or use engine='memory' (--engine memory)."
            )
    return True


def _is_large(where: Path) -> bool:
    if where.is_dir():
        return True
    if where.suffix.lower() != ".parquet" or not where.exists():
        return False
    try:
        return int(pl.scan_parquet(where).select(pl.len()).collect().item()) > MANY_ROWS
    except (pl.exceptions.PolarsError, OSError):
        return False  # the reader says what is wrong with it
