"""What users say about kinds of labels: grades on a scale, where they are cut, labelers who belong
together, experts who err.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.case import Case
from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.labeler_kinds import read_groups, siblings, too_few_left
from truthing.labels import Labels
from truthing.matching import Joined
from truthing.metrics.counts import Tally, evaluate, metric_names
from truthing.metrics.ordinal import ORDINAL, scale_values
from truthing.noise.ordinal import Ordinal
from truthing.randomness import generator
from truthing.scale import check_scale, cut_case
from truthing.second_reads import as_gold_error
from truthing.truth.labeler_groups import LabelerGroups, learn_groups
from truthing.truth.missing import skipped_votes, skipping
from truthing.unsure import without_unsure

# studies/drawn_together.py
STUDIED = ({"gold_error", "weights", "stratum"}, {"gold_error", "cluster"})
MOST_CHECKED = 500_000  # labels among which missing ones are looked at


@dataclass(frozen=True, eq=False)
class LabelerPanel:
    """Groups among the labelers: ``own`` says which classifiers are graded as if they had learned
    from these labelers, ``siblings`` (classifiers × labelers) whose votes count still less."""

    own: list[bool]
    groups: LabelerGroups | None = None
    siblings: Array | None = None

    def without(self, place: int, name: str, labels: Labels) -> str:
        """Discount a classifier's siblings, or, where there are no others, doubt its grade; in
        words."""
        assert self.siblings is not None
        count = int(self.siblings[place].sum())
        if too_few_left(self.siblings[place], labels):
            self.siblings[place] = False
            self.own[place] = True
            return (
                f"{name} is of the group of {count} labelers, and there are hardly others: it is "
                "graded as if it had learned from them."
            )
        return (
            f"{name} is of the group of {count} labelers: their votes count still less for it, by "
            "how much they share mistakes."
        )

    def fields(self, place: int | None = None) -> dict[str, Any]:
        """As `Question` takes them; of one classifier, or of all for `compare`."""
        mine = self.siblings if self.siblings is None or place is None else self.siblings[place]
        return {"labeler_groups": self.groups, "siblings": mine}


@dataclass(frozen=True)
class Kinds:
    """The arguments of `grade`, `prevalence` and `compare` of that name."""

    gold_error: Any = None
    scale: str | None = None
    cut: Any = None
    groups: Any = None
    classifier_group: str | None = None
    unsure: Any = None
    skips: str | None = None

    def case(self, case: Case, positive: Any = None) -> tuple[Case, Mapping[Any, int]]:
        """Labels, predictions and gold, without answers that are no class and cut in two where that
        is asked; and how many such answers each item has."""
        sure, doubted = without_unsure(case, self.unsure)
        return cut_case(sure, self.cut, positive), doubted

    def refuse_calibration(self, calibration_set: Any) -> None:
        """What has not been studied beside a calibration set is not answered."""
        used = [name for name in self._said() if name != "scale"]
        if calibration_set is not None and used:
            raise InputError(
                f"`{used[0]}=` cannot be answered together with `calibration_set=`: that has not "
                "been studied. Leave one of them out."
            )

    @property
    def ordinal(self) -> bool:
        """Are classes grades in order? Not when they have been cut in two."""
        return check_scale(self.scale) and self.cut is None

    def model(self, noise: Any) -> Any:
        """The noise model, where none was asked for."""
        return Ordinal() if noise is None and self.ordinal else noise

    def _said(self) -> dict[str, Any]:
        """What was given, by name; what says nothing is left out."""
        told = {
            "gold_error": self.gold_error,
            "scale": self.scale if self.scale == "ordinal" else None,
            "cut": self.cut,
            "groups": self.groups if self.groups is not None else self.classifier_group,
            "unsure": self.unsure,
            "skips": self.skips if self.skips == "hard" else None,
        }
        return {name: value for name, value in told.items() if value is not None}

    def question(self, joined: Joined, used: Sequence[str] = (), **others: Any) -> dict[str, Any]:
        """What `Question` has to know; ``used`` are arguments on how items were drawn, ``others``
        more that were given. What has not been studied together is said."""
        given = list(self._said())
        more = [*used, *(name for name, value in others.items() if value is not None)]
        several = len(given) > 1 or (given and more)
        if several and not any({*given, *more} <= studied for studied in STUDIED):
            names = listing((f"`{name}=`" for name in (*given, *more)), 8)
            joined.warnings.append(
                f"{names} are used together. Each was studied alone; how well intervals hold "
                "with all of them was not studied, and they may be too narrow."
            )
        error = as_gold_error(self.gold_error, joined)
        values, told = None, []
        if self.ordinal:
            labels = joined.labels
            values = scale_values(labels.classes, ordered=labels.settled)
            told.append("Classes are grades in order, and far misses count more than near ones.")
        told += [remark for remark in joined.remarks if remark.startswith("Grades are cut")]
        doubts = self._doubts(joined, told)
        return {"gold_error": error, "values": values, "doubts": doubts, "told": tuple(told)}

    def _doubts(self, joined: Joined, told: list[str]) -> Array | None:
        """How many votes on each item were unsure or, if labelers skip what is hard, left out."""
        if self.skips not in (None, "random", "hard"):
            raise InputError(
                f"skips {self.skips!r} is not known: choose 'random' (labels are missing by "
                "chance) "
                "or 'hard' (labelers leave out what is hard)."
            )
        labels = joined.labels
        doubts = np.zeros(labels.n_items)
        if joined.doubted:
            doubts[:] = [joined.doubted.get(item, 0) for item in labels.items]
        told += [remark for remark in joined.remarks if "is no class:" in remark]
        if self.skips == "hard":
            doubts = doubts + skipped_votes(labels)
            told.append(
                "Labelers leave out what is hard: a missing vote counts as an unsure one, half "
                "like "
                "the item's other votes and half for any class."
            )
        elif self.skips is None and labels.n_labels < MOST_CHECKED:
            found = skipping(labels)
            if found is not None and found.suspicious:
                joined.warnings.append(found.warning())
        return doubts if doubts.any() else None

    def panel(
        self,
        joined: Joined,
        kind: str | None,
        seed: int,
        assumptions: list[str],
        models: Sequence[str] = (),
    ) -> LabelerPanel:
        """Groups of labelers; ``models`` are classifiers by name, for `compare`. What was done
        joins ``assumptions``."""
        groups = read_groups(self.groups)
        if groups is None and self.classifier_group is None:
            return LabelerPanel([False] * max(len(models), 1))
        labels = joined.labels
        if labels.anonymous:
            raise InputError("groups= needs labelers with names: these votes are anonymous.")
        own = [groups.get(name) for name in models] if groups and models else []
        mine = siblings(own or [self.classifier_group], groups, labels)
        assert groups is not None
        learned = learn_groups(groups, labels, generator(seed, "labeler groups"), kind)
        joined.warnings.extend(learned.warnings())
        found = LabelerPanel([False] * len(mine), learned if learned.told else None, mine)
        for place, row in enumerate(mine):
            name = f"Model {models[place]!r}" if models else "The classifier"
            if row.any():
                assumptions.append(found.without(place, name, labels))
        return found

    def shown(
        self, metrics: Sequence[str] | None, classes: Sequence[Any], positive: int | None
    ) -> Sequence[str] | None:
        """Metrics to show unasked."""
        if metrics is not None or not self.ordinal:
            return metrics
        return [
            *metric_names(classes, positive)[:2],
            *ORDINAL,
            *metric_names(classes, positive)[2:],
        ]


NOTHING = Kinds()


def check_metrics(names: Sequence[str], classes: tuple[Any, ...], positive: int | None) -> None:
    """A misspelt metric must not wait until everything is computed."""
    nothing = Tally.from_confusion(np.eye(len(classes)))
    for name in names:
        if name in ORDINAL:
            scale_values(classes, ordered=True)
        elif name not in ("auc", "average_precision"):
            evaluate(name, nothing, classes=classes, positive=positive)
