"""ClosedForms: what Lam & Stork's equations give for the rates that were said, as one result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from truthing.results import Result


@dataclass(frozen=True)
class ClosedForms(Result):
    """Lines for people, the numbers behind them by name, and what was assumed."""

    text: str
    found: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    kind = "error"

    def to_dict(self) -> dict[str, Any]:
        return {**self.found, "notes": list(self.notes)}

    def to_frame(self) -> Any:
        """One row for each number, as a polars table."""
        import polars as pl

        rows = [(name, value) for name, value in numbers(self.found)]
        schema = {"quantity": pl.String, "value": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")


def numbers(found: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Every number of nested data, by its path.

    >>> list(numbers({"true_error": {"value": 0.1, "clipped": False}, "prior": [0.5, 0.5]}))
    [('true_error.value', 0.1), ('prior.0', 0.5), ('prior.1', 0.5)]
    """
    for name, value in found.items():
        path = f"{before}{name}"
        if isinstance(value, Mapping):
            yield from numbers(value, f"{path}.")
        elif isinstance(value, list):
            yield from numbers(dict(enumerate(value)), f"{path}.")  # type: ignore[arg-type]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield path, float(value)
