"""Preferences: who is truly better how often, in what order systems stand, and how judges judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean, listing
from truthing.metrics.estimate import Estimate, as_dict
from truthing.metrics.words import share
from truthing.preference.judges import Judge
from truthing.preference.outcomes import Outcomes
from truthing.preference.ranking import connected, fit_davidson, ranks
from truthing.randomness import generator
from truthing.requirements import (
    Judged,
    Requirement,
    gold_enough,
    if_decided,
    needed_ratio,
    probability_words,
)
from truthing.results import Result

TIE = "tie"


@dataclass(frozen=True, eq=False)
class Preferences(Judged, Result):
    """``result["new"]`` is the share of its comparisons that the system truly wins;
    ``win_rate(a, b)``, ``tie_rate(a, b)``, ``probability_best`` and ``strength`` say more.
    """

    kind = "prefer"
    systems: tuple[Any, ...]
    outcomes: Outcomes
    judges: Mapping[Any, Judge]
    target: str
    seed: int
    sizes: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)

    # ---- questions -------------------------------------------------------------------------------

    def __getitem__(self, name: Any) -> Estimate:
        """Share of a system's comparisons that it truly wins; ``"tie"``: that nobody does."""
        if str(name) == TIE:
            return Estimate.from_draws(self._total(self.outcomes.counts[:, :, 2]))
        return Estimate.from_draws(self._won(self._code(name)))

    def score(self, name: Any) -> Estimate:
        """Wins and half the ties, as a share of a system's comparisons: above one half, it is
        better more often than worse.
        """
        return Estimate.from_draws(self._won(self._code(name), tie=0.5))

    def win_rate(self, first: Any, second: Any) -> Estimate:
        """Share of their comparisons in which ``first`` is truly better than ``second``."""
        p, side = self._pair(first, second)
        return Estimate.from_draws(self.outcomes.shares[:, p, side])

    def tie_rate(self, first: Any, second: Any) -> Estimate:
        """Share of their comparisons in which neither is better."""
        return Estimate.from_draws(self.outcomes.shares[:, self._pair(first, second)[0], 2])

    def probability_better(self, first: Any, second: Any) -> float:
        """P(``first`` wins more of their comparisons than ``second``); equal counts half."""
        p, side = self._pair(first, second)
        ahead = self.outcomes.counts[:, p, side] - self.outcomes.counts[:, p, 1 - side]
        return float((ahead > 1e-9).mean() + 0.5 * (np.abs(ahead) <= 1e-9).mean())

    def at_face_value(self, name: Any) -> float:
        """The same share by the verdicts as they are."""
        face, size = self.outcomes.face_value, self.outcomes.sizes
        if str(name) == TIE:
            return float(face[:, 2] @ size / size.sum())
        mine = self._places(self._code(name))
        return float(sum(face[p, s] * size[p] for p, s in mine) / sum(size[p] for p, _ in mine))

    # ---- ranking ---------------------------------------------------------------------------------

    @cached_property
    def rankable(self) -> bool:
        """Comparisons join all systems, directly or through others."""
        return len(connected(len(self.systems), self.outcomes.pairs)) == 1

    @cached_property
    def strengths(self) -> Array:
        """Davidson's strengths in logits, mean 0, draws × systems; NaN where not joined."""
        if not self.rankable:
            return np.full((len(self.outcomes.counts), len(self.systems)), np.nan)
        return fit_davidson(self.outcomes.counts, self.outcomes.pairs, len(self.systems))[0]

    @cached_property
    def _ranks(self) -> Array:
        return ranks(self.strengths, generator(self.seed, "ranks"))

    def strength(self, name: Any) -> Estimate:
        """A system's strength in Bradley–Terry's model with ties, in logits, mean 0."""
        values = self.strengths[:, self._code(name)]
        return Estimate.from_draws(values, support=(-np.inf, np.inf))

    @property
    def probability_best(self) -> dict[Any, float]:
        """P(this system is the strongest of all)."""
        if not self.rankable:
            return dict.fromkeys(self.systems, float("nan"))
        return {name: float((self._ranks[:, s] == 1).mean()) for s, name in enumerate(self.systems)}

    def ranks(self, level: float = 0.95) -> dict[Any, tuple[int, int]]:
        """The places that a system may have, best and worst."""
        if not self.rankable:
            return dict.fromkeys(self.systems, (1, len(self.systems)))
        out = [(1 - level) / 2, (1 + level) / 2]
        ends = np.quantile(self._ranks, out, axis=0, method="nearest")
        return {name: (int(ends[0, s]), int(ends[1, s])) for s, name in enumerate(self.systems)}

    @property
    def order(self) -> list[Any]:
        """Systems, best first: by strength where they can be ranked, else by win rate."""
        value = {
            name: self.strength(name).mean if self.rankable else self.score(name).mean
            for name in self.systems
        }
        return sorted(self.systems, key=lambda name: -value[name])

    # ---- words and forms -------------------------------------------------------------------------

    def verdict(self, level: float = 0.95) -> str:
        """The answer in one or two sentences."""
        first = self.order[0]
        if len(self.systems) == 2:
            other = self.order[1]
            rate = self.win_rate(first, other)
            chance = self.probability_better(first, other)
            text = f"{if_decided(chance)}{first} is better than {other} on "
            text += f"{share(rate.mean, *rate.interval(level), level)} of {self._where}"
            if self.outcomes.counts[:, :, 2].any():
                text += f", as good on {self.tie_rate(first, other).mean:.0%}"
            text += (
                f". It wins more often than it loses with probability {probability_words(chance)}."
            )
        else:
            low, high = self.ranks(level)[first]
            chance = self.probability_best[first]
            text = f"{if_decided(chance)}{first} is the best of {len(self.systems)} systems on "
            text += f"{self._where} with "
            place = f"{low}" if low == high else f"between {low} and {high}"
            text += f"probability {probability_words(chance)}; its place is {place}."
            if not self.rankable:
                text = f"{len(self.systems)} systems cannot be ranked: no comparison joins them."
        return f"{text} The verdicts at face value say {self.at_face_value(first):.0%} wins."

    @property
    def _where(self) -> str:
        n = self.sizes["comparisons"]
        return f"these {n:,} comparisons" if self.target == "sample" else "new items like these"

    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        metric = requirement.metric
        if metric.startswith("score[") and metric.endswith("]"):
            return self.score(metric[6:-1])
        return self[metric]

    def requirement_advice(
        self, requirement: Requirement, estimate: Estimate, needed: float
    ) -> str:
        spread = float(np.sqrt(estimate.mean * (1 - estimate.mean)))
        ratio = needed_ratio(requirement, estimate, needed)
        return gold_enough(spread, estimate, ratio, self.sizes["gold"], self.sizes["comparisons"])

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each pair of systems: how often each wins, ties, limits, face value."""
        import polars as pl

        rows = []
        for p, (a, b) in enumerate(self.outcomes.pairs):
            first, second = self.systems[a], self.systems[b]
            numbers: list[Any] = []
            for n, rate in enumerate(self._rates(p)):
                low, high = rate.interval(level)
                numbers += [rate.mean, low, high, float(self.outcomes.face_value[p, n])]
            chance = self.probability_better(first, second)
            about = int(self.outcomes.sizes[p]), int(self.outcomes.n_gold[p]), level
            rows.append((str(first), str(second), *numbers, chance, *about))
        heads = ["first", "second"]
        for what in ("first_wins", "second_wins", "ties"):
            heads += [what, f"{what}_low", f"{what}_high", f"{what}_at_face_value"]
        heads += ["probability_first_better", "comparisons", "gold", "level"]
        return pl.DataFrame(rows, schema=heads, orient="row")

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        best, places = self.probability_best, self.ranks(level)
        systems = {
            str(name): {
                "win_rate": {**as_dict(self[name], level), "face_value": self.at_face_value(name)},
                "score": as_dict(self.score(name), level),
                "strength": as_dict(self.strength(name), level),
                "probability_best": best[name],
                "rank": list(places[name]),
            }
            for name in self.systems
        }
        pairs = []
        for p, (a, b) in enumerate(self.outcomes.pairs):
            first, second = self.systems[a], self.systems[b]
            rates = zip(("first_wins", "second_wins", "ties"), self._rates(p))
            found: dict[str, Any] = {"first": str(first), "second": str(second)}
            for n, (what, rate) in enumerate(rates):
                face = float(self.outcomes.face_value[p, n])
                found[what] = {**as_dict(rate, level), "face_value": face}
            found["probability_first_better"] = self.probability_better(first, second)
            found["comparisons"] = int(self.outcomes.sizes[p])
            found["gold"] = int(self.outcomes.n_gold[p])
            pairs.append(found)
        judges = {
            str(name): {
                "verdicts": judge.verdicts,
                "ties": judge.ties,
                "first_shown": judge.first and as_dict(judge.first, level),
                "changes_with_order": judge.changes and as_dict(judge.changes, level),
            }
            for name, judge in self.judges.items()
        }
        return {
            "systems": systems,
            "pairs": pairs,
            "judges": judges,
            **self.sizes,
            "target": self.target,
            "seed": self.seed,
            "assumptions": self.assumptions,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        lines = [self.verdict()]
        lines += [f"{name!s:<20} wins {self[name]}" for name in self.order]
        text = [f"Assumed: {a}" for a in self.assumptions]
        return "\n".join([*lines, *text, *(f"Warning: {w}" for w in self.warnings)])

    # ---- inside ----------------------------------------------------------------------------------

    def _code(self, name: Any) -> int:
        for s, known in enumerate(self.systems):
            if str(known) == str(name):
                return s
        raise InputError(
            f"no system is called {name!r}.{did_you_mean(str(name), self.systems)} There are "
            f"{listing(self.systems)}."
        )

    def _pair(self, first: Any, second: Any) -> tuple[int, int]:
        """The place of a pair, and which of its sides ``first`` is."""
        a, b = self._code(first), self._code(second)
        wanted = (min(a, b), max(a, b))
        if wanted not in self.outcomes.pairs:
            raise InputError(f"no verdict compares {first!r} with {second!r}.")
        return self.outcomes.pairs.index(wanted), int(a > b)

    def _places(self, code: int) -> list[tuple[int, int]]:
        """The pairs of a system, and its side in each."""
        return [(p, pair.index(code)) for p, pair in enumerate(self.outcomes.pairs) if code in pair]

    def _won(self, code: int, tie: float = 0.0) -> Array:
        mine = self._places(code)
        counts, size = self.outcomes.counts, sum(self.outcomes.sizes[p] for p, _ in mine)
        won = sum(counts[:, p, s] + tie * counts[:, p, 2] for p, s in mine)
        return np.asarray(won / size)

    def _total(self, counts: Array) -> Array:
        return np.asarray(counts.sum(axis=1) / self.outcomes.sizes.sum())

    def _rates(self, p: int) -> list[Estimate]:
        return [Estimate.from_draws(self.outcomes.shares[:, p, kind]) for kind in range(3)]
