"""What a calibration set shows: the consensus on both sets, the verdict that its items were chosen
by, and counts of their truth."""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.survey.calibration import CalibrationItems
from truthing.truth.calibrated import balanced
from truthing.truth.consensus import Entries, fit_dawid_skene
from truthing.truth.link.views import worth_of_a_vote

FEW_LABELERS = 3  # with more, some labeler is balanced by chance


def verdict_of(labels: Labels, items: CalibrationItems) -> Array | None:
    """The verdict that calibration items were chosen by, of graded and calibration items; None
    where they were chosen by truth or at random. Where it looks like a verdict, the user is
    asked."""
    if items.chosen == "truth" or (items.chosen is None and balanced(items.truth)):
        return None
    both = labels.counts().argmax(axis=1), items.labels.counts().argmax(axis=1)
    offered = [(*both, "the majority of the labelers")]
    for t, name in enumerate(
        labels.labelers[:FEW_LABELERS] if labels.n_labelers <= FEW_LABELERS else ()
    ):
        mine, theirs = _column(labels, t), _column(items.labels, t)
        if (mine >= 0).all() and (theirs >= 0).all():
            offered.append((mine, theirs, f"labeler {name!r}"))
    for mine, theirs, who in offered:
        if balanced(theirs):
            if items.chosen is None:
                raise InputError(
                    f"{who} gives each verdict equally often on the calibration set: were its "
                    "items chosen by that (`calibration_chosen='verdict'`), or by their true class "
                    "or at random (`calibration_chosen='truth'`)? The answers differ."
                )
            return np.concatenate([mine, theirs])
    return np.concatenate(both) if items.chosen == "verdict" else None


def _column(labels: Labels, labeler: int) -> Array:
    """What one labeler says of each item, -1 where nothing."""
    predicted = np.full(labels.n_items, -1, dtype=np.int64)
    mine = labels.labeler == labeler
    predicted[labels.item[mine]] = labels.label[mine]
    return predicted


def consensus_of(labels: Labels, theirs: Labels) -> tuple[Array, Array]:
    """The labelers' consensus about graded and calibration items, found from all of them and
    without their truth."""
    both = Labels(
        (*(("graded", i) for i in labels.items), *(("calibration", i) for i in theirs.items)),
        labels.labelers,
        labels.classes,
        np.concatenate([labels.item, theirs.item + labels.n_items]),
        np.concatenate([labels.labeler, theirs.labeler]),
        np.concatenate([labels.label, theirs.label]),
        votes=None
        if labels.votes is None or theirs.votes is None
        else np.concatenate([labels.votes, theirs.votes]),
    )
    entries = Entries.of(both)
    fit = fit_dawid_skene(entries)
    votes = np.bincount(entries.item, weights=entries.votes, minlength=entries.n_items)
    found = fit.labelers_only(entries, worth_of_a_vote(votes))
    return found[: labels.n_items], found[labels.n_items :]


def seen_items(
    items: CalibrationItems, combinations: Array, calibration: Array, n_k: int, n_classes: int
) -> tuple[Array, bool]:
    """Calibration counts, with predictions where the calibration items have them all."""
    if items.predicted is None or (combinations == combinations[0]).all():
        seen = np.zeros((n_classes, n_k))
        np.add.at(seen, (items.truth, calibration), 1)
        return seen, False
    place = {tuple(row): a for a, row in enumerate(combinations.tolist())}
    at = np.array([place.get(tuple(row), -1) for row in items.predicted.T.tolist()])
    seen = np.zeros((n_classes, len(combinations), n_k))
    kept = at >= 0
    np.add.at(seen, (items.truth[kept], at[kept], calibration[kept]), 1)
    return seen, True
