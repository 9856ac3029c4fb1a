"""information(), equivalent_labeler(), labelers_needed(): panels compared by the bits they
carry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import repeat
from statistics import NormalDist
from typing import Any

import numpy as np

from truthing.arguments import as_seed
from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.metrics.estimate import check_level, credible_interval
from truthing.noise.base import check_confusion, check_rates, symmetric_table
from truthing.noise.bits import entropy, label_bits
from truthing.noise.known import Joint
from truthing.people.channel import equivalent_error, growing, joint_bits, panel_bits
from truthing.people.label_bits import collected_bits
from truthing.simulation import class_prior
from truthing.truth.outcome import NoiseSummary

FEW_PATTERNS = 1024  # cheap enough to be counted again for every draw of the noise
MOST_LABELERS = 2000
MOST_CELLS = 200_000  # of all labelers' confusion matrices
INDEPENDENT = "Labelers err independently of each other, given the true class."


@dataclass(frozen=True, eq=False)
class ChannelValue:
    """A number about a panel; ``draws`` where the noise was learned, ``standard_error`` where
    labels had to be simulated (0: exact).
    """

    value: float
    standard_error: float = 0.0
    draws: Array | None = field(default=None, repr=False)
    bounds: tuple[float, float] = (0.0, 1.0)
    assumptions: list[str] = field(default_factory=list)

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return round(self.value)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Limits from the draws of the noise; or from the simulation's own error; or the exact
        value twice.
        """
        check_level(level)
        if self.draws is not None:
            low, high = credible_interval(self.draws, level)
            return float(low), float(high)
        half = NormalDist().inv_cdf((1 + level) / 2) * self.standard_error
        return max(self.value - half, self.bounds[0]), min(self.value + half, self.bounds[1])

    def map(self, function: Callable[[Array], Array], bounds: tuple[float, float]) -> ChannelValue:
        """The same knowledge about a decreasing function of the number."""
        draws = None if self.draws is None else function(self.draws)
        value = float(function(np.asarray(self.value))) if draws is None else float(draws.mean())
        wide = 0.0
        if self.standard_error:
            ends = function(
                np.clip(
                    [self.value - self.standard_error, self.value + self.standard_error],
                    *self.bounds,
                )
            )
            wide = float(abs(ends[1] - ends[0]) / 2)
        return ChannelValue(value, wide, draws, bounds, self.assumptions)

    def __str__(self) -> str:
        if self.draws is None and not self.standard_error:
            return f"{self.value:.4g}"
        low, high = self.interval(0.95)
        return f"{self.value:.4g} (95% interval {low:.4g} to {high:.4g})"


def information(
    source: Any = None,
    *,
    error: Any = None,
    confusion: Any = None,
    joint: Any = None,
    prior: Any = None,
    seed: int = 0,
) -> ChannelValue:
    """Bits that the labels of a panel carry about the truth of an item that all of them label.

    Su Section 4, ``I(Z;Y) = sum p(z,y) log2(p(z,y) / (p(z) prior(y)))``. Give one of ``source``,
    ``error``,
    ``confusion`` or ``joint``.

    Parameters
    ----------
    source : Report, LabelersReport or noise summary, optional
        A result that has learned about labelers: its uncertainty is carried into the interval.
    error : float or sequence, optional
        Error rate of each labeler; wrong labels are spread evenly.
    confusion : sequence of matrices, optional
        Confusion matrix of each labeler, truth in rows.
    joint : array, optional
        P(labels | truth) of labelers that are not independent: truth first, one axis per labeler.
    prior : sequence, optional
        Share of each class. None: equal.
    seed : int, default 0
        For panels too large to be enumerated.

    Returns
    -------
    ChannelValue
        ``value`` in bits, with an interval where ``source`` leaves one.

    See Also
    --------
    equivalent_labeler : the same as an error rate.

    Examples
    --------
    >>> information(error=[0.3] * 7, prior=[0.6, 0.4]).value.__round__(3)
    0.538
    >>> information(error=[0.1], prior=[0.6, 0.4]).value.__round__(3)
    0.512
    """
    seed = as_seed(seed)
    given = [v is not None for v in (source, error, confusion, joint)]
    if sum(given) != 1:
        raise InputError(
            "say once what the labelers are like: error=, confusion=, joint=, or a report."
        )
    if joint is not None:
        return _dependent(joint, prior)
    if isinstance(source, Joint):
        if source.others is not None:
            raise InputError(
                "the bits of a joint table with other labelers beside it: give one joint= "
                "table for all."
            )
        return _dependent(source.table, prior)
    if source is not None:
        return _of_noise(getattr(source, "noise", source), prior, seed)
    shares = 2 if prior is None else max(2, np.size(prior))
    _check_size(1 if error is None else np.size(error), shares)
    tables, share = panel_tables(error, confusion, prior)
    _check_size(*tables.shape[:2])
    value, spread = panel_bits(tables, share, seed)
    return ChannelValue(
        value, spread, bounds=(0.0, float(entropy(share))), assumptions=_said(prior)
    )


