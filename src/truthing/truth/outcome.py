"""Outcome: what any method hands to the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from truthing.class_codes import Array
from truthing.noise.bits import label_bits


@dataclass(frozen=True, eq=False)
class NoiseSummary:
    """The noise model used or learned: one confusion matrix for each labeler (truth in rows), and
    the class prior.

    ``error`` holds draws of each labeler's error rate where it was learned; ``confusion_draws``
    (draws × labelers × truth × label) and ``prior_draws`` belong together, draw by draw, where the
    sampler kept them.
    """

    model: str
    labelers: tuple[Any, ...]
    confusion: Array | None
    prior: Array
    confusion_interval: tuple[Array, Array] | None = None
    prior_interval: tuple[Array, Array] | None = None
    error: Array | None = None
    learned: bool = False
    confusion_draws: Array | None = None
    prior_draws: Array | None = None

    @cached_property
    def error_rate(self) -> Array:
        """How often each labeler errs: Σ_c π_c (1 - Π_t[c, c])."""
        assert self.confusion is not None
        return 1 - self.confusion.diagonal(axis1=1, axis2=2) @ self.prior

    @cached_property
    def bits(self) -> Array:
        """What one label of each labeler tells about the truth, in bits: their mutual information Σ
        π_c Π[c, k] log₂ (Π[c, k] / p_k).

        >>> import numpy as np
        >>> NoiseSummary("", ("coin", "oracle"), np.array([[[.5, .5], [.5, .5]], [[1, 0], [0,
        ...     1]]]), np.array([.5, .5])).bits
        array([0., 1.])
        """
        assert self.confusion is not None
        return label_bits(self.confusion, self.prior)

    def error_interval(self, level: float = 0.95) -> tuple[Array, Array] | None:
        """Limits of each labeler's error rate, where it was learned."""
        if self.error is None:
            return None
        from truthing.metrics.estimate import credible_interval

        return credible_interval(self.error, level)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method found, and what has to be said about it."""

    answer: Any
    truth: Any  # an array, or a function that makes it when it is asked for
    assumptions: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    diagnostics: dict[str, Any] = field(default_factory=dict)
    noise: NoiseSummary | None = None
    curves: Any = None
    joint: Any = None
    slices: Mapping[str, Any] = field(default_factory=dict)
    sensitivity: Any = None
    state: Any = None
    more_gold: Any = None  # what more gold would do, where that can be foretold
