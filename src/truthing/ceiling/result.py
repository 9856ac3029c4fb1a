"""BayesError: the ceiling as data, with what was assumed and what has to be said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.ceiling.bounds import Bounds
from truthing.ceiling.verdict import CeilingVerdict
from truthing.errors import InputError
from truthing.metrics.estimate import check_level
from truthing.results import Result


@dataclass(frozen=True, eq=False)
class BayesError(Result):
    """The least error any classifier can reach, and how sure we are of it.

    ``paper`` is the estimator of Ishida et al. and ``value`` the best point: they differ where the
    paper's is biased (few hard labels per item). ``identified`` is the interval that the labels
    could ever pin down, or None where that is a point. ``labeler_error`` holds the labelers' noise
    when disagreement is taken for their mistakes about a definite truth.
    """

    kind = "ceiling"
    value: float
    paper: float
    n_items: int
    method: str
    reading: str = "ambiguity"
    identified: tuple[float, float] | None = None
    scale: float = 1.0
    details: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    verdict: CeilingVerdict | None = None
    labeler_error: BayesError | None = None
    evidence: Bounds | None = field(default=None, repr=False)
    half_width: Callable[[float], float] | None = field(default=None, repr=False)

    def __float__(self) -> float:
        return self.value

    @property
    def lower(self) -> float:
        """The least Bayes error that these labels allow, sampling error apart."""
        return self.value if self.identified is None else self.identified[0]

    @property
    def upper(self) -> float:
        """The greatest Bayes error that these labels allow, sampling error apart."""
        return self.value if self.identified is None else self.identified[1]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Limits that hold the Bayes error with this level, also where the labels identify only
        an interval.
        """
        check_level(level)
        if np.isnan(self.value) or self.evidence is None:
            return self.value, self.value
        low, high = self.evidence.limits(level)
        return min(self.scale * low, self.value), max(self.scale * high, self.value)

    def bound(self, level: float = 0.95) -> float:
        """Half width around ``paper`` that the paper's propositions promise for every
        distribution; wide.
        """
        if self.half_width is None:
            raise InputError(
                f"the paper proves no bound for this kind of data ({self.method}): use "
                "interval(level)."
            )
        return self.half_width(level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything a program may want, for JSON; no number where there is none."""
        low, high = self.interval(level)
        found: dict[str, Any] = {
            "value": _number(self.value),
            "low": _number(low),
            "high": _number(high),
            "level": level,
            "paper": _number(self.paper),
            "bound": None if self.half_width is None else _number(self.bound(level)),
            "identified": None if self.identified is None else list(self.identified),
            "items": self.n_items,
            "method": self.method,
            "reading": self.reading,
            **self.details,
            "verdict": None if self.verdict is None else self.verdict.to_dict(level),
            "assumptions": self.assumptions,
            "warnings": self.warnings,
        }
        if self.labeler_error is not None:
            found["labeler_error"] = self.labeler_error.to_dict(level)
        return found

    def to_frame(self, level: float = 0.95) -> Any:
        """One row each for the ceiling and the model: error and limits, as a polars table."""
        import polars as pl

        rows = [
            (what, error, low, high, level) for what, error, (low, high) in self.shown_errors(level)
        ]
        heads = ["what", "error", "low", "high", "level"]
        return pl.DataFrame(rows, schema=heads, orient="row").fill_nan(None)

    def shown_errors(self, level: float = 0.95) -> list[tuple[str, float, tuple[float, float]]]:
        """The errors that people compare: of the best possible classifier (or of the labelers), and
        of the model.
        """
        shown = self if self.labeler_error is None else self.labeler_error
        found = [("ceiling" if shown is self else "labelers", shown.value, shown.interval(level))]
        if self.verdict is not None:
            found.append(("model", self.verdict.error, self.verdict.interval(level)))
        return [row for row in found if np.isfinite(row[1])]

    def __str__(self) -> str:
        low, high = self.interval(0.95)
        text = f"Bayes error {self.value:.4f} (95% interval {low:.4f} to {high:.4f})"
        if self.labeler_error is not None:
            text = (
                f"Bayes error 0 by assumption; labelers err on {self.labeler_error.value:.4f} of "
                "the labels"
            )
        return text + ("" if self.verdict is None else f"\n{self.verdict.sentence}")


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
