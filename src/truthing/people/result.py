"""LabelersReport: what each labeler and the whole panel are worth, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean
from truthing.labels import Labels
from truthing.metrics.estimate import NEARLY, Estimate, credible_interval
from truthing.metrics.words import share
from truthing.noise.bits import entropy
from truthing.people import advice as advising
from truthing.people.agreement import Coefficient
from truthing.people.channel import equivalent_error
from truthing.people.pairs import Pair
from truthing.people.without import Without, without
from truthing.people.worth import labelers_needed
from truthing.results import Result
from truthing.survey.slices import SliceEstimate, slice_estimates
from truthing.truth.outcome import NoiseSummary


@dataclass(frozen=True, eq=False)
class LabelersReport(Result):
    """Draws behind everything: ``error`` and ``bits`` are draws × labelers, ``adds`` and
    ``panel_bits`` belong to some of the draws.

    ``bits``: in one label; ``adds``: in a label, given the other labels of its items;
    ``panel_bits``: in all labels of an average item. ``consensus_error`` and ``graded`` (draws of a
    labeler's share of wrong labels, graded by the others) allow for mistakes that labelers share;
    ``error`` and bits do not. ``gold_wrong`` of ``gold_checked`` labels on gold items were wrong.
    ``readings`` tells how to read adversaries (said → meant).
    """

    kind = "labelers"
    labelers: tuple[Any, ...]
    classes: tuple[Any, ...]
    given: Array
    noise: NoiseSummary
    error: Array
    bits: Array
    adds: Array
    panel_bits: Array
    kinds: tuple[str, ...]
    readings: Mapping[Any, Mapping[Any, Any]]
    pairs: list[Pair]
    agreement: Mapping[str, Coefficient]
    gold_checked: Array
    gold_wrong: Array
    consensus_error: Estimate | None
    graded: Mapping[Any, Array]
    sizes: Mapping[str, int]
    seed: int
    warnings: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    source: Labels | None = field(default=None, repr=False)
    gold: Mapping[Any, Any] | None = field(default=None, repr=False)
    effective_size: Estimate | None = None  # independent labels that an item's are worth
    # of each labeler and slice: draws of the error by the others, items and gold items
    slices: Mapping[Any, Mapping[str, tuple[Array, int, int]]] = field(default_factory=dict)

    # ---- questions -------------------------------------------------------------------------------

    def _place(self, name: Any) -> int:
        same = [t for t, who in enumerate(self.labelers) if who == name or str(who) == str(name)]
        if not same:
            raise InputError(
                f"no labeler is called {name!r}.{did_you_mean(str(name), self.labelers)}"
            )
        return same[0]

    def __getitem__(self, name: Any) -> dict[str, Estimate]:
        """Error rate, bits in a label, bits it adds to the others and (``graded``, where they
        know enough) its error by the others, of one labeler.
        """
        t = self._place(name)
        found = {
            what: Estimate.from_draws(getattr(self, what)[:, t])
            for what in ("error", "bits", "adds")
        }
        if self.labelers[t] in self.graded:
            found["graded"] = Estimate.from_draws(self.graded[self.labelers[t]], slack=NEARLY)
        return found

    @property
    def panel(self) -> Estimate:
        """Bits in all labels of an average item."""
        return Estimate.from_draws(self.panel_bits, support=(0.0, self.most_bits))

    @cached_property
    def equivalent_error(self) -> Estimate:
        """Error rate of the one labeler whose label is worth all labels of an average item."""
        return Estimate.from_draws(equivalent_error(self.panel_bits, self.noise.prior))

    @property
    def most_bits(self) -> float:
        """Bits in the truth itself: what a perfect label carries."""
        return float(entropy(self.noise.prior))

    def needed(self, expert: float = 0.05, labeler: Any = None) -> int:
        """How many independent labelers like this one (default: like the average of all labels)
        are worth one expert.
        """
        assert self.noise.confusion is not None
        table = np.average(self.noise.confusion, axis=0, weights=self.given)
        if labeler is not None:
            table = self.noise.confusion[self._place(labeler)]
        return int(
            labelers_needed(confusion=table, expert=expert, prior=self.noise.prior, seed=self.seed)
        )

    @cached_property
    def order(self) -> Array:
        """Labelers, the surely most informative first: by the lower end of the bits in a label;
        the silent last.
        """
        return np.argsort(
            np.where(self.given > 0, -np.quantile(self.bits, 0.05, axis=0), np.inf), kind="stable"
        )

    def who(self, kind: str) -> list[Any]:
        return [self.labelers[t] for t in self.order if self.kinds[t] == kind]

    def by_slice(self, name: Any) -> list[SliceEstimate]:
        """A labeler's error by the others in each slice that ``by=`` makes, partially pooled."""
        found = self.slices.get(self.labelers[self._place(name)], {})
        draws = {s: Estimate.from_draws(error, slack=NEARLY) for s, (error, _, _) in found.items()}
        sizes = {s: (items, gold) for s, (_, items, gold) in found.items()}
        return slice_estimates("error", draws, sizes) if found else []

    # ---- for people and programs -----------------------------------------------------------------

    @cached_property
    def advice(self) -> tuple[advising.Advice, ...]:
        """Whom to keep, retrain or drop, and why; in the order of ``labelers``."""
        return advising.advise(self)

    def without(self, *names: Any) -> Without:
        """What would happen to the shares of the classes and their intervals without these labelers
        (two more runs).
        """
        if self.source is None:
            raise InputError(
                "the labels behind this report were not kept: make it with labelers()."
            )
        who = tuple(self.labelers[self._place(name)] for name in names)
        return without(self.source, self.gold, who, seed=self.seed)

    def verdict(self, level: float = 0.95) -> str:
        """Whom to keep, retrain and drop, and what the labels are worth, in a few sentences."""
        return " ".join(self.sentences(level))

    def sentences(self, level: float = 0.95) -> list[str]:
        """The verdict sentence by sentence: whom to keep, retrain and drop comes first."""
        kept = [int(t) for t in self.order if self.advice[t].action == "keep"]
        best = kept[0] if kept else int(self.order[0])
        most = max(self.most_bits, 1e-12)
        tells = f"{self.bits[:, best].mean() / most:.0%} of what a perfect label would"
        if len(self.labelers) == 1:
            worth = f"Each label of {self.labelers[best]} tells {tells}."
        else:
            worth = f"{self.labelers[best]}'s labels are worth most: each tells {tells} "
            worth += f"({self.adds[:, best].mean() / most:.0%} beyond what the others say)."
        sentences = [advising.headline(self), worth]
        per_item = self.sizes["labels"] / max(self.sizes["items"], 1)
        alone = share(self.equivalent_error.mean, *self.equivalent_error.interval(level), level)
        sentences.append(
            f"If labelers err independently, all labels of an item together ({per_item:.1f} on "
            f"average) tell "
            f"{self.panel.mean / most:.0%} of what a perfect label would, like one labeler who "
            f"errs on {alone}."
        )
        if self.consensus_error is not None:
            wrong = self.consensus_error
            found = share(wrong.mean, *wrong.interval(level), level)
            sentences.append(
                f"Shared mistakes allowed for, their consensus is wrong on {found} of the items."
            )
        return sentences

    def frame(self, level: float = 0.95) -> pl.DataFrame:
        """The old name of `to_frame`, for one more version."""
        import warnings

        warnings.warn("frame() is now called to_frame()", FutureWarning, stacklevel=2)
        return self.to_frame(level)

    def to_frame(self, level: float = 0.95) -> pl.DataFrame:
        """One row for each labeler, most informative first."""
        order = self.order
        columns: dict[str, Any] = {
            "labeler": [str(self.labelers[t]) for t in order],
            "labels": self.given[order],
        }
        for what in ("error", "bits", "adds"):
            draws = getattr(self, what)[:, order]
            low, high = credible_interval(draws, level)
            columns |= {what: draws.mean(axis=0), f"{what}_low": low, f"{what}_high": high}
        if self.graded:
            nothing = np.full(2, np.nan)
            draws = [self.graded.get(self.labelers[t], nothing) for t in order]
            limits = [credible_interval(d, level, NEARLY) for d in draws]
            columns |= {
                "graded": [d.mean() for d in draws],
                "graded_low": [a for a, _ in limits],
                "graded_high": [b for _, b in limits],
            }
        columns["advice"] = [self.advice[t].action for t in order]
        columns["reason"] = [self.advice[t].reason for t in order]
        columns["kind"] = [self.kinds[t] for t in order]
        if self.gold_checked.any():
            columns |= {
                "gold_checked": self.gold_checked[order],
                "gold_wrong": self.gold_wrong[order],
            }
        return pl.DataFrame(columns, strict=False)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything a program may want, for JSON."""
        confusion, draws = self.noise.confusion, self.noise.confusion_draws
        assert confusion is not None
        assert draws is not None
        low, high = credible_interval(draws, level)
        people = []
        for t, row in zip(self.order, self.to_frame(level).to_dicts()):
            matrix = {
                "mean": confusion[t].tolist(),
                "low": low[t].tolist(),
                "high": high[t].tolist(),
            }
            meant = {str(k): str(v) for k, v in self.readings.get(self.labelers[t], {}).items()}
            people.append(
                {k: _number(v) for k, v in row.items()} | {"confusion": matrix, "reading": meant}
            )
        return {
            "labelers": people,
            "verdict": self.verdict(level),
            "panel": {
                "bits": _span(self.panel, level),
                "equivalent_error": _span(self.equivalent_error, level),
                "most_bits": self.most_bits,
                "consensus_error": None
                if self.consensus_error is None
                else _span(self.consensus_error, level),
                "effective_size": None
                if self.effective_size is None
                else _span(self.effective_size, level),
            },
            "slices": [
                {"labeler": str(name), **each.to_dict(level)}
                for name in self.slices
                for each in self.by_slice(name)
            ],
            "agreement": {name: _span(value, level) for name, value in self.agreement.items()},
            "pairs": [pair.to_dict() for pair in self.pairs],
            "classes": list(self.classes),
            "prior": self.noise.prior.tolist(),
            "model": self.noise.model,
            "items": self.sizes["items"],
            "labels": self.sizes["labels"],
            "gold": self.sizes["gold"],
            "level": level,
            "assumptions": self.assumptions,
            "warnings": self.warnings,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        sentences = [f"Assumed: {a}" for a in self.assumptions]
        sentences += [f"Warning: {w}" for w in self.warnings]
        return "\n".join([self.verdict(), str(self.to_frame()), *sentences])


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _span(value: Any, level: float) -> dict[str, Any]:
    low, high = value.interval(level)
    return {
        "value": _number(float(value)),
        "low": _number(low),
        "high": _number(high),
        "level": level,
    }
