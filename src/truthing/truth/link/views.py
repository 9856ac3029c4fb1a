"""What the panel seems to say: five views of one question, how often is the prediction right.

Majority vote, and both consensus models with and without the classifier. Beside them stands the
plain agreement of the labels with the predictions, which no model has explained away.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logit

from truthing.class_codes import Array
from truthing.progress import Progress, part, silent
from truthing.truth.consensus import DawidSkeneFit, Entries, fit_dawid_skene, fit_one_coin

DEPENDENCE = 0.2  # n labels on an item count as n / (1 + (n - 1) · .2), after the rows are learned
CLIP = 0.01
DOUBT = 0.03  # no view is believed beyond this share of items: full agreement is not certainty


@dataclass(frozen=True, eq=False)
class Views:
    """``levels`` are logits of the mean accuracy under each view, ``agreement`` the share of labels
    that say what the classifier says; ``signal`` is an item's log-odds of a right prediction."""

    predicted: Array
    n_classes: int
    levels: Array
    agreement: float
    signal: Array
    consensus: Array
    posterior: Array
    fit: DawidSkeneFit

    @cached_property
    def believed(self) -> Array:
        """The levels with the share `DOUBT` of all items left open."""
        return _doubted(self.levels)

    @property
    def agreed(self) -> float:
        return float(logit(np.clip(self.agreement, 0.02, 0.98)))

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
    votes = entries.counts()
    discount = worth_of_a_vote(votes.sum(axis=1))
    top = votes == votes.max(axis=1, keepdims=True)
    everyone = np.arange(entries.n_items)
    majority = top[everyone, predicted] / top.sum(axis=1)
    agreement = _agreement(votes, predicted)
    del votes, top  # items × classes: at millions of items every such table counts
    engine = entries.engine(predicted)
    full = fit_dawid_skene(engine, progress=part(progress, 0, 0.6))
    coin = fit_one_coin(engine, progress=part(progress, 0.6, 1))
    del engine
    chances = [majority, full.posterior[everyone, predicted], coin.posterior[everyone, predicted]]
    coin_alone = coin.labelers_only(entries, discount)
    del coin
    consensus = full.labelers_only(entries, discount)
    chances += [consensus[everyone, predicted], coin_alone[everyone, predicted]]
    consensus += coin_alone
    consensus /= 2
    return _views(predicted, chances, agreement, consensus, full)


def read_consensus(entries: Entries, *, progress: Progress = silent) -> Views:
    """Views of the panel about its own consensus: the "prediction" is its most probable class."""
    everyone = np.arange(entries.n_items)
    votes = entries.counts()
    full = fit_dawid_skene(entries, progress=part(progress, 0, 0.6))
    coin = fit_one_coin(entries, progress=part(progress, 0.6, 1))
    discount = worth_of_a_vote(votes.sum(axis=1))
    alone = full.labelers_only(entries, discount), coin.labelers_only(entries, discount)
    predicted = (full.posterior + coin.posterior).argmax(axis=1)
    share = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    views = (share, full.posterior, coin.posterior, *alone)
    chances = [view[everyone, predicted] for view in views]
    consensus = (alone[0] + alone[1]) / 2
    return _views(predicted, chances, _agreement(votes, predicted), consensus, full)


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
    return _views(predicted, chances, _agreement(entries.counts(), predicted), alone, fit)


def _views(
    predicted: Array,
    chances: list[Array],
    agreement: float,
    consensus: Array,
    fit: DawidSkeneFit,
) -> Views:
    n_items = len(predicted)
    levels = np.array([logit((chance.sum() + 0.5) / (n_items + 1)) for chance in chances])
    signal = (clipped_logit(chances[3]) + clipped_logit(chances[4])) / 2
    n_classes = consensus.shape[1]
    return Views(predicted, n_classes, levels, agreement, signal, consensus, fit.posterior, fit)


def _doubted(level: Array) -> Array:
    """Levels when the share `DOUBT` of all items is left open."""
    return np.asarray(logit(DOUBT / 2 + (1 - DOUBT) / (1 + np.exp(-level))))


def _agreement(votes: Array, predicted: Array) -> float:
    """The mean share of an item's labels that say what is predicted."""
    given = votes.sum(axis=1)
    labelled = given > 0
    same = votes[np.arange(len(votes)), predicted]
    return float((same[labelled] / given[labelled]).mean())


def worth_of_a_vote(votes: Array) -> Array:
    """What one of an item's votes counts, as labelers depend on each other."""
    return np.asarray(1 / (1 + (np.maximum(votes, 1) - 1) * DEPENDENCE))


def clipped_logit(p: Array) -> Array:
    return np.asarray(logit(np.clip(p, CLIP, 1 - CLIP)))
