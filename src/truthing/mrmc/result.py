"""ReaderStudy: what other readers would reach on other cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.metrics.words import difference as in_points
from truthing.metrics.words import share
from truthing.mrmc.analysis import Inference, one_modality
from truthing.mrmc.analysis import difference as paired
from truthing.results import Result


@dataclass(frozen=True, eq=False)
class ReaderStudy(Result):
    """``average(modality)`` and ``difference()`` are about other readers and other cases;
    ``merit`` (modalities × readers) is what these readers reached on these cases.
    """

    kind = "readers"
    metric: str
    modalities: tuple[Any, ...]
    readers: tuple[Any, ...]
    merit: Array
    covariance: Array
    n_cases: int
    n_diseased: int
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)

    def average(self, modality: Any = None) -> Inference:
        """The reader-averaged figure of a modality: value, error, freedom, interval(level)."""
        names = [str(m) for m in self.modalities]
        if modality is not None and str(modality) not in names:
            raise InputError(f"no modality is called {modality!r}: there are {listing(names)}.")
        i, n = 0 if modality is None else names.index(str(modality)), len(self.readers)
        block = slice(i * n, (i + 1) * n)
        return one_modality(self.merit[i], self.covariance[block, block])

    def difference(self) -> Inference:
        """The second modality minus the first, with its p-value."""
        if len(self.modalities) != 2:
            raise InputError("a difference needs two modalities; there is one.")
        return paired(self.merit, self.covariance)

    def verdict(self, level: float = 0.95) -> str:
        name = "AUC" if self.metric == "auc" else self.metric
        first = self.average(self.modalities[0])
        if len(self.modalities) == 1:
            found = share(first.value, *first.interval(level), level)
            return f"Readers like these reach {found} {name} on cases like these."
        gap, last = self.difference(), self.modalities[1]
        low, high = gap.interval(level)
        sentence = f"{last} minus {self.modalities[0]}: {name} "
        sentence += f"{in_points(gap.value, low, high, level)}, for readers and cases like these; "
        return sentence + f"p = {gap.p_value:.2g}."

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each modality, and one for their difference."""
        import polars as pl

        rows = [(str(m), self.average(m)) for m in self.modalities]
        if len(rows) == 2:
            rows.append((f"{rows[1][0]} - {rows[0][0]}", self.difference()))
        table = [(n, x.value, *x.interval(level), x.error, x.freedom, level) for n, x in rows]
        heads = ["modality", "estimate", "low", "high", "standard_error", "freedom", "level"]
        return pl.DataFrame(table, schema=heads, orient="row")

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        rows = self.to_frame(level).to_dicts()
        merits = {
            str(m): {str(r): float(v) for r, v in zip(self.readers, row)}
            for m, row in zip(self.modalities, self.merit)
        }
        found = {
            "metric": self.metric,
            "averages": rows[: len(self.modalities)],
            "readers": merits,
            "cases": self.n_cases,
            "diseased": self.n_diseased,
            "verdict": self.verdict(level),
            "assumptions": self.assumptions,
            "warnings": self.warnings,
        }
        if len(self.modalities) == 2:
            found["difference"] = {**rows[2], "p_value": self.difference().p_value}
        return found

    def __str__(self) -> str:
        sentences = [self.verdict(), *(f"Assumed: {a}" for a in self.assumptions)]
        return "\n".join([*sentences, *(f"Warning: {w}" for w in self.warnings)])
