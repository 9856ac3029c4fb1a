"""What a classifier predicted, once the positive class is known: hard classes and their scores."""

from __future__ import annotations

import numpy as np

from truthing.arguments import as_threshold
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.matching import Joined
from truthing.score_meaning import TURNED, against_labels, area_against, settle_scores

SPLIT = 20  # items with a majority and a minority that show whom predictions follow
FEWEST = 10  # items of each class that show which way scores run


def predicted_classes(
    joined: Joined,
    positive: int | None,
    threshold: float | None,
    assumptions: list[str],
    *,
    told: bool = False,
) -> tuple[Array, Array | None]:
    """Hard predictions (given, or cut from scores) and the positive class's scores; ``told``: the
    user named the positive class."""
    threshold = None if threshold is None else as_threshold(threshold)
    scores, predicted = joined.scores, joined.predicted
    column = scores
    if scores is not None and scores.ndim == 2:
        if predicted is None and threshold is None:
            predicted = scores.argmax(axis=1)
            assumptions.append("The predicted class is the one with the highest score.")
        column = scores[:, positive] if positive is not None else None
    if column is not None and positive is not None:
        column = _meant(joined, column, positive, threshold, assumptions)
    if threshold is not None:
        if positive is None:
            raise InputError(
                f"a threshold cuts scores in two, and labels have {len(joined.labels.classes)} "
                "classes: if these are grades, say where they are cut too, for example "
                "`cut=3`."
            )
        if column is None:
            raise InputError("a threshold needs scores: give them beside the predictions.")
        if predicted is None:
            _doubt_direction(joined, column, positive, told)
        _doubt_threshold(joined, column, threshold)
        predicted = np.where(column >= threshold, positive, 1 - positive)
        assumptions.append(
            f"Items with a score of at least {threshold:g} count as predicted "
            f"{joined.labels.classes[positive]!r}."
        )
    if column is not None and positive is None:
        column = None
    if predicted is None and column is not None:
        raise InputError("scores without predictions need a threshold: give `threshold=...`.")
    if predicted is None:
        raise InputError("no predictions: give predictions, or scores with a threshold.")
    silent = np.flatnonzero(predicted < 0)
    if len(silent):
        raise InputError(
            f"{len(silent):,} items have no prediction (for example "
            f"{joined.labels.items[silent[0]]!r}): predict them, or leave them out."
        )
    return predicted, column


def share_of_votes(labels: Labels, code: int) -> Array:
    """Each item's share of votes for a class."""
    votes = labels.counts()
    return np.asarray(votes[:, code] / np.maximum(votes.sum(axis=1), 1))


def repeats_majority(votes: Array, predicted: Array, model: str = "") -> list[str]:
    """A doubt where the predictions are the labels' majority wherever labelers disagree: they were
    probably made from these labels. ``votes`` are items × classes."""
    top = votes.max(axis=1)
    split = (top < votes.sum(axis=1)) & ((votes == top[:, None]).sum(axis=1) == 1)
    if split.sum() < SPLIT or (votes.argmax(axis=1) != predicted)[split].any():
        return []
    who = f"Model {model!r}" if model else "The classifier"
    return [
        f"{who} says what most labels say on all {int(split.sum()):,} items on which labelers "
        "disagree. If it was made from these labels, say so with `trained_on_labels=...`: without "
        "that it looks better than it is."
    ]


def _doubt_direction(joined: Joined, scores: Array, positive: int, told: bool) -> None:
    """Scores that run against the labels are those of the other class, if nobody said which."""
    share = share_of_votes(joined.labels, positive)
    if min((share > 0.5).sum(), (share < 0.5).sum()) < FEWEST:
        return
    area = area_against(scores, share)
    if area is None or area >= TURNED:
        return
    other, name = (str(joined.labels.classes[k]) for k in (1 - positive, positive))
    found = f"the scores grow with {other!r}, as the labels have it (area {area:.2f})"
    if told:
        joined.warnings.append(
            f"{found[0].upper()}{found[1:]}, but {name!r} was named as the positive class: are "
            "they scores of the other class?"
        )
        return
    raise InputError(
        f"{found}, but {name!r} was taken for the positive class, the last in order: say "
        f"`positive={other!r}`, or `positive={name!r}` if the classifier really is that bad."
    )


def _doubt_threshold(joined: Joined, scores: Array, threshold: float) -> None:
    """A threshold that no score, or every score, reaches."""
    low, high = float(scores.min()), float(scores.max())
    if low < threshold <= high:
        return
    reached = "no score reaches" if high < threshold else "every score reaches"
    joined.warnings.append(
        f"The scores run from {low:g} to {high:g}: {reached} the threshold {threshold:g}, so one "
        "class is predicted for every item."
    )


def _meant(
    joined: Joined, scores: Array, positive: int, threshold: float | None, assumptions: list[str]
) -> Array | None:
    """Scores of the positive class, where they mean something else; what was done is said."""
    classes = joined.labels.classes
    names = (str(classes[1 - positive]), str(classes[positive]))
    settled, notes = settle_scores(
        scores,
        joined.predicted,
        positive,
        names,
        threshold=threshold,
        column=joined.score_name,
    )
    assumptions.extend(notes.remarks)
    joined.warnings.extend(notes.checks)
    if settled is not None and joined.predicted is not None:
        share = share_of_votes(joined.labels, positive)
        agree = float(np.where(joined.predicted == positive, share, 1 - share).mean())
        doubt = against_labels(settled, share, agree)
        joined.warnings.extend([doubt] if doubt else [])
    return settled