def equivalent_labeler(
    source: Any = None,
    *,
    error: Any = None,
    confusion: Any = None,
    joint: Any = None,
    prior: Any = None,
    seed: int = 0,
) -> ChannelValue:
    """The error rate of the one labeler whose label is worth those of the panel (Su Section 4.2).

    Wrong labels of that labeler are spread evenly. Found by bisection.

    Parameters
    ----------
    source : Report, LabelersReport or noise summary, optional
        A result that has learned about labelers: its uncertainty is carried into the interval.
    error : float or sequence, optional
        Error rate of each labeler; wrong labels are spread evenly.
    confusion : sequence of matrices, optional
        Confusion matrix of each labeler, truth in rows.
    joint : array, optional
        P(labels | truth) of labelers that are not independent: truth first, one axis per labeler.
    prior : sequence, optional
        Share of each class. None: equal.
    seed : int, default 0
        For panels too large to be enumerated.

    Returns
    -------
    ChannelValue
        ``value`` is an error rate.

    See Also
    --------
    information : the same in bits.

    Examples
    --------
    >>> equivalent_labeler(error=[0.3] * 7, prior=[0.6, 0.4]).value.__round__(3)
    0.092
    """
    bits = information(
        source, error=error, confusion=confusion, joint=joint, prior=prior, seed=seed
    )
    share = _prior_of(source, error, confusion, joint, prior)
    return bits.map(lambda b: equivalent_error(b, share), (0.0, 1 - 1 / len(share)))


def labelers_needed(
    error: Any = None, *, expert: float, confusion: Any = None, prior: Any = None, seed: int = 0
) -> ChannelValue:
    """How many independent labelers carry at least the bits of one expert (Su Section 4.3).

    Parameters
    ----------
    error : float, optional
        Error rate of each labeler.
    expert : float
        Error rate of the expert.
    confusion : matrix, optional
        Instead of ``error``: the confusion matrix of each labeler.
    prior : sequence, optional
        Share of each class. None: equal.
    seed : int, default 0
        For panels too large to be enumerated.

    Returns
    -------
    ChannelValue
        ``int(value)`` is the number of labelers.

    See Also
    --------
    equivalent_labeler : the other way round.

    Examples
    --------
    >>> int(labelers_needed(0.3, expert=0.1, prior=[0.6, 0.4]))
    7
    """
    if np.ndim(error) or np.ndim(confusion) > 2:
        raise InputError(
            "labelers_needed counts equal labelers: give one error rate or one confusion matrix."
        )
    seed = as_seed(seed)
    tables, share = panel_tables(error, confusion, prior)
    rate = check_rates(np.array([float(expert)]), "expert")
    wanted = float(label_bits(symmetric_table(rate, len(share)), share)[0])
    one = float(label_bits(tables[0], share))
    if one < 1e-9 < wanted:
        raise InputError(
            "labels of such a labeler say nothing about the truth: no number of them matches "
            "an expert."
        )
    if wanted > float(entropy(share)) - 1e-12 and one < wanted:
        raise InputError(
            "an expert without error is never matched, only approached: give expert a rate above 0."
        )
    for number, (bits, spread) in enumerate(
        growing(repeat(tables[0], MOST_LABELERS), share, seed), start=1
    ):
        if bits >= wanted - 1e-12:
            # near the goal the simulation's own error decides; one more labeler or one less is what
            # it may change
            return ChannelValue(
                number,
                float(spread > 0),
                bounds=(1.0, float(MOST_LABELERS)),
                assumptions=_said(prior),
            )
    raise InputError(
        f"more than {MOST_LABELERS:,} such labelers would be needed to match an expert with "
        f"error {float(expert):g}."
    )


def _check_size(n_labelers: int, n_classes: int) -> None:
    """Bits of a panel are simulated label by label: some panels are too large for that."""
    if n_labelers > MOST_LABELERS or n_labelers * n_classes**2 > MOST_CELLS:
        raise InputError(
            f"{n_labelers:,} labelers and {n_classes:,} classes are too many to count bits: at "
            f"most {MOST_LABELERS:,} labelers and {MOST_CELLS:,} numbers in their confusion "
            "matrices together. Merge rare classes, or ask about fewer labelers."
        )


