"""What several classifiers say about items that do not fit in memory: groups of items with the same
predictions and nearly the same consensus, and every gold item by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truthing.class_codes import Array
from truthing.engine.base import Shard
from truthing.errors import InputError
from truthing.threads import shares
from truthing.truth.link.grouped import AT_ONCE
from truthing.truth.link.models import ModelRows
from truthing.truth.link.views import look
from truthing.truth.passes import Tables

MOST_GROUPS = 300_000


@dataclass(eq=False)
class RowSums:
    """Groups by predictions and bins of the consensus (``keys``) with a row of size and added logs
    each (``table``); gold items with number and key (``gold``) and logs."""

    n_models: int
    keys: Array
    table: Array
    gold: Array
    gold_logs: Array

    def __iadd__(self, other: RowSums) -> RowSums:
        both = np.concatenate([self.keys, other.keys])
        self.keys, place = np.unique(both, axis=0, return_inverse=True)
        if len(self.keys) > MOST_GROUPS:
            raise InputError(
                f"these models and classes make more than {MOST_GROUPS:,} groups of items that "
                "look alike: merge rare classes, compare fewer models, or use `engine='memory'`."
            )
        table = np.zeros((len(self.keys), self.table.shape[1]))
        np.add.at(table, place.reshape(-1), np.concatenate([self.table, other.table]))
        self.table = table
        self.gold = np.concatenate([self.gold, other.gold])
        self.gold_logs = np.concatenate([self.gold_logs, other.gold_logs])
        return self

    def rows(self) -> tuple[ModelRows, Array]:
        """The rows, gold items last and in the order of their list, and each row's number in that
        list (-1: none)."""
        order = np.argsort(self.gold[:, 0])
        gold, m = self.gold[order], self.n_models
        size = self.table[:, 0]
        keys = np.concatenate([self.keys, gold[:, 1:]])
        logs = np.concatenate([self.table[:, 1:] / size[:, None], self.gold_logs[order]])
        sizes = np.concatenate([size, np.ones(len(gold))])
        number = np.concatenate([np.full(len(size), -1), gold[:, 0]])
        return ModelRows(np.ascontiguousarray(keys[:, :m].T), logs, keys[:, m:], sizes), number


def row_sums(shard: Shard, *tables: Tables) -> RowSums:
    """The sums of one shard; ``tables`` are both consensus models of each classifier in turn."""
    parts = shares(shard.n_items, max(1, shard.n_items // AT_ONCE))
    total = _some_sums(shard.some(*parts[0]), tables)
    for part in parts[1:]:
        total += _some_sums(shard.some(*part), tables)
    return total


def _some_sums(shard: Shard, tables: tuple[Tables, ...]) -> RowSums:
    models = shard.predicted, *shard.rivals
    consensus = np.mean(
        [
            look(replace(shard, predicted=guess), full, coin)[3]
            for guess, full, coin in zip(models, tables[::2], tables[1::2])
        ],
        axis=0,
    )
    rows = ModelRows.of(np.stack(models).astype(np.int64), consensus)
    known = shard.known >= 0 if len(shard.known) else np.zeros(shard.n_items, dtype=bool)
    keys, place = np.unique(rows.keys[~known], axis=0, return_inverse=True)
    each = np.column_stack([np.ones(shard.n_items), rows.logs])[~known]
    table = np.zeros((len(keys), each.shape[1]))
    np.add.at(table, place.reshape(-1), each)
    about = np.column_stack([shard.known if len(shard.known) else -np.ones(len(known)), rows.keys])
    gold = about[known].astype(np.int64).reshape(-1, 1 + rows.keys.shape[1])
    return RowSums(len(models), keys, table, gold, rows.logs[known])
