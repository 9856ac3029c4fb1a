"""agreement(): the chance-corrected coefficients people know, with intervals over items
(docs/labelers.md, 14-17).

Each coefficient is a smooth function of sums over items, so that leaving items out needs no second
pass over the labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from truthing.asking import prepare
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.metrics.estimate import check_level

Shares = tuple[Array, Array]  # of agreeing pairs: observed, and expected by chance


@dataclass(frozen=True, eq=False)
class Coefficient:
    """``(observed - chance) / (1 - chance)``: 1 = always agreed, 0 = as often as chance would;
    ``error`` is its standard error over items.
    """

    observed: float
    chance: float
    error: float
    n_items: int

    @property
    def value(self) -> float:
        return float(_corrected((np.asarray(self.observed), np.asarray(self.chance))))

    def __float__(self) -> float:
        return self.value

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Jackknife over items, with Student's t; items are a random sample, labelers are these."""
        from scipy.special import stdtrit

        check_level(level)
        if not np.isfinite(self.value):
            return float("nan"), float("nan")
        if not np.isfinite(self.error):  # so few items leave everything possible
            return -1.0, 1.0
        if (
            self.observed == 1
        ):  # no dissent at all: the share of items with dissent may still be what n items can miss
            floor = (1 - level) ** (1 / self.n_items)
            return max((floor - self.chance) / (1 - self.chance), -1.0), 1.0
        half = float(stdtrit(max(self.n_items - 1, 1), (1 + level) / 2)) * self.error
        return max(self.value - half, -1.0), min(self.value + half, 1.0)

    def __str__(self) -> str:
        low, high = self.interval(0.95)
        return f"{self.value:.3f} (95% interval {low:.3f} to {high:.3f})"


def agreement(labels: Any) -> dict[str, Coefficient]:
    """How far labelers agree beyond chance.

    Fleiss' kappa, Krippendorff's alpha (nominal), Gwet's AC1, and Cohen's kappa (Conger's for more
    than two
    labelers). High agreement is no proof of quality: labelers can be wrong together.

    Parameters
    ----------
    labels : Labels, path, data frame or matrix
        As in `grade`. Votes may be anonymous; items with one label count only where a coefficient's
        own definition lets them.

    Returns
    -------
    dict
        Name of each coefficient to its value and interval.

    See Also
    --------
    labelers : what each labeler is worth.

    Examples
    --------
    >>> labels = Labels.from_matrix([["a", "a"], ["a", "b"], ["b", "b"], ["b", "b"]])
    >>> print({name: round(value.value, 3) for name, value in agreement(labels).items()})
    {'fleiss_kappa': 0.467, 'krippendorff_alpha': 0.533, 'gwet_ac1': 0.529, 'cohen_kappa': 0.5}
    """
    if not isinstance(labels, Labels):
        labels = prepare(None, labels, gold=None, repeats="error").labels
    if labels.n_labels == 0 or labels.per_item.max() < 2:
        raise InputError(
            "no item has two labels: agreement cannot be seen. Have some items labeled twice."
        )
    votes = labels.counts().astype(float)
    total = votes.sum(axis=1)
    votes, total = votes[total > 0], total[total > 0]
    found = {
        "fleiss_kappa": coefficient(_fleiss, *_grouped(votes, total, _item_sums)),
        "krippendorff_alpha": coefficient(
            _krippendorff, *_grouped(votes, total, _krippendorff_sums)
        ),
        "gwet_ac1": coefficient(_gwet, *_grouped(votes, total, _item_sums)),
    }
    if labels.n_labelers == 2 and not labels.anonymous:
        grid = labels.matrix()
        found["cohen_kappa"] = cohen_kappa(grid[:, 0], grid[:, 1], labels.n_classes)
    elif not labels.anonymous:
        found["conger_kappa"] = conger_kappa(labels)
    return found


def cohen_kappa(first: Array, second: Array, n_classes: int) -> Coefficient:
    """Cohen's κ of two labelers on the items that both labeled (codes, -1 = no label)."""
    both = (first >= 0) & (second >= 0)
    cell, size = np.unique(first[both] * n_classes + second[both], return_counts=True)
    return coefficient(partial(_cohen, n_classes=n_classes), np.eye(n_classes**2)[cell], size)


