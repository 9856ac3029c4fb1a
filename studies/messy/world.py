"""A small world of items, labelers, a classifier and gold, and its files with their meaning."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Rng = np.random.Generator


@dataclass
class World:
    """Who said what, as class numbers; ``score`` is the probability of the last class."""

    items: list[Any]
    labelers: list[str]
    n_classes: int
    truth: dict[Any, int]
    labels: dict[tuple[Any, str], int]
    predicted: dict[Any, int]
    score: dict[Any, float]
    gold: dict[Any, int]


@dataclass
class Mess:
    """Files, which of them is what, and what they mean (None: nobody could know, so refuse)."""

    files: dict[str, bytes]
    labels: str = "labels.csv"
    predictions: str | None = None
    gold: str | None = None
    meaning: World | None = None
    threshold: float | None = None
    votes: bool = False  # labels are anonymous counts
    options: dict[str, Any] = field(default_factory=dict)


def world(
    rng: Rng, n_classes: int = 2, items: Sequence[Any] | None = None, full: bool = True
) -> World:
    names = (
        list(items) if items is not None else [f"t{i}" for i in range(int(rng.integers(40, 70)))]
    )
    who = ["ann", "bob", "cleo", "dirk", "eve"][: int(rng.integers(3, 6))]
    truth = {i: int(rng.integers(n_classes)) for i in names}

    def noisy(k: int, right: float) -> int:
        return k if rng.random() < right else int((k + rng.integers(1, n_classes)) % n_classes)

    labels = {
        (i, w): noisy(truth[i], 0.85) for i in names for w in who if full or rng.random() < 0.8
    }
    for i in names:
        labels.setdefault((i, who[0]), truth[i])
    score = {
        i: round(float(np.clip(rng.normal(0.75 if truth[i] else 0.25, 0.2), 0.01, 0.99)), 3)
        for i in names
    }
    predicted = {
        i: int(score[i] >= 0.5) if n_classes == 2 else noisy(truth[i], 0.85) for i in names
    }
    checked = rng.choice(len(names), 15, replace=False)
    return World(
        names,
        who,
        n_classes,
        truth,
        labels,
        predicted,
        score,
        {names[i]: truth[names[i]] for i in sorted(checked)},
    )


def table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], separator: str = ",", end: str = "\n"
) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=end)
    writer.writerows([header, *rows])
    return out.getvalue().encode()


def long(w: World, names: Sequence[Any]) -> list[list[Any]]:
    return [[i, who, names[k]] for (i, who), k in w.labels.items()]


def wide(w: World, names: Sequence[Any], empty: Any = "") -> list[list[Any]]:
    return [
        [i, *(names[w.labels[i, t]] if (i, t) in w.labels else empty for t in w.labelers)]
        for i in w.items
    ]


def guesses(w: World, names: Sequence[Any]) -> list[list[Any]]:
    return [[i, names[w.predicted[i]]] for i in w.items]


def checked(w: World, names: Sequence[Any]) -> list[list[Any]]:
    return [[i, names[k]] for i, k in w.gold.items()]


def case(
    w: World, labels: Sequence[Any], predicted: Sequence[Any], gold: Sequence[Any] | None = None
) -> Mess:
    """Three plain long files, each with its own spelling of the classes."""
    files = {
        "labels.csv": table(["item", "labeler", "label"], long(w, labels)),
        "predictions.csv": table(["item", "prediction"], guesses(w, predicted)),
    }
    if gold is not None:
        files["gold.csv"] = table(["item", "truth"], checked(w, gold))
    return Mess(
        files,
        predictions="predictions.csv",
        gold="gold.csv" if gold is not None else None,
        meaning=w,
    )
