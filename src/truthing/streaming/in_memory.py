"""Very many items in memory: counted in groups, as items on disk are. What two consensus models say
about each item would take several times the room of its labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truthing.asking import without_itself
from truthing.class_codes import Array, places_by_name, tally
from truthing.engine.base import NO_VOTES, Shard
from truthing.engine.memory import Memory
from truthing.labels import Labels
from truthing.matching import Joined
from truthing.names import Names, names_at
from truthing.sorting import keys_in_order
from truthing.streaming.held import Held
from truthing.truth.counted import CountedPanel, count_panel


def hold_in_memory(joined: Joined) -> Held:
    """The same data in the order of names, without a labeler who is the classifier."""
    held = _held(joined)
    if len(held.twins):
        assert joined.predicted is not None
        left = without_itself(joined, joined.predicted)
        return held if left is joined else _held(left)
    return held


def _held(joined: Joined) -> Held:
    labels, predicted = joined.labels, joined.predicted
    assert predicted is not None
    items, labelers = _order(labels.items), places_by_name(labels.labelers)
    gold = joined.gold[items]
    known = np.flatnonzero(gold >= 0)
    numbers = np.full(labels.n_items, -1, dtype=np.int32)
    numbers[known] = np.arange(len(known))
    start_of, key = _keys(labels, items, labelers)
    shard = Shard(
        start_of,
        key,
        NO_VOTES,
        np.full(labels.n_items, -1, dtype=np.int32),
        predicted.astype(np.int32, copy=False)[items],
        labels.n_labelers,
        labels.n_classes,
        numbers,
    )
    engine = Memory(shard)
    inside = tuple(labels.labelers[t] for t in labelers)
    panel = CountedPanel(labels.classes, inside, engine, engine.add(count_panel))
    return Held(
        panel,
        None,
        labels.labelers,
        gold[known],
        tuple(names_at(labels.items, items[known])),
        joined.dropped,
        list(joined.remarks),
        joined.warnings,
        engine,
        places=items,
    )


def _order(names: Sequence[Any]) -> Array:
    """Places of the items in an order that is the same for any order of rows."""
    if not isinstance(names, Names):
        return places_by_name(names).astype(np.int32)
    return np.argsort(names.series.hash(0).to_numpy(), kind="stable").astype(np.int32)


def _keys(labels: Labels, items: Array, labelers: Array) -> tuple[Array, Array]:
    """Where the labels of each item begin, and their keys."""
    rank = np.empty(len(labelers), dtype=np.int32)
    rank[labelers] = np.arange(len(labelers), dtype=np.int32)
    start_of = np.zeros(len(items) + 1, dtype=np.int64)
    size = tally(labels.item, labels.n_items)
    np.cumsum(size[items], out=start_of[1:])
    first_of = np.cumsum(size)
    first_of -= size
    del size
    key = np.empty(len(labels.label), dtype=np.int32)
    columns = labels.labeler, labels.label
    keys_in_order(start_of, first_of, items, rank, *columns, labels.n_classes, key)
    return start_of, key
