"""What would happen to the interval without some labelers: the shares of the classes, with and
without their labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.metrics.words import share
from truthing.rate import prevalence
from truthing.shares import Prevalence


@dataclass(frozen=True, eq=False)
class Without:
    """The share of each class with everybody's labels and without those of ``names``."""

    names: tuple[Any, ...]
    everybody: Prevalence
    others: Prevalence

    def widths(self, level: float = 0.95) -> tuple[float, float]:
        """Width of the interval of the headline class: with everybody, and without them."""
        found = []
        for result in (self.everybody, self.others):
            low, high = result[self._class].interval(level)
            found.append(high - low)
        return found[0], found[1]

    @property
    def _class(self) -> Any:
        classes = self.everybody.classes
        most = int(self.everybody.draws.mean(axis=0).argmax())
        return classes[1] if len(classes) == 2 else classes[most]

    def sentence(self, level: float = 0.95) -> str:
        """In words, with numbers."""
        shares = [
            share(result[self._class].mean, *result[self._class].interval(level), level)
            for result in (self.everybody, self.others)
        ]
        return (
            f"Without {listing(self.names, 5)} the share of {self._class} would be {shares[1]}; "
            f"with everybody it is {shares[0]}."
        )


def without(labels: Labels, gold: Any, names: Sequence[Any], *, seed: int = 0) -> Without:
    """Grade the shares again without these labelers."""
    rest = [name for name in labels.labelers if name not in names]
    if not rest:
        raise InputError("without all labelers nothing is left: leave one out at least.")
    return Without(
        tuple(names),
        prevalence(labels, gold=gold, seed=seed, repeats="keep"),
        prevalence(labels.select(rest), gold=gold, seed=seed, repeats="keep"),
    )
