"""How often a label is wrong, as a noise model that the user gave has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.noise.base import TableNoise, combined_error
from truthing.noise.known import Confusion, Difficulty, Symmetric

WORTH = 200  # labels that a rate counts as learned from; a range says how well it is known
SHARES_OFF = 0.05  # sd of the classes' shares, which confusion matrices are weighed with


class GivenErrors(NamedTuple):
    """How likely each label is wrong (NaN: nothing is said), known up to ``off`` for each labeler
    (standard deviations), and as if learned from ``worth`` labels; ``between``: anywhere there."""

    label: Array
    off: Array
    worth: float = WORTH
    between: tuple[float, float] | None = None


def given_errors(noise: Any, labels: Labels, class_shares: Array) -> GivenErrors | None:
    """None where the noise model does not say how often a label is wrong."""
    if isinstance(noise, Difficulty) and not noise.learned:
        difficulty, fallibility = noise.rates(labels)
        each = difficulty[labels.item], fallibility[labels.labeler]
        return GivenErrors(combined_error(*each, labels.n_classes), np.zeros(len(fallibility)))
    if not isinstance(noise, Symmetric | Confusion):
        return None
    wrong = 1 - np.diagonal(_known_tables(noise, labels), axis1=1, axis2=2)
    rate = wrong @ class_shares
    off = SHARES_OFF * np.ptp(wrong, axis=1)
    if isinstance(noise, Symmetric) and noise.range is not None:
        low, high = noise.range
        return GivenErrors(rate[labels.labeler], off, np.inf, (float(low), float(high)))
    if isinstance(noise, Confusion) and noise.weight is not None:
        off = np.hypot(off, np.sqrt(rate * (1 - rate) / (noise.weight + 1)))
        return GivenErrors(rate[labels.labeler], off, np.inf)
    return GivenErrors(rate[labels.labeler], off)


def _known_tables(noise: TableNoise, labels: Labels) -> Array:
    """Confusion matrices of all labelers, NaN for those about whom nothing is said."""
    given = noise.error if isinstance(noise, Symmetric) else getattr(noise, "matrices", None)
    if not isinstance(given, Mapping):
        return noise.tables(labels)
    named = [name for name in labels.labelers if name in given]
    tables = np.full((labels.n_labelers, labels.n_classes, labels.n_classes), np.nan)
    place = [labels.labelers.index(name) for name in named]
    if named:
        tables[place] = noise.tables(labels.select(named))
    return tables
