"""Another prevalence: what the metrics would be where classes have other shares.

P(prediction | truth) is taken to be the same at deployment; only the classes' shares differ (label
shift). Each row of a drawn confusion matrix is scaled to the class's share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.arguments import as_number
from truthing.class_codes import Array
from truthing.errors import InputError, listing

CANNOT = "`deployment=` needs"


@dataclass(frozen=True, eq=False)
class Deployment:
    """Limits of the classes' shares, low and high alike where they are numbers; or draws of
    them."""

    low: Array
    high: Array
    drawn: Array | None = None
    by_rate: bool = False  # as `prevalence` found it

    def draw(self, n_draws: int, rng: np.random.Generator) -> Array:
        """Shares, draws × classes; a range is drawn evenly."""
        if self.drawn is not None:
            return np.asarray(self.drawn[rng.integers(len(self.drawn), size=n_draws)])
        shares = rng.uniform(self.low, self.high, (n_draws, len(self.low)))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @property
    def mean(self) -> Array:
        """Expected shares."""
        if self.drawn is not None:
            return np.asarray(self.drawn.mean(axis=0))
        return self.draw(1000, np.random.default_rng(0)).mean(axis=0)

    def at_mean(self, confusion: Array) -> Array:
        """One confusion matrix, truth in rows, at the expected shares."""
        return np.asarray(at_shares(confusion[None], self.mean[None])[0])

    def words(self, classes: Sequence[Any]) -> str:
        if self.drawn is not None and self.by_rate:
            shares = [f"{c} {p:.0%}" for c, p in zip(classes, self.drawn.mean(axis=0))]
            return f"the shares that rate found ({listing(shares, 4)})"
        shares = [
            f"{c} {a:.0%}" if a == b else f"{c} {a:.0%} to {b:.0%}"
            for c, a, b in zip(classes, self.low, self.high)
        ]
        return listing(shares, 4)


def as_deployment(given: Any, classes: Sequence[Any], positive: int | None) -> Deployment | None:
    """A share of the positive class, a range of it, one of each class (sequence or mapping, each a
    number or a range), or a result of `prevalence`."""
    if given is None:
        return None
    if hasattr(given, "draws") and hasattr(given, "classes"):
        return _from_rate(given, classes)
    if isinstance(given, Mapping):
        unknown = [c for c in given if c not in classes and str(c) not in map(str, classes)]
        if unknown:
            raise InputError(
                f"`deployment=` names class {unknown[0]!r}, which does not occur; there are "
                f"{listing(map(repr, classes))}."
            )
        texts = {str(k): v for k, v in given.items()}
        if len(classes) == 2 and len(given) == 1:
            place = next(k for k, c in enumerate(classes) if str(c) in texts)
            return _of_two(next(iter(given.values())), place)
        absent = [c for c in classes if str(c) not in texts]
        if absent:
            raise InputError(
                f"`deployment=` gives no share of class {absent[0]!r}: give one of each."
            )
        return _of_all([texts[str(c)] for c in classes])
    two = len(classes) == 2
    if two and (not hasattr(given, "__len__") or (isinstance(given, tuple) and sum(given) < 0.999)):
        return _of_two(given, 1 if positive is None else positive)
    if not hasattr(given, "__len__") or len(given) != len(classes):
        raise InputError(
            f"{CANNOT} one share of each of the {len(classes)} classes, or of two classes the "
            "positive one's share or a range of it."
        )
    return _of_all(list(given))


def at_shares(confusion: Array, shares: Array) -> Array:
    """Drawn confusion matrices (draws × truth × prediction) where classes have other shares.

    A class that deployment has and the draw does not makes that draw undefined (NaN).

    >>> at_shares(np.array([[[8.0, 2], [1, 9]]]), np.array([[0.9, 0.1]])).round(2).tolist()
    [[[14.4, 3.6], [0.2, 1.8]]]
    """
    return np.asarray(confusion * class_factors(confusion.sum(axis=2), shares)[:, :, None])


def class_factors(known: Array, wanted: Array) -> Array:
    """What items of each true class must count for the classes to have the ``wanted`` shares
    (draws × classes); NaN where a wanted class does not occur."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(wanted > 0, wanted * known.sum(axis=1, keepdims=True) / known, 0.0)
    return np.where(np.isfinite(factor), factor, np.nan)


def _range(given: Any) -> tuple[float, float]:
    parts = list(given) if isinstance(given, tuple | list) else [given, given]
    numbers = [as_number(p) for p in parts]
    if len(numbers) != 2 or not 0 <= numbers[0] <= numbers[1] <= 1:
        raise InputError(
            f"`deployment=` {given!r}: a share is a number from 0 to 1, a range two of them, the "
            "lower first."
        )
    return numbers[0], numbers[1]


def _of_two(given: Any, place: int) -> Deployment:
    low, high = _range(given)
    ends = np.array([[1 - high, 1 - low], [low, high]])
    if place == 0:
        ends = ends[::-1]
    middle = np.linspace(low, high, 1001)
    drawn = np.stack([1 - middle, middle], axis=1)
    if low == high:
        return Deployment(ends[:, 0], ends[:, 1])
    # one number is uncertain, not two: shares of two classes add up to one
    return Deployment(ends[:, 0], ends[:, 1], drawn if place == 1 else drawn[:, ::-1])


def _of_all(given: list[Any]) -> Deployment:
    low, high = (np.array(ends) for ends in zip(*map(_range, given)))
    if high.sum() < 0.999 or low.sum() > 1.001:
        raise InputError(
            f"`deployment=` shares cannot add up to 1 (they reach from {low.sum():.3g} to "
            f"{high.sum():.3g}): correct them."
        )
    return Deployment(low, high)


def _from_rate(result: Any, classes: Sequence[Any]) -> Deployment:
    known = {str(c): k for k, c in enumerate(result.classes)}
    extra = [c for c in known if c not in map(str, classes)]
    if extra:
        raise InputError(
            f"`deployment=` has class {extra[0]!r}, which the graded items do not: nothing is "
            "known about it."
        )
    drawn = np.zeros((len(result.draws), len(classes)))
    for k, c in enumerate(classes):
        if str(c) in known:
            drawn[:, k] = result.draws[:, known[str(c)]]
    drawn /= drawn.sum(axis=1, keepdims=True)
    return Deployment(drawn.min(axis=0), drawn.max(axis=0), drawn, by_rate=True)
