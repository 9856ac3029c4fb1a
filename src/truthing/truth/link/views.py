"""Five readings of one question, how often is the prediction right: majority vote, and both consensus models with and without the classifier.

Where they agree the panel can be trusted; how far they differ is the best sign we found of how far consensus and truth part company.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truthing.class_codes import Array
from truthing.progress import Progress, part, silent
from truthing.truth.consensus import DawidSkeneFit, Entries, fit_dawid_skene, fit_one_coin

DEPENDENCE = 0.2  # n labels on an item count as n / (1 + (n - 1) · .2), after the rows are learned
CLIP = 0.01


@dataclass(frozen=True, eq=False)
class Readings:
    """``levels`` are logits of the mean accuracy under each reading; ``signal`` is an item's log-odds of a right prediction."""

    predicted: Array
    n_classes: int
    levels: Array
    signal: Array
    consensus: Array
    posterior: Array
    fit: DawidSkeneFit

    @property
    def centre(self) -> float:
        """Mean of the two models' levels with the classifier as a rater."""
        return float(self.levels[1:3].mean())

    @property
    def spread(self) -> float:
        """How far the five readings differ."""
        return float(self.levels.std())


def read_panel(entries: Entries, predicted: Array, *, progress: Progress = silent) -> Readings:
    """Fit both models and read them. Gold is left out on purpose: it judges the readings, so it must not shape them."""
    n_items, n_classes = entries.n_items, entries.n_classes
    everyone = np.arange(n_items)
    votes = entries.counts()
    top = votes == votes.max(axis=1, keepdims=True)
    majority = top[everyone, predicted] / top.sum(axis=1)
    discount = worth_of_a_vote(votes.sum(axis=1))
    del votes, top  # items × classes: at millions of items every such table counts
    together = entries.with_classifier(predicted)
    full = fit_dawid_skene(together, progress=part(progress, 0, 0.6))
    coin = fit_one_coin(together, progress=part(progress, 0.6, 1))
    del together
    chances = [majority, full.posterior[everyone, predicted], coin.posterior[everyone, predicted]]
    coin_alone = coin.labelers_only(entries, discount)
    del coin
    consensus = full.labelers_only(entries, discount)
    chances += [consensus[everyone, predicted], coin_alone[everyone, predicted]]
    consensus += coin_alone
    consensus /= 2
    levels = np.array([logit((chance.sum() + 0.5) / (n_items + 1)) for chance in chances])
    signal = (clipped_logit(chances[3]) + clipped_logit(chances[4])) / 2
    return Readings(predicted, n_classes, levels, signal, consensus, full.posterior, full)


def worth_of_a_vote(votes: Array) -> Array:
    """What one of an item's votes counts, as labelers depend on each other."""
    return np.asarray(1 / (1 + (np.maximum(votes, 1) - 1) * DEPENDENCE))


def logit(p: Array | float) -> Array:
    return np.asarray(np.log(p) - np.log1p(-np.asarray(p)))


def clipped_logit(p: Array) -> Array:
    return logit(np.clip(p, CLIP, 1 - CLIP))


def known_readings(evidence: Array, posterior: Array, predicted: Array, prior: Array) -> Readings:
    """Readings when the noise was given: one model, so all five are the same; the items' signal comes from the labels alone."""
    n_items, n_classes = evidence.shape
    everyone = np.arange(n_items)
    alone = np.exp(evidence) * prior
    alone /= alone.sum(axis=1, keepdims=True)
    level = logit((posterior[everyone, predicted].sum() + 0.5) / (n_items + 1))
    empty = DawidSkeneFit(
        posterior,
        np.zeros((0, n_classes, n_classes)),
        np.log(prior + 1e-300),
        np.zeros((0, n_classes, n_classes)),
        np.eye(n_classes),
        1.0,
    )
    return Readings(
        predicted,
        n_classes,
        np.full(5, level),
        clipped_logit(alone[everyone, predicted]),
        alone,
        posterior,
        empty,
    )


def read_consensus(entries: Entries, *, progress: Progress = silent) -> Readings:
    """Readings of the panel about its own consensus: the "prediction" is the class that the models together hold most probable."""
    n_items, n_classes = entries.n_items, entries.n_classes
    everyone = np.arange(n_items)
    votes = entries.counts()
    full = fit_dawid_skene(entries, progress=part(progress, 0, 0.6))
    coin = fit_one_coin(entries, progress=part(progress, 0.6, 1))
    discount = worth_of_a_vote(votes.sum(axis=1))
    full_alone, coin_alone = (
        full.labelers_only(entries, discount),
        coin.labelers_only(entries, discount),
    )
    predicted = (full.posterior + coin.posterior).argmax(axis=1)
    share = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1)
    chances = [
        q[everyone, predicted]
        for q in (share, full.posterior, coin.posterior, full_alone, coin_alone)
    ]
    levels = np.array([logit((chance.sum() + 0.5) / (n_items + 1)) for chance in chances])
    signal = (clipped_logit(chances[3]) + clipped_logit(chances[4])) / 2
    return Readings(
        predicted, n_classes, levels, signal, (full_alone + coin_alone) / 2, full.posterior, full
    )
