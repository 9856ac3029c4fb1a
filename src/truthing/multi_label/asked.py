"""Which arguments go along with tags, and how the work is parted between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from truthing.case import Case
from truthing.errors import InputError
from truthing.multi_label.sets import Split
from truthing.progress import listener, part

PASSED = (
    *("gold_weights", "gold_choice", "gold_error", "groups", "classifier_group", "skips"),
    *("cluster", "weights", "stratum", "noise", "target", "panel_error", "panel"),
    *("trained_on_labels", "draws", "seed"),
)
WHY = {
    "scale": "tags have no order",
    "cut": "tags have no order",
    "unsure": "say skips='hard', or write no answer where a labeler was unsure",
    "scores": "cut the scores first and give the tags of each item",
    "threshold": "cut the scores first and give the tags of each item",
    "positive": "each tag is the positive class of its own question",
    "prior": "it is learned for each tag",
    "deployment": "grade one tag at a time",
    "by": "grade one slice at a time",
    "calibration_set": "give gold for some of these items",
    "calibration_chosen": "give gold for some of these items",
    "metrics": "all averages are shown",
}


def refuse_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that are passed on to each tag; others that were given are refused with the
    reason.
    """
    for name, why in WHY.items():
        if given.get(name) is not None:
            raise InputError(f"`{name}=` does not go together with `tags=`: {why}.")
    error = given.get("gold_error")
    if error is not None and not isinstance(error, int | float | tuple | list):
        raise InputError(
            "`gold_error=` of several tags is a share or a range: a second expert's answers are "
            "read for one tag at a time."
        )
    if given.get("method", "posterior") != "posterior":
        raise InputError("tags are graded by method='posterior' only: leave method out.")
    if given.get("engine", "auto") not in ("auto", "memory"):
        raise InputError("tags are graded in memory: leave engine out.")
    return {name: given[name] for name in PASSED if name in given}


def parted(split: Split, progress: Any) -> Iterator[tuple[str, Case, Any]]:
    """Each tag, its case, and its part of the progress."""
    say, n = listener(progress), len(split.cases)
    for k, (tag, case) in enumerate(split.cases.items()):
        yield tag, case, part(say, k / n, (k + 1) / n)
