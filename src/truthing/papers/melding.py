"""An interval for Lam & Stork's true error that holds its level, whatever the rates and sample
sizes.

``e = (a - m) / (1 - 2m)`` grows with the apparent rate ``a`` and (for a < ½) falls with the
mislabeling rate ``m``. Each rate was counted, so each has an exact lower and an exact upper
confidence distribution: Beta(k, n-k+1) and Beta(k+1, n-k). Melding them (Fay, Proschan & Brittain
2015) puts the lower limit at the quantile of e under the pessimistic pair and the upper limit under
the optimistic pair. With ``m`` known this is Clopper and Pearson's interval carried through the
formula. Wald intervals shrink to a point when nothing disagrees; this never fell below the nominal
level in the cells that the tests enumerate.
"""

from __future__ import annotations

import numpy as np

from truthing.class_codes import Array

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def true_error_limits(
    disagreements: float,
    n: int,
    level: float,
    *,
    mislabeling: float | None = None,
    checked: tuple[int, int] | None = None,
) -> tuple[float, float]:
    """Limits for the true error from ``disagreements`` of ``n``, with ``m`` known or counted as
    ``checked`` = (wrong, n0).
    """
    if disagreements * 2 > n:  # the formula is symmetric: 1 - e belongs to 1 - a
        low, high = true_error_limits(
            n - disagreements, n, level, mislabeling=mislabeling, checked=checked
        )
        return 1 - high, 1 - low
    tail = (1 - level) / 2
    pessimist, optimist = _mislabeling_nodes(mislabeling, checked)
    low = _solve(tail, disagreements, n - disagreements + 1, pessimist, beyond=1.0)
    high = _solve(1 - tail, disagreements + 1, n - disagreements, optimist, beyond=0.0)
    return low, high


def _mislabeling_nodes(
    mislabeling: float | None, checked: tuple[int, int] | None
) -> tuple[Array, Array]:
    """Equally weighted-by-quadrature values of m under its upper and its lower confidence
    distribution.
    """
    from scipy.special import betaincinv

    if checked is None:
        same = np.full(len(_NODES), mislabeling if mislabeling is not None else 0.0)
        return same, same
    wrong, n0 = checked
    upper = betaincinv(wrong + 1, n0 - wrong, _NODES) if wrong < n0 else np.ones(len(_NODES))
    lower = betaincinv(wrong, n0 - wrong + 1, _NODES) if wrong > 0 else np.zeros(len(_NODES))
    return upper, lower


def _solve(probability: float, alpha: float, beta: float, nodes: Array, *, beyond: float) -> float:
    """The t in [0, 1] with P(e ≤ t) = probability; labels no better than coins (m ≥ ½) allow
    any e.
    """
    low, high = 0.0, 1.0
    if _distribution(low, alpha, beta, nodes, beyond) >= probability:
        return low
    if _distribution(high, alpha, beta, nodes, beyond) <= probability:
        return high
    for _ in range(50):
        middle = (low + high) / 2
        if _distribution(middle, alpha, beta, nodes, beyond) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _distribution(t: float, alpha: float, beta: float, nodes: Array, beyond: float) -> float:
    """P(e ≤ t) = E[P(a ≤ m + t(1 - 2m))] over the mislabeling rate."""
    from scipy.special import betainc

    threshold = np.clip(nodes + t * (1 - 2 * nodes), 0, 1)
    if alpha == 0:
        below = np.ones_like(threshold)
    elif beta == 0:
        below = (threshold >= 1).astype(float)
    else:
        below = betainc(alpha, beta, threshold)
    return float(np.where(nodes < 0.5, below, beyond) @ _WEIGHTS)