def conger_kappa(labels: Labels) -> Coefficient:
    """Cohen's κ for several labelers (Conger 1980): chance is the mean over pairs of Σ_k π_tk π_sk,
    π_t a labeler's own class shares.

    Its error is the infinitesimal jackknife: every item's first-order influence, one pass over the
    labels.
    """
    label = np.asarray(labels.label)
    _, labeler = np.unique(labels.labeler, return_inverse=True)
    given = np.bincount(labeler)
    share = np.zeros((len(given), labels.n_classes))
    np.add.at(share, (labeler, label), 1 / given[labeler])
    together, pairs = share.sum(axis=0), max(len(given) * (len(given) - 1), 1)
    chance = float((together**2 - (share**2).sum(axis=0)).sum() / pairs)
    others = (together - share) * 2 / pairs
    moved = (others[labeler, label] - (others * share).sum(axis=1)[labeler]) / given[labeler]
    votes = labels.counts().astype(float)
    total = votes.sum(axis=1)
    agreeing = (votes * (votes - 1)).sum(axis=1) / np.maximum(total * (total - 1), 1)
    paired = total > 1
    n_paired, n_items = int(paired.sum()), int((total > 0).sum())
    observed = float(agreeing[paired].mean())
    by_observed = np.where(paired, agreeing - observed, 0.0) / n_paired
    by_chance = np.bincount(labels.item, weights=moved, minlength=len(total))
    if chance >= 1 - 1e-12:
        return Coefficient(observed, chance, float("nan"), n_items)
    influence = (by_observed * (1 - chance) - (1 - observed) * by_chance) / (1 - chance) ** 2
    return Coefficient(
        observed,
        chance,
        float(np.sqrt(n_items / max(n_items - 1, 1) * (influence @ influence))),
        n_items,
    )


def coefficient(rule: Callable[[Array], Shares], sums: Array, size: Array) -> Coefficient:
    """``sums`` of each kind of item, ``size`` how many items are of the kind."""
    n_items = int(size.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        total = size @ sums
        observed, chance = rule(total)
        left_out = _corrected(rule(total - sums))
        mean = size @ left_out / max(n_items, 1)
        error = (
            float(np.sqrt((n_items - 1) / n_items * (size @ (left_out - mean) ** 2)))
            if n_items > 1
            else np.nan
        )
    return Coefficient(float(observed), float(chance), error, n_items)


def _corrected(shares: Shares) -> Array:
    observed, chance = shares
    with np.errstate(invalid="ignore", divide="ignore"):
        return (observed - chance) / (1 - chance)


def _grouped(
    votes: Array, total: Array, sums: Callable[[Array, Array], Array]
) -> tuple[Array, Array]:
    """Items with equal votes counted once."""
    kinds, first, size = np.unique(votes, axis=0, return_index=True, return_counts=True)
    table = sums(kinds, total[first])
    used = table[:, 0] > 0
    return table[used], size[used]


def _item_sums(votes: Array, total: Array) -> Array:
    pairable = total > 1
    agreeing = (votes * (votes - 1)).sum(axis=1) / np.maximum(total * (total - 1), 1)
    return np.column_stack([np.ones(len(total)), pairable, agreeing, votes / total[:, None]])


def _fleiss(sums: Array) -> Shares:
    """Fleiss' κ; where items have different numbers of labels, as Gwet (2014) extends it."""
    chance = ((sums[..., 3:] / sums[..., :1]) ** 2).sum(axis=-1)
    return sums[..., 2] / sums[..., 1], chance


def _gwet(sums: Array) -> Shares:
    share = sums[..., 3:] / sums[..., :1]
    chance = (share * (1 - share)).sum(axis=-1) / max(share.shape[-1] - 1, 1)
    return sums[..., 2] / sums[..., 1], chance


def _krippendorff_sums(votes: Array, total: Array) -> Array:
    pairable = total > 1
    agreeing = (votes * (votes - 1)).sum(axis=1) / np.maximum(total - 1, 1)
    return np.column_stack([total, agreeing, votes]) * pairable[:, None]


def _krippendorff(sums: Array) -> Shares:
    n = sums[..., 0]
    return sums[..., 1] / n, (sums[..., 2:] * (sums[..., 2:] - 1)).sum(axis=-1) / (n * (n - 1))


def _cohen(sums: Array, n_classes: int) -> Shares:
    table = sums.reshape(*sums.shape[:-1], n_classes, n_classes)
    n = sums.sum(axis=-1)
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / n**2
    return table.diagonal(axis1=-2, axis2=-1).sum(axis=-1) / n, chance
