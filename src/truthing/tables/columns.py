"""The one place that recognises columns, and says why it took which for what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from truthing.errors import InputError, did_you_mean, listing
from truthing.notes import NOTHING, Notes
from truthing.tables.asked import Asked
from truthing.tables.items import all_different, find_item
from truthing.tables.layout import LAYOUTS, settle_layout
from truthing.tables.panel import hints, may_hold_labels, never_a_labeler
from truthing.tables.table import Table

ROLES: dict[str, tuple[str, ...]] = {
    "item": (
        *("item", "task", "id", "image", "example", "question", "sample", "document", "uid"),
        *("instance", "doc", "trace", "case", "hit"),
    ),
    "labeler": (
        *("labeler", "worker", "annotator", "rater", "performer", "user", "judge", "labeller"),
        *("coder", "reviewer", "evaluator", "grader", "rated_by", "labeled_by", "completed_by"),
        "judge_model",
    ),
    "label": (
        *("label", "rating", "answer", "response", "value"),
        *("annotation", "verdict", "judgment", "judgement", "choice", "class"),
    ),
    "prediction": (
        *("prediction", "pred", "y_pred", "predicted", "y_hat", "predicted_label"),
        *("model_pred", "predicted_class", "pred_label", "model_prediction"),
    ),
    "score": ("score", "probability", "prob", "y_score", "p_hat", "confidence", "proba"),
    "truth": (
        *("truth", "gold", "true_label", "ground_truth", "y_true", "gold_label", "true_class"),
        *("gold_standard", "reference_label"),
    ),
    "count": ("count", "n", "frequency", "votes", "times"),
    "pattern": ("pattern", "labels"),
}
MOST_COLUMNS = 20_000
MOST_CLASSES = 50  # of a column of labels that has no usual name
_SUFFIX = re.compile(r"[ _-]?(id|name|idx|index)$")
_SCORE_COLUMN = re.compile(r"(?:score|prob|probability|p|proba)[_: ](.+)", re.IGNORECASE)


@dataclass(frozen=True)
class Columns:
    """Which column plays which role, the layout of the rest, and the reasons.

    ``rest`` are the labelers of a wide table or the classes of a table of counts, ``unused`` all
    other columns with the reason, ``problem`` what stands in the way of reading labels.
    """

    role: Mapping[str, str]
    rest: tuple[str, ...]
    scores: Mapping[str, str] = field(default_factory=dict)
    layout: str = "long"
    notes: Notes = NOTHING
    unused: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    def get(self, role: str) -> str | None:
        return self.role.get(role)

    def describe(self) -> str:
        """``task → item, worker → labeler, label → label``."""
        roles = [f"{column} → {role}" for role, column in self.role.items()]
        roles += [f"{column} → score of {name}" for name, column in self.scores.items()]
        if self.rest and self.layout in ("wide", "grouped"):
            roles.append(f"{listing(self.rest, 4)} → a labeler each")
        if self.rest and self.layout == "counts":
            roles.append(f"{listing(self.rest, 4)} → votes for a class each")
        return ", ".join(roles) or "no known column"


def recognise(table: Table, asked: Asked, hint: Sequence[Any] = ()) -> Columns:
    """Roles by name (the user's word first), then the layout of what is left.

    ``hint`` are the classes of predictions or gold, which tell labelers from other columns.
    """
    if table.frame.width > MOST_COLUMNS:
        raise InputError(
            f"{table.name} has {table.frame.width:,} columns, and at most {MOST_COLUMNS:,} are "
            "read: write it as a long table, one row for each label (item, labeler, label)."
        )
    if asked.layout is not None and asked.layout not in LAYOUTS:
        raise InputError(f"layout {asked.layout!r} is not known: choose {', '.join(LAYOUTS)}.")
    asked = asked.among(table.frame.columns)
    columns = [c for c in table.frame.columns if c not in set(asked.ignore)]
    role = _named(table, columns, asked)
    notes: list[str] = []
    if not table.nameless:
        claimed = set(asked.labeler_columns)
        for what, words in ROLES.items():
            if what not in role:
                _take(table, what, words, [c for c in columns if c not in claimed], role, notes)
        if not asked.labeler_columns:
            _refuse_model_column(table, columns, role)
    scores = {} if table.nameless else _score_columns(columns, role)
    free = [c for c in columns if c not in {*role.values(), *scores.values()}]
    named = bool(role)
    if not table.nameless and "item" not in role:
        found, why = find_item(table, free, role)
        if found is not None:
            role = {"item": found, **role}
            free.remove(found)
            notes.append(why)
    only = _only_label(table, asked, role, free)
    if only is not None:
        role = {**role, "label": only}
        free.remove(only)
        notes.append(
            f"{table.name}: {only!r} was taken for the label, the only column left: choose another "
            "with `label_column=...`."
        )
    own = _own_classes(table, role)
    settled = settle_layout(table, asked, role, free, hints([*hint, *own]))
    if not settled.role and not settled.rest:
        raise InputError(
            f"{table.name} has no column of a known name (it has {listing(table.frame.columns)}). "
            "Name them with `item_column=...`, `labeler_column=...`, `label_column=...` and the "
            "like, or say `layout='wide'` or `layout='counts'` if every column is a labeler or a "
            "class."
        )
    if not named and not asked.columns and not asked.labeler_columns:
        _refuse_no_header(table)
    unused = {c: "it is left out by `ignore=...`" for c in table.frame.columns if c in asked.ignore}
    return Columns(
        settled.role,
        settled.rest,
        scores,
        settled.layout,
        Notes(tuple(notes) + settled.remarks, settled.checks),
        {**unused, **settled.unused},
        settled.problem,
    )


def _only_label(
    table: Table, asked: Asked, role: Mapping[str, str], free: Sequence[str]
) -> str | None:
    """The one column that can hold labels, where items come again with another labeler each."""
    if table.nameless or asked.layout or asked.labeler_columns:
        return None
    if not {"item", "labeler"} <= role.keys() or {"label", "count", "pattern"} & role.keys():
        return None
    left = [c for c in free if not never_a_labeler(c)]
    one = len(left) == 1 and may_hold_labels(table, left[0], role["item"], MOST_CLASSES)
    return left[0] if one else None


def _named(table: Table, columns: Sequence[str], asked: Asked) -> dict[str, str]:
    role = {}
    for what, wanted in asked.columns.items():
        # files that call it differently share one option: item_column="task,image"
        here = [name for name in dict.fromkeys((wanted, *wanted.split(","))) if name in columns]
        if not here:
            raise InputError(
                f"{table.name} has no column {wanted!r} for the {what}."
                f"{did_you_mean(wanted, columns)} It has {listing(columns)}."
            )
        if len(here) > 1 and what == "label":
            raise InputError(
                f"{table.name}: {listing(here)} are several columns of labels, one for each "
                f"labeler: give `labeler_columns={here}`."
            )
        if len(here) > 1:
            raise InputError(
                f"{table.name} has {listing(here)}, all of them named for the {what}: name one."
            )
        role[what] = here[0]
    absent = [c for c in asked.labeler_columns if c not in columns]
    if absent:
        raise InputError(
            f"{table.name} has no column {absent[0]!r} for a labeler."
            f"{did_you_mean(absent[0], columns)} It has {listing(columns)}."
        )
    return role


def _take(
    table: Table,
    what: str,
    words: tuple[str, ...],
    columns: Sequence[str],
    role: dict[str, str],
    notes: list[str],
) -> None:
    taken = set(role.values())
    plain = {c: _plain(c) for c in columns if c not in taken}
    hits = _in_order(words, plain)
    bare = {c: _SUFFIX.sub("", name) for c, name in plain.items() if c not in hits}
    also = _in_order(words, bare)
    if what in ("label", "prediction", "truth"):  # response_id may name what was labelled
        few = table.frame.height < 5
        also = [c for c in also if not hits and (few or not all_different(table, c))]
    hits += also
    if not hits:
        return
    chosen = hits[0]
    if what == "item" and len(hits) > 1:
        # each row's own id is not the item where another column of that name repeats
        frame = table.frame
        several = [c for c in hits if c != "question" and frame[c].n_unique() < frame.height]
        if several and chosen not in several and _has_labeler(columns):
            chosen = several[0]
    role[what] = chosen
    others = [c for c in hits if c != chosen]
    if others:
        notes.append(
            f"{table.name}: {chosen!r} was taken for the {what}, though "
            f"{listing(map(repr, others))} could be too: choose with `{what}_column={others[0]!r}`."
        )


def is_known(name: str) -> bool:
    """Whether a column of this name would be recognised.

    >>> is_known("Worker ID"), is_known("Export of 3 May")
    (True, False)
    """
    plain = _plain(name)
    return any(n in words for words in ROLES.values() for n in (plain, _SUFFIX.sub("", plain)))


def _has_labeler(columns: Sequence[str]) -> bool:
    return any(_SUFFIX.sub("", _plain(c)) in ROLES["labeler"] for c in columns)


def _plain(column: str) -> str:
    """worker_id for WorkerId and "Worker ID"."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.strip())
    return re.sub(r"[ .-]+", "_", apart).lower()


def _in_order(words: Sequence[str], names: Mapping[str, str]) -> list[str]:
    by_name: dict[str, list[str]] = {}
    for column, name in names.items():
        by_name.setdefault(name, []).append(column)
    return [column for word in words for column in by_name.get(word, [])]


def _refuse_model_column(table: Table, columns: Sequence[str], role: dict[str, str]) -> None:
    """``model`` is a prediction in one file and a judge in another: ask."""
    taken = set(role.values())
    model = next((c for c in columns if c.strip().lower() == "model" and c not in taken), None)
    if model and "labeler" not in role and "prediction" not in role:
        raise InputError(
            f"{table.name}: column {model!r} may name the judge who gave each label or hold a "
            f"model's predictions. Say which: `labeler_column={model!r}` or "
            f"`prediction_column={model!r}`, or leave it out with `ignore={model!r}`."
        )


def _score_columns(columns: Sequence[str], role: Mapping[str, str]) -> dict[str, str]:
    """One column of scores for each class: prob_cat, score_dog …"""
    taken = set(role.values())
    matches = {c: _SCORE_COLUMN.fullmatch(c) for c in columns if c not in taken}
    found = {m[1]: c for c, m in matches.items() if m}
    return found if len(found) > 1 else {}


def _own_classes(table: Table, role: Mapping[str, str]) -> list[Any]:
    """Classes of the predictions and the truth in the same file."""
    found: list[Any] = []
    for what in ("prediction", "truth"):
        if what in role and table.frame[role[what]].dtype != pl.Object:
            column = table.frame[role[what]].head(20_000).unique().drop_nulls()
            found += [v for v in column.to_list() if str(v).strip()]
    return found


def _refuse_no_header(table: Table) -> None:
    """A first line of values is a file without a header."""
    if table.nameless or table.typed:
        return
    for name in table.frame.columns:
        column = table.frame[name]
        if name and column.n_unique() < max(3, 0.5 * column.len()) and (column == name).any():
            raise InputError(
                f"{table.name} {table.unit} {table.first_line - 1} looks like data, not like names "
                f"of columns ({name!r} is a "
                "value of its column too): write a first line such as item,labeler,label."
            )


def without_labels(columns: Columns) -> Columns:
    """The same columns for a file that is asked for predictions or gold only."""
    return replace(columns, problem="")
