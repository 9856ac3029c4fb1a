"""What more random gold would do to the interval in hand, from the draws in hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from truthing.metrics.estimate import NEARLY, credible_interval
from truthing.truth.link.prior import Components
from truthing.truth.link.sampler import LinkDraws, component_draws

MOST = 1500  # draws that are weighed
SETS = 16  # simulated sets of gold


@dataclass(frozen=True, eq=False)
class MoreGold:
    """Expected width of the interval of the accuracy after more random gold.

    Truths of new gold items are drawn from what the answer believes now, and its draws are weighed
    by them: no sampler runs again. Without gold so far, those weighed are draws of the whole prior,
    because gold may also contradict the panel.
    """

    link: LinkDraws
    components: Components
    gold_right: int
    gold_items: int
    target: str
    seed: np.random.SeedSequence

    def width(self, n_gold: int, level: float = 0.95) -> float:
        """Mean width over simulated sets of so many new gold items."""
        rng = np.random.default_rng(self.seed)
        design = self.link.design
        n_items = round(float(design.size.sum()))
        n_gold = min(n_gold, n_items - self.gold_items)
        believed = expit(self.link.coefficients[:MOST] @ design.matrix.T)
        weighed = believed
        if not self.gold_items:
            drawn = component_draws(design, self.components, 2 * MOST, rng)[0]
            weighed = expit(drawn @ design.matrix.T)
        weighed = np.clip(weighed, 1e-12, 1 - 1e-12)
        hit, miss = np.log(weighed), np.log1p(-weighed)
        rest = weighed @ design.share
        share, noise = 1.0, np.zeros(len(rest))
        if self.target == "sample":
            share = (n_items - self.gold_items - n_gold) / n_items
            noise = np.sqrt((weighed * (1 - weighed)) @ design.share / n_items * share)
        widths, worth = [], self.components.worth_of_gold(self.gold_items + n_gold)
        for truth in believed[rng.integers(len(believed), size=SETS)]:
            asked = rng.multinomial(n_gold, design.share)
            right = rng.binomial(asked, truth)
            fit = worth * (hit @ right + miss @ (asked - right))
            weight = np.cumsum(np.exp(fit - fit.max()))
            at = np.searchsorted(weight, (np.arange(MOST) + rng.random()) / MOST * weight[-1])
            known = (self.gold_right + right.sum()) / n_items if share < 1 else 0.0
            values = known + share * rest[at] + noise[at] * rng.standard_normal(MOST)
            low, high = credible_interval(np.clip(values, 0, 1), level, NEARLY)
            widths.append(float(high - low))
        return float(np.mean(widths))
