"""Who guesses, who answers the opposite, who repeats whom: judged on draws of the confusion
matrices and on pairs of labelers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.people.pairs import Pair, unusual_pairs
from truthing.truth.consensus import DawidSkeneFit, Entries, fit_dawid_skene

SURE = 0.975
WORTHLESS = 0.05  # of the bits in a perfect label
COPY = 0.25  # share of repeated answers from which a labeler counts as a copy


@dataclass(frozen=True)
class Copies:
    """Unusual pairs, copies first; labelers set aside because they repeat another (copy →
    original); and the consensus of the rest.
    """

    pairs: list[Pair]
    original: dict[Any, Any]
    kept: Labels
    fit: DawidSkeneFit


def find_copies(labels: Labels, gold: Array) -> Copies:
    """Pairs whose agreement independence does not explain; who repeats another must not vote twice
    on what the truth is.

    Two labelers who copy look perfect to any model that takes them for independent, and drag the
    consensus along. So of the most surprising pair the labeler with fewer labels is set aside, the
    rest is looked at afresh, and so on; two labelers at least stay.
    """
    kept = labels
    original: dict[Any, Any] = {}
    set_aside: list[Pair] = []
    while True:
        fit = fit_dawid_skene(Entries.of(kept), gold)
        pairs = unusual_pairs(kept, gold, fit)
        copies = [pair for pair in pairs if pair.repeated >= COPY]
        if not copies or int((kept.per_labeler > 0).sum()) <= 2:
            return Copies(set_aside + pairs, original, kept, fit)
        worst = max(copies, key=lambda pair: pair.z)
        given = dict(zip(kept.labelers, kept.per_labeler))
        copy = worst.first if given[worst.first] < given[worst.second] else worst.second
        original[copy] = worst.second if copy == worst.first else worst.first
        set_aside.append(worst)
        kept = kept.select([name for name in kept.labelers if name != copy])


def independent_share(labels: Labels, pairs: list[Pair]) -> Array:
    """At most this share of a labeler's answers is its own, given the partner it repeats most
    (docs/labelers.md, 10).
    """
    repeated = np.zeros(labels.n_labelers)
    for pair in pairs:
        for who in (pair.first, pair.second):
            t = labels.labelers.index(who)
            share = pair.repeated * pair.items / labels.per_labeler[t]
            repeated[t] = max(repeated[t], share)
    return 1 - np.minimum(repeated, 1.0)


def reading(tables: Array, classes: tuple[Any, ...]) -> dict[Any, Any]:
    """How an adversary's labels should be read (said → meant), or nothing: a permutation that
    surely beats the labels as given.

    >>> flipped = np.tile([[0.1, 0.9], [0.8, 0.2]], (10, 1, 1))
    >>> reading(flipped, ("no", "yes"))
    {'yes': 'no', 'no': 'yes'}
    >>> reading(np.full((10, 3, 3), 0.4) - 0.2 * np.eye(3), ("a", "b",
    ...     "c"))  # always wrong, but how?
    {}
    """
    from scipy.optimize import linear_sum_assignment

    truth, label = linear_sum_assignment(-tables.mean(axis=0))
    if (truth == label).all():
        return {}
    gain = tables[:, truth, label].sum(axis=1) - tables[:, truth, truth].sum(axis=1)
    if (gain > 0).mean() < SURE or not _is_clear(tables, truth, label):
        return {}
    return {classes[k]: classes[c] for c, k in zip(truth, label) if c != k}


def _is_clear(tables: Array, truth: Array, label: Array) -> bool:
    """Does each swapped class have one answer that is likelier than every other? One error rate for
    all classes names none.
    """
    for c, k in zip(truth, label):
        if c != k:
            others = np.delete(tables[:, c], k, axis=1).max(axis=1)
            if (tables[:, c, k] > others + 1e-9).mean() < 0.9:
                return False
    return True


def kind(copy: bool, adversary: bool, bits: Array, most: Array) -> str:
    """One word for a labeler: copy, spammer, adversary, useful, or unclear where too few labels
    tell.
    """
    worthless = float((bits < WORTHLESS * most).mean())
    if copy or worthless >= SURE:  # swapping worthless answers back would not make them informative
        return "copy" if copy else "spammer"
    if adversary:
        return "adversary"
    return "useful" if worthless <= 0.5 else "unclear"
