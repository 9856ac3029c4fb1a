"""A random choice of items from labels that do not fit in memory, for questions whose answers are
not sums over items: who copies whom, what a label adds, the Bayes error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from truthing.engine.partition import BATCH, item_names, places_from
from truthing.engine.source import LabelSource, open_source
from truthing.errors import InputError
from truthing.notes import Notes
from truthing.streaming.choice import is_large
from truthing.streaming.held import cache_folder, given_gold
from truthing.tables.asked import UNASKED, Asked
from truthing.tables.table import Table

MOST_LABELS = 2_000_000
ENGINES = ("auto", "memory", "stream")
HASHES = 2**64


def some_items(source: Any, engine: str, *, asked: Asked = UNASKED, gold: Any = None) -> Any:
    """``source`` as it is where it is read whole. Otherwise a table with all rows of a random
    choice of its items, chosen by a hash of their names, and of all gold items; its notes say so.
    """
    if engine not in ENGINES:
        raise InputError(
            f"engine {engine!r} is not known here: choose {', '.join(ENGINES)}. Labels that do not "
            "fit in memory are answered for by a random choice of their items."
        )
    on_disk = isinstance(source, str | Path) and str(source) != "-"
    if engine == "stream" and not on_disk:
        raise InputError(
            "`engine='stream'` reads labels from a Parquet or CSV file or a folder of Parquet "
            "files: give its path, or use `engine='memory'`."
        )
    if engine == "memory" or not on_disk or (engine == "auto" and not is_large(Path(str(source)))):
        return source
    opened = open_source(source, asked, ("item", "labeler", "label"), cache_folder(source))
    share = min(1.0, MOST_LABELS / opened.n_rows)
    known = given_gold(gold, asked)
    names = pl.Series([] if known is None else list(map(str, known.items)), dtype=pl.String)
    rows = pl.concat(_chosen(opened, share, names))
    if not rows.height:
        raise InputError(
            f"{opened.name}: its items have so many labels each that a random choice of items "
            "holds none. Read fewer items into a file of their own."
        )
    found = replace(opened.head, frame=rows, unit="")
    return found if share == 1 else _with_a_word(found, opened, share, len(names) > 0)


def _chosen(source: LabelSource, share: float, gold: pl.Series) -> Iterator[pl.DataFrame]:
    """Batches of rows, all columns under their own names."""
    item = source.columns["item"]
    whole = replace(source, columns={name: name for name in source.head.frame.columns})
    for file, first, rows in whole.batches(BATCH):
        items = item_names(rows[item], places_from(file, first))
        if share < 1:
            kept = items.hash(1) < int(share * HASHES)
            rows = rows.filter(kept | items.cast(pl.String).is_in(gold.implode()))
        yield rows


def _with_a_word(table: Table, source: LabelSource, share: float, has_gold: bool) -> Table:
    also = " and all gold items" if has_gold else ""
    remark = (
        f"{source.name}: {table.height:,} of {source.n_rows:,} labels were read, those of a random "
        f"{share:.2g} of the items{also}. Counts are of these labels; the rest is about all items."
    )
    return replace(table, notes=table.notes + Notes(remarks=(remark,)))
