"""Question: labels, predictions and gold joined by item and coded in one list of classes, and what
is asked of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.errors import InputError
from truthing.labels import Labels
from truthing.metrics.confusion import ConfusionMatrix
from truthing.noise.steps import fix_gold
from truthing.progress import Progress, silent
from truthing.survey.deployment import Deployment, at_shares
from truthing.survey.design import PLAIN, Survey
from truthing.survey.gold_choice import RANDOM, GoldChoice
from truthing.truth.consensus import Entries
from truthing.truth.draws import DrawnAnswer
from truthing.truth.gold_error import GoldError
from truthing.truth.groups import Groups, across
from truthing.truth.labeler_groups import LabelerGroups

MOST_CELLS, FEWEST_DRAWS = 20_000_000, 100  # of tables of classes × classes
DEPLOYED = 11  # stream of random numbers


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the truth, and how hard to try.

    ``predicted`` and ``gold`` are class codes for each item (-1: none). ``log_likelihood`` is
    log p(labels | truth) where the labelers' noise is given; ``prior`` is None where it is learned.
    Rows stand for ``size`` items each where items are too many for memory; rows with gold for one.
    """

    labels: Labels
    predicted: Array
    gold: Array
    log_likelihood: Array | None = None
    prior: Array | None = None
    positive: int | None = None
    scores: Array | None = None
    target: str = "sample"
    n_draws: int = 4000
    seed: int = 0
    gold_weights: Array | None = None
    progress: Progress = silent
    panel: str | None = None
    trained_on_labels: bool = False
    gold_chosen: GoldChoice = RANDOM
    survey: Survey = PLAIN
    deployment: Deployment | None = None
    gold_error: GoldError | None = None
    values: Array | None = None  # of grades on a scale
    labeler_groups: LabelerGroups | None = None
    doubts: Array | None = None  # unsure or skipped votes on each item
    siblings: Array | None = None  # labelers of the classifier's own group
    told: tuple[str, ...] = ()  # what labels are, for a paragraph on methods
    size: Array | None = None

    @property
    def classes(self) -> tuple[Any, ...]:
        return self.labels.classes

    @property
    def n_classes(self) -> int:
        return self.labels.n_classes

    @property
    def n_items(self) -> int:
        return len(self.predicted) if self.size is None else round(float(self.size.sum()))

    @property
    def n_gold(self) -> int:
        return int((self.gold >= 0).sum())

    @property
    def draws_of_tables(self) -> int:
        """As many draws as leave room for a table of classes × classes in each."""
        fitting = MOST_CELLS // self.n_classes**2
        if fitting < FEWEST_DRAWS:
            raise InputError(
                f"{self.n_classes:,} classes are too many to trust the labels' noise model "
                "(panel_error=0, noise=0): it needs a table of classes × classes for each draw. "
                "Leave that out, or merge rare classes."
            )
        return min(self.n_draws, fitting)

    @property
    def methods(self) -> list[str]:
        """What a paragraph on methods must say about labels and gold of a special kind."""
        gold = () if self.gold_error is None else (self.gold_error.words(),)
        groups = () if self.labeler_groups is None else (self.labeler_groups.words(),)
        return [*self.told, *groups, *gold]

    @property
    def grouped(self) -> bool:
        return self.labeler_groups is not None or self.siblings is not None

    @cached_property
    def entries(self) -> Entries:
        """The labels as votes: of one group they count less, of the classifier's own still less."""
        found, groups = Entries.of(self.labels), self.labeler_groups
        if groups is None:
            return found
        votes = groups.votes(self.labels)
        if self.siblings is not None:
            rho = groups.likeness[groups.member[self.labels.labeler]]
            mine = self.siblings[self.labels.labeler]
            votes = np.where(mine, votes * (1 - rho) ** 2, votes)
        return replace(found, votes=votes)

    @property
    def class_prior(self) -> Array:
        """As given, else equal shares."""
        return np.full(self.n_classes, 1 / self.n_classes) if self.prior is None else self.prior

    @cached_property
    def constant(self) -> bool:
        """Is one class predicted for every item? That says nothing about items: its accuracy is the
        class's share."""
        return bool((self.predicted == self.predicted[0]).all())

    @cached_property
    def evidence(self) -> Array:
        """log p(labels | truth), gold items certain, each row scaled to a maximum of zero."""
        assert self.log_likelihood is not None
        scores = self.log_likelihood.copy()
        known = np.flatnonzero(self.gold >= 0)
        if self.gold_error is not None:
            says = np.full((self.n_classes, self.n_classes), self.gold_error.mean)
            says /= max(self.n_classes - 1, 1)
            np.fill_diagonal(says, 1 - self.gold_error.mean)
            scores[known] += np.log(says[:, self.gold[known]]).T
            return self._scaled(scores)
        impossible = np.isneginf(scores[known, self.gold[known]])
        if impossible.any():
            i = known[np.argmax(impossible)]
            raise InputError(
                f"item {self.labels.items[i]!r}: gold says {self.classes[self.gold[i]]!r}, but a "
                "labeler given as error-free says otherwise. Correct the gold, or give that "
                "labeler an error rate above 0."
            )
        fix_gold(scores, self.gold, logs=True)
        return self._scaled(scores)

    def _scaled(self, scores: Array) -> Array:
        top = across(np.maximum, scores)
        if np.isneginf(top).any():
            i = int(np.argmax(np.isneginf(top)))
            raise InputError(
                f"item {self.labels.items[i]!r}: its labels are impossible under the given noise "
                "(two error-free labelers disagree). Give labelers an error rate above 0."
            )
        scores -= top[:, None]
        return scores

    @cached_property
    def without_gold(self) -> Question:
        """The same as if nothing was known. Gold judges what labels say, so it must not shape it:
        an item's gold would pass for what its labels say."""
        return replace(self, gold=np.full_like(self.gold, -1), gold_weights=None, gold_error=None)

    @property
    def certain(self) -> bool:
        """Do the labels leave one class for every item? Then they are the truth."""
        return bool((np.isneginf(self.evidence).sum(axis=1) == self.n_classes - 1).all())

    @cached_property
    def groups(self) -> Groups:
        return Groups.of(self.evidence, self.predicted)

    def seeds(self, *path: int) -> np.random.SeedSequence:
        """A stream of random numbers of its own for each purpose."""
        return np.random.SeedSequence(self.seed, spawn_key=path)

    def rng(self, *path: int) -> np.random.Generator:
        return np.random.default_rng(self.seeds(*path))

    def deployed_shares(self, n_draws: int) -> Array:
        """Draws × classes."""
        assert self.deployment is not None
        return self.deployment.draw(n_draws, self.rng(DEPLOYED))

    def answer(self, confusion: Array | ConfusionMatrix) -> DrawnAnswer:
        """Draws of the confusion matrix as an answer, at the classes' shares of deployment."""
        if isinstance(confusion, ConfusionMatrix):
            if self.deployment is not None:
                raise InputError(
                    f"{self.n_classes:,} classes are too many for deployment=...: it needs a table "
                    "of classes × classes for each draw. Merge rare classes, or leave it out."
                )
            return DrawnAnswer(self.classes, self.positive, confusion)
        if self.deployment is not None:
            confusion = at_shares(confusion, self.deployed_shares(len(confusion)))
        counts = ConfusionMatrix.from_dense(confusion)
        return DrawnAnswer(self.classes, self.positive, counts, self.values)
