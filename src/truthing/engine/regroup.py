"""Labels on disk regrouped by item, out of core and once: rows are dealt into buckets, and each
bucket becomes a shard. What was made is kept beside the state of the files it was made from.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array, places_by_name, places_in_order
from truthing.engine.partition import deal_labels, deal_predictions, item_names
from truthing.engine.source import LabelSource, make_folder
from truthing.engine.store import VERSION, Page, write_shard
from truthing.engine.words import Vocabulary, one_list
from truthing.errors import InputError
from truthing.predictions import Gold
from truthing.progress import Progress, silent
from truthing.repeats import Repeats, identical_repeats
from truthing.tables.asked import Asked
from truthing.tables.table import parse_names
from truthing.threads import in_threads

PER_SHARD = 1_000_000  # labels
WORDS = "words.json"


@dataclass(frozen=True)
class Regrouped:
    """A folder of shards, and the classes in which they are coded."""

    folder: Path
    page: Page
    vocabulary: Vocabulary


@dataclass(frozen=True)
class _Bucket:
    """What every bucket needs to become a shard."""

    labels: Array
    predictions: Array | None
    labelers: Array
    names: list[Any]
    classes: tuple[Any, ...]
    repeats: Repeats
    target: Path


def regroup(
    labels: LabelSource,
    predictions: LabelSource | None,
    gold: Gold | None,
    *,
    asked: Asked,
    repeats: Repeats,
    cache: Path,
    progress: Progress = silent,
) -> Regrouped:
    """The shards of these files: those made before, or new ones."""
    stamps = [labels.stamp, predictions.stamp if predictions else "", VERSION, pl.__version__]
    root = cache / _digest(stamps)
    words = _dealt(labels, predictions, root, progress)
    seen = [(labels, words["labels"], np.array(words["label_counts"]))]
    if predictions:
        seen.append((predictions, words["predictions"], np.array(words["prediction_counts"])))
    vocabulary = one_list(seen[0], seen[1] if predictions else None, gold, asked)
    coded = [vocabulary.labels.tolist(), vocabulary.predictions.tolist()]
    folder = root / _digest([list(map(repr, vocabulary.classes)), coded, repeats])
    page = Page.read(folder)
    if page is None:
        if not (root / "buckets").exists():
            (root / WORDS).unlink()
            words = _dealt(labels, predictions, root, progress)
        page = _finished(root, folder, words, vocabulary, repeats, progress)
    return Regrouped(folder, page, vocabulary)


def _digest(what: Any) -> str:
    return hashlib.blake2b(json.dumps(what).encode(), digest_size=8).hexdigest()


def _dealt(
    labels: LabelSource, predictions: LabelSource | None, root: Path, progress: Progress
) -> dict[str, Any]:
    """Who and what was said, from a first pass that deals the rows into buckets."""
    try:
        found: dict[str, Any] = json.loads((root / WORDS).read_text())
        return found
    except (OSError, ValueError):
        shutil.rmtree(root, ignore_errors=True)
    progress(0.0, "dealing the labels into buckets by item")
    n_buckets = max(1, -(-labels.n_rows // PER_SHARD))
    if n_buckets > np.iinfo(np.uint16).max:
        raise InputError(f"{labels.name} has {labels.n_rows:,} rows: split it into several sets.")
    part = root / f"part-{os.getpid()}"
    make_folder(part)
    try:
        labelers, words = deal_labels(labels, n_buckets, part)
        found = {
            "n_buckets": n_buckets,
            "labelers": _parsed(labels, labelers.names),
            "labels": words.names,
            "label_counts": words.counts.tolist(),
        }
        if predictions is not None:
            like = item_names(labels.head.frame[labels.columns["item"]], str).dtype
            guessed = deal_predictions(predictions, n_buckets, part, like)
            found |= {
                "predictions": guessed.names,
                "prediction_counts": guessed.counts.tolist(),
            }
        part.rename(root / "buckets")
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    (root / WORDS).write_text(json.dumps(found))
    return found


def _parsed(source: LabelSource, names: list[Any]) -> list[Any]:
    return names if source.head.typed else list(parse_names(names))


def _finished(
    root: Path,
    folder: Path,
    words: dict[str, Any],
    vocabulary: Vocabulary,
    repeats: Repeats,
    progress: Progress,
) -> Page:
    """Every bucket as a shard, and the page that says so."""
    progress(0.5, "regrouping the labels by item")
    part = root / f"shards-{os.getpid()}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    labelers = words["labelers"]
    if len(labelers) * len(vocabulary.classes) >= 2**31:
        raise InputError(f"{len(labelers):,} labelers are too many for these classes.")
    has_predictions = "predictions" in words
    shared = _Bucket(
        vocabulary.labels,
        vocabulary.predictions if has_predictions else None,
        np.argsort(places_by_name(labelers)).astype(np.int32),
        labelers,
        vocabulary.classes,
        repeats,
        part,
    )
    places = [root / "buckets" / f"{b:05d}" for b in range(words["n_buckets"])]
    counted = in_threads(_finish, [(place, shared) for place in places])
    kept = [bucket for bucket, (n, *_) in enumerate(counted) if n]
    if not kept:
        raise InputError(
            "no item has both a prediction and a label: check the item columns of both."
            if has_predictions
            else "the labels hold no label at all: every cell is missing."
        )
    sums = [sum(c[k] for c in counted) for k in range(2, 7)]
    only_labels, only_predictions, bare, clashes, again = sums
    dropped = {
        "only in labels": only_labels,
        "only in predictions": only_predictions,
        "without any label": bare,
    }
    page = Page(
        list(vocabulary.classes),
        labelers,
        kept,
        [counted[k][0] for k in kept],
        [counted[k][1] for k in kept],
        len(places),
        dropped,
        clashes,
        again,
    )
    page.write(part)
    part.rename(folder)
    shutil.rmtree(root / "buckets", ignore_errors=True)
    return page


def _finish(place: Path, shared: _Bucket) -> tuple[int, ...]:
    """One bucket as a shard; how many items and labels it has, how many items were dropped, how
    often a labeler contradicts itself, and how many labels only repeat another."""
    rows, guessed = _read(place, "labels"), _read(place, "predictions")
    if rows.height == 0:
        return 0, 0, 0, guessed.height, 0, 0, 0
    items, item = _by_item(rows)
    who = shared.labelers[rows["who"].to_numpy()]
    label = np.append(shared.labels, -1)[rows["what"].to_numpy()]
    del rows  # names take most of the room
    item, who, label, clashes, again = _one_each(item, who, label, items, shared)
    per_item = np.bincount(item, minlength=len(items))
    bare = per_item == 0
    keep, predicted, unlabelled = ~bare, None, 0
    if shared.predictions is not None:
        given = shared.predictions[guessed["what"].to_numpy().astype(np.int64)] >= 0
        guessed = guessed.filter(given)  # without words that mean missing
        guess = _guesses(items, guessed)
        unlabelled = guessed.height - int((guess >= 0).sum())
        keep &= guess >= 0
        predicted = shared.predictions[guess[keep]]
    labels_kept = keep[item]
    key = (who * len(shared.classes) + label)[labels_kept]
    n_items = int(keep.sum())
    if n_items:
        number = int(place.name)
        write_shard(shared.target, number, per_item[keep], key, predicted, items.filter(keep))
    absent = 0 if shared.predictions is None else int((guess < 0).sum())
    lost = int((bare & (guess >= 0)).sum()) if shared.predictions is not None else int(bare.sum())
    return n_items, len(key), absent, unlabelled, lost, clashes, again


def _read(place: Path, what: str) -> pl.DataFrame:
    pieces = sorted(place.glob(f"{what}-*.ipc"))
    if not pieces:
        return pl.DataFrame({"item": [], "who": [], "what": []})
    return pl.concat([pl.read_ipc(piece) for piece in pieces], rechunk=True)


def _by_item(rows: pl.DataFrame) -> tuple[pl.Series, Array]:
    """The items of a bucket in an order that rows do not change, and each row's place in it."""
    items = rows["item"].unique()
    order = pl.DataFrame({"item": items, "hash": items.hash(1)}).sort("hash", "item")
    places = order.with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64))
    found = rows.select("item").join(places, on="item", how="left", maintain_order="left")
    return order["item"], found["place"].to_numpy()


