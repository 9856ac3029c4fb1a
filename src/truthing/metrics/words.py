"""Names and shares as people read them."""

from __future__ import annotations

NAMES = {
    "false_alarm": "false alarms",
    "f1": "F1",
    "mcc": "MCC",
    "kappa": "κ",
    "auc": "AUC",
    "balanced_accuracy": "balanced accuracy",
    "average_precision": "average precision",
}


def metric_words(name: str) -> str:
    """
    >>> metric_words("mcc"), metric_words("balanced_accuracy"), metric_words("recall[a_b]")
    ('MCC', 'balanced accuracy', 'recall[a_b]')
    """
    return NAMES.get(name, name if "[" in name else name.replace("_", " "))


def percent(level: float) -> str:
    """
    >>> percent(0.95), percent(0.975)
    ('95%', '97.5%')
    """
    return f"{100 * level:.4g}%"


def share(mean: float, low: float, high: float, level: float = 0.95) -> str:
    """A share with its interval, with as many digits as tell the ends apart.

    >>> share(0.874, 0.813, 0.928), share(0.9871, 0.9842, 0.9899, 0.9)
    ('87% (95% interval 81–93%)', '98.7% (90% interval 98.4–99.0%)')
    """
    digits = digits_for(high - low)
    ends = f"{100 * low:.{digits}f}–{100 * high:.{digits}f}%"
    return f"{100 * mean:.{digits}f}% ({percent(level)} interval {ends})"


def difference(mean: float, low: float, high: float, level: float = 0.95) -> str:
    """A difference of shares in points, with its interval.

    >>> difference(0.031, -0.004, 0.066)
    '+3.1 points (95% interval -0.4 to +6.6)'
    """
    digits = max(1, digits_for(high - low))
    low, mean, high = (100 * value for value in (low, mean, high))
    ends = f"{low:+.{digits}f} to {high:+.{digits}f}"
    return f"{mean:+.{digits}f} points ({percent(level)} interval {ends})"


def digits_for(width: float) -> int:
    """Digits behind the point of a percentage whose interval is so wide."""
    return 0 if width >= 0.02 else 1 if width >= 0.002 else 2
