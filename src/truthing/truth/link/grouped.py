"""The views of items that do not fit in memory: groups of items with the same prediction and nearly
the same signal, which is all that the link asks of them, and every gold item by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.engine.base import Shard
from truthing.survey.gold_choice import N_STRATA, seen_strata
from truthing.threads import shares
from truthing.truth.consensus import DawidSkeneFit
from truthing.truth.link.counts import truth_of
from truthing.truth.link.views import Views, levels_of, look, shares_if_wrong, signal_bins
from truthing.truth.passes import Tables, votes_pass
from truthing.truth.samplers.bootstrap import BootstrapMoments

AT_ONCE = 100_000  # items whose views are in memory at a time


@dataclass(eq=False)
class ViewSums:
    """Sums of `look`; groups by bin and stratum of what was seen, as one number, with a row of
    size, signal and wrong classes each; gold items with number, group, prediction, signal and
    consensus; the moments of the confusion counts."""

    sums: Array
    groups: Array
    table: Array
    gold: Array
    moments: Array
    predicted: Array

    def __iadd__(self, other: ViewSums) -> ViewSums:
        self.sums += other.sums
        both = np.concatenate([self.groups, other.groups])
        groups, place = np.unique(both, return_inverse=True)
        table = np.zeros((len(groups), self.table.shape[1]))
        table[place[: len(self.groups)]] = self.table
        table[place[len(self.groups) :]] += other.table
        self.groups, self.table = groups, table
        self.gold = np.concatenate([self.gold, other.gold])
        self.moments += other.moments
        self.predicted += other.predicted
        return self

    @property
    def confusion(self) -> BootstrapMoments:
        return BootstrapMoments(
            self.moments[0], self.moments[1], np.round(self.predicted).astype(np.int64)
        )

    def views(self, fit: DawidSkeneFit) -> tuple[Views, Array, Array]:
        """What the link asks for, the group of each row, and its number in the list of gold (-1:
        none); gold stands in the order of that list."""
        n_classes = len(self.predicted)
        gold = self.gold[np.argsort(self.gold[:, 0])]
        size, signal, wrong = self.table[:, 0], self.table[:, 1], self.table[:, 2:]
        number, group, guess = gold[:, :3].astype(np.int64).T
        gold_signal, consensus = gold[:, 3], gold[:, 4:]
        groups = np.concatenate([self.groups, group])
        bins = groups // (N_STRATA * n_classes)
        levels, agreement = levels_of(self.sums)
        views = Views(
            bins // 1000,
            n_classes,
            levels,
            signal=np.concatenate([signal / size, gold_signal]),
            consensus=np.concatenate([np.zeros((len(size), n_classes)), consensus]),
            posterior=np.empty((0, n_classes)),
            fit=fit,
            size=np.concatenate([size, np.ones(len(gold))]),
            wrong=np.concatenate([wrong / size[:, None], shares_if_wrong(consensus, guess)]),
            bins=bins,
            **agreement._asdict(),
        )
        return views, groups, np.concatenate([np.full(len(size), -1), number])


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
    group = _groups(shard, predicted, signal)
    groups, place = np.unique(group[~known], return_inverse=True)
    wrong = shares_if_wrong(consensus[~known], predicted[~known])
    columns = [None, signal[~known], *wrong.T]
    table = [np.bincount(place.reshape(-1), weights=c, minlength=len(groups)) for c in columns]
    about = shard.known if len(shard.known) else np.full(shard.n_items, -1)
    each = np.column_stack([about, group, predicted, signal, consensus])
    guess = shard.predicted if len(shard.predicted) else np.zeros(shard.n_items, dtype=np.int64)
    moments = BootstrapMoments.of(posterior, guess)
    return ViewSums(
        sums[0],
        groups,
        np.column_stack(table).astype(float),
        each[known].reshape(-1, 4 + n_classes),
        np.stack([moments.mean, moments.variance]),
        moments.predicted.astype(float),
    )


def _groups(shard: Shard, predicted: Array, signal: Array) -> Array:
    """Bin and stratum of what was seen, as one number."""
    guess = shard.predicted if len(shard.predicted) else None
    stratum = seen_strata(votes_pass(shard), guess)
    return np.asarray(signal_bins(predicted, signal) * (N_STRATA * shard.n_classes) + stratum)


def truth_rows(
    shard: Shard, full: Tables, coin: Tables, groups: Array, right: Array, gold: Array
) -> Array:
    """The posterior of each item's class, items × classes; ``right`` is the chance of a right
    prediction in each group, ``gold`` the codes of the list of gold."""
    found = []
    for part in shares(shard.n_items, max(1, shard.n_items // AT_ONCE)):
        some = shard.some(*part)
        _, predicted, signal, consensus, _ = look(some, full, coin)
        chance = right[np.searchsorted(groups, _groups(some, predicted, signal))]
        number = some.known if len(some.known) else np.full(some.n_items, -1)
        codes = np.append(gold, -1)[number]
        found.append(truth_of(chance, shares_if_wrong(consensus, predicted), predicted, codes))
    return np.concatenate(found)
