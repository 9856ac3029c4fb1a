"""Checks people can act on: is the model identified, who agrees too much with whom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import NotIdentified, listing
from truthing.labels import Labels
from truthing.truth.consensus import DawidSkeneFit, Entries

TWINS = 0.98
LEARNED_FROM_LABELS = (
    "The classifier did not learn from these very labels or labelers: one that did agrees "
    "with them because it repeats their mistakes, "
    "and looks better than it is. Gold on random items is the only cure."
)


def require_identified(labels: Labels, gold: Array) -> None:
    """One view of each item and nothing known cannot be told apart from any other story."""
    if (gold >= 0).any():
        return
    active = int((labels.per_labeler > 0).sum())
    if labels.n_labels and labels.per_item.max() < 2:
        who = "there is one labeler" if active == 1 else "no item has labels from two labelers"
        raise NotIdentified(
            f"{who} and nothing else is known: such labels fit a good classifier with bad "
            "labels and a bad one with good labels equally well. "
            "Say how often labels are wrong with `noise=0.05`, add gold on some "
            "random items with `gold=...`, or add a second labeler."
        )


def structure_warnings(
    labels: Labels, error: Array, n_classes: int, *, classifier: bool = True
) -> list[str]:
    """Few labelers, a disconnected panel, labelers worse than chance."""
    warnings = []
    counts = labels.per_item[labels.per_item > 0]
    if not labels.anonymous and len(counts) and np.mean(counts >= 2) < 0.2:
        warnings.append(
            f"Only {np.mean(counts >= 2):.0%} of the items have two labels or more: the "
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
        warnings.append(
            f"Labeler {listing(map(repr, worse), 3)} seems to be wrong more often than "
            "chance: answers swapped, or another reading of the classes?"
        )
    return warnings


def _pieces(labels: Labels) -> int:
    """Connected groups of labelers who share items."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = labels.n_items + labels.n_labelers
    edges = coo_array(
        (np.ones(len(labels.item), dtype=np.int8), (labels.item, labels.labeler + labels.n_items)),
        shape=(n, n),
    )
    _, component = connected_components(edges, directed=False)
    used = np.unique(component[labels.n_items :][labels.per_labeler > 0])
    return len(used)


def agreement_check(
    labels: Labels,
    predicted: Array | None,
    fit: DawidSkeneFit,
    *,
    most_pairs: int = 400,
    enough: int = 10,
) -> list[dict[str, Any]]:
    """Pairs of raters whose agreement the model does not explain: observed and expected share, z
    score and p (Bonferroni).

    What a pair would agree on is computed from the others' opinion of each item, so that their own
    agreement cannot explain itself.
    """
    if labels.anonymous:
        return []
    entries = (
        Entries.of(labels) if predicted is None else Entries.of(labels).with_classifier(predicted)
    )
    names = [*labels.labelers, *([] if predicted is None else ["the classifier"])]
    busiest = np.argsort(-np.bincount(entries.rater, minlength=len(names)), kind="stable")[:40]
    given = {
        int(t): (entries.item[entries.rater == t], entries.label[entries.rater == t])
        for t in busiest
    }
    found: list[dict[str, Any]] = []
    rows, log_rows = fit.rows(), fit.log_rows
    log_q = np.log(np.maximum(fit.posterior, 1e-300))
    pairs = [(a, b) for k, a in enumerate(given) for b in list(given)[k + 1 :]]
    for a, b in pairs[: 4 * most_pairs]:
        item, in_a, in_b = np.intersect1d(given[a][0], given[b][0], return_indices=True)
        if len(item) < enough:
            continue
        label_a, label_b = given[a][1][in_a], given[b][1][in_b]
        row_a, row_b = fit.of_rater(a), fit.of_rater(b)
        others = log_q[item] - log_rows[row_a][:, label_a].T - log_rows[row_b][:, label_b].T
        others = np.exp(others - others.max(axis=1, keepdims=True))
        others /= others.sum(axis=1, keepdims=True)
        expected = others @ (rows[row_a] * rows[row_b]).sum(axis=1)
        if (label_a == label_b).mean() > TWINS:
            # two raters who always agree look perfect to any model; how well they agree with
            # everybody else says otherwise
            best = others.argmax(axis=1)
            alike = ((label_a == best).mean() + (label_b == best).mean()) / 2
            expected = np.minimum(expected, alike**2 + (1 - alike) ** 2 / max(rows.shape[1] - 1, 1))
        gap = (label_a == label_b).sum() - expected.sum()
        surprise = gap / math.sqrt(max((expected * (1 - expected)).sum(), 1e-9))
        found.append(
            {
                "first": names[a],
                "second": names[b],
                "items": len(item),
                "observed": float((label_a == label_b).mean()),
                "expected": float(expected.mean()),
                "z": float(surprise),
            }
        )
        if len(found) >= most_pairs:
            break
    for pair in found:
        pair["p"] = min(1.0, len(found) * math.erfc(abs(pair["z"]) / math.sqrt(2)) / 2)
    return sorted(found, key=lambda pair: -pair["z"])


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
