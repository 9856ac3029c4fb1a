"""How far a panel is from the truth, as the link believes: truths for simulated items whose
labelers may be wrong together (docs/plan.md, 5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from truthing.class_codes import Array
from truthing.truth.link.prior import Components
from truthing.truth.link.sampler import draw_link
from truthing.truth.link.views import CLIP, Views


@dataclass(frozen=True, eq=False)
class PanelBelief:
    """Draws of the link: logit of the accuracy, slope, and one effect for each predicted class.

    They carry over to other items and other numbers of labels: the accuracy stays, the intercept
    follows. ``independent`` is the chance that there is no such link to draw: labelers err as their
    noise model says.
    """

    level: Array
    slope: Array
    effects: Array
    independent: float

    @classmethod
    def of(
        cls,
        readings: Views,
        level: Components,
        gold: Array,
        *,
        seed: int,
        weights: Array | None = None,
    ) -> PanelBelief:
        """What labels and gold in hand say; without gold, the prior learned from public panels,
        and even chances that it is needed.
        """
        rng = np.random.default_rng(seed)
        link = draw_link(readings, level, gold, rng, n_draws=1000, gold_weights=weights)
        shape, slope = link.design, link.coefficients[:, 1]
        place = np.bincount(shape.member, weights=readings.signal) / shape.size
        score = link.coefficients @ shape.matrix.T - slope[:, None] * place
        effects = np.repeat(score.mean(axis=1)[:, None], readings.n_classes, axis=1)
        for k in np.unique(shape.predicted):
            effects[:, k] = score[:, np.argmax(shape.predicted == k)]
        accuracy = np.clip(link.chance() @ shape.share, 1e-6, 1 - 1e-6)
        return cls(
            logit(accuracy), slope, effects, _independent(readings, level, gold, seed, weights)
        )

    def is_independent(self, number: int) -> bool:
        """Is simulated data set ``number`` one of an independent panel? Spread evenly, so that
        few sets hold the right share.
        """
        return int((number + 1) * self.independent + 0.5) > int(number * self.independent + 0.5)

    def truths(self, readings: Views, rng: np.random.Generator) -> Array:
        """A truth for each item under one draw; wrong predictions take their class from the
        panel.
        """
        d = int(rng.integers(len(self.level)))
        score = self.slope[d] * readings.signal + self.effects[d][readings.predicted]
        low, high = self.level[d] - score.max(), self.level[d] - score.min()
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (
                (middle, high)
                if expit(middle + score).mean() < expit(self.level[d])
                else (low, middle)
            )
        n = len(score)
        other = readings.consensus + 1e-4
        other[np.arange(n), readings.predicted] = 0.0
        cumulative = np.cumsum(other / other.sum(axis=1, keepdims=True), axis=1)
        wrong = (rng.random(n)[:, None] >= cumulative[:, :-1]).sum(axis=1)
        return np.where(rng.random(n) < expit(middle + score), readings.predicted, wrong)


def _independent(
    readings: Views, level: Components, gold: Array, seed: int, weights: Array | None
) -> float:
    """P(independent | gold) from even chances: the noise model's likelihood of the gold against
    the link's, averaged over its prior.
    """
    known = np.flatnonzero(gold >= 0)
    if not len(known):
        return 0.5
    rng = np.random.default_rng(seed)
    link = draw_link(readings, level, np.full(len(gold), -1), rng, n_draws=4000)
    drawn = np.clip(link.chance()[:, link.design.member[known]], 1e-9, 1 - 1e-9)
    model = np.clip(readings.posterior[known, readings.predicted[known]], CLIP, 1 - CLIP)
    right = gold[known] == readings.predicted[known]
    weigh = np.ones(len(known)) if weights is None else weights
    ratio = np.log(np.where(right, drawn / model, (1 - drawn) / (1 - model))) @ weigh
    return float(1 / (1 + np.mean(np.exp(np.minimum(ratio, 700)))))
