"""What the answers about tags have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from truthing.multi_label.joint import Coupling
from truthing.requirements import Judged, Requirement, Verdict, parse
from truthing.results import Result


class Tagged(Judged, Result):
    """An answer about several tags; ``question`` is the command that was asked."""

    kind = "tags"
    question = ""
    tags: Mapping[str, Any]
    joint: Coupling
    sizes: Mapping[str, int]
    target: str
    seed: int
    warnings: list[str]
    assumptions: list[str]

    @abstractmethod
    def verdict(self, level: float = 0.95) -> str:
        """A sentence or two for a person."""

    def require(self, text: str | Requirement, probability: float = 0.95) -> Verdict:
        """Is it so, with this probability? In the words of the question that was asked."""
        asked = parse(text, self.question) if isinstance(text, str) else text
        return super().require(asked, probability)

    def _about(self) -> dict[str, Any]:
        """What every form of the answer says besides its numbers."""
        return {
            "question": self.question,
            **{name: self.sizes[name] for name in ("items", "labelers", "labels", "gold")},
            "shared_doubt": self.joint.shared,
            "target": self.target,
            "seed": self.seed,
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        lines = [self.verdict()]
        lines += [f"Assumed: {a}" for a in self.assumptions]
        return "\n".join([*lines, *(f"Warning: {w}" for w in self.warnings)])


def without_gold(n_gold: int) -> list[str]:
    """What no way of joining tags can mend, where there is no gold to show it."""
    if n_gold:
        return []
    return [
        "No gold: where all labelers together add tags, or leave them out, every tag is off in the "
        "same direction and averages may lie outside their intervals. Gold on random items shows "
        "it."
    ]


def dependence_words(shared: float, n_gold: int, what: str) -> list[str]:
    """What is assumed of tags together."""
    if shared >= 1:
        text = "Averages take the doubts of all tags to go together completely"
        text += ": the panel may be wrong in the same way everywhere."
    else:
        text = f"On {n_gold:,} gold items, what labels do not explain is correlated between tags "
        text += f"by {shared:.2f} at most; averages over tags take their doubts to be so."
    if what != "right":
        return [text]
    return [
        text,
        "Whether all tags of an item are right: tags are right independently, or together, or "
        "between the two, as far as gold shows it.",
    ]
