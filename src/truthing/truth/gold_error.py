"""Gold that errs: experts are wrong on a small share e of their items.

Observed is whether gold agrees with a prediction. With p the chance of a right prediction, e_r and
e_w the expert's error where the prediction is right and where it is wrong,

    P(agree) = p (1 - e_r) + (1 - p) e_w s,

s the chance that two wrong answers are the same one. Experts err on the items that others get
wrong: e_r and e_w follow from e and an odds ratio, and an expert's answer follows what the other
labelers say of an item (logit e_w grows, logit e_r falls by γ for each unit of the labelers'
log-odds that the prediction is right). Odds ratio, s and γ are drawn as they were found on public
panels where one good labeler plays the expert (studies/gold_error.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from truthing.class_codes import Array

# as found on public panels: mean and sd of the log odds ratio of two raters' errors; and two wrong
# answers of C classes are the same with chance (C - 1)^-κ, κ between 0 and 1.1
LOG_ODDS, SAME = (1.5, 1.6), 1.1
FOLLOW = (0.42, 0.2)  # mean and sd of γ
LARGEST = 0.5


class Slips(NamedTuple):
    """Draws of how an expert errs: ``error`` overall, ``odds`` ratio with the classifier's errors,
    ``same`` and ``follow`` are s and γ of the module."""

    error: Array
    odds: Array
    same: Array
    follow: Array

    def beside(self, right: Array) -> tuple[Array, Array]:
        """The expert's error where predictions are right, and where they are wrong, if they are
        right on the share ``right``."""
        wrong = np.clip(1 - right, 1e-6, 1 - 1e-6)
        both = both_wrong(self.error, wrong, self.odds)
        return (self.error - both) / (1 - wrong), both / wrong

    def blur(self, right: Array) -> tuple[Array, Array]:
        """α and β of P(agree) = α + β p, whatever the labelers say."""
        return self._blur(*self.beside(right))

    def blur_groups(self, chance: Array, signal: Array, share: Array) -> tuple[Array, Array]:
        """The same for groups of items: draws × groups."""
        return self._blur(*self.in_groups(chance, signal, share))

    def in_groups(self, chance: Array, signal: Array, share: Array) -> tuple[Array, Array]:
        """The expert's error where predictions are right and where they are wrong, draws × groups;
        ``chance`` of a right prediction, labelers' ``signal`` and ``share`` of items by group."""
        on_right, on_wrong = self.beside(chance @ share)
        tilt = self.follow[:, None] * signal
        return (
            _tilted(on_right, -tilt, chance * share),
            _tilted(on_wrong, tilt, (1 - chance) * share),
        )

    def _blur(self, on_right: Array, on_wrong: Array) -> tuple[Array, Array]:
        same = self.same[:, None] if on_wrong.ndim > self.same.ndim else self.same
        alpha = on_wrong * same
        return alpha, 1 - on_right - alpha

    def middle(self) -> Slips:
        """One typical draw."""
        odds = np.exp(np.log(self.odds).mean(keepdims=True))
        others = self.same.mean(keepdims=True), self.follow.mean(keepdims=True)
        return Slips(self.error.mean(keepdims=True), odds, *others)

    def chosen(self, which: Array) -> Slips:
        return Slips(*(column[which] for column in self))

    def says(
        self, gold: int, predicted: int, n_classes: int, on_right: Array, on_wrong: Array
    ) -> Array:
        """P(gold says this | truth c) of an item with this prediction, draws × c; the expert's
        errors `beside` right and wrong predictions."""
        others = self.same if gold == predicted else (1 - self.same) / max(n_classes - 2, 1)
        chance = np.repeat((on_wrong * others)[:, None], n_classes, axis=1)
        chance[:, predicted] = on_right / max(n_classes - 1, 1)
        chance[:, gold] = 1 - (on_right if gold == predicted else on_wrong)
        return chance


