"""Checks people can act on: is the model identified, who agrees too much with whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import NotIdentified, listing
from truthing.labels import Labels
from truthing.sorting import MANY
from truthing.truth.agreements import unusual_agreement
from truthing.truth.consensus import DawidSkeneFit, Entries
from truthing.truth.counted import CountedPanel, circles, n_circles

LEARNED_FROM_LABELS = (
    "The classifier did not learn from these very labels or labelers: one that did agrees "
    "with them because it repeats their mistakes, "
    "and looks better than it is. Gold on random items is the only cure."
)


def require_identified(labels: Labels | CountedPanel, gold: Array) -> None:
    """One view of each item and nothing known cannot be told apart from any other story."""
    if (gold >= 0).any():
        return
    active = int((labels.per_labeler > 0).sum())
    most = labels.found.most if isinstance(labels, CountedPanel) else labels.per_item.max(initial=0)
    if labels.n_labels and most < 2:
        who = "there is one labeler" if active == 1 else "no item has labels from two labelers"
        raise NotIdentified(
            f"{who} and nothing else is known: such labels fit a good classifier with bad "
            "labels and a bad one with good labels equally well. "
            "Say how often labels are wrong with `noise=0.05`, add gold on some "
            "random items with `gold=...`, or add a second labeler."
        )


def structure_warnings(
    labels: Labels | CountedPanel, error: Array, n_classes: int, *, classifier: bool = True
) -> list[str]:
    """Few labelers, a disconnected panel, labelers worse than chance."""
    warnings = []
    doubly = _labelled_twice(labels)
    if not labels.anonymous and doubly == 0:
        warnings.append("No item has two labels: how good the labelers are cannot be seen by them.")
    elif not labels.anonymous and doubly < 0.2:
        warnings.append(
            f"Only {doubly:.0%} of the items have two labels or more: the "
            "labelers' quality rests on those."
        )
    if labels.n_labelers == 2 and not labels.anonymous and classifier:
        warnings.append(
            "With two labelers the classifier is the third view that the model needs: if it "
            "errs like one of them, the answer is off."
        )
    pieces = _pieces(labels)
    if pieces > 1:
        warnings.append(
            f"The labelers fall into {pieces} groups that share no item: their qualities "
            "cannot be compared across groups."
        )
    worse = [
        labels.labelers[t]
        for t in np.flatnonzero(error > 1 - 1 / n_classes)
        if labels.per_labeler[t] >= 10
    ]
    if worse and not labels.anonymous:
        who = "Labeler {} seems" if len(worse) == 1 else "Labelers {} seem"
        warnings.append(
            who.format(listing(map(repr, worse), 3)) + " to be wrong more often than chance: "
            "answers swapped, or another reading of the classes?"
        )
    return warnings


def _labelled_twice(labels: Labels | CountedPanel) -> float:
    """The share of labelled items that have two labels or more."""
    if isinstance(labels, CountedPanel):
        return labels.found.doubly / max(labels.found.labelled, 1)
    counts = labels.per_item[labels.per_item > 0]
    return float(np.mean(counts >= 2)) if len(counts) else 1.0


def _pieces(labels: Labels | CountedPanel) -> int:
    """Connected groups of labelers who share items."""
    if isinstance(labels, CountedPanel):
        return n_circles(labels)
    if len(labels.label) >= MANY:
        found = circles(labels.item, labels.labeler, labels.n_labelers)
        return len(np.unique(found[labels.per_labeler > 0]))
    circle = np.arange(labels.n_labelers)
    order = np.argsort(labels.item, kind="stable")
    item, labeler = labels.item[order], labels.labeler[order]
    same = item[1:] == item[:-1]  # neighbours on one item
    pairs = np.unique(np.stack([labeler[:-1][same], labeler[1:][same]]), axis=1)
    while True:  # everybody takes the lowest number of those whom she meets, until nobody changes
        before = circle.copy()
        lowest = np.minimum(*circle[pairs])
        for side in pairs:
            np.minimum.at(circle, circle[side], lowest)
        circle = circle[circle]
        if (circle == before).all():
            return len(np.unique(circle[labels.per_labeler > 0]))


def agreement_check(
    labels: Labels | CountedPanel,
    predicted: Array | None,
    fit: DawidSkeneFit,
    *,
    gold: Array | None = None,
    most_pairs: int = 400,
    enough: int = 10,
) -> list[dict[str, Any]]:
    """Pairs of raters whose agreement the model does not explain, the most surprising first; none
    of votes that nobody signed. ``gold`` is what the fit knew.
    """
    if labels.anonymous or fit.shared:  # raters who share a table cannot be told apart
        return []
    names = [*labels.labelers, *([] if predicted is None else ["the classifier"])]
    if isinstance(labels, CountedPanel):
        engine = labels.engine
    else:
        engine = Entries.of(labels).engine(predicted, gold)
    return unusual_agreement(engine, names, fit, most_pairs=most_pairs, enough=enough)


def agreement_warnings(pairs: list[dict[str, Any]]) -> list[str]:
    """The pairs that agree far more than independence allows, in words."""
    strong = [p for p in pairs if p["z"] > 0 and p["p"] < 0.01]
    warnings = []
    copies = [p for p in strong if "the classifier" not in (p["first"], p["second"])]
    for p in copies[:3]:
        warnings.append(
            f"{p['first']!r} and {p['second']!r} agree on {p['observed']:.0%} of "
            f"{p['items']} items where independence gives {p['expected']:.0%}"
            f" (p = {p['p']:.2g}): do they see each other's answers, or share a mistake?"
        )
    if len(copies) > 3:
        warnings.append(
            f"{len(copies) - 3} more pairs of labelers agree more than independence allows: "
            "mistakes are shared."
        )
    model = [p for p in strong if "the classifier" in (p["first"], p["second"])]
    if model:
        who = [p["first"] if p["second"] == "the classifier" else p["second"] for p in model]
        warnings.append(
            f"The classifier agrees with {listing(map(repr, who), 3)} more than independence "
            f"allows (p = {model[0]['p']:.2g}): "
            "was it trained on these labels or by these labelers?"
        )
    return warnings
