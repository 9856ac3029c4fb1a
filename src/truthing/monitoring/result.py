"""Monitoring: is there an alarm, since when, how strong is the evidence, and batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.monitoring.evidence import first_alarm, running_mean
from truthing.results import Result


@dataclass(frozen=True, eq=False)
class Batch:
    """One batch, date or version; the limits hold for all batches together."""

    name: str
    items: int
    passes: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        return self.passes / self.items


@dataclass(frozen=True, eq=False)
class Monitoring(Result):
    """``alarm``: the pass rate has fallen below the floor, with at most ``alarm_chance`` of a false
    alarm over all looks, past and future.
    """

    kind = "monitor"
    floor: float
    alarm_chance: float
    passed: Array
    times: tuple[str, ...]
    batch: tuple[str, ...]
    evidence: Array
    gold: bool
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)

    @cached_property
    def _at(self) -> int | None:
        return first_alarm(self.evidence, self.alarm_chance)

    @property
    def alarm(self) -> bool:
        return self._at is not None

    @property
    def alarm_at(self) -> str | None:
        """When the alarm rang first: a date, or the place of a row."""
        return None if self._at is None else self.times[self._at]

    @property
    def items_until_alarm(self) -> int | None:
        return None if self._at is None else self._at + 1

    @property
    def e_value(self) -> float:
        """The largest evidence so far that the rate has fallen: 20 rings at a chance of .05."""
        return float(self.evidence.max())

    def running(self, level: float = 0.95) -> tuple[float, float]:
        """Limits of the mean pass rate so far, valid at every look together."""
        low, high = running_mean(self.passed, level)
        return float(low[-1]), float(high[-1])

    def batches(self, level: float = 0.95) -> list[Batch]:
        """Pass rate of each batch; exact limits, corrected for the number of batches."""
        from scipy.stats import beta

        names = list(dict.fromkeys(self.batch))
        tail = (1 - level) / len(names) / 2
        where, found = np.array(self.batch), []
        for name in names:
            mine = self.passed[where == name]
            n, k = len(mine), int(mine.sum())
            low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
            high = float(beta.ppf(1 - tail, k + 1, n - k)) if k < n else 1.0
            found.append(Batch(name, n, k, low, high))
        return found

    def drifted(self, level: float = 0.95) -> tuple[Batch, Batch] | None:
        """The two batches whose limits lie farthest apart, where they do not meet."""
        found = self.batches(level)
        best, worst = max(found, key=lambda b: b.low), min(found, key=lambda b: b.high)
        return (best, worst) if best.low > worst.high else None

    def verdict(self, level: float = 0.95) -> str:
        what = "passed" if self.gold else "were labelled as passing"
        said = f"{int(self.passed.sum()):,} of {len(self.passed):,} items {what}. "
        if self.alarm:
            said += (
                f"Alarm at {self.alarm_at} (item {self.items_until_alarm:,}): the pass rate has "
            )
            said += f"been below {self.floor:.4g}."
        else:
            said += f"No alarm: nothing shows yet that the pass rate was below {self.floor:.4g} "
            said += f"(evidence {self.e_value:.3g}; it rings at {1 / self.alarm_chance:.3g})."
        apart = self.drifted(level)
        if apart:
            said += (
                f" Batches differ: {apart[0].name} has {apart[0].rate:.0%}, {apart[1].name} has "
            )
            said += f"{apart[1].rate:.0%}."
        return said

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each batch: items, passes, limits."""
        import polars as pl

        rows = [
            (b.name, b.items, b.passes, b.rate, b.low, b.high, level) for b in self.batches(level)
        ]
        heads = ["batch", "items", "passes", "pass_rate", "low", "high", "level"]
        return pl.DataFrame(rows, schema=heads, orient="row")

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.running(level)
        return {
            "alarm": self.alarm,
            "alarm_at": self.alarm_at,
            "items_until_alarm": self.items_until_alarm,
            "e_value": self.e_value,
            "floor": self.floor,
            "false_alarms_at_most": self.alarm_chance,
            "evidence": "gold" if self.gold else "labels",
            "items": len(self.passed),
            "mean_so_far": {
                "mean": float(self.passed.mean()),
                "low": low,
                "high": high,
                "level": level,
            },
            "batches": self.to_frame(level).to_dicts(),
            "verdict": self.verdict(level),
            "assumptions": self.assumptions,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        said = [self.verdict(), *(f"Assumed: {a}" for a in self.assumptions)]
        return "\n".join([*said, *(f"Warning: {w}" for w in self.warnings)])
