"""Public panels as test cases: a labeler is graded as a classifier by the others; truth only
checks.

Panels of one family share labelers, prompts or items: numbers learned from some families are
checked
on others. Half A served to choose the method, half B to check it (docs/honesty.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

import truthing as tr
from truthing.truth.consensus import Entries
from truthing.truth.link.views import Views, read_consensus, read_panel

HALF_A = ("css", "trec_dl", "pandalm", "llmbar")
RELEVANCE = ("trec_dl", "llmjudge")


@dataclass(frozen=True, eq=False)
class Panel:
    """One public set: labels and the truth of every item (class codes), of one kind and family."""

    kind: str
    family: str
    name: str
    labels: tr.Labels
    truth: np.ndarray


@dataclass(frozen=True, eq=False)
class Case:
    """One classifier beside a panel; ``own``: the predictions come from these very labels."""

    kind: str
    family: str
    set: str
    name: str
    labels: tr.Labels
    predicted: np.ndarray
    truth: np.ndarray
    own: bool = False

    @property
    def right(self) -> np.ndarray:
        return self.predicted == self.truth

    @cached_property
    def views(self) -> Views:
        return read_panel(Entries.of(self.labels), self.predicted)


def data_folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    named = Path(os.environ.get("TRUTHING_DATA", str(beside)))
    if not named.is_dir():
        raise SystemExit("needs the public data sets: set TRUTHING_DATA to their folder")
    return named


def family_of(kind: str, name: str) -> str:
    if kind == "people":
        return "sentence_polarity" if name.startswith("sentence_polarity") else name
    if name.startswith(RELEVANCE):
        return "trec_dl"
    return next((f for f in ("css", "textclass", "llmbar") if name.startswith(f)), name)


def half_of(family: str, kind: str, crowds: list[str]) -> str:
    """Families of judges as listed, crowds alternately by alphabet."""
    if kind == "models":
        return "A" if family in HALF_A else "B"
    return "AB"[crowds.index(family) % 2]


def panels(kind: str | None = None, *, only: str = "") -> Iterator[Panel]:
    """Every public set whose name starts with ``only``; grades of relevance also cut to two
    classes.
    """
    folder = data_folder()
    for place, panel_kind in (("crowd", "people"), ("judges", "models")):
        if kind not in (None, panel_kind):
            continue
        for path in sorted(p for p in (folder / place).iterdir() if p.is_dir()):
            if path.name.startswith(only):
                yield from _panels(panel_kind, path)
    if kind in (None, "models") and "llmbar".startswith(only[:6]):
        yield _llmbar(folder / "llmbar")


def _panels(kind: str, path: Path) -> Iterator[Panel]:
    labels_file = path / "labels.csv"
    if not labels_file.exists():
        labels_file = path / "labels.csv.gz"
    labels = pl.read_csv(labels_file, infer_schema_length=0)
    truth = pl.read_csv(path / "truth.csv", infer_schema_length=0)
    yield _panel(kind, path.name, labels, truth)
    if path.name.startswith(RELEVANCE):
        graded = labels.filter(pl.col("label").str.contains(r"^\d+$"))
        graded = graded.with_columns(label=_cut("label"))
        yield _panel(kind, path.name + "_binary", graded, truth.with_columns(truth=_cut("truth")))


def _cut(column: str) -> pl.Expr:
    relevant = pl.col(column).cast(pl.Int64) >= 2
    return pl.when(relevant).then(pl.lit("1")).otherwise(pl.lit("0"))


def _llmbar(folder: Path) -> Panel:
    """LLMBar: each (model, prompt) is a labeler."""
    key = pl.concat_str(["subset", "item"], separator="/")
    rows = pl.read_csv(folder / "judgments.csv.gz").drop_nulls("win")
    judge = pl.concat_str(["model", "prompt"], separator="/")
    rows = rows.with_columns(item=key, labeler=judge, label=pl.col("win").cast(pl.String))
    gold = pl.read_csv(folder / "gold.csv").with_columns(
        item=key, truth=pl.col("gold").cast(pl.Int64).cast(pl.String)
    )
    return _panel("models", "llmbar", rows, gold)


def _panel(kind: str, name: str, rows: pl.DataFrame, truth: pl.DataFrame) -> Panel:
    """Items with truth; a labeler who repeats an item keeps the last label."""
    known = dict(zip(truth["item"].to_list(), truth["truth"].to_list()))
    rows = rows.filter(pl.col("item").is_in(list(known)))
    rows = rows.unique(["item", "labeler"], keep="last", maintain_order=True)
    classes = sorted({*rows["label"].to_list(), *known.values()})
    labels = tr.Labels.from_long(rows["item"], rows["labeler"], rows["label"])
    labels = labels.with_classes(classes)
    codes = np.array([classes.index(known[item]) for item in labels.items])
    return Panel(kind, family_of(kind, name), name, labels, codes)


def graded_cases(panel: Panel, *, most: int = 10, fewest: int = 20) -> Iterator[Case]:
    """The busiest people, or a random choice of judges, each graded by the others."""
    labels, made = panel.labels, 0
    count = labels.per_labeler
    order = np.argsort(-count, kind="stable")
    if panel.kind == "models":
        order = np.random.default_rng(1).permutation(np.flatnonzero(count >= fewest))
    for t in order:
        if made == most or count[t] < fewest:
            return
        mine = labels.labeler == t
        items, predicted = labels.item[mine], labels.label[mine].astype(np.int64)
        others = labels[items].select([w for k, w in enumerate(labels.labelers) if k != t])
        seen = np.flatnonzero(others.per_item > 0)
        if len(seen) < fewest:
            continue
        others = _active(others[seen])
        name, truth = str(labels.labelers[t]), panel.truth[items[seen]]
        yield Case(panel.kind, panel.family, panel.name, name, others, predicted[seen], truth)
        made += 1


def crowd_cases(names: tuple[str, ...] | None = None) -> list[Case]:
    """Every graded case of the public crowds of people, or of those named."""
    found = [p for p in panels("people") if names is None or p.name in names]
    return [case for panel in found for case in graded_cases(panel)]


def small_cases(panel: Panel, *, most_items: int = 600, seed: int = 6) -> Iterator[Case]:
    """Judges graded by three, five or eight others: few users have a hundred."""
    labels, rng = panel.labels, np.random.default_rng([seed, len(panel.labels.items)])
    for size in (3, 5, 8) if panel.kind == "models" else ():
        if labels.n_labelers < size + 3:
            continue
        order = rng.permutation(labels.n_labelers)
        panel_names = [labels.labelers[t] for t in order[:size]]
        for t in order[size : size + 3]:
            mine = labels.labeler == t
            chosen = np.sort(rng.permutation(int(mine.sum()))[:most_items])
            items, predicted = labels.item[mine][chosen], labels.label[mine][chosen]
            others = labels[items].select(panel_names)
            seen = np.flatnonzero(others.per_item > 0)
            if len(seen) < 40:
                continue
            name = f"{labels.labelers[t]} by {size}"
            yield Case(
                panel.kind,
                panel.family,
                panel.name,
                name,
                others[seen],
                predicted[seen].astype(np.int64),
                panel.truth[items[seen]],
            )


def own_cases(panel: Panel, *, most_items: int = 600, seed: int = 5) -> Iterator[Case]:
    """The panel's own consensus, as it is and with random changes, as predictions: what a model
    trained on the labels repeats. Small panels too, because large ones are rare."""
    rng = np.random.default_rng([seed, len(panel.labels.items)])
    for size in (None, 3, 5, 8):
        part = panel.labels if size is None else _smaller(panel, size, rng)
        if part is None:
            continue
        seen = rng.permutation(np.flatnonzero(part.per_item > 0))[:most_items]
        seen = np.sort(seen)
        if len(seen) < 40:
            continue
        part, truth = _active(part[seen]), panel.truth[seen]
        if part.n_labelers < 2:
            continue
        consensus = read_consensus(Entries.of(part)).predicted
        for changed in (0.0, 0.05, 0.15, 0.3):
            predicted = consensus.copy()
            here = rng.random(len(predicted)) < changed
            predicted[here] += rng.integers(1, part.n_classes, int(here.sum()))
            predicted %= part.n_classes
            name = f"consensus of {size or 'all'}, {changed:.0%} changed"
            yield Case(panel.kind, panel.family, panel.name, name, part, predicted, truth, own=True)


def _smaller(panel: Panel, size: int, rng: np.random.Generator) -> tr.Labels | None:
    """A few of the judges; of people at most ``size`` labels per item."""
    labels = panel.labels
    if panel.kind == "models":
        if labels.n_labelers <= size:
            return None
        chosen = rng.permutation(labels.n_labelers)[:size]
        return labels.select([labels.labelers[t] for t in chosen])
    order = np.lexsort((rng.random(len(labels.item)), labels.item))
    item = labels.item[order]
    start = np.searchsorted(item, np.arange(labels.n_items))
    keep = np.sort(order[np.arange(len(item)) - start[item] < size])
    if len(keep) > 0.9 * len(labels.item):
        return None
    return tr.Labels.from_codes(
        labels.item[keep],
        labels.labeler[keep],
        labels.label[keep],
        items=labels.items,
        labelers=labels.labelers,
        classes=labels.classes,
    )


def _active(labels: tr.Labels) -> tr.Labels:
    return labels.select([w for w, n in zip(labels.labelers, labels.per_labeler) if n > 0])
