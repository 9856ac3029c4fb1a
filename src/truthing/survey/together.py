"""Which ways of drawing a test set were studied together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from truthing.survey.design import Survey
from truthing.survey.gold_choice import GoldChoice

# studies/survey.py: two systems (slices and clusters), weights by stratum
# studies/drawn_together.py: a calibration set with clusters, weights or slices
STUDIED = {frozenset(pair) for pair in (("by", "cluster"), ("weights", "stratum"))} | {
    frozenset(("calibration_set", other)) for other in ("cluster", "weights", "by")
}
CHANCES_UNUSED = (
    "With a calibration set gold items count as certain, random among items that look alike: "
    "the chances in `gold_weights=` are not used."
)


def said_together(
    survey: Survey, chosen: GoldChoice, calibration_set: Any, deployment: Any, by: Any = None
) -> list[str]:
    """A sentence where arguments meet whose coverage was studied only one by one."""
    used = dict.fromkeys(survey.used)
    if by is not None:
        used["by"] = None
    if chosen.kind != "random":
        used["gold_weights" if chosen.kind == "chances" else "gold_choice"] = None
    if calibration_set is not None:
        used["calibration_set"] = None
    if deployment is not None:
        used["deployment"] = None
    told = unstudied(used)
    if calibration_set is not None and chosen.kind == "chances":
        told.insert(0, CHANCES_UNUSED)
    return told


def unstudied(used: Iterable[str]) -> list[str]:
    """
    >>> unstudied(["weights", "stratum"])
    []
    >>> unstudied(["cluster", "weights"])
    ['How well intervals hold was studied for each of these, not together: cluster and weights.']
    """
    pairs = [pair for pair in combinations(used, 2) if frozenset(pair) not in STUDIED]
    if not pairs:
        return []
    words = "; ".join(" and ".join(pair) for pair in pairs)
    return [f"How well intervals hold was studied for each of these, not together: {words}."]
