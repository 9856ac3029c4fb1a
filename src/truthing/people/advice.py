"""Whom to keep, retrain or drop: one rule for the headline, the table and every file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from truthing.errors import listing

Action = Literal["keep", "retrain", "drop", "unclear", "silent"]
TELLS_LITTLE = 0.10  # of a perfect label's bits: surely less is not worth the pay as it is
BELOW_TYPICAL = 0.5  # of what the typical labeler's label tells
SURE = 0.975


@dataclass(frozen=True)
class Advice:
    """What to do about one labeler, and why."""

    action: Action
    reason: str = ""

    def __str__(self) -> str:
        """
        >>> print(Advice("drop", "double of ana"), Advice("keep"), sep="; ")
        drop: double of ana; keep
        """
        action = {"unclear": "too few labels", "silent": "no labels"}.get(self.action, self.action)
        return f"{action}: {self.reason}" if self.reason else action


def advise(report: Any) -> tuple[Advice, ...]:
    """For each labeler, in the order of ``report.labelers``.

    Drop whoever repeats another, or whose labels surely tell less than 5% of what a perfect label
    would. Retrain whoever swaps
    answers, or whose labels surely tell less than 10%, or less than half of what the typical
    labeler's tell. Keep the rest; where
    it is open whether labels tell 5%, there are too few labels to judge.
    """
    tells = report.bits / max(report.most_bits, 1e-12)
    at_most = np.quantile(tells, SURE, axis=0)
    counted = [
        t
        for t, kind in enumerate(report.kinds)
        if report.given[t] > 0 and kind not in ("copy", "spammer")
    ]
    typical = float(np.median(tells[:, counted].mean(axis=0))) if counted else 0.0
    little = max(TELLS_LITTLE, BELOW_TYPICAL * typical)
    return tuple(
        _of(report, t, at_most[t] < little) if report.given[t] > 0 else Advice("silent")
        for t in range(len(report.labelers))
    )


def _of(report: Any, t: int, tells_little: bool) -> Advice:
    kind, name = report.kinds[t], report.labelers[t]
    if kind == "copy":
        return Advice("drop", f"double of {_partner(report, name)}")
    if kind == "spammer":
        return Advice("drop", "tells nothing")
    if kind == "adversary":
        return Advice("retrain", "swaps answers")
    if tells_little:
        return Advice("retrain", "tells little")
    return Advice("unclear" if kind == "unclear" else "keep")


def _partner(report: Any, name: object) -> str:
    pairs = [p for p in report.pairs if name in (p.first, p.second)]
    if not pairs:
        return "another"
    most = max(pairs, key=lambda pair: pair.repeated)
    return str(most.second if most.first == name else most.first)


def headline(report: Any) -> str:
    """Keep, retrain, drop, in that order."""
    found = report.advice
    lines = []
    for action, verb in (("keep", "Keep"), ("retrain", "Retrain"), ("drop", "Drop")):
        who = [int(t) for t in report.order if found[t].action == action]
        if not who:
            continue
        if action == "keep" and len(who) == sum(a.action != "silent" for a in found):
            lines.append(f"Keep all {len(who)} labelers." if len(who) > 1 else "Keep the labeler.")
            continue
        names = (
            f"{report.labelers[t]}" + (f" ({found[t].reason})" if found[t].reason else "")
            for t in who
        )
        lines.append(f"{verb} {listing(names, 5)}.")
    if any(found[t].reason.startswith("double of") for t in range(len(found))):
        lines.append("Which of two doubles copied the other, labels cannot tell: drop either.")
    unclear = [report.labelers[t] for t in report.order if found[t].action == "unclear"]
    if unclear:
        lines.append(f"Too few labels to judge {listing(unclear, 5)}.")
    return " ".join(lines)
