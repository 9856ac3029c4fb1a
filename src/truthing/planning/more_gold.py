"""What more random gold would do to the interval in hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from truthing.errors import InputError
from truthing.grading import grade


@dataclass(frozen=True)
class GoldEffect:
    """Expected width of the interval with more random gold, and what it is ``before``."""

    width: float
    before: float
    n_gold: int

    def __float__(self) -> float:
        return self.width

    def __str__(self) -> str:
        return (
            f"gold on {self.n_gold} random items would narrow the interval from "
            f"±{self.before / 2:.3f} to about ±{self.width / 2:.3f}"
        )


def gold_effect(
    predictions: Any, labels: Any, n_gold: int, *, level: float = 0.95, **options: Any
) -> GoldEffect:
    """What ``n_gold`` more random gold items are expected to do to the interval of the accuracy.

    Truths of the new gold are drawn from what `grade` believes now; its draws are then weighed by
    them (preposterior analysis). `Report.expected_width` asks the same of a report in hand.

    Parameters
    ----------
    predictions, labels
        As in `grade`.
    n_gold : int
        How many more items get gold, chosen at random.
    level : float, default 0.95
        Level of the interval.
    **options
        As in `grade`: ``gold``, ``target``, ``panel_error``, ``panel``, ``seed`` and others.

    Returns
    -------
    GoldEffect
        ``width`` and what it was ``before``.

    Raises
    ------
    InputError
        Fewer items than that have no gold yet, or the width cannot be foretold.

    See Also
    --------
    truthing.plan : gold weighed against items and labels.

    Examples
    --------
    >>> import truthing as tr
    >>> data = tr.simulate(300, 3, prior=0.4, fallibility=0.3, seed=1)
    >>> effect = gold_effect(data.predictions, data.labels, 50)
    >>> effect.width < 0.8 * effect.before
    True
    """
    report = grade(predictions, labels, **options)
    free = report.sizes["items"] - report.sizes["gold"]
    if not 1 <= n_gold <= free:
        raise InputError(
            f"{n_gold} gold items: {free:,} items have no gold yet; give a number from "
            f"1 to {free:,}."
        )
    low, high = report["accuracy"].interval(level)
    return GoldEffect(report.expected_width(n_gold, level), float(high - low), n_gold)
