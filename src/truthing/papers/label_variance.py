"""Lam & Stork's Eq. 3 and Eq. 4 as special cases of a plan, and Eq. 4 with what two labelers who
disagree really leave.

Two classes, mislabeling rate m known and the same for all, population target: an item with k labels
tells of the error e only through how many of them contradict the prediction, ``P(j) = (1 - e) B(j;
k, m) + e B(j; k, 1 - m)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from truthing.errors import InputError, NotIdentified
from truthing.papers.lam_stork import LabelPolicy, label_policy


def item_variance(error: float, mislabeling: float, labels: int) -> float:
    """Variance of the best estimate of the error times the number of items, ``1 / Σ_j (dP(j)/de)² /
    P(j)`` (docs/plan.md, 7).

    One label gives Lam & Stork's ``m(1-m)/(1-2m)² + e(1-e)``, a perfect one ``e(1-e)``: their ratio
    is Eq. 3.

    >>> from truthing import noisy_label_ratio
    >>> ratio = item_variance(0.1, 0.05, 1) / item_variance(0.1, 0.0, 1)
    >>> abs(ratio - float(noisy_label_ratio(0.1, 0.05))) < 1e-12
    True
    """
    if labels < 1 or not 0 < error < 1 or not 0 <= mislabeling <= 1:
        raise InputError(
            "item_variance needs an error inside (0, 1), a mislabeling rate and at least one label."
        )
    information = 0.0
    for j in range(labels + 1):
        ways = math.comb(labels, j)
        right = ways * mislabeling**j * (1 - mislabeling) ** (labels - j)
        wrong = ways * (1 - mislabeling) ** j * mislabeling ** (labels - j)
        if right + wrong > 0:
            information += (wrong - right) ** 2 / ((1 - error) * right + error * wrong)
    if information < 1e-12:
        raise NotIdentified(
            f"mislabeling {mislabeling}: such labels say nothing about the classifier. Get "
            "better labels."
        )
    return 1 / information


def asymptotic_width(
    error: float, mislabeling: float, labels: int, items: int, level: float = 0.95
) -> float:
    """Width of the interval of the error (or accuracy) for many items: ``2 z √(item_variance /
    items)``.
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    return 2 * z * math.sqrt(item_variance(error, mislabeling, labels) / items)


@dataclass(frozen=True)
class PolicyInTruth:
    """Eq. 4 as published (``paper``), and the variance of double labeling (times l) that two
    labelers really leave.
    """

    paper: LabelPolicy
    variance_repeat: float

    @property
    def policy(self) -> str:
        return "distinct" if self.paper.variance_distinct < self.variance_repeat else "repeat"

    def __str__(self) -> str:
        changed = "" if self.policy == self.paper.policy else f", not {self.paper.policy!r}"
        return (
            f"{self.policy!r}{changed}: double labeling leaves variance × l "
            f"{self.variance_repeat:.4f}, "
            f"the paper's optimism {self.paper.variance_repeat:.4f}; twice the items "
            f"{self.paper.variance_distinct:.4f}"
        )


def policy_in_truth(error: float, mislabeling: float) -> PolicyInTruth:
    """2l labels on 2l items or on l: Eq. 4 takes m² for the mislabeling rate of two labels, as if
    they never disagreed.

    Two labels that disagree say nothing about their item; the variance counts them as that.

    >>> found = policy_in_truth(0.1, 0.1)
    >>> found.paper.policy, found.policy
    ('repeat', 'distinct')
    """
    return PolicyInTruth(label_policy(error, mislabeling), item_variance(error, mislabeling, 2))