@dataclass(frozen=True)
class GoldError:
    """What is known about the experts' error: a range, or how often two reads of an item differ."""

    low: float
    high: float
    differ: int = 0
    read_twice: int = 0

    def draws(
        self, n: int, n_classes: int, rng: np.random.Generator, *, alone: bool = False
    ) -> Slips:
        """``alone``: no classifier, so nothing to err together with."""
        same = max(n_classes - 1, 1) ** -rng.uniform(0, SAME, n)
        odds = np.exp(LOG_ODDS[0] + LOG_ODDS[1] * rng.standard_normal(n))
        if self.read_twice:
            share = rng.beta(self.differ + 0.5, self.read_twice - self.differ + 0.5, n)
            error = error_behind(share, odds, same)
            odds = rng.permutation(odds)
        else:
            error = rng.uniform(self.low, self.high, n)
        follow = FOLLOW[0] + FOLLOW[1] * rng.standard_normal(n)
        return Slips(error, np.ones(n) if alone else odds, same, follow)

    @property
    def mean(self) -> float:
        """The expected error, of independent readers where it was learned."""
        if not self.read_twice:
            return (self.low + self.high) / 2
        differ = np.array([(self.differ + 0.5) / (self.read_twice + 1)])
        return float(error_behind(differ, np.ones(1), np.ones(1))[0])

    def words(self) -> str:
        if self.read_twice:
            return (
                f"Gold itself errs: {self.differ} of {self.read_twice} items that were read twice "
                "differ. Its error was learned from that; both readers were taken to err equally "
                "often, and on the same items as far as raters of public panels do."
            )
        size = f"{self.low:.3g}" if self.low == self.high else f"{self.low:.3g} to {self.high:.3g}"
        return (
            f"Gold itself errs, by your word on a share {size} of its items, and partly on the "
            "items that the classifier gets wrong, as far as raters of public panels do."
        )


def both_wrong(first: Array, second: Array, odds: Array) -> Array:
    """Share of items that two raters get wrong who err at these rates, with this odds ratio.

    >>> round(float(both_wrong(np.array(.1), np.array(.2), np.array(1.0))), 4)
    0.02
    """
    excess = np.where(np.abs(odds - 1) < 1e-6, 1e-6, odds - 1)
    total = 1 + (first + second) * excess
    inside = np.maximum(total**2 - 4 * (1 + excess) * excess * first * second, 0.0)
    return np.asarray((total - np.sqrt(inside)) / (2 * excess))


def error_behind(differ: Array, odds: Array, same: Array) -> Array:
    """The error of each of two equal readers who differ on the share ``differ`` of items.

    >>> float(error_behind(np.array([0.18]), np.ones(1), np.ones(1)).round(3)[0])
    0.1
    """
    low, high = np.zeros_like(differ), np.full_like(differ, LARGEST)
    for _ in range(40):
        middle = (low + high) / 2
        both = both_wrong(middle, middle, odds)
        less = 2 * (middle - both) + both * (1 - same) < differ
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return (low + high) / 2


def _tilted(error: Array, tilt: Array, weight: Array) -> Array:
    """Errors by group whose log-odds differ by ``tilt`` and whose weighted mean is ``error``."""
    wanted = logit(np.clip(error, 1e-9, 1 - 1e-9))[:, None]
    weight = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    place = wanted - (weight * tilt).sum(axis=1, keepdims=True)
    for _ in range(3):
        mean = (weight * expit(place + tilt)).sum(axis=1, keepdims=True)
        place = place + wanted - logit(np.clip(mean, 1e-9, 1 - 1e-9))
    return np.asarray(expit(place + tilt))


def imputed_gold(gold: Array, likely: Array, says: Array, rng: np.random.Generator) -> Array:
    """One draw of the truth of the gold items; ``likely`` is what is believed of each before gold
    is read, items × classes, ``says`` the chance of what gold says (`gold_says`)."""
    known = np.flatnonzero(gold >= 0)
    reach = np.cumsum(likely[known] * says, axis=1)
    drawn = (rng.random(len(known))[:, None] * reach[:, -1:] > reach).sum(axis=1)
    out = gold.copy()
    out[known] = drawn
    return out


def gold_says(
    gold: Array, predicted: Array, n_classes: int, on_right: Array, on_wrong: Array, same: float
) -> Array:
    """P(gold says what it does | true class c), items × classes; gold items only."""
    left = on_wrong * (1 - same) / max(n_classes - 2, 1)
    chance = np.where(gold == predicted, on_wrong * same, left)[:, None]
    chance = np.repeat(chance, n_classes, axis=1)
    everyone = np.arange(len(gold))
    chance[everyone, predicted] = on_right / max(n_classes - 1, 1)
    chance[everyone, gold] = np.where(gold == predicted, 1 - on_right, 1 - on_wrong)
    return chance
