"""Labels, predictions and gold on disk, joined by item: what `matching` does in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from truthing.asking import copies_of_classifier, left_out_labeler
from truthing.case import is_source
from truthing.class_codes import Array, places_by_name
from truthing.engine.base import Engine
from truthing.engine.partition import item_names, spelled
from truthing.engine.regroup import regroup
from truthing.engine.source import open_source
from truthing.engine.stream import Stream
from truthing.errors import InputError
from truthing.matching import as_gold, gold_left_out
from truthing.names import names_at
from truthing.notes import NOTHING, drop_warnings
from truthing.ordering import Order
from truthing.predictions import Gold
from truthing.progress import Progress
from truthing.repeats import Repeats, about_repeats, check_rule
from truthing.tables.asked import UNASKED, Asked
from truthing.tables.read import read_as
from truthing.truth.counted import CountedPanel, count_panel
from truthing.truth.outcome import NoiseSummary


@dataclass(frozen=True, eq=False)
class Held:
    """A panel on disk, its gold and its order, and what had to be said about them."""

    panel: CountedPanel
    stream: Stream | None  # None: items in memory
    labelers: tuple[Any, ...]  # in the order of their first label
    gold: Array  # codes of gold items that are among the items
    gold_items: tuple[Any, ...]
    dropped: dict[str, int]
    remarks: list[str]
    warnings: list[str] = field(default_factory=list)
    first: Any = None  # the engine as it was opened
    constant: int | None = None  # the class that is predicted for every item
    places: Any = None  # of items in memory: the user's place of each

    @property
    def sizes(self) -> dict[str, int]:
        return {
            "items": self.panel.n_items,
            "labelers": int((self.panel.per_labeler > 0).sum()),
            "labels": self.panel.n_labels,
            "gold": len(self.gold),
        }

    @property
    def face_value(self) -> Array:
        """Confusion against the labels as they are."""
        found = self.panel.found
        if self.constant is None:
            return found.face_value
        table = np.zeros_like(found.face_value)
        table[:, self.constant] = found.shares
        return table

    @property
    def shards(self) -> Stream:
        assert self.stream is not None
        return self.stream

    @property
    def twins(self) -> Array:
        """Labelers who say what the classifier says, unless all do."""
        panel = self.panel
        return copies_of_classifier(panel.per_labeler, panel.found.hits, panel.n_items)

    def read_otherwise(self, **changes: Any) -> Held:
        """The same data with shards read otherwise, see `Stored`."""
        found = self.over(self.shards.changed(**changes))
        counted = found.panel.engine.add(count_panel)
        return replace(found, panel=replace(found.panel, found=counted))

    def over(self, stream: Stream) -> Held:
        """The same items and labels in other shards."""
        engine = _engine(stream, getattr(self.first, "client", "stream"))
        return replace(self, stream=stream, panel=replace(self.panel, engine=engine))

    def summary(self, noise: NoiseSummary) -> NoiseSummary:
        """What was found about each labeler, in the order of their first label."""
        order = Order(self, np.empty(0), places_by_name(self.labelers))
        return order.summary(noise)


def cache_folder(labels: Any) -> Path:
    """Where shards are kept: as the environment variable TRUTHING_CACHE says, else beside the
    labels."""
    named = os.environ.get("TRUTHING_CACHE")
    where = Path(str(labels)).resolve()
    return Path(named) if named else where.with_name(where.name + ".shards")


def hold(
    predictions: Any,
    labels: Any,
    *,
    gold: Any,
    engine: Any = "stream",
    asked: Asked = UNASKED,
    repeats: Repeats = "error",
    progress: Progress,
    among_others: bool = False,
) -> Held:
    """Labels and predictions regrouped on disk, counted, and joined with gold. Of a classifier
    ``among_others`` every prediction and every label stays."""
    check_rule(repeats)
    cache = cache_folder(labels)
    source = open_source(labels, asked, ("item", "labeler", "label"), cache)
    guesses = None
    if predictions is not None:
        own = asked.without("labeler", "label", "truth", "count", "pattern")
        guesses = open_source(predictions, own, ("item", "prediction"), cache)
    known = given_gold(gold, asked)
    found = regroup(
        source, guesses, known, asked=asked, repeats=repeats, cache=cache, progress=progress
    )
    page, words = found.page, found.vocabulary
    chosen_columns = source.notes + (NOTHING if guesses is None else guesses.notes)
    warnings = [*chosen_columns.checks, *words.warnings]
    if page.contradictions and repeats == "keep":
        warnings.append(
            f"{page.contradictions:,} times a labeler contradicts itself on an item; "
            "both labels are counted (repeats='keep')."
        )
    stream, codes, names = Stream.of(found), np.empty(0, dtype=np.int64), ()
    if words.gold is not None:
        stream, codes, names = _with_gold(stream, page.n_buckets, words.gold, warnings)
    warnings += drop_warnings(page.dropped)
    labelers = tuple(page.labelers)
    inside = tuple(labelers[t] for t in places_by_name(labelers))
    chosen = _engine(stream, engine)
    panel = CountedPanel(words.classes, inside, chosen, chosen.add(count_panel))
    remarks = [*chosen_columns.remarks, *words.remarks]
    remarks += about_repeats(page.again, page.contradictions, repeats)
    about = dict(page.dropped), remarks, warnings, chosen
    held = Held(panel, stream, labelers, codes, names, *about)
    if guesses is None or among_others:
        return held
    if (panel.found.predicted > 0).sum() == 1:
        alone = held.read_otherwise(alone=True)
        alone.panel.found.strata = panel.found.strata  # as the predictions have them
        alone.panel.found.gold_strata = panel.found.gold_strata
        return replace(alone, constant=int(panel.found.predicted.argmax()))
    return _without_itself(held)


def _engine(stream: Stream, where: Any) -> Engine:
    if isinstance(where, str) and where in ("auto", "stream"):
        return stream
    from truthing.engine.dask import Dask

    return Dask(stream, None if isinstance(where, str) and where == "dask" else where)


def given_gold(gold: Any, asked: Asked) -> Gold | None:
    """Gold as it is given, or from its file."""
    if is_source(gold):
        own = asked.without("labeler", "label", "prediction", "score", "count", "pattern")
        return read_as(gold, replace(own, layout=None, labeler_columns=())).gold
    return as_gold(gold)


def _with_gold(
    stream: Stream, n_buckets: int, gold: Gold, warnings: list[str]
) -> tuple[Stream, Array, tuple[Any, ...]]:
    like = stream.shards[0].items().dtype
    names = pl.Series(list(gold.items), strict=False)
    items = spelled(item_names(names, lambda row: f"gold item {row}"), like, "gold")
    held, found = stream.with_gold(items, n_buckets)
    if not found.any():
        raise InputError(
            f"no gold item is among the labeled items (for example {gold.items[0]!r}): check the "
            "item column of the gold."
        )
    if not found.all():
        absent = [gold.items[i] for i in np.flatnonzero(~found)[:4]]
        warnings.append(gold_left_out(int((~found).sum()), absent))
        held, _ = stream.with_gold(items.filter(found), n_buckets)
    kept = np.flatnonzero(found)
    codes = np.asarray(gold.label, dtype=np.int64)[kept]
    return held, codes, tuple(names_at(gold.items, kept))


def _without_itself(held: Held) -> Held:
    """Without the labeler who is the classifier, as for labels in memory."""
    panel, twin = held.panel, held.twins
    if not len(twin):
        return held
    left = held.read_otherwise(without=tuple(map(int, twin)))
    if left.panel.found.labelled < 0.5 * panel.n_items:
        return held
    held.warnings.append(left_out_labeler([panel.labelers[t] for t in twin]))
    return left
