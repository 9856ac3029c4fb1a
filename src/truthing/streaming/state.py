"""What a grade keeps of its labels, so that new items can join it: sums, and which items they are.

A state is a plain .npz file without Python objects, with a version.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from truthing.asking import prepare
from truthing.class_codes import Array, places_by_name, recode
from truthing.engine.base import Engine
from truthing.engine.carried import Carried
from truthing.engine.memory import Memory
from truthing.errors import InputError, listing
from truthing.metrics.counts import Tally
from truthing.ordering import in_order
from truthing.predicted import predicted_classes
from truthing.progress import silent
from truthing.report import Report
from truthing.streaming.answer import answer_streamed
from truthing.streaming.held import Held
from truthing.tables.write import whole
from truthing.truth.consensus import Entries
from truthing.truth.counted import Counted, CountedPanel, count_panel
from truthing.truth.link.grouped import ViewSums, view_sums
from truthing.truth.link.views import fit_both
from truthing.truth.passes import PassSums, coin_pass, count_keys, expectation_pass

VERSION = 2  # 2: agreement of labelers among themselves
KINDS: dict[str, Any] = {
    "expectation_pass": PassSums,
    "coin_pass": PassSums,
    "view_sums": ViewSums,
    "count_panel": Counted,
}
FROZEN = (
    "Items graded before keep what was learned about them then; a complete grade of all labels may "
    "differ a little."
)


@dataclass(frozen=True, eq=False)
class State:
    """Sums of kernels by their name, gold codes, a hash of each item, and what was asked."""

    sums: Mapping[str, Any]
    gold: Array
    seen: Array
    about: Mapping[str, Any]

    @property
    def classes(self) -> tuple[Any, ...]:
        return tuple(self.about["classes"])

    def write(self, path: Any) -> None:
        """To a file that `read` takes."""
        columns = {"gold": self.gold, "seen": self.seen, "count_keys": self.sums["count_keys"]}
        for name, kind in KINDS.items():
            for part in fields(kind):
                columns[f"{name}.{part.name}"] = getattr(self.sums[name], part.name)
        told = json.dumps({**self.about, "version": VERSION})
        with whole(path) as file:
            np.savez(file, about=np.array(told), **columns)

    @classmethod
    def read(cls, path: Any) -> State:
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as held:
                about = json.loads(str(held["about"]))
                if about.pop("version", None) != VERSION:
                    raise InputError(f"{path} was written by another version: grade again.")
                sums: dict[str, Any] = {"count_keys": held["count_keys"]}
                for name, kind in KINDS.items():
                    parts = {p.name: _plain(held[f"{name}.{p.name}"]) for p in fields(kind)}
                    sums[name] = kind(**parts)
                return cls(sums, held["gold"], held["seen"], about)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as problem:
            if isinstance(problem, InputError):
                raise
            raise InputError(
                f"{path} is no state of a grade, or is damaged: grade again."
            ) from None

    def update(self, labels: Any, predictions: Any, *, gold: Any = None) -> Report:
        """The report with new items, which were not among the earlier ones."""
        joined, order = in_order(prepare(predictions, labels, gold=gold))
        strange = [c for c in joined.labels.classes if c not in self.classes]
        if strange:
            raise InputError(
                f"class {listing(map(repr, strange))} did not occur before: grade all labels again."
            )
        again = np.isin(_hashes(joined.labels.items), self.seen)
        if again.any():
            held_before = [repr(joined.labels.items[i]) for i in np.flatnonzero(again)[:4]]
            raise InputError(
                f"item {listing(held_before, 3)} was graded before, and its earlier labels are not "
                "kept: "
                "leave it out, or grade all labels again."
            )
        new = joined.labels.with_classes(self.classes)
        given, _ = predicted_classes(joined, None, None, [])
        predicted = recode(given.astype(np.int32), joined.labels.classes, self.classes)
        truth = recode(joined.gold.astype(np.int32), joined.labels.classes, self.classes)
        known = np.flatnonzero(truth >= 0)
        names = tuple({(type(n), n): n for n in (*self.about["labelers"], *new.labelers)}.values())
        inside = tuple(names[t] for t in places_by_name(names))
        rater = recode(new.labeler, new.labelers, inside)
        entries = replace(Entries.of(new), rater=rater, n_raters=len(inside))
        numbers = np.full(new.n_items, -1)
        numbers[known] = len(self.gold) + np.arange(len(known))
        engine = Carried(entries.engine(predicted, known=numbers), self._for_labelers(inside))
        panel = CountedPanel(self.classes, inside, engine, engine.add(count_panel))
        codes = np.concatenate([self.gold, truth[known]])
        told = list(joined.warnings)
        held = Held(panel, None, names, codes, (), {}, [], told, engine, places=order.items)
        seen = np.concatenate([self.seen, _hashes(new.items)])
        return self._report(held, order.labels.items, seen)

    def _report(self, held: Held, items: Any, seen: Array) -> Report:
        asked = dict(self.about["asked"])
        panel_error = asked.pop("panel_error")
        if isinstance(panel_error, list):
            panel_error = tuple(panel_error)
        _, outcome = answer_streamed(
            held,
            panel_error=panel_error,
            gold_weights=None,
            gold_choice=None,
            progress=silent,
            **asked,
        )
        about = {**self.about, "labelers": list(held.labelers)}
        told = replace(
            outcome,
            warnings=[*held.warnings, *outcome.warnings],
            assumptions=[*outcome.assumptions, FROZEN],
            state=lambda: state_of(held.panel.engine, held.gold, seen, about),
        )
        return Report(
            told,
            classes=self.classes,
            positive=asked["positive"],
            items=items,
            method="posterior",
            target=asked["target"],
            seed=asked["seed"],
            sizes=held.sizes,
            dropped={},
            face_value=Tally.from_confusion(held.face_value),
            gold_alone=getattr(outcome.answer, "gold_alone", None),
        )

    def _for_labelers(self, names: tuple[Any, ...]) -> dict[str, Any]:
        """The sums with a row for each of these labelers, the classifier last."""
        before, n = tuple(sorted_names(self.about["labelers"])), len(self.classes)
        place = recode(np.arange(len(before), dtype=np.int32), before, names)

        def spread(table: Array, classifier: bool, each: int) -> Array:
            blocks = table.reshape(-1, each, *table.shape[1:])
            wide = np.zeros((len(names) + classifier, *blocks.shape[1:]), dtype=table.dtype)
            wide[place] = blocks[: len(before)]
            if classifier:
                wide[-1] = blocks[-1]
            return wide.reshape(-1, *table.shape[1:])

        old = self.sums["count_panel"]
        circle = np.arange(len(names), dtype=np.int32)
        circle[place] = place[old.circle]
        counted = replace(
            old, given=spread(old.given, False, n), hits=spread(old.hits, False, 1), circle=circle
        )
        passes = {
            name: replace(self.sums[name], counts=spread(self.sums[name].counts, True, n))
            for name in ("expectation_pass", "coin_pass")
        }
        return {
            "count_keys": spread(self.sums["count_keys"], True, n),
            "majority_pass": passes["expectation_pass"],  # a warm start
            **passes,
            "view_sums": self.sums["view_sums"],
            "count_panel": counted,
        }


def read_state(path: Any) -> State:
    """The state of a grade, as ``report.state.write(path)`` kept it.

    Parameters
    ----------
    path : path
        A file that was written by a report's state.

    Returns
    -------
    State
        ``state.update(labels, predictions, gold=None)`` is the report with new items.

    Raises
    ------
    InputError
        The file is no state, or one of another version.
    """
    return State.read(path)


def sorted_names(labelers: Iterable[Any]) -> list[Any]:
    names = list(labelers)
    return [names[t] for t in places_by_name(names)]


def state_of(engine: Engine, gold: Array, seen: Array, about: Mapping[str, Any]) -> State:
    """The sums of a grade, from the labels that an engine holds."""
    full, coin = fit_both(engine)
    sums = {
        "count_keys": engine.add(count_keys),
        "expectation_pass": engine.add(expectation_pass, full.tables),
        "coin_pass": engine.add(coin_pass, coin.tables),
        "view_sums": engine.add(view_sums, full.tables, coin.tables),
        "count_panel": engine.add(count_panel),
    }
    return State(sums, gold, seen, about)


def state_in_memory(question: Any, labelers: Iterable[Any], panel_error: Any) -> State:
    """The state of a grade whose labels are in memory."""
    labels = question.labels
    known = np.flatnonzero(question.gold >= 0)
    numbers = np.full(labels.n_items, -1)
    numbers[known] = np.arange(len(known))
    engine: Memory = Entries.of(labels).engine(question.predicted, known=numbers)
    asked = {
        "positive": question.positive,
        "target": question.target,
        "n_draws": question.n_draws,
        "seed": question.seed,
        "panel": question.panel,
        "trained_on_labels": question.trained_on_labels,
        "panel_error": panel_error,
    }
    about = {"classes": list(labels.classes), "labelers": list(labelers), "asked": asked}
    return state_of(engine, question.gold[known], _hashes(labels.items), about)


def state_in_groups(held: Held, items: Any, asked: Mapping[str, Any]) -> State:
    """The state of a grade whose items were counted in groups, on disk or in memory."""
    about = {"classes": list(held.panel.classes), "labelers": list(held.labelers), "asked": asked}
    engine = held.panel.engine if held.stream is None else held.stream
    return state_of(engine, held.gold, _hashes(items), about)


def _hashes(items: Iterable[Any]) -> Array:
    """A number for each item that does not change from one session to the next; 7 and "7" count as
    one item, as in files without types."""
    found = (hashlib.blake2b(str(item).encode(), digest_size=8).digest() for item in items)
    return np.frombuffer(b"".join(found), dtype=np.uint64)


def _plain(value: Array) -> Any:
    return value.item() if value.ndim == 0 else value
