"""Real crowds as test cases: each of the ten busiest workers is the classifier, graded against the others; truth is only used to check."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import truthing as tr
from truthing.truth.consensus import Entries
from truthing.truth.link.views import Readings, read_panel

SETS = (
    "bluebird", "rte", "temporal", "dog", "web", "product", "labelme", "music_genre", "sentence_polarity", "zencrowd_us", "leaves", "adult",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One worker of one set: others' labels on its items that have truth, its own labels as predictions, and the truth."""

    set: str
    name: str
    labels: tr.Labels
    predicted: np.ndarray
    truth: np.ndarray
    readings: Readings

    @property
    def right(self) -> np.ndarray:
        return self.predicted == self.truth


def data_folder() -> Path:
    named = os.environ.get(
        "TRUTHING_DATA", str(Path(__file__).resolve().parents[2] / "shared" / "data")
    )
    if not Path(named).is_dir():
        raise SystemExit("needs the public data sets: set TRUTHING_DATA to their folder")
    return Path(named)


def make_case(
    set_name: str, name: str, labels: tr.Labels, predicted: np.ndarray, truth: np.ndarray
) -> Case:
    labels = labels.select([w for w, n in zip(labels.labelers, labels.per_labeler) if n > 0])
    return Case(set_name, name, labels, predicted, truth, read_panel(Entries.of(labels), predicted))


def worker_cases(
    set_name: str, labels: tr.Labels, gold: tr.Gold, most: int = 10, fewest: int = 20
) -> Iterator[Case]:
    """The busiest workers by labels on items with truth; a worker who repeats an item keeps the last label."""
    labels = labels.resolve_repeats("last").with_classes(sorted({*labels.classes, *gold.classes}))
    known = gold.as_dict()
    truth = np.array([labels.classes.index(known[i]) if i in known else -1 for i in labels.items])
    with_truth = np.bincount(labels.labeler[truth[labels.item] >= 0], minlength=labels.n_labelers)
    for t in np.argsort(-with_truth, kind="stable")[:most]:
        if with_truth[t] < fewest:
            return
        mine = labels.labeler == t
        items = labels.item[mine]
        chosen = items[truth[items] >= 0]
        predicted = labels.label[mine][truth[items] >= 0]
        panel = labels[chosen].select([w for k, w in enumerate(labels.labelers) if k != t])
        yield make_case(
            set_name, str(labels.labelers[t]), panel, predicted.astype(np.int64), truth[chosen]
        )


def crowd_cases(names: tuple[str, ...] = SETS) -> list[Case]:
    """All cases of the public crowdsourcing sets."""
    cases = []
    for name in names:
        folder = data_folder() / "crowd" / name
        path = folder / "labels.csv"
        labels = tr.read_labels(path if path.exists() else folder / "labels.csv.gz")
        cases += list(worker_cases(name, labels, tr.read_gold(folder / "truth.csv")))
    return cases


def llmbar_cases() -> list[Case]:
    """LLM judges: each (model, prompt) is a labeler, the ten busiest in turn the classifier."""
    folder = data_folder() / "llmbar"
    key = pl.concat_str(["subset", "item"], separator="/")
    rows = pl.read_csv(folder / "judgments.csv.gz").drop_nulls("win")
    rows = rows.with_columns(id=key, judge=pl.concat_str(["model", "prompt"], separator="/"))
    gold = pl.read_csv(folder / "gold.csv").with_columns(id=key)
    labels = tr.Labels.from_long(rows["id"], rows["judge"], rows["win"].cast(pl.Int64))
    truth = tr.Gold.from_mapping(
        dict(zip(gold["id"].to_list(), gold["gold"].cast(pl.Int64).to_list()))
    )
    return list(worker_cases("llmbar", labels, truth))


def cifar_cases(votes: int = 5, size: int = 2000) -> list[Case]:
    """CIFAR-10H: a real model's predictions, five anonymous votes an image drawn from the counts, four blocks of images."""
    folder = data_folder() / "cifar10h"
    counts = np.load(folder / "cifar10h-counts.npy").astype(np.int64)
    truth = np.load(folder / "cifar10_test_labels.npy").astype(np.int64)
    predicted = np.load(folder / "cifar10_test_cv_pred_probs.npy").argmax(axis=1)
    rng = np.random.default_rng(0)
    cases = []
    for block in range(4):
        chosen = np.arange(block * size, (block + 1) * size)
        drawn = np.stack([rng.multivariate_hypergeometric(row, votes) for row in counts[chosen]])
        labels = tr.Labels.from_counts(drawn)
        cases.append(
            make_case("cifar10h", f"block {block}", labels, predicted[chosen], truth[chosen])
        )
    return cases
