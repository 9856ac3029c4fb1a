"""How often a label is wrong, as a noise model that the user gave has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.noise.base import TableNoise, combined_error
from truthing.noise.known import Confusion, Difficulty, Symmetric

# labels that a rate of all labelers counts as learned from, and a rate of each; a range says how
# well it is known
WORTH, WORTH_OF_EACH = 200, 50
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
    given = noise.error if isinstance(noise, Symmetric) else noise.matrices
    wrong = 1 - np.diagonal(_known_tables(noise, given, labels), axis1=1, axis2=2)
    rate = wrong @ class_shares
    off = SHARES_OFF * np.ptp(wrong, axis=1)
    if isinstance(noise, Symmetric) and noise.range is not None:
        low, high = noise.range
        return GivenErrors(rate[labels.labeler], off, np.inf, (float(low), float(high)))
    weight = noise.weight if isinstance(noise, Confusion) else None
    if weight is None and not isinstance(given, Mapping) and np.ndim(given) in (0, 2):
        return GivenErrors(rate[labels.labeler], off)
    off = np.hypot(off, error_of(rate, weight or WORTH_OF_EACH))
    return GivenErrors(rate[labels.labeler], off, np.inf)


def error_of(rate: Any, n: float) -> Any:
    """The standard error of a rate learned from so many labels, none of which need be wrong."""
    if np.isinf(n):
        return 0.0 * rate
    smooth = (rate * n + 0.5) / (n + 1)
    return np.sqrt(smooth * (1 - smooth) / n)


def _known_tables(noise: TableNoise, given: Any, labels: Labels) -> Array:
    """Confusion matrices of all labelers, NaN for those about whom nothing is ``given``."""
    if not isinstance(given, Mapping):
        return noise.tables(labels)
    named = [name for name in labels.labelers if name in given]
    tables = np.full((labels.n_labelers, labels.n_classes, labels.n_classes), np.nan)
    place = [labels.labelers.index(name) for name in named]
    if named:
        tables[place] = noise.tables(labels.select(named))
    return tables
