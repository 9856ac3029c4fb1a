"""Numbers that users give: checked once, in words, before anything is computed."""

from __future__ import annotations

import math
import operator
from typing import Any

from truthing.errors import InputError

FEWEST_DRAWS = 100
LARGEST_SEED = 2**63 - 1


def check_target(target: str) -> None:
    if target not in ("sample", "population"):
        raise InputError(
            f"target {target!r} is not known: choose sample (these items) or population "
            "(new data like them)."
        )


def as_seed(seed: Any) -> int:
    """A whole number from 0 up: the same seed gives the same answer."""
    number = _whole(seed)
    if number is None or not 0 <= number <= LARGEST_SEED:
        raise InputError(f"seed {seed!r}: give a whole number from 0 up, such as 0 or 42.")
    return number


def as_draws(draws: Any) -> int:
    """How many draws an interval rests on."""
    number = _whole(draws)
    if number is None:
        raise InputError(f"draws {draws!r}: give a whole number of at least {FEWEST_DRAWS}.")
    if number < FEWEST_DRAWS:
        raise InputError(
            f"{number} draws are too few for an interval: give at least {FEWEST_DRAWS}."
        )
    return number


def as_panel_error(value: Any) -> float | tuple[float, float] | None:
    """How often the panel may be wrong together: None, a share, or two numbers of a Beta.

    >>> as_panel_error([1, 20]), as_panel_error(0)
    ((1.0, 20.0), 0.0)
    """
    if value is None:
        return None
    if isinstance(value, list | tuple):
        numbers = [as_number(v) for v in value]
        if len(numbers) != 2 or not all(0 < n < math.inf for n in numbers):
            raise InputError(
                f"`panel_error={value!r}`: two numbers mean a Beta distribution, both above 0."
            )
        return numbers[0], numbers[1]
    share = as_number(value)
    if not 0 <= share <= 0.5:
        raise InputError(
            f"`panel_error={value!r}` is outside [0, 0.5]: it is a share of items; "
            "0 trusts the noise model."
        )
    return share


def as_threshold(threshold: Any) -> float:
    """Where scores are cut."""
    number = as_number(threshold)
    if math.isnan(number):
        raise InputError(f"threshold {threshold!r} is not a number: give one on the scores' scale.")
    return number


def _whole(value: Any) -> int | None:
    """A whole number, or None; True is none."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def as_number(value: Any) -> float:
    """A number, or NaN for what is none.

    >>> as_number("7"), as_number(7)
    (nan, 7.0)
    """
    if isinstance(value, bool | str | bytes):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
