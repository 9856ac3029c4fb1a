"""Question: labels and predictions joined, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.labels import Labels
from truthing.metrics.confusion import Confusion
from truthing.progress import Progress, silent
from truthing.truth.draws import DrawnAnswer


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the posterior, and how hard to try."""

    labels: Labels
    predicted: Array
    gold: Array
    prior: Array | None
    positive: int | None
    scores: Array | None
    target: str
    n_draws: int
    seed: int
    gold_weights: Array | None = None
    progress: Progress = silent
    panel: str | None = None
    trained_on_labels: bool = False

    @property
    def classes(self) -> tuple[Any, ...]:
        return self.labels.classes

    @property
    def n_classes(self) -> int:
        return self.labels.n_classes

    @property
    def n_gold(self) -> int:
        return int((self.gold >= 0).sum())

    @cached_property
    def constant(self) -> bool:
        """Is one class predicted for every item? That says nothing about items: its accuracy is the
        class's share."""
        return bool((self.predicted == self.predicted[0]).all())

    def seeds(self, *path: int) -> np.random.SeedSequence:
        """A stream of random numbers of its own for each purpose."""
        return np.random.SeedSequence(self.seed, spawn_key=path)

    def rng(self, *path: int) -> np.random.Generator:
        return np.random.default_rng(self.seeds(*path))

    def answer(self, confusion: Array) -> DrawnAnswer:
        return DrawnAnswer(self.classes, self.positive, Confusion.from_dense(confusion))