def _one_each(
    item: Array, who: Array, label: Array, items: pl.Series, shared: _Bucket
) -> tuple[Array, Array, Array, int, int]:
    """Labels by item and labeler; identical repeats count once, contradictions by the rule, and how
    many there are of both."""
    key = item * len(shared.names) + who
    order = places_in_order(item, who, label, (len(items), len(shared.names)))
    if order is not None:
        key, item, who, label = key[order], item[order], who[order], label[order]
    same = np.flatnonzero(key[1:] == key[:-1]) + 1
    if len(same) == 0:
        return item, who, label, 0, 0
    keep = ~identical_repeats(label, same)
    again = int((~keep).sum())
    key, item, who, label = key[keep], item[keep], who[keep], label[keep]
    clash = np.flatnonzero(key[1:] == key[:-1]) + 1
    if len(clash) and shared.repeats == "error":
        i = int(clash[0])
        name = shared.names[int(np.flatnonzero(shared.labelers == who[i])[0])]
        raise InputError(
            f"labeler {name!r} says both {shared.classes[label[i - 1]]!r} and "
            f"{shared.classes[label[i]]!r} for item {items[int(item[i])]!r}. Keep one with "
            "`repeats='first'` or `repeats='last'`, keep both with `repeats='keep'`, or remove a "
            "line."
        )
    if shared.repeats in ("first", "last"):
        keep = np.ones(len(key), dtype=bool)
        keep[clash if shared.repeats == "first" else clash - 1] = False
        return item[keep], who[keep], label[keep], len(clash), again
    order = np.lexsort((label, key))  # by label too, so that the order of rows changes nothing
    return item[order], who[order], label[order], len(clash), again


def _guesses(items: pl.Series, guessed: pl.DataFrame) -> Array:
    """The code of each item's predicted word, -1 where it has none."""
    if guessed.height == 0:
        return np.full(len(items), -1)
    twice = guessed["item"].is_duplicated()
    if twice.any():
        raise InputError(
            f"the predictions name item {guessed['item'][int(twice.arg_max() or 0)]!r} twice: "
            "keep one row for each item."
        )
    found = pl.DataFrame({"item": items}).join(
        guessed, on="item", how="left", maintain_order="left"
    )
    return found["what"].fill_null(-1).to_numpy()
