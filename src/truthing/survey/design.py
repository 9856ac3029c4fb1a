"""Survey: what is said about how the items were drawn, one value per item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.survey.columns import NOTHING, codes_of, number_in, per_item

MOST_SLICES = 200
FEW_IN_SLICE = 5
MOST_WEIGHTS = 12  # weights told apart


@dataclass(frozen=True, eq=False)
class Survey:
    """Codes and weights of the items, in their order inside; None where nothing was said."""

    cluster: Array | None = None
    weight: Array | None = None  # mean one
    stratum: Array | None = None
    slice: Array | None = None
    slice_names: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)

    @property
    def plain(self) -> bool:
        """Were all items drawn one by one, with equal chances, and is nothing asked by slice?"""
        parts = (self.cluster, self.weight, self.stratum, self.slice)
        return all(part is None for part in parts)

    @property
    def blocks(self) -> list[Array]:
        """Codes of items whose accuracy may differ beyond what labels show: strata and slices."""
        return [part for part in (self.stratum, self.slice) if part is not None]

    @property
    def effective_items(self) -> float:
        """(Σw)² / Σw²: how many items of equal weight say as much."""
        if self.weight is None:
            return float("nan")
        return float(self.weight.sum() ** 2 / (self.weight**2).sum())

    def weight_levels(self, most: int = MOST_WEIGHTS) -> Array | None:
        """Codes of items of one weight; beyond ``most`` weights those of neighbours together."""
        if self.weight is None:
            return None
        values, codes = np.unique(self.weight, return_inverse=True)
        if len(values) > most:
            limits = np.quantile(self.weight, np.linspace(0, 1, most + 1)[1:-1])
            codes = np.searchsorted(limits, self.weight)
        return np.asarray(codes).reshape(-1)

    def items_of(self, name: str) -> Array:
        assert self.slice is not None
        return np.flatnonzero(self.slice == self.slice_names.index(name))

    @property
    def used(self) -> list[str]:
        """The arguments that were given, by name."""
        names = ("cluster", "weights", "stratum", "by")
        parts = (self.cluster, self.weight, self.stratum, self.slice)
        return [name for name, part in zip(names, parts) if part is not None]


PLAIN = Survey()


def refuse_survey(used: Sequence[str], why: str) -> None:
    """Arguments that say how the items were drawn, where a method takes no notice of it."""
    if used:
        names = " and ".join(f"`{name}=`" for name in used)
        raise InputError(f"{names} cannot be answered {why}")


def read_survey(
    items: Sequence[Any],
    orders: Sequence[Sequence[Any]],
    readings: Iterable[Any] = (),
    *,
    cluster: Any = None,
    weights: Any = None,
    stratum: Any = None,
    by: Any = None,
) -> Survey:
    """From the arguments of a front door; ``items`` as they are inside, ``orders`` as users may
    have them."""
    if all(given is None for given in (cluster, weights, stratum, by)):
        return PLAIN
    found, warnings = list(readings), []

    def values(given: Any, what: str) -> list[Any]:
        return per_item(given, what, items, orders, found)

    clusters = None
    if cluster is not None:
        clusters, alone = _clusters(values(cluster, "cluster"))
        if alone:
            warnings.append(f"{alone:,} items have no cluster and count as one each.")
    weight = None if weights is None else _weights(values(weights, "weights"), items)
    strata = None if stratum is None else codes_of(values(stratum, "stratum"))[0]
    slices, names = (None, ()) if by is None else codes_of(values(by, "by"))
    if len(names) > MOST_SLICES:
        raise InputError(
            f"`by=` makes {len(names):,} slices; at most {MOST_SLICES} can be told apart. Name a "
            "coarser column."
        )
    if slices is not None:
        warnings += _about_slices(slices, names)
    return Survey(clusters, weight, strata, slices, names, warnings)


def _clusters(values: list[Any]) -> tuple[Array, int]:
    """Codes, and how many items belong to none: each of those is a cluster of its own."""
    codes, names = codes_of(values)
    if NOTHING not in names:
        return codes, 0
    alone = np.flatnonzero(codes == names.index(NOTHING))
    codes[alone] = len(names) + np.arange(len(alone))
    return np.unique(codes, return_inverse=True)[1].reshape(-1), len(alone)


def _weights(values: list[Any], items: Sequence[Any]) -> Array:
    numbers = [number_in(value) for value in values]
    for item, value, number in zip(items, values, numbers):
        if number is None or not 0 <= number < np.inf:
            raise InputError(
                f"`weights=` gives item {item!r} the weight {value!r}: a weight is a number, how "
                "many items it stands for; 0 leaves it out."
            )
    weight = np.array(numbers, dtype=float)
    if weight.sum() == 0:
        raise InputError("`weights=` are all 0: at least one item must count.")
    return weight / weight.mean()


def _about_slices(slices: Array, names: tuple[str, ...]) -> list[str]:
    told = []
    if len(names) > 2:
        told.append(
            f"{len(names)} slices are shown: with so many the worst one is partly bad luck. "
            "Decide beforehand which one matters."
        )
    small = [repr(n) for n, count in zip(names, np.bincount(slices)) if count < FEW_IN_SLICE]
    if small:
        told.append(
            f"Slice {', '.join(small[:3])} has fewer than {FEW_IN_SLICE} items: it says what the "
            "others say."
        )
    return told
