"""What the panel seems to say: five views of one question, how often is the prediction right.

Majority vote, and both consensus models with and without the classifier. Beside them stands the
plain agreement of the labels with the predictions, which no model has explained away, and that of
the labels among themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from truthing.class_codes import Array
from truthing.engine.base import NO_VOTES, Engine, Shard
from truthing.engine.memory import joined
from truthing.progress import Progress, part, silent
from truthing.truth.consensus import (
    DawidSkeneFit,
    Entries,
    OneCoinFit,
    fit_dawid_skene,
    fit_one_coin,
)
from truthing.truth.link.told import Told
from truthing.truth.passes import Tables, together_and_alone, votes_pass

DEPENDENCE = 0.2  # n labels on an item count as n / (1 + (n - 1) · .2), after the rows are learned
CLIP = 0.01
MOST_ROW_CELLS = 4_000_000  # raters × classes × classes of the pooled fit
STEP = 0.1  # width of the bins of the signal that make groups
DOUBT = 0.03  # no view is believed beyond this share of items: full agreement is not certainty
FULL = 0.98  # no agreement is taken for more


class Agreement(NamedTuple):
    """What `Views` tell of plain agreement, under the same names."""

    agreement: float
    among: float
    by_chance: float
    per_item: float


@dataclass(frozen=True, eq=False)
class Views:
    """``levels`` are logits of the mean accuracy under each view, ``agreement`` the share of labels
    that say what the classifier says; ``signal`` is an item's log-odds of a right prediction.
    ``among`` is the share of pairs of an item's labels that agree (NaN: there are no pairs),
    ``by_chance`` what it would be if labels had nothing to do with their item, ``per_item`` the
    mean number of labels of a labelled item. ``told`` is what the user knows of the labels.

    Where items are too many for memory a row stands for ``size`` of them in the same bin of
    the signal, and ``wrong`` is their mean; rows with gold stand for one.
    """

    predicted: Array
    n_classes: int
    levels: Array
    agreement: float
    signal: Array
    consensus: Array
    posterior: Array
    fit: DawidSkeneFit
    size: Array | None = None
    wrong: Array | None = None
    bins: Array | None = None
    among: float = float("nan")
    by_chance: float = 0.5
    per_item: float = 1.0
    told: Told | None = None

    def with_signs_of(self, other: Views) -> Views:
        """The same view of each item; how right predictions are as a whole as ``other`` has it."""
        plain = {name: getattr(other, name) for name in Agreement._fields}
        return replace(self, levels=other.levels, **plain)

    @property
    def n_items(self) -> int:
        return len(self.predicted) if self.size is None else round(float(self.size.sum()))

    @cached_property
    def bin(self) -> Array:
        """The predicted class and the rounded signal of each row, as one number."""
        if self.bins is not None:
            return self.bins
        return signal_bins(self.predicted, self.signal)

    def wrong_classes(self) -> Array:
        """What the consensus takes the wrong predictions of each row for, rows × classes."""
        if self.wrong is not None:
            return self.wrong
        return shares_if_wrong(self.consensus, self.predicted)

    @cached_property
    def believed(self) -> Array:
        """The levels with the share `DOUBT` of all items left open."""
        return _doubted(self.levels)

    @property
    def agreed(self) -> float:
        return _level(self.agreement)

    @property
    def accord(self) -> float:
        """How far labelers agree among themselves beyond chance (Fleiss' kappa, from 0 up); 0 where
        no item has two labels."""
        beyond = (self.among - self.by_chance) / max(1 - self.by_chance, 1e-9)
        return 0.0 if np.isnan(beyond) else float(np.clip(beyond, 0.0, FULL))

    @property
    def among_level(self) -> float:
        """The logit of the labelers' agreement among themselves; where no item has two labels, of
        that with the classifier."""
        return _level(self.agreement if np.isnan(self.among) else self.among)

    @property
    def distance(self) -> float:
        """How far agreement with the classifier is from that of the labelers among themselves."""
        return abs(self.agreed - self.among_level)

    @property
    def gap(self) -> float:
        """What the two models with the classifier as a rater claim beyond plain agreement."""
        return float(_doubted(self.levels[1:3].mean())) - self.agreed

    @property
    def spread(self) -> float:
        """How far the five views differ."""
        return float(self.believed.std())


def read_panel(entries: Entries, predicted: Array, *, progress: Progress = silent) -> Views:
    """Fit both models and look. Gold is left out: it judges the views, so it must not shape
    them.
    """
    together = with_shared_tables(entries)
    return _read(together.engine(predicted), progress, together is not entries)


def read_consensus(entries: Entries, *, progress: Progress = silent) -> Views:
    """Views of the panel about its own consensus: the "prediction" is its most probable class."""
    together = with_shared_tables(entries)
    return _read(together.engine(), progress, together is not entries)


def with_shared_tables(entries: Entries) -> Entries:
    """The same labels where a table for each rater would not fit (a thousand classes): the busiest
    keep their own, all others are taken for one rater, put last."""
    fitting = max(MOST_ROW_CELLS // entries.n_classes**2 - 1, 1)  # the classifier has one too
    if entries.n_raters <= fitting:
        return entries
    given = np.bincount(entries.rater, minlength=entries.n_raters)
    busiest = np.argsort(-given, kind="stable")[: fitting - 1]
    table = np.full(entries.n_raters, fitting - 1, dtype=entries.rater.dtype)
    table[busiest] = np.arange(fitting - 1)
    return replace(entries, rater=table[entries.rater], n_raters=fitting)


def _read(engine: Engine, progress: Progress, shared: bool) -> Views:
    full, coin = fit_both(engine, progress=progress)
    seen = joined(engine.map(look, full.tables, coin.tables))
    sums, predicted, signal, consensus, posterior = seen
    full = replace(full, posterior=posterior, shared=shared)
    levels, agreement = levels_of(sums.sum(axis=0))
    about = predicted, engine.n_classes, levels, agreement, signal, consensus, full
    return _as_views(*about)


def fit_both(engine: Engine, *, progress: Progress = silent) -> tuple[DawidSkeneFit, OneCoinFit]:
    """Both consensus models of the labels that an engine holds."""
    full = fit_dawid_skene(engine, progress=part(progress, 0, 0.6))
    return full, fit_one_coin(engine, progress=part(progress, 0.6, 1))


def look(shard: Shard, full: Tables, coin: Tables) -> tuple[Array, ...]:
    """What the five views say about each item of a shard: sums (one row), the prediction, the
    signal, the consensus of the labelers alone, and the posterior of everybody.
    """
    votes = votes_pass(shard)
    given = votes.sum(axis=1)
    discount = worth_of_a_vote(given)
    posterior, alone = together_and_alone(shard, full, discount)
    by_coin, coin_alone = together_and_alone(shard, coin, discount)
    everyone = np.arange(shard.n_items)
    if len(shard.predicted):
        predicted = shard.predicted.astype(np.int64)
        top = votes == votes.max(axis=1, keepdims=True)
        majority = top[everyone, predicted] / top.sum(axis=1)
    else:
        predicted = (posterior + by_coin).argmax(axis=1)
        majority = votes[everyone, predicted] / np.maximum(given, 1)
    views = (posterior, by_coin, alone, coin_alone)
    chances = [majority, *(view[everyone, predicted] for view in views)]
    sums = [len(predicted), *(c.sum() for c in chances), *_agreeing(votes, predicted)]
    sums += _pairs(votes if _whole(shard.votes) else votes_pass(replace(shard, votes=NO_VOTES)))
    signal = (clipped_logit(chances[3]) + clipped_logit(chances[4])) / 2
    alone += coin_alone
    alone /= 2
    return np.array([sums]), predicted, signal, alone, posterior


def levels_of(sums: Array) -> tuple[Array, Agreement]:
    """Levels and agreement from the sums of `look`."""
    n_items, chances, (labelled, agreed) = sums[0], sums[1:6], sums[6:8]
    levels = logit((chances + 0.5) / (n_items + 1))
    return levels, _agreement(float(labelled), float(agreed), sums[8:])


def _whole(votes: Array) -> bool:
    """Whether each vote is one labeler's, or several's: votes of a group count for less than one,
    and agree as often as any."""
    return len(votes) == 0 or float(votes.min()) >= 1


def _pairs(votes: Array) -> list[float]:
    """Items with two labels or more, their mean shares of agreeing pairs added up, and the votes of
    each class."""
    several = votes.sum(axis=1) > 1
    shares = agreeing_pairs(votes[several])
    return [int(several.sum()), float(shares.sum()), *votes.sum(axis=0)]


def agreeing_pairs(votes: Array) -> Array:
    """The share of pairs of an item's labels that agree, unbiased for any number of labels; 0 where
    there are no two. ``votes`` are items × classes."""
    given = votes.sum(axis=1)
    alike = (votes * (votes - 1)).sum(axis=1)
    return np.asarray(alike / np.maximum(given * (given - 1), 1))


def _agreement(labelled: float, agreed: float, pairs: Any) -> Agreement:
    """Labelled items, their mean shares of labels that say what is predicted added up, `_pairs`."""
    several, alike, *votes = pairs
    given = float(np.sum(votes))
    share = np.asarray(votes) / max(given, 1.0)
    among = float(alike / several) if several else float("nan")
    return Agreement(agreed / labelled, among, float((share**2).sum()), given / labelled)


def known_views(
    entries: Entries, evidence: Array, posterior: Array, predicted: Array, prior: Array
) -> Views:
    """Views when the noise was given: one model; the items' signal comes from the labels alone."""
    everyone = np.arange(len(predicted))
    alone = np.exp(evidence) * prior
    alone /= alone.sum(axis=1, keepdims=True)
    chances = [posterior[everyone, predicted]] * 3 + [alone[everyone, predicted]] * 2
    n = evidence.shape[1]
    none = np.zeros((0, n, n))
    fit = DawidSkeneFit(posterior, none, np.log(prior + 1e-300), none, np.eye(n), 1.0)
    levels = np.array([logit((c.sum() + 0.5) / (len(predicted) + 1)) for c in chances])
    votes = entries.counts()
    agreement = _agreement(*_agreeing(votes, predicted), _pairs(votes))
    signal = (clipped_logit(chances[3]) + clipped_logit(chances[4])) / 2
    return _as_views(predicted, n, levels, agreement, signal, alone, fit)


def _as_views(
    predicted: Array,
    n_classes: int,
    levels: Array,
    agreement: Agreement,
    signal: Array,
    consensus: Array,
    fit: DawidSkeneFit,
) -> Views:
    return Views(
        predicted,
        n_classes,
        levels,
        signal=signal,
        consensus=consensus,
        posterior=fit.posterior,
        fit=fit,
        **agreement._asdict(),
    )


def signal_bins(predicted: Array, signal: Array) -> Array:
    """Predicted class and rounded signal as one number, class first."""
    return predicted.astype(np.int64) * 1000 + np.round(signal / STEP).astype(np.int64) + 500


def shares_if_wrong(consensus: Array, predicted: Array) -> Array:
    """What the consensus takes a wrong prediction for."""
    share = consensus + 1e-4
    share[np.arange(len(predicted)), predicted] = 0.0
    share /= share.sum(axis=1, keepdims=True)
    return share


def _doubted(level: Array) -> Array:
    """Levels when the share `DOUBT` of all items is left open."""
    return np.asarray(logit(DOUBT / 2 + (1 - DOUBT) / (1 + np.exp(-level))))


def _agreeing(votes: Array, predicted: Array) -> tuple[float, float]:
    """How many items have labels, and their shares of labels that say what is predicted added
    up."""
    given = votes.sum(axis=1)
    shares = votes[np.arange(len(votes)), predicted][given > 0] / given[given > 0]
    return float(len(shares)), float(shares.sum())


def worth_of_a_vote(votes: Array) -> Array:
    """What one of an item's votes counts, as labelers depend on each other."""
    return np.asarray(1 / (1 + (np.maximum(votes, 1) - 1) * DEPENDENCE))


def _level(agreement: float) -> float:
    """The logit of a share of agreeing labels, kept finite."""
    return float(logit(np.clip(agreement, 1 - FULL, FULL)))


def clipped_logit(p: Array) -> Array:
    return np.asarray(logit(np.clip(p, CLIP, 1 - CLIP)))
