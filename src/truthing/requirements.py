"""Requirements: "accuracy >= 0.8", met, missed or undecided by the probability that it holds."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from truthing.errors import InputError
from truthing.metrics.estimate import Estimate

Outcome = Literal["met", "missed", "undecided"]
_QUOTED = r"\"[^\"]+\"|'[^']+'"
_END = r"\s*(?P<sign>>=|<=|>|<)\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*%?)\s*"
_SIMPLE = re.compile(rf"\s*(?P<metric>{_QUOTED}|[^<>=\"']+?){_END}", re.DOTALL)
_NAME = rf"{_QUOTED}|[^\s\"'<>=-]+"
_PAIRED = re.compile(
    rf"\s*(?P<metric>[^:\[\"'<>=]+(?:\[[^\]]*\])?)\s*:\s*"
    rf"(?P<first>{_NAME})\s*-\s*(?P<second>{_NAME}){_END}",
    re.DOTALL,
)
SHAPES = {
    "grade": '"accuracy >= 0.8"',
    "rate": '"pass >= 0.9" (a class with blanks in quotes: "\'very good\' >= 0.9")',
    "prefer": '"new >= 0.5" (a system), "tie <= 0.2" or "score[new] >= 0.5"',
    "compare": '"accuracy: new - old >= 0" (names with blanks or dashes in quotes: "f1: \'v-2\' '
    "- 'v-1' > 0\")",
}
SURE = 0.95  # of a winner
SIGNED = ("mcc", "kappa")  # these run from -1 to 1


class RequirementError(InputError):
    """A requirement that cannot be asked: found before anything is computed."""


@dataclass(frozen=True)
class Requirement:
    """What must hold of a metric (of a class, in `rate`), or of a difference of two models."""

    text: str
    metric: str
    sign: str
    number: float
    first: str = ""
    second: str = ""

    def holds(self, values: Any) -> Any:
        """For each value, whether it is as required; sums that are equal up to rounding are
        equal.
        """
        values, near = np.asarray(values, dtype=float), 1e-12
        if self.sign == ">=":
            return values >= self.number - near
        if self.sign == "<=":
            return values <= self.number + near
        return values > self.number + near if self.sign == ">" else values < self.number - near


def parse(text: str, kind: str = "grade") -> Requirement:
    """A requirement as people write it.

    >>> parse("accuracy >= 80%")
    Requirement(text='accuracy >= 80%', metric='accuracy', sign='>=', number=0.8, first='',
    second='')
    """
    plain = text.replace("≥", ">=").replace("≤", "<=")
    found = (_PAIRED if kind == "compare" else _SIMPLE).fullmatch(plain)
    if found is None:
        raise RequirementError(f"requirement {text!r} is not understood: write {SHAPES[kind]}.")
    digits = found["number"].replace(" ", "")
    number = float(digits.rstrip("%"))
    number = round(number / 100, 12) if digits.endswith("%") else number
    names = [_bare(name) for name in (found["first"], found["second"])] if kind == "compare" else []
    metric = _bare(found["metric"])
    least = -1.0 if kind == "compare" or metric in SIGNED else 0.0
    if not least <= number <= 1:
        raise RequirementError(
            f"requirement {text!r}: {found['number'].strip()} is outside {least:g} to 1. "
            "Write 0.8, or 80%."
        )
    return Requirement(text.strip(), metric, found["sign"], number, *names)


def _bare(name: str) -> str:
    name = name.strip()
    return name[1:-1] if name[:1] in "\"'" else name


@dataclass(frozen=True)
class Verdict:
    """Whether a requirement is met, how probable that is, and what would decide it."""

    requirement: Requirement
    probability: float
    needed: float
    outcome: Outcome
    advice: str = ""

    @property
    def met(self) -> bool:
        return self.outcome == "met"

    @property
    def sentence(self) -> str:
        """The verdict in the words of every form.

        >>> print(Verdict(parse("accuracy >= 0.8"), 0.97, 0.95, "met").sentence)
        accuracy >= 0.8: met. It holds with probability 97%; 95% is asked for.
        """
        sentence = f"{self.requirement.text}: {self.outcome}. It holds with probability "
        sentence += f"{probability_words(self.probability)}; {100 * self.needed:.4g}% is asked for."
        return f"{sentence} {self.advice}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        asked = self.requirement
        pair = {"first": asked.first, "second": asked.second} if asked.first else {}
        return {
            "requirement": asked.text,
            "metric": asked.metric,
            "operator": asked.sign,
            "number": asked.number,
            **pair,
            "probability": self.probability,
            "needed_probability": self.needed,
            "outcome": self.outcome,
            "advice": self.advice,
        }


def if_decided(chance: float) -> str:
    """What a headline begins with where its winner is far from sure.

    >>> if_decided(0.59), if_decided(0.97)
    ('Not decided: ', '')
    """
    return "" if chance >= SURE else "Not decided: "


def probability_words(chance: float) -> str:
    """
    >>> probability_words(0.962), probability_words(0.9996), probability_words(0.0001)
    ('96%', 'over 99.9%', 'under 0.1%')
    """
    if chance > 0.999:
        return "over 99.9%"
    if chance < 0.001:
        return "under 0.1%"
    return f"{100 * chance:.1f}%" if chance > 0.99 or chance < 0.01 else f"{100 * chance:.0f}%"


def check_probability(needed: float) -> None:
    if not 0.5 < needed < 1:
        raise RequirementError(
            f"probability {needed:g} is not between 0.5 and 1: 0.95 asks to be 95% sure."
        )


def judge(requirement: Requirement, estimate: Estimate, needed: float = 0.95) -> Verdict:
    """Met when the requirement holds with probability ``needed`` or more, missed when with 1 -
    ``needed`` or less.

    Where the metric is undefined the requirement neither holds nor fails, so that share counts
    against both.
    """
    check_probability(needed)
    if len(estimate.values) == 0:
        return Verdict(requirement, 0.0, needed, "undecided", "It is undefined on these data.")
    if len(estimate.values) == 1:
        raise RequirementError(
            f"requirement {requirement.text!r}: this method gives no uncertainty, so there is no "
            f"probability to "
            "judge by. Use the default method."
        )
    known = 1 - estimate.undefined
    chance = known * float(estimate.weights[requirement.holds(estimate.values)].sum())
    outcome: Outcome = "undecided"
    if chance >= needed - 1e-12:
        outcome = "met"
    elif chance + estimate.undefined <= 1 - needed + 1e-12:
        outcome = "missed"
    advice = "" if outcome != "undecided" else _narrower(requirement, estimate, needed)
    return Verdict(requirement, min(max(chance, 0.0), 1.0), needed, outcome, advice)


def needed_ratio(requirement: Requirement, estimate: Estimate, needed: float) -> float:
    """How much narrower the interval would have to be to decide, if the estimate stayed where it
    is.
    """
    distance = abs(float(estimate.values @ estimate.weights) - requirement.number)
    at = np.quantile(estimate.draws, [1 - needed, needed])
    reach = max(abs(at - float(estimate.values @ estimate.weights)))
    return float(min(distance / max(reach, 1e-12), 1.0))


def _narrower(requirement: Requirement, estimate: Estimate, needed: float) -> str:
    ratio = needed_ratio(requirement, estimate, needed)
    if ratio < 0.1:
        return (
            "The estimate lies so near the limit that no affordable amount of data is sure to "
            "decide: "
            "ask for another number, or for a lower probability."
        )
    low, high = estimate.interval(0.95)
    return (
        f"An interval of about ±{ratio * (high - low) / 2:.2g} would decide it, if the estimate "
        f"stays where it is; "
        f"now it is ±{(high - low) / 2:.2g}."
    )


def gold_enough(spread: float, estimate: Estimate, ratio: float, have: int, items: int) -> str:
    """How many gold items would decide by themselves: those of a number that varies so much between
    items.
    """
    if ratio < 0.1:
        return ""
    low, high = estimate.interval(0.95)
    half = max(ratio * (high - low) / 2, 1e-6)
    count = int(np.ceil(spread**2 * (1.96 / half) ** 2))
    more = max(count - have, 10)
    if have + more >= items:
        return "Gold on all of these items would decide, or more items with gold."
    return (
        f"Gold on {more:,} {'more ' if have else ''}random items would be enough by "
        f"itself; "
        "with these labels beside it, less may do."
    )


class Judged(ABC):
    """A result that requirements can be asked of."""

    kind = ""

    @abstractmethod
    def requirement_estimate(self, requirement: Requirement) -> Estimate:
        """The number that a requirement is about."""

    def requirement_advice(
        self, requirement: Requirement, estimate: Estimate, needed: float
    ) -> str:
        """What to buy to decide, where that is known."""
        return ""

    def require(self, text: str | Requirement, probability: float = 0.95) -> Verdict:
        """Is it so, with this probability? ``.met``, ``.outcome`` (met, missed or undecided) and
        ``.sentence``.
        """
        asked = parse(text, self.kind) if isinstance(text, str) else text
        estimate = self.requirement_estimate(asked)
        found = judge(asked, estimate, probability)
        if found.outcome != "undecided" or len(estimate.values) == 0:
            return found
        more = self.requirement_advice(asked, estimate, probability)
        return Verdict(
            asked, found.probability, probability, "undecided", f"{found.advice} {more}".strip()
        )
