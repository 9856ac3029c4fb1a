"""The views of items that do not fit in memory: groups of items with the same prediction and nearly
the same signal, which is all that the link asks of them, and every gold item by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.engine.base import Shard
from truthing.threads import shares
from truthing.truth.consensus import DawidSkeneFit
from truthing.truth.link.counts import truth_of
from truthing.truth.link.views import Views, levels_of, look, shares_if_wrong, signal_bins
from truthing.truth.passes import Tables
from truthing.truth.samplers.bootstrap import Moments

AT_ONCE = 100_000  # items whose views are in memory at a time


@dataclass(eq=False)
class ViewSums:
    """Sums of `look`; groups by their bin with a row of size, signal and wrong classes each; gold
    items with number, prediction, signal and consensus; the moments of the confusion counts."""

    sums: Array
    bins: Array
    table: Array
    gold: Array
    moments: Array
    predicted: Array

    def __iadd__(self, other: ViewSums) -> ViewSums:
        self.sums += other.sums
        bins, place = np.unique(np.concatenate([self.bins, other.bins]), return_inverse=True)
        table = np.zeros((len(bins), self.table.shape[1]))
        table[place[: len(self.bins)]] = self.table
        table[place[len(self.bins) :]] += other.table
        self.bins, self.table = bins, table
        self.gold = np.concatenate([self.gold, other.gold])
        self.moments += other.moments
        self.predicted += other.predicted
        return self

    @property
    def confusion(self) -> Moments:
        return Moments(self.moments[0], self.moments[1], np.round(self.predicted).astype(np.int64))

    def views(self, fit: DawidSkeneFit) -> tuple[Views, Array]:
        """What the link asks for, and the number in the list of gold of each row (-1: none); gold
        stands in the order of that list."""
        n_classes = len(self.predicted)
        gold = self.gold[np.argsort(self.gold[:, 0])]
        size, signal, wrong = self.table[:, 0], self.table[:, 1], self.table[:, 2:]
        number, said, gold_signal, consensus = gold[:, 0], gold[:, 1], gold[:, 2], gold[:, 3:]
        said = said.astype(np.int64)
        levels, agreement = levels_of(self.sums)
        views = Views(
            np.concatenate([self.bins // 1000, said]),
            n_classes,
            levels,
            agreement,
            np.concatenate([signal / size, gold_signal]),
            np.concatenate([np.zeros((len(size), n_classes)), consensus]),
            np.empty((0, n_classes)),
            fit,
            size=np.concatenate([size, np.ones(len(gold))]),
            wrong=np.concatenate([wrong / size[:, None], shares_if_wrong(consensus, said)]),
            bins=np.concatenate([self.bins, signal_bins(said, gold_signal)]),
        )
        return views, np.concatenate([np.full(len(size), -1), number.astype(np.int64)])


def view_sums(shard: Shard, full: Tables, coin: Tables) -> ViewSums:
    """The sums of one shard, a run of items at a time."""
    parts = shares(shard.n_items, max(1, shard.n_items // AT_ONCE))
    total = _some_sums(shard.some(*parts[0]), full, coin)
    for part in parts[1:]:
        total += _some_sums(shard.some(*part), full, coin)
    return total


def _some_sums(shard: Shard, full: Tables, coin: Tables) -> ViewSums:
    n_classes = shard.n_classes
    sums, predicted, signal, consensus, posterior = look(shard, full, coin)
    known = shard.known >= 0 if len(shard.known) else np.zeros(shard.n_items, dtype=bool)
    bins, place = np.unique(signal_bins(predicted, signal)[~known], return_inverse=True)
    wrong = shares_if_wrong(consensus[~known], predicted[~known])
    columns = [None, signal[~known], *wrong.T]
    table = [np.bincount(place.reshape(-1), weights=c, minlength=len(bins)) for c in columns]
    gold = np.column_stack([shard.known[known], predicted[known], signal[known], consensus[known]])
    said = shard.predicted if len(shard.predicted) else np.zeros(shard.n_items, dtype=np.int64)
    moments = Moments.of(posterior, said)
    return ViewSums(
        sums[0],
        bins,
        np.column_stack(table).astype(float),
        gold.astype(float).reshape(-1, 3 + n_classes),
        np.stack([moments.mean, moments.variance]),
        moments.predicted.astype(float),
    )


def truth_rows(
    shard: Shard, full: Tables, coin: Tables, bins: Array, right: Array, gold: Array
) -> Array:
    """The posterior of each item's class, items × classes; ``right`` is the chance of a right
    prediction in each bin, ``gold`` the codes of the list of gold."""
    found = []
    for part in shares(shard.n_items, max(1, shard.n_items // AT_ONCE)):
        some = shard.some(*part)
        _, predicted, signal, consensus, _ = look(some, full, coin)
        chance = right[np.searchsorted(bins, signal_bins(predicted, signal))]
        number = some.known if len(some.known) else np.full(some.n_items, -1)
        codes = np.append(gold, -1)[number]
        found.append(truth_of(chance, shares_if_wrong(consensus, predicted), predicted, codes))
    return np.concatenate(found)
