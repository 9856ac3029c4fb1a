"""Answers from gold that errs: gold alone, and the link's draws with the truth of gold items drawn
instead of known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truthing.class_codes import Array
from truthing.metrics.confusion import ConfusionMatrix
from truthing.truth.gold_alone import HALF, MOST_DRAWS, GoldAlone
from truthing.truth.gold_error import GoldError, Slips, gold_says, imputed_gold
from truthing.truth.link.counts import item_truth
from truthing.truth.link.sampler import LinkDraws
from truthing.truth.link.views import Views

GRID = 400
SWEEPS = 25
NEVER = GoldError(0.0, 0.0)
BLOCK = 20  # draws that share one drawn truth of the gold items
PARTS = 40  # drawn truths of the gold items, for several classifiers
MOST_CELLS, FEWEST_DRAWS = 20_000_000, 20  # draws × predicted × truth


@dataclass(frozen=True, eq=False)
class ErringGoldAlone(GoldAlone):
    """`GoldAlone` where experts err: the accuracy by a grid, other metrics by Gibbs sampling of the
    gold items' true classes.
    """

    gold_error: GoldError = NEVER

    @cached_property
    def _right(self) -> Array:
        rng = np.random.default_rng(self.seed)
        known, worth = self.gold >= 0, self._worth
        hit = self.gold[known] == self.predicted[known]
        agree = float(worth @ hit)
        differ = float(worth.sum()) - agree
        slips = self.gold_error.draws(self.n_draws, len(self.classes), rng, alone=self._constant)
        place = (np.arange(GRID) + 0.5) / GRID
        grid = np.sin(np.pi / 2 * place)[None, :] ** 2  # equal weights under Beta(½, ½)
        wide = Slips(*(column[:, None] for column in slips))
        alpha, beta = wide.blur(grid)
        chance = np.clip(alpha + beta * grid, 1e-12, 1 - 1e-12)
        height = agree * np.log(chance) + differ * np.log1p(-chance)
        reach = np.cumsum(np.exp(height - height.max(axis=1, keepdims=True)), axis=1)
        found = (rng.random(self.n_draws)[:, None] * reach[:, -1:] > reach).sum(axis=1)
        share = np.sin(np.pi / 2 * (found + rng.random(self.n_draws)) / GRID) ** 2
        if self.target == "population":
            return np.asarray(share)
        on_right, on_wrong = slips.beside(share)
        both = share * (1 - on_right)
        agreed = both / (both + (1 - share) * on_wrong * slips.same + 1e-300)
        left = share * on_right
        differed = left / (left + (1 - share) * (1 - on_wrong * slips.same) + 1e-300)
        right = rng.binomial(int(hit.sum()), agreed), rng.binomial(int((~hit).sum()), differed)
        if self.weight is None:
            free = rng.binomial(len(self.gold) - self.n_gold, share)
            return np.asarray((right[0] + right[1] + free) / len(self.gold))
        seen, total = self.weight[known], self.weight.sum()
        mass = right[0] * _mean(seen[hit]) + right[1] * _mean(seen[~hit])
        return np.asarray((mass + (total - seen.sum()) * share) / total)

    @property
    def _constant(self) -> bool:
        return bool((self.predicted == self.predicted[0]).all())

    @cached_property
    def confusion(self) -> ConfusionMatrix:
        rng = np.random.default_rng(self.seed.spawn(1)[0])
        n, known = len(self.classes), self.gold >= 0
        frequency = np.bincount(self.predicted, minlength=n)
        used = np.flatnonzero(frequency)
        few = min(self.n_draws, MOST_DRAWS)
        draws = int(np.clip(MOST_CELLS // (len(used) * n), FEWEST_DRAWS, few))
        slips = self.gold_error.draws(draws, n, rng, alone=self._constant)
        place = np.searchsorted(used, self.predicted[known]), self.gold[known]
        read = np.zeros((len(used), n), dtype=np.int64)  # predicted × what gold says
        np.add.at(read, place, 1)
        weight = np.ones(len(self.gold)) if self.weight is None else self.weight
        counts, mass = np.zeros(read.shape), np.zeros(read.shape)  # of each item there, on average
        np.add.at(counts, place, self._worth)
        np.add.at(mass, place, weight[known])
        counts, mass = counts / np.maximum(read, 1), mass / np.maximum(read, 1)
        truth = np.broadcast_to(read * counts, (draws, *read.shape))
        for _ in range(SWEEPS):
            share = rng.standard_gamma(truth + HALF)
            share /= share.sum(axis=2, keepdims=True)
            own = share[:, np.arange(len(used)), used]
            errors = slips.beside(own @ frequency[used] / len(self.gold))
            truth, seen = np.zeros((2, draws, *read.shape))
            for k, g in np.argwhere(read):
                chance = share[:, k] * slips.says(int(g), int(used[k]), n, *errors)
                chance /= np.maximum(chance.sum(axis=1, keepdims=True), 1e-300)
                drawn = rng.multinomial(read[k, g], chance)
                truth[:, k] += drawn * counts[k, g]
                seen[:, k] += drawn * mass[k, g]

        def columns() -> Iterator[tuple[int, Array]]:
            for j, k in enumerate(used):
                total = float(weight[self.predicted == k].sum())
                if self.target != "sample":
                    drawn = share[:, j] * rng.gamma(total + HALF, size=draws)[:, None]
                elif self.weight is None:
                    left = int(frequency[k] - read[j].sum())
                    drawn = seen[:, j] + rng.multinomial(left, share[:, j])
                else:
                    left_mass = total - float((read[j] * mass[j]).sum())
                    drawn = seen[:, j] + left_mass * share[:, j]
                yield int(k), drawn

        return self._together(columns(), draws, rng)

    def shares(self) -> Array:
        """Draws of the class shares, draws × classes."""
        counts = self.confusion.tally.truth
        pick = np.linspace(0, len(counts) - 1, self.n_draws).astype(np.int64)
        return np.asarray((counts / counts.sum(axis=1, keepdims=True))[pick])


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else 0.0


def with_drawn_gold(
    link: LinkDraws, views: Views, gold: Array, rng: np.random.Generator
) -> Iterator[tuple[LinkDraws, Array]]:
    """The link's draws with gold; where gold errs, a few draws at a time with the truth of the gold
    items drawn."""
    if link.slips is None:
        yield link, gold
        return
    nothing = np.full_like(gold, -1)
    for start in range(0, len(link.coefficients), BLOCK):
        some = replace(link, coefficients=link.coefficients[start : start + BLOCK])
        one = np.array([rng.integers(start, min(start + BLOCK, len(link.coefficients)))])
        believed = replace(link, coefficients=link.coefficients[one], slips=link.slips.chosen(one))
        likely = item_truth(believed, views, nothing)
        yield some, imputed_gold(gold, likely, _says(believed, views, gold), rng)


def _says(link: LinkDraws, views: Views, gold: Array) -> Array:
    """Chances of what gold says, gold items × classes, at one draw of the link."""
    assert link.slips is not None
    known = np.flatnonzero(gold >= 0)
    design = link.design
    errors = link.slips.in_groups(link.chance(), design.matrix[:, 1], design.share)
    on_right, on_wrong = (e[0, design.member[known]] for e in errors)
    about = gold[known], views.predicted[known], views.n_classes
    return gold_says(*about, on_right, on_wrong, float(link.slips.same[0]))


def golds(
    error: GoldError | None,
    gold: Array,
    predicted: Array,
    consensus: Array | None,
    right: Array,
    rng: np.random.Generator,
) -> Iterator[tuple[int, int, Array]]:
    """Gold for several classifiers: as it is, or `PARTS` drawn truths of its items, each for a part
    of the draws (from, to). ``right`` is draws × classifiers."""
    n_draws = len(right)
    if error is None or not (gold >= 0).any():
        yield 0, n_draws, gold
        return
    assert consensus is not None
    n_classes, everyone = consensus.shape[1], np.arange(len(gold))
    likely = np.zeros_like(consensus)
    for code, level in zip(predicted, right.mean(axis=0)):
        rest = consensus + 1e-4
        rest[everyone, code] = 0.0
        rest *= (1 - level) / rest.sum(axis=1, keepdims=True)
        rest[everyone, code] = level
        likely += rest / len(predicted)
    slips = error.draws(PARTS, n_classes, rng, alone=True)
    known = np.flatnonzero(gold >= 0)
    edges = np.linspace(0, n_draws, PARTS + 1).astype(np.int64)
    for part in range(PARTS):
        rate = np.full(len(known), slips.error[part])
        about = gold[known], predicted[0][known], n_classes, rate, rate
        says = gold_says(*about, 1 / max(n_classes - 1, 1))
        drawn = imputed_gold(gold, likely, says, rng)
        yield int(edges[part]), int(edges[part + 1]), drawn


def truth_beside_erring_gold(link: LinkDraws, views: Views, gold: Array) -> Array:
    """Posterior of each item's class."""
    assert link.slips is not None
    truth = item_truth(link, views, np.full_like(gold, -1))
    typical = replace(
        link,
        coefficients=link.coefficients.mean(axis=0, keepdims=True),
        slips=link.slips.middle(),
    )
    known = np.flatnonzero(gold >= 0)
    truth[known] *= _says(typical, views, gold)
    truth[known] /= truth[known].sum(axis=1, keepdims=True)
    return truth
