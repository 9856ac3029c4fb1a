"""The one place that recognises columns, and says why it took which for what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from truthing.errors import InputError, did_you_mean, listing
from truthing.tables.table import Table

ROLES: dict[str, tuple[str, ...]] = {
    "item": ("item", "task", "id", "image", "example", "question", "sample", "document", "uid"),
    "labeler": (
        "labeler",
        "worker",
        "annotator",
        "rater",
        "performer",
        "user",
        "judge",
        "labeller",
        "coder",
        "reviewer",
    ),
    "label": ("label", "rating", "answer", "response", "value"),
    "prediction": (
        "prediction",
        "pred",
        "y_pred",
        "predicted",
        "y_hat",
        "predicted_label",
        "model_pred",
        "predicted_class",
    ),
    "score": ("score", "probability", "prob", "y_score", "p_hat", "confidence"),
    "truth": ("truth", "gold", "true_label", "ground_truth", "y_true", "gold_label"),
    "count": ("count", "n", "frequency", "votes", "times"),
    "pattern": ("pattern", "labels"),
}
_SUFFIX = re.compile(r"[ _-]?(id|name|idx|index)$")
_SCORE_COLUMN = re.compile(r"(?:score|prob|probability|p|proba)[_: ](.+)", re.IGNORECASE)
_COUNT_COLUMN = re.compile(r"(?:count|n|votes|c)[_: ]?(.+)", re.IGNORECASE)


@dataclass(frozen=True)
class Columns:
    """Which column plays which role, the layout of the rest, and the reasons."""

    role: Mapping[str, str]
    rest: tuple[str, ...]
    scores: Mapping[str, str] = field(default_factory=dict)
    layout: str = "long"
    notes: tuple[str, ...] = ()

    def get(self, role: str) -> str | None:
        return self.role.get(role)

    def describe(self) -> str:
        """``task → item, worker → labeler, label → label``."""
        said = [f"{column} → {role}" for role, column in self.role.items()]
        said += [f"{column} → score of {name}" for name, column in self.scores.items()]
        if self.rest and self.layout in ("wide", "grouped"):
            said.append(f"{listing(self.rest, 4)} → a labeler each")
        if self.rest and self.layout == "counts":
            said.append(f"{listing(self.rest, 4)} → votes for a class each")
        return ", ".join(said) or "no known column"


def recognise(table: Table, named: Mapping[str, str | None], layout: str | None = None) -> Columns:
    """Roles by name (the user's word first), then the layout of what is left."""
    columns = list(table.frame.columns)
    role: dict[str, str] = {}
    notes: list[str] = []
    for what, column in named.items():
        if column is None:
            continue
        # files that call it differently share one option: item_column="task,image"
        column = next((name for name in (column, *column.split(",")) if name in columns), column)
        if column not in columns:
            raise InputError(
                f"{table.name} has no column {column!r} for the {what}.{did_you_mean(column, columns)} It has {listing(columns)}."
            )
        role[what] = column
    if table.nameless:
        return _nameless(table, role, layout)
    for what, words in ROLES.items():
        if what not in role:
            _take(what, words, columns, role, notes)
    _refuse_model_column(table, columns, role)
    if not role and layout is None:
        raise InputError(
            f"{table.name} has no column of a known name (it has {listing(columns)}). Name them with --item-column, --labeler-column, "
            "--label-column and the like, or say --layout wide or counts if every column is a labeler or a class."
        )
    scores = _score_columns(columns, role)
    rest = tuple(c for c in columns if c not in role.values() and c not in scores.values())
    return _settle_layout(table, role, rest, scores, layout, notes)


def _take(
    what: str, words: tuple[str, ...], columns: list[str], role: dict[str, str], notes: list[str]
) -> None:
    free = [c for c in columns if c not in role.values()]
    plain = {c: c.strip().lower() for c in free}
    hits = [c for word in words for c in free if plain[c] == word]
    hits += [
        c for word in words for c in free if c not in hits and _SUFFIX.sub("", plain[c]) == word
    ]
    if hits:
        role[what] = hits[0]
        if len(hits) > 1:
            notes.append(
                f"{hits[0]!r} was taken for the {what}, though {listing(map(repr, hits[1:]))} could be too: choose with --{what}-column."
            )


def _refuse_model_column(table: Table, columns: list[str], role: dict[str, str]) -> None:
    """``model`` is a prediction in one file and a judge in another: ask."""
    model = next(
        (c for c in columns if c.strip().lower() == "model" and c not in role.values()), None
    )
    if model and "labeler" not in role and "prediction" not in role:
        raise InputError(
            f"{table.name}: column {model!r} may name the judge who gave each label or hold a model's predictions. "
            f"Say which: --labeler-column {model} or --prediction-column {model}."
        )


def _score_columns(columns: list[str], role: Mapping[str, str]) -> dict[str, str]:
    """One column of scores for each class: prob_cat, score_dog …"""
    matches = {c: _SCORE_COLUMN.fullmatch(c) for c in columns if c not in role.values()}
    found = {m[1]: c for c, m in matches.items() if m}
    return found if len(found) > 1 else {}


def _settle_layout(
    table: Table,
    role: dict[str, str],
    rest: tuple[str, ...],
    scores: dict[str, str],
    layout: str | None,
    notes: list[str],
) -> Columns:
    if layout is None:
        if ("pattern" in role and "count" in role and "label" not in role) or (
            "count" in role and "item" not in role and "label" not in role and rest
        ):
            layout = "grouped"
        elif "label" in role or "pattern" in role:
            layout = "long"
        elif rest:
            layout = _wide_or_counts(table, rest, notes)
        else:
            layout = "long"
    if layout not in ("long", "wide", "counts", "grouped"):
        raise InputError(f"--layout {layout} is not known: choose long, wide, counts or grouped.")
    if layout in ("wide", "counts") or (layout == "grouped" and "pattern" not in role):
        back = [
            r
            for r in ("label", "pattern", "labeler", *(("count",) if layout != "grouped" else ()))
            if r in role
        ]
        rest = tuple(c for c in table.frame.columns if c in rest or c in [role[r] for r in back])
        role = {r: c for r, c in role.items() if r not in back}
    if layout == "long" and "pattern" in role and "label" not in role:
        role = {**role, "label": role.pop("pattern")}
    if layout == "long":
        role = {r: c for r, c in role.items() if r not in ("pattern", "count")}
    return Columns(role, rest, scores, layout, tuple(notes))


def _wide_or_counts(table: Table, rest: tuple[str, ...], notes: list[str]) -> str:
    """Labels or votes? Whole numbers in every cell could be either; say which was taken and how to choose the other."""
    whole = _whole_numbers(table, rest)
    if whole is None:
        return "wide"
    if len(rest) == 1:
        return "wide"
    named = sum(
        bool(_COUNT_COLUMN.fullmatch(c)) and not re.fullmatch(r"(?i)c?oder.*|n?ame.*", c)
        for c in rest
    ) == len(rest)
    counts = whole.max() > 1 and (
        named or len(np.unique(whole)) > len(rest) or len(np.unique(whole.sum(axis=1))) == 1
    )
    taken, other = ("counts", "wide") if counts else ("wide", "counts")
    meaning = {"counts": "votes for each class", "wide": "one label from each labeler"}
    notes.append(
        f"{table.name} could hold {meaning['wide']} or {meaning['counts']}; it was read as {meaning[taken]}. "
        f"Use --layout {other} for the other reading."
    )
    return taken


def _whole_numbers(table: Table, rest: tuple[str, ...]) -> np.ndarray | None:
    """The cells as non-negative integers, or None where one is not."""
    cells = table.frame.select(rest)
    if any(dtype == pl.Object for dtype in cells.dtypes):
        return None
    numbers = cells.select(pl.all().cast(pl.Float64, strict=False))
    if any(numbers[c].null_count() or numbers[c].is_nan().any() for c in numbers.columns):
        return None
    values = numbers.to_numpy()
    return values if (values >= 0).all() and (values == np.floor(values)).all() else None


def _nameless(table: Table, role: dict[str, str], layout: str | None) -> Columns:
    """A numpy array: columns are positions."""
    columns = table.frame.columns
    if columns == ["value"]:
        return Columns({"label": "value", **role}, (), {}, "long")
    notes: list[str] = []
    rest = tuple(c for c in columns if c not in role.values())
    return Columns(role, rest, {}, layout or _wide_or_counts(table, rest, notes), tuple(notes))