def panel_tables(error: Any, confusion: Any, prior: Any) -> tuple[Array, Array]:
    """Labelers × truth × label and the class prior, checked."""
    if confusion is not None:
        given = np.asarray(confusion, dtype=float)
        given = given[None] if given.ndim == 2 else given
        if given.ndim != 3 or not len(given):
            raise InputError(
                f"confusion has shape {given.shape}: give one C×C matrix, truth in rows, for "
                "each labeler."
            )
        tables = np.stack(
            [check_confusion(m, f"confusion matrix {t}") for t, m in enumerate(given)]
        )
        share = class_prior(
            np.full(tables.shape[1], 1 / tables.shape[1]) if prior is None else prior
        )
        if len(share) != tables.shape[1]:
            raise InputError(
                f"the prior has {len(share)} classes, the confusion matrices have "
                f"{tables.shape[1]}: give one share for each class."
            )
        return tables, share
    if error is None:
        raise InputError(
            "give error=, a rate or one for each labeler, or confusion=, a matrix for each."
        )
    share = class_prior([0.5, 0.5] if prior is None else prior)
    rates = np.atleast_1d(np.asarray(error, dtype=float))
    if rates.ndim != 1 or not len(rates):
        raise InputError("error is a rate, or a list with one rate for each labeler.")
    return symmetric_table(check_rates(rates, "error"), len(share)), share


def _dependent(joint: Any, prior: Any) -> ChannelValue:
    table = np.asarray(joint, dtype=float)
    if table.ndim < 2:
        raise InputError(
            "joint holds P(labels | truth): the truth first, then one axis for each labeler."
        )
    flat = table.reshape(len(table), -1)
    if (
        not np.isfinite(flat).all()
        or (flat < 0).any()
        or not np.allclose(flat.sum(axis=1), 1, atol=1e-6)
    ):
        raise InputError("joint must hold probabilities that sum to one for each truth.")
    share = class_prior(np.full(len(table), 1 / len(table)) if prior is None else prior)
    if len(share) != len(table):
        raise InputError(f"the prior has {len(share)} classes, the joint table has {len(table)}.")
    assumptions = [s for s in _said(prior) if s != INDEPENDENT]
    return ChannelValue(
        joint_bits((share[:, None] * flat).T),
        bounds=(0.0, float(entropy(share))),
        assumptions=assumptions,
    )


def _of_noise(noise: Any, prior: Any, seed: int) -> ChannelValue:
    if not isinstance(noise, NoiseSummary):
        raise InputError(
            f"a {type(noise).__name__} tells nothing about labelers: give a report, its "
            "noise, or error=."
        )
    if noise.confusion is None:
        raise InputError(
            f"the noise of this report ({noise.model}) has no confusion matrices: give "
            "error= instead."
        )
    share = noise.prior if prior is None else class_prior(prior)
    _check_size(*noise.confusion.shape[:2])
    exact, spread = panel_bits(noise.confusion, share, seed)
    result = ChannelValue(
        exact, spread, bounds=(0.0, float(entropy(share))), assumptions=[INDEPENDENT]
    )
    if noise.confusion_draws is None or noise.prior_draws is None:
        certain = (
            "The labelers' confusion matrices are taken as certain: the report kept no draws of "
            "them."
        )
        return replace(result, assumptions=[INDEPENDENT, certain])
    priors = noise.prior_draws if prior is None else np.broadcast_to(share, noise.prior_draws.shape)
    n_labelers, n_classes = noise.confusion.shape[:2]
    if float(n_classes) ** n_labelers <= FEW_PATTERNS:
        draws = np.array([panel_bits(t, p)[0] for t, p in zip(noise.confusion_draws, priors)])
    else:
        everyone = np.arange(n_labelers)
        draws = collected_bits(
            np.array([0, n_labelers]), everyone, noise.confusion_draws, priors, seed=seed
        ).panel
    return replace(result, value=float(draws.mean()), standard_error=0.0, draws=draws)


def _prior_of(source: Any, error: Any, confusion: Any, joint: Any, prior: Any) -> Array:
    if prior is not None:
        return class_prior(prior)
    if isinstance(source, Joint) or joint is not None:
        n_classes = len(joint if joint is not None else source.table)
        return np.full(n_classes, 1 / n_classes)
    if source is not None:
        return np.asarray(getattr(source, "noise", source).prior)
    return panel_tables(error, confusion, None)[1]


def _said(prior: Any) -> list[str]:
    return [
        INDEPENDENT,
        *(
            []
            if prior is not None
            else ["No class prior was given: all classes are equally frequent."]
        ),
    ]
