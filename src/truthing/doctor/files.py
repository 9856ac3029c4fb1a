"""One file: how it was read and what it holds, in sentences."""

from __future__ import annotations

import numpy as np

from truthing.doctor.findings import FileFinding
from truthing.doctor.other_tables import DATED, is_dated
from truthing.errors import listing
from truthing.labels import Labels
from truthing.notes import NOTHING
from truthing.predictions import Gold, Predictions
from truthing.tables import Reading


def examine_one(path: str, reading: Reading) -> FileFinding:
    table, columns = reading.table, reading.columns
    sentences = [f"{table.kind}, {columns.layout} table: {columns.describe()}"]
    labels = reading.labels if reading.has_labels else None
    predictions = reading.predictions if reading.has_predictions else None
    gold = reading.gold if reading.has_gold else None
    if labels is None and predictions is None and gold is None:
        if "labeler" in columns.role or columns.problem or columns.layout == "wide":
            labels = reading.labels  # its message says what stands in the way
        else:
            predictions = reading.predictions
            sentences.append(
                "no column is called prediction; the only other column was taken for it"
            )
    read = [part for part in (labels, predictions, gold) if part is not None]
    notes = sum((part.notes for part in read), NOTHING)
    sentences += [note.removeprefix(f"{table.name}: ") for note in notes.all]
    if labels is not None:
        sentences += _about_labels(labels)
    if predictions is not None:
        sentences.append(f"predictions: {predictions}")
    if gold is not None:
        sentences.append(str(gold))
    if columns.unused:
        why = [f"{c or '(no name)'} ({reason})" for c, reason in columns.unused.items()]
        sentences.append(f"not used: {listing(why, 8)}")
    sample = _sample(labels, predictions, gold)
    outcomes = gold is not None and labels is None and predictions is None
    use = DATED if outcomes and is_dated(table) else ""
    read_as = reading.asked
    return FileFinding(
        path, tuple(sentences), columns, labels, predictions, gold, sample, use, read_as
    )


def _sample(
    labels: Labels | None, predictions: Predictions | None, gold: Gold | None, most: int = 3
) -> tuple[str, ...]:
    """The first rows as they were read: item → labeler → class."""
    rows = []
    if labels is not None:
        for n in range(min(most, len(labels.label))):
            item, label = labels.items[labels.item[n]], labels.classes[labels.label[n]]
            who = "votes" if labels.anonymous else labels.labelers[labels.labeler[n]]
            times = "" if labels.votes is None else f" × {labels.votes[n]:,}"
            rows.append(f"{item} → {who} → {label!r}{times}")
    if predictions is not None:
        for n in range(min(most, predictions.n_items)):
            parts = (
                []
                if predictions.label is None
                else [repr(predictions.classes[predictions.label[n]])]
            )
            if predictions.scores is not None:
                parts.append(
                    "score " + ", ".join(f"{s:g}" for s in np.atleast_1d(predictions.scores[n])[:4])
                )
            rows.append(f"{predictions.items[n]} → predicted → {', '.join(parts)}")
    if gold is not None:
        rows += [
            f"{gold.items[n]} → gold → {gold.classes[gold.label[n]]!r}"
            for n in range(min(most, gold.n_items))
        ]
    return tuple(rows)


def _about_labels(labels: Labels) -> list[str]:
    sentences = str(labels).splitlines()
    agree, kappa = labels.agreement()
    if agree == agree:
        sentences.append(
            f"labels of the same item agree in {agree:.0%} of the pairs (chance-corrected κ "
            f"{kappa:.2f})"
        )
    else:
        sentences.append("no item has two labels, so agreement cannot be seen")
    if again := labels.identical_repeats:
        sentences.append(
            f"{again:,} row{'s repeat' if again > 1 else ' repeats'} an earlier row of the same "
            "labeler and item, and count" + "s" * (again == 1) + " once"
        )
    clash = len(labels.contradictions)
    if clash:
        i = int(labels.contradictions[0])
        sentences.append(
            f"{clash:,} time{'s' * (clash != 1)} a labeler contradicts itself on an item (first: "
            f"{labels.labelers[labels.labeler[i]]!r} on item "
            f"{labels.items[labels.item[i]]!r}): choose with `repeats='first'`, last or keep"
        )
    if labels.n_classes == 1:
        sentences.append(
            f"every label is {labels.classes[0]!r}: with one class there is nothing to grade"
        )
    gaps = labels.n_items - labels.per_labeler
    if not labels.anonymous and 1 < labels.n_labelers <= 50 and (gaps > 0).any():
        most = sorted(zip(gaps, map(str, labels.labelers)), reverse=True)
        sentences.append(
            "items without a label, by labeler: "
            + listing((f"{name} {gap:,}" for gap, name in most if gap > 0), 6)
        )
    silent = int((labels.per_labeler == 0).sum())
    if silent:
        sentences.append(f"{silent} labeler(s) gave no label")
    bare = int((labels.per_item == 0).sum())
    if bare:
        sentences.append(f"{bare:,} items have no label")
    return sentences
