"""Lam & Stork (2003): what a test set with mislabeled items says about a classifier, in closed
form.

Notation of docs/theory.md: a apparent error, m mislabeling rate (the paper's ε), e true error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, NotIdentified
from truthing.metrics.estimate import check_level
from truthing.papers.melding import true_error_limits


@dataclass(frozen=True)
class Scalar:
    """A number in its range, the raw number behind it, and what had to be said about it."""

    value: float
    raw: float
    clipped: bool = False
    variance: float | None = None
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    _limits: Callable[[float], tuple[float, float]] | None = field(default=None, repr=False)

    def __float__(self) -> float:
        return float(self.value)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval; without counts behind the number there is none to give."""
        check_level(level)
        if self._limits is None:
            raise InputError(
                "no interval without sample sizes: give n, the number of items behind the "
                "apparent error."
            )
        return self._limits(level)

    def __str__(self) -> str:
        text = f"{self.value:.4f}" + (f" (raw {self.raw:.4f})" if self.clipped else "")
        if self._limits is not None:
            low, high = self.interval(0.95)
            text += f" (95% interval {low:.4f} to {high:.4f})"
        return text


def apparent_error(error: float, mislabeling: float) -> Scalar:
    """Error rate that a test set shows when its labels are wrong at a known rate.

    Lam & Stork Eq. 1, ``a = m + e (1 - 2m)``; two classes, errors independent.

    Parameters
    ----------
    error : float
        True error rate.
    mislabeling : float
        Share of wrong labels.

    Returns
    -------
    Scalar

    See Also
    --------
    true_error : the other way round.

    Examples
    --------
    >>> round(apparent_error(0.06, 0.01).value, 4)
    0.0688
    """
    _rate(error, "error")
    _rate(mislabeling, "mislabeling")
    value = mislabeling + error * (1 - 2 * mislabeling)
    return Scalar(value, value, assumptions=[INDEPENDENT])


INDEPENDENT = (
    "Two classes; the labels' mistakes and the classifier's are independent of each other and of "
    "the class."
)


def true_error(
    apparent: float,
    mislabeling: float | None = None,
    *,
    n: int | None = None,
    checked: tuple[int, int] | None = None,
) -> Scalar:
    """True error rate behind an apparent one, for labels wrong at a known or estimated rate.

    Lam & Stork Eq. 2, ``e = (a - m) / (1 - 2m)``; two classes, errors independent. May leave [0,
    1]: then
    ``m`` or independence is wrong, and the result says so.

    Parameters
    ----------
    apparent : float
        Error rate against the labels.
    mislabeling : float, optional
        Share of wrong labels.
    n : int, optional
        Items behind ``apparent``: gives an interval.
    checked : tuple of int, optional
        ``(wrong, n0)``: the mislabeling rate was counted on n0 checked labels; widens the interval.

    Returns
    -------
    Scalar
        ``value``, ``interval(level)`` and what has to be said about it.

    See Also
    --------
    apparent_error : the other way round.
    error_bounds : without independence.

    Examples
    --------
    >>> round(true_error(0.0688, 0.01).value, 4)
    0.06
    >>> low, high = true_error(0.12, n=500, checked=(5, 100)).interval(0.95)
    >>> low < 0.0778 < high
    True
    """
    _rate(apparent, "apparent")
    warnings: list[str] = []
    if checked is not None:
        counted = _checked_rate(checked)
        if mislabeling is not None and not np.isclose(mislabeling, counted, atol=1e-9):
            raise InputError(
                f"mislabeling {mislabeling} contradicts checked={checked} ({counted:.4g}): "
                "give one of the two."
            )
        mislabeling = counted
    if mislabeling is None:
        raise InputError(
            "the mislabeling rate is missing: give mislabeling, or checked=(wrong, n0) from "
            "labels that were checked."
        )
    _rate(mislabeling, "mislabeling")
    if abs(1 - 2 * mislabeling) < 1e-9:
        raise NotIdentified(
            "mislabeling ½: labels right half of the time say nothing about the classifier. "
            "Get better labels."
        )
    raw = (apparent - mislabeling) / (1 - 2 * mislabeling)
    value = float(np.clip(raw, 0, 1))
    clipped = raw != value
    if clipped:
        warnings.append(
            f"The raw true error {raw:.4f} lies outside [0, 1]: a mislabeling rate of "
            f"{mislabeling:.4g} or independence does not fit "
            f"an apparent error of {apparent:.4g}. {value:.0f} is reported."
        )
    if mislabeling > 0.5:
        warnings.append(
            "A mislabeling rate above ½ means labels worse than chance; the formula inverts them."
        )
    limits, variance = None, None
    if n is not None:
        counts = _disagreements(apparent, n)
        rate = mislabeling
        variance = (rate * (1 - rate) / (1 - 2 * rate) ** 2 + value * (1 - value)) / n

        def limits(level: float) -> tuple[float, float]:
            if rate > 0.5:  # inverted labels: disagreement with them is agreement
                flipped = None if checked is None else (checked[1] - checked[0], checked[1])
                return true_error_limits(
                    n - counts, n, level, mislabeling=1 - rate, checked=flipped
                )
            return true_error_limits(counts, n, level, mislabeling=rate, checked=checked)

    return Scalar(value, float(raw), bool(clipped), variance, warnings, [INDEPENDENT], limits)


