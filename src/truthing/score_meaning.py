"""What a column of scores means: of the positive class, of the predicted one, flipped, percent."""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.notes import Notes

TURNED = 0.35  # area of scores against labels below which they seem those of the other class
CLEAR = 0.95  # area under the curve of scores against predictions that settles their direction


def settle_scores(
    scores: Array,
    predicted: Array | None,
    positive: int,
    names: tuple[str, str],
    *,
    threshold: float | None = None,
    column: str = "",
) -> tuple[Array | None, Notes]:
    """Scores that grow with the positive class, or None where that cannot be told.

    ``predicted`` are class codes, ``names`` the negative and the positive class, ``column`` what
    the scores were called.
    """
    low, high = float(scores.min()), float(scores.max())
    if threshold is not None and 0 < threshold < 1 and high > 1 and low >= 0:
        raise InputError(
            f"the scores run from {low:g} to {high:g}, and the threshold is {threshold:g}: are "
            "they percentages? Give the threshold on their scale, for example "
            f"`threshold={100 * threshold:g}`."
        )
    if predicted is None or len(np.unique(predicted)) < 2:
        return scores, _unsure(low, high, threshold)
    says_positive = predicted == positive
    area = area_under_curve(scores, says_positive)
    share = low >= 0.5 and high <= 1
    called = column.strip().lower() in ("confidence", "certainty")
    if area >= CLEAR and not (called and share):
        return scores, Notes()
    if area <= 1 - CLEAR and not (called and share):
        turned = 1 - scores if low >= 0 and high <= 1 else -scores
        return _checked(turned, threshold), Notes(
            remarks=(f"The scores grow with {names[0]!r}, not with {names[1]!r}: turned round.",)
        )
    if share and 1 - CLEAR < area < CLEAR:
        turned = np.where(says_positive, scores, 1 - scores)
        return _checked(turned, threshold), Notes(
            remarks=(
                f"The scores are the confidence in the predicted class (all at least ½): turned "
                f"into scores of {names[1]!r}.",
            )
        )
    if called or area < 0.5:
        if threshold is not None:
            raise InputError(
                "the scores do not grow with the positive class of the predictions, so no "
                f"threshold can be applied: correct them, or set `positive={names[0]!r}`."
            )
        return None, Notes(
            checks=(
                f"The scores{f' ({column})' * bool(column)} are not used: they do not go with the "
                f"predictions (area {area:.2f}). Give the probability of {names[1]!r} for curves.",
            )
        )
    return scores, _unsure(low, high, threshold)


def _unsure(low: float, high: float, threshold: float | None) -> Notes:
    if threshold is not None and low < 0 and 0 < threshold < 1:
        return Notes(
            checks=(
                f"The scores run from {low:g} to {high:g}, so they are no probabilities; the "
                f"threshold {threshold:g} is applied to them as they are.",
            )
        )
    return Notes()


def _checked(turned: Array, threshold: float | None) -> Array:
    if threshold is not None:
        raise InputError(
            "the scores are not the probability of the positive class (compare them with the "
            "predictions), so no threshold can be applied to them as they are: correct them first."
        )
    return turned


def area_under_curve(scores: Array, positive: Array) -> float:
    """The chance that a positive item scores above a negative one, ties counting half.

    >>> area_under_curve(np.array([0.1, 0.4, 0.8]), np.array([False, True, True]))
    1.0
    """
    negatives = np.sort(scores[~positive])
    below = np.searchsorted(negatives, scores[positive], "left")
    up_to = np.searchsorted(negatives, scores[positive], "right")
    return float((below + up_to).mean() / 2 / len(negatives))


def area_against(scores: Array, votes: Array) -> float | None:
    """The area under the curve of scores against the labels' majority; None where that has one
    class only. ``votes`` is each item's share of votes for the positive class."""
    sure = np.abs(votes - 0.5) > 1e-9
    positive = votes[sure] > 0.5
    if positive.all() or not positive.any():
        return None
    return area_under_curve(scores[sure], positive)


def against_labels(scores: Array, votes: Array, accuracy: float) -> str:
    """A word where scores order the items against the labels although the predictions follow them.

    ``votes`` is each item's share of votes for the positive class.
    """
    area = area_against(scores, votes)
    if area is None or area >= TURNED or accuracy <= 0.5:
        return ""
    return (
        f"The scores run against the labels (area under the curve {area:.2f}) although the "
        f"predictions agree with {accuracy:.0%} of them: are the scores those of the other class?"
    )
