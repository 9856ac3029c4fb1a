"""Options that say how the items were drawn, the same for grade, rate and compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from truthing.errors import InputError

Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="COLUMN",
        help="Column of items that belong together and share mistakes: patient, prompt, document.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights", metavar="COLUMN", help="Column that says how many items each one stands for."
    ),
]
Stratum = Annotated[
    str | None,
    typer.Option(
        "--stratum", metavar="COLUMN", help="Column with the strata that items were drawn from."
    ),
]
GoldChances = Annotated[
    str | None,
    typer.Option(
        "--gold-chances",
        metavar="COLUMN",
        help="Column with the chance of each gold item to have been chosen.",
    ),
]
GoldChoice = Annotated[
    str | None,
    typer.Option(
        "--gold-choice",
        metavar="HOW",
        help="How gold was chosen: random, seen (by labels or predictions), unseen (by anything "
        "else). Default: as it looks.",
    ),
]
CalibrationSet = Annotated[
    str | None,
    typer.Option(
        "--calibration-set",
        metavar="FILE",
        help="Other items with known truth (a truth column), labelled by the same labelers.",
    ),
]
CalibrationChosen = Annotated[
    str | None,
    typer.Option(
        "--calibration-chosen",
        metavar="HOW",
        help="How those were chosen: truth (by true class, or at random) or verdict (by what the "
        "labelers say). Default: truth.",
    ),
]


@dataclass(frozen=True)
class DrawnOptions:
    """How the items, and gold among them, were drawn."""

    cluster: Cluster = None
    weights: Weights = None
    stratum: Stratum = None
    gold_chances: GoldChances = None
    gold_choice: GoldChoice = None
    calibration_set: CalibrationSet = None
    calibration_chosen: CalibrationChosen = None

    @property
    def arguments(self) -> dict[str, Any]:
        """As the library takes them: columns by name."""
        return {
            "cluster": self.cluster,
            "weights": self.weights,
            "stratum": self.stratum,
            "gold_weights": self.gold_chances,
            "gold_choice": self.gold_choice,
            "calibration_set": self.calibration_set,
            "calibration_chosen": self.calibration_chosen,
        }


AS_USUAL = DrawnOptions()


def deployment(text: str | None) -> Any:
    """0.05, a range 0.02-0.08, or one of these for each class as CLASS=SHARE split by commas."""
    if text is None:
        return None
    if "=" not in text:
        return _share(text)
    parts = [part.rpartition("=") for part in text.split(",")]
    return {name.strip(): _share(share) for name, _, share in parts}


def _share(text: str) -> float | tuple[float, float]:
    low, dash, high = text.strip().partition("-")
    try:
        return (float(low), float(high)) if dash else float(low)
    except ValueError:
        raise InputError(
            f"--deployment {text}: give a share such as 0.05, a range 0.02-0.08, or one for each "
            "class as CLASS=SHARE split by commas."
        ) from None
