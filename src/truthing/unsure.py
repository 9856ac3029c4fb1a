"""Answers that are labels without being classes: "unsure", "maybe", refusals. They say that an item
is hard, not what it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truthing.case import Case
from truthing.class_codes import recode
from truthing.errors import InputError, did_you_mean, listing
from truthing.labels import Labels
from truthing.notes import Notes
from truthing.spelling import letters


def as_words(unsure: Any) -> tuple[str, ...]:
    """One value or several."""
    if unsure is None:
        return ()
    if isinstance(unsure, str):
        return tuple(part.strip() for part in unsure.split(",") if part.strip())
    if isinstance(unsure, Sequence | set | frozenset):
        return tuple(map(str, unsure))
    return (str(unsure),)


def without_unsure(case: Case, unsure: Any) -> tuple[Case, Mapping[Any, int]]:
    """The case without those answers, and how many of them each item has."""
    words = as_words(unsure)
    if not words:
        return case, {}
    labels, known = case.labels, {letters(word) for word in words}
    named = [letters(str(c)) in known for c in labels.classes]
    absent = [w for w in words if letters(w) not in {letters(str(c)) for c in labels.classes}]
    if absent:
        raise InputError(
            f"unsure= names {absent[0]!r}, and no label says that."
            f"{did_you_mean(absent[0], list(map(str, labels.classes)))} Labels say "
            f"{listing(map(repr, labels.classes), 8)}."
        )
    if sum(named) > len(named) - 2:
        raise InputError("unsure= leaves fewer than two classes: name only answers that are none.")
    for what, held in (("predictions", [*case.models.values()]), ("gold", [case.gold])):
        for each in held:
            same = [c for c in (each.classes if each else ()) if letters(str(c)) in known]
            if same:
                raise InputError(
                    f"the {what} say {same[0]!r}, which unsure= says is no class: give those items "
                    "a class, or leave them out."
                )
    doubt = np.array(named)[labels.label]
    count = np.bincount(labels.item[doubt], weights=labels.weight[doubt], minlength=labels.n_items)
    share = float(labels.weight[doubt].sum() / max(labels.weight.sum(), 1))
    notes = Notes(
        remarks=(
            f"{listing(map(repr, words), 4)} is no class: {share:.1%} of the labels, on "
            f"{int((count > 0).sum()):,} items, say it. They mark items that may be harder.",
        )
    )
    left = _without(labels, doubt, [c for c, here in zip(labels.classes, named) if not here])
    left = replace(left, notes=left.notes + notes)
    doubted = {item: int(k) for item, k in zip(labels.items, count) if k}
    return replace(case, labels=left), doubted


def _without(labels: Labels, doubt: Any, classes: Sequence[Any]) -> Labels:
    keep = ~doubt
    return replace(
        labels,
        classes=tuple(classes),
        item=labels.item[keep],
        labeler=labels.labeler[keep],
        label=recode(labels.label[keep], labels.classes, classes),
        votes=None if labels.votes is None else labels.votes[keep],
    )