def noisy_label_ratio(error: float, mislabeling: float) -> Scalar:
    """How many noisy labels estimate the error as well as one perfect label.

    Lam & Stork Eq. 3, ``m (1 - m) / ((1 - 2m)^2 e (1 - e)) + 1``.

    Parameters
    ----------
    error : float
        True error rate.
    mislabeling : float
        Share of wrong labels.

    Returns
    -------
    Scalar

    See Also
    --------
    plan : what to buy, for any panel.

    Examples
    --------
    >>> round(float(noisy_label_ratio(0.1, 0.05)), 3)
    1.652
    """
    _rate(error, "error")
    _rate(mislabeling, "mislabeling")
    if mislabeling == 0.5:
        raise NotIdentified("mislabeling ½: no number of such labels is worth a perfect one.")
    if error in (0.0, 1.0):
        value = 1.0 if mislabeling in (0.0, 1.0) else float("inf")
    else:
        value = (
            mislabeling * (1 - mislabeling) / ((1 - 2 * mislabeling) ** 2 * error * (1 - error)) + 1
        )
    return Scalar(value, value, assumptions=[INDEPENDENT])


@dataclass(frozen=True)
class LabelPolicy:
    """Which way to spend 2l labels; variances are times l."""

    policy: Literal["distinct", "repeat"]
    variance_distinct: float
    variance_repeat: float
    boundary: float
    assumptions: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        way = {"distinct": "label twice as many items once", "repeat": "label every item twice"}[
            self.policy
        ]
        return (
            f"{way}: variance × l {self.variance_distinct:.4f} for distinct items, "
            f"{self.variance_repeat:.4f} for repeated labels"
        )


def policy_left_side(mislabeling: Any) -> Array:
    """Left side of Lam & Stork Eq. 4; negative above m = 0.166, where double labeling always
    wins.
    """
    m = np.asarray(mislabeling, dtype=float)
    return 2 * m**2 * (1 - m**2) / (1 - 2 * m**2) ** 2 - m * (1 - m) / (1 - 2 * m) ** 2 + 0.25


def label_policy(error: float, mislabeling: float) -> LabelPolicy:
    """Two labelers of equal quality: twice the items labeled once, or each item labeled twice?

    Lam & Stork Eq. 4, which optimistically takes m squared as the mislabeling rate of two labels.

    Parameters
    ----------
    error : float
        True error rate.
    mislabeling : float
        Share of wrong labels.

    Returns
    -------
    LabelPolicy
        ``policy`` is "distinct" or "repeat".

    See Also
    --------
    plan : the same question for real panels.

    Examples
    --------
    >>> label_policy(0.05, 0.10).policy, label_policy(0.3, 0.05).policy
    ('repeat', 'distinct')
    """
    _rate(error, "error")
    _rate(mislabeling, "mislabeling")
    if mislabeling >= 0.5:
        raise NotIdentified(
            f"mislabeling {mislabeling}: labels no better than a coin support no policy. Get "
            "better labelers."
        )
    m, both = mislabeling, mislabeling**2
    distinct = (m * (1 - m) / (1 - 2 * m) ** 2 + error * (1 - error)) / 2
    repeat = both * (1 - both) / (1 - 2 * both) ** 2 + error * (1 - error)
    left = float(policy_left_side(m))
    boundary = 0.5 - np.sqrt(left) if left >= 0 else float("nan")
    assumed = [
        INDEPENDENT,
        "Two labels are both wrong at rate m², and never one right and one wrong: the "
        "paper's optimism.",
    ]
    return LabelPolicy(
        "distinct" if distinct < repeat else "repeat", distinct, repeat, float(boundary), assumed
    )


@dataclass(frozen=True)
class ErrorBounds:
    """Bounds on the true error when nothing is known about dependence."""

    lower: float
    upper: float
    lower_positive_dependence: float

    def __str__(self) -> str:
        return (
            f"between {self.lower:.4f} and {self.upper:.4f} whatever the dependence; "
            f"at least {self.lower_positive_dependence:.4f} if both tend to err on the same items"
        )


def error_bounds(apparent: float, mislabeling: float, *, classes: int = 2) -> ErrorBounds:
    """Bounds on the true error without independence (Lam & Stork Section 6).

    ``|a - m| <= e <= a + m``, and ``e <= 2 - a - m`` for two classes; where mistakes do not avoid
    each other,
    ``e >= (a - m)/(1 - 2m)``.

    Parameters
    ----------
    apparent : float
        Error rate against the labels.
    mislabeling : float
        Share of wrong labels.
    classes : int, default 2
        Number of classes.

    Returns
    -------
    ErrorBounds
        ``lower`` and ``upper``.

    See Also
    --------
    true_error : with independence.

    Examples
    --------
    >>> error_bounds(0.08, 0.05).upper
    0.13
    """
    _rate(apparent, "apparent")
    _rate(mislabeling, "mislabeling")
    upper = min(apparent + mislabeling, 1.0)
    if classes == 2:
        upper = min(upper, 2 - apparent - mislabeling)
    lower = abs(apparent - mislabeling)
    dependent = lower
    if classes == 2 and mislabeling < 0.5 and apparent >= mislabeling:
        dependent = min((apparent - mislabeling) / (1 - 2 * mislabeling), 1.0)
    return ErrorBounds(lower, upper, dependent)


def _rate(value: float, what: str) -> None:
    if not 0 <= value <= 1:
        raise InputError(f"{what} {value} is outside [0, 1]: it is a share, 0.05 for 5%.")


def _checked_rate(checked: tuple[int, int]) -> float:
    wrong, n0 = checked
    if n0 < 1 or not 0 <= wrong <= n0:
        raise InputError(
            f"checked={checked}: give (wrong, n0) with 0 ≤ wrong ≤ n0 and n0 at least 1."
        )
    return wrong / n0


def _disagreements(apparent: float, n: int) -> int:
    if n < 1:
        raise InputError(f"n {n}: the apparent error needs at least one item behind it.")
    return round(apparent * n)
