"""A random choice of items from labels that do not fit in memory, for questions whose answers are
not sums over items: who copies whom, what a label adds, the Bayes error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from truthing.engine.partition import BATCH, item_names, places_from
from truthing.engine.source import LabelSource, open_source, other
from truthing.errors import InputError
from truthing.names import names_at
from truthing.notes import Notes
from truthing.predictions import Gold
from truthing.streaming.choice import is_large, require_on_disk
from truthing.streaming.held import cache_folder, given_gold
from truthing.tables.asked import UNASKED, Asked
from truthing.tables.columns import recognise
from truthing.tables.table import Table

MOST_LABELS = 2_000_000
FEW_ITEMS = 1000
MUCH_GOLD = 0.02  # of the labels chosen: more gold from elsewhere would move what is said of all
ENGINES = ("auto", "memory", "stream")
HASHES = 2**64


def some_items(
    source: Any,
    engine: str,
    *,
    asked: Asked = UNASKED,
    gold: Any = None,
    columns: Iterable[Any] = (),
) -> tuple[Any, Any]:
    """Labels and gold as they are where all are read. Otherwise a table with all rows of a random
    choice of items, chosen by a hash of their names, and the gold that goes with it; the table's
    notes say so. ``columns`` may name more columns that are asked for.
    """
    if engine not in ENGINES:
        raise InputError(
            f"engine {engine!r} is not known here: choose {', '.join(ENGINES)}. Labels that do not "
            "fit in memory are answered for by a random choice of their items."
        )
    if engine == "stream":
        require_on_disk(source, engine)
    elif engine == "memory" or not is_large(source):
        return source, gold
    try:
        opened = open_source(source, asked, ("item", "labeler", "label"), cache_folder(source))
    except InputError:
        if engine == "auto" and Path(str(source)).is_file():
            return source, gold  # no long table: it is read whole
        raise
    named = [c for c in columns if isinstance(c, str) and c in opened.head.frame.columns]
    truth = recognise(opened.head, asked).role.get("truth") if gold is None else None
    opened = opened.with_columns([*named, *([truth] if truth else [])])
    share, known = min(1.0, MOST_LABELS / opened.n_rows), given_gold(gold, asked)
    names: set[Any] = set()  # of gold that may lie outside the choice
    if share < 1:
        names = set(known.items) if known else _beside_labels(opened, truth) if truth else names
    found = _Choice(opened, share, names).read()
    return found.table(), None if known is None else found.left_of(known)


def _beside_labels(source: LabelSource, truth: str) -> set[Any]:
    """The items whose truth stands beside their labels."""
    names: set[Any] = set()
    for file, first, rows in source.batches(BATCH):
        told = rows.filter(rows[other(truth)].is_not_null())
        names |= set(item_names(told["item"], places_from(file, first)).unique().to_list())
    return names


@dataclass(eq=False)
class _Choice:
    """What was chosen of a source, and what of its gold lies outside the choice."""

    source: LabelSource
    share: float
    gold: set[Any]  # names of gold items
    chosen: list[pl.DataFrame] = field(default_factory=list)
    outside: list[pl.DataFrame] = field(default_factory=list)
    labelers: set[Any] = field(default_factory=set)
    met: set[str] = field(default_factory=set)  # gold items outside, as they are spelled there

    def read(self) -> _Choice:
        known = {text for name in self.gold for text in _spelled(name)}
        wanted = pl.Series(sorted(known), dtype=pl.String).implode()
        for file, first, rows in self.source.batches(BATCH):
            items = item_names(rows["item"], places_from(file, first))
            kept = items.hash(1) < min(int(self.share * HASHES), HASHES - 1)
            self.chosen.append(rows.filter(kept))
            self.labelers |= set(rows["labeler"].drop_nulls().unique().to_list())
            if known:
                texts = items.cast(pl.String)
                elsewhere = texts.is_in(wanted) & ~kept
                self.outside.append(rows.filter(elsewhere))
                self.met |= set(texts.filter(elsewhere).unique().to_list())
        return self

    @property
    def takes_gold(self) -> bool:
        """Whether gold from outside the choice is so little that it changes nothing else."""
        more = sum(part.height for part in self.outside)
        return more <= MUCH_GOLD * sum(part.height for part in self.chosen)

    def left_of(self, gold: Gold) -> Gold:
        """Gold without the items that were left out."""
        if self.takes_gold:
            return gold
        keep = [i for i, name in enumerate(gold.items) if not self.met & set(_spelled(name))]
        return replace(gold, items=names_at(gold.items, np.array(keep)), label=gold.label[keep])

    def table(self) -> Table:
        """The rows under their own names; where they are not all, its notes say so."""
        rows = pl.concat([*self.chosen, *(self.outside if self.takes_gold else [])])
        found = replace(self.source.head, frame=rows.rename(self.source.columns), unit="")
        if self.share == 1:
            return found
        n_items = pl.concat([part["item"] for part in self.chosen]).n_unique()
        if n_items < 2:
            raise InputError(
                f"{self.source.name}: its items have so many labels each that a random choice of "
                "items holds none. Write fewer items to a file of their own."
            )
        gold = ", and of all gold items" if self.met and self.takes_gold else ""
        remark = (
            f"{self.source.name}: {rows.height:,} of {self.source.n_rows:,} labels were read, "
            f"those of a random {self.share:.2%} of the items{gold}. Counts are of these labels; "
            "the rest is about all items."
        )
        absent = len(self.labelers) - rows["labeler"].drop_nulls().n_unique()
        checks = tuple(self._doubts(n_items, absent))
        return replace(found, notes=found.notes + Notes(remarks=(remark,), checks=checks))

    def _doubts(self, n_items: int, absent: int) -> Iterator[str]:
        if not self.takes_gold:
            yield (
                f"{len(self.met):,} gold items are not among the items that were read: so much "
                "gold would change what is said of all items. It was left out."
            )
        if n_items < FEW_ITEMS:
            yield f"Only {n_items:,} items were chosen: each has very many labels."
        if absent:
            yield f"{absent:,} labelers gave none of the labels that were read, and are not listed."


def _spelled(name: Any) -> list[str]:
    """How a file may spell an item's name: whole numbers also with a decimal point."""
    text = str(name)
    try:
        number = float(text)
        whole = number == int(number)
    except (ValueError, OverflowError):
        whole = False
    return [text, str(int(number)), f"{int(number)}.0"] if whole else [text]
