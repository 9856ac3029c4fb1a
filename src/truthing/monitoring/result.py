"""Monitoring: is there an alarm, since when, how strong is the evidence, and batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from truthing.class_codes import Array
from truthing.monitoring.agreement import Change, Rate, change_p_value, changes, exact_rates
from truthing.monitoring.evidence import first_alarm, running_mean
from truthing.results import Result


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
    agreed: Array | None = None  # of rows with truth and label: whether they are the same
    judged: tuple[str, ...] = ()  # the version of each of those

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

    def batches(self, level: float = 0.95) -> list[Rate]:
        """Pass rate of each batch; exact limits, corrected for the number of batches."""
        return exact_rates(self.passed, self.batch, level)

    # ---- the judge -------------------------------------------------------------------------------

    def agreement(self, level: float = 0.95) -> list[Rate]:
        """How often the judge agrees with gold, version by version (or batch); exact limits,
        corrected for the number of versions. Empty where no row has both truth and label.
        """
        return [] if self.agreed is None else exact_rates(self.agreed, self.judged, level)

    def agreement_changes(self, level: float = 0.95) -> list[Change]:
        """Each version's agreement minus that of the version before, with limits."""
        return [] if self.agreed is None else changes(self.agreed, self.judged, level)

    @cached_property
    def agreement_p_value(self) -> float:
        """P of differences between versions this large if the judge has not changed."""
        return 1.0 if self.agreed is None else change_p_value(self.agreed, self.judged)

    def judge_words(self, level: float = 0.95) -> str:
        """Whether the judge has changed, in words; empty where nothing can be said."""
        found = self.agreement(level)
        if len(found) < 2:
            return ""
        p = self.agreement_p_value
        most = max(self.agreement_changes(level), key=lambda c: abs(c.difference))
        text = f"The judge's agreement with gold {'differs' if p < 1 - level else 'shows no'} "
        text += "between versions" if p < 1 - level else "difference between versions"
        text += f" (p = {p:.2g}); the largest step is from {most.earlier} to {most.later}: "
        return f"{text}{100 * most.difference:+.0f} points ({100 * most.low:+.0f} to " + (
            f"{100 * most.high:+.0f})."
        )

    def drifted(self, level: float = 0.95) -> tuple[Rate, Rate] | None:
        """The two batches whose limits lie farthest apart, where they do not meet."""
        found = self.batches(level)
        best, worst = max(found, key=lambda b: b.low), min(found, key=lambda b: b.high)
        return (best, worst) if best.low > worst.high else None

    def verdict(self, level: float = 0.95) -> str:
        what = "passed" if self.gold else "were labelled as passing"
        text = f"{int(self.passed.sum()):,} of {len(self.passed):,} items {what}. "
        if self.alarm:
            text += (
                f"Alarm at {self.alarm_at} (item {self.items_until_alarm:,}): the pass rate has "
            )
            text += f"been below {self.floor:.4g}."
        else:
            text += f"No alarm: nothing shows yet that the pass rate was below {self.floor:.4g} "
            text += (
                f"(evidence {self.e_value:.3g}; the alarm rings at {1 / self.alarm_chance:.3g})."
            )
        apart = self.drifted(level)
        if apart:
            text += (
                f" Batches differ: {apart[0].name} has {apart[0].rate:.0%}, {apart[1].name} has "
            )
            text += f"{apart[1].rate:.0%}."
        return f"{text} {self.judge_words(level)}".rstrip()

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each batch: items, passes, limits."""
        import polars as pl

        rows = [
            (b.name, b.items, b.hits, b.rate, b.low, b.high, level) for b in self.batches(level)
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
            **self._judge(level),
            "verdict": self.verdict(level),
            "assumptions": self.assumptions,
            "warnings": self.warnings,
        }

    def _judge(self, level: float) -> dict[str, Any]:
        if self.agreed is None:
            return {}
        rates = [
            {"version": r.name, "items": r.items, "agreement": r.rate, "low": r.low, "high": r.high}
            for r in self.agreement(level)
        ]
        steps = [vars(change) for change in self.agreement_changes(level)]
        return {"agreement": rates, "changes": steps, "agreement_p_value": self.agreement_p_value}

    def __str__(self) -> str:
        text = [self.verdict(), *(f"Assumed: {a}" for a in self.assumptions)]
        return "\n".join([*text, *(f"Warning: {w}" for w in self.warnings)])
