"""Long, wide, counts or grouped: how a table is laid out, and what its other columns are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array
from truthing.spelling import key
from truthing.tables.asked import Asked
from truthing.tables.panel import Panel, choose, never_a_labeler
from truthing.tables.table import Table

LAYOUTS = ("long", "wide", "counts", "grouped")
_COUNT_COLUMN = re.compile(r"(?:count|n|votes)[_: ](.+)|c\d+", re.IGNORECASE)
_RATER = re.compile(r"(?i)(?:r|w|a|j|rater|worker|annotator|labeler|judge|coder|expert)[_ ]?\d+")


@dataclass(frozen=True)
class Settled:
    """The layout, roles as they remain in it, and what had to be said."""

    layout: str
    role: Mapping[str, str]
    rest: tuple[str, ...]
    unused: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    problem: str = ""


def settle_layout(
    table: Table, asked: Asked, role: dict[str, str], free: Sequence[str], hint: frozenset[Any]
) -> Settled:
    """What is left after the roles: labelers, classes with votes, or neither."""
    layout = asked.layout or _by_roles(table, asked, role, free)
    if layout == "long":
        return _long(table, asked, role, free, hint)
    if layout == "grouped" and "pattern" in role:
        return Settled(layout, role, ())
    back: list[str] = [
        r for r in ("label", "pattern", "labeler") if r in role and r not in asked.columns
    ]
    if layout != "grouped" and "count" not in asked.columns:
        back.append("count")
    given = {role[r] for r in back if r in role}
    role = {r: c for r, c in role.items() if r not in back}
    columns = [c for c in table.frame.columns if c in free or c in given]
    if asked.labeler_columns:
        others = dict.fromkeys(columns, "it is not among `labeler_columns=...`")
        named = asked.labeler_columns
        unused = {c: why for c, why in others.items() if c not in named}
        return Settled("wide" if layout != "grouped" else layout, role, named, unused)
    if layout in ("counts", "grouped") or table.nameless:
        chosen = layout if layout in ("counts", "grouped", "wide") else ""
        if chosen:
            return Settled(chosen, role, tuple(columns))
    return _wide_or_counts(table, asked, role, columns, hint)


def _by_roles(table: Table, asked: Asked, role: Mapping[str, str], free: Sequence[str]) -> str:
    if asked.labeler_columns:
        return "wide"
    if table.nameless:
        return "long" if table.frame.columns == ["value"] else "open"
    if "pattern" in role and "count" in role and "label" not in role:
        return "grouped"
    if "count" in role and "item" not in role and "label" not in role and free:
        return "grouped"
    if "label" in role or "pattern" in role or not free:
        return "long"
    return "open"


def _long(
    table: Table, asked: Asked, role: dict[str, str], free: Sequence[str], hint: frozenset[Any]
) -> Settled:
    if table.nameless:
        role = {"label": "value", **role}
    if "pattern" in role and "label" not in role:
        role = {**role, "label": role.pop("pattern")}
    role = {r: c for r, c in role.items() if r not in ("pattern", "count")}
    unused = dict.fromkeys(table.frame.columns, "no role is called like it")
    unused = {c: why for c, why in unused.items() if c in free}
    problem = ""
    if table.asks and "label" in role and not {"labeler", "label"} & set(asked.columns):
        problem = _rivals(table, role, free, hint) if "labeler" not in role else ""
    return Settled("long", role, (), unused, problem=problem)


def _rivals(
    table: Table, role: Mapping[str, str], free: Sequence[str], hint: frozenset[Any]
) -> str:
    """A column called label beside others that hold the same classes: one labeler, or several?"""
    candidates = [role["label"], *(c for c in free if not never_a_labeler(c))]
    if len(candidates) == 1 or table.asks is False:
        return ""
    panel = choose(table, candidates, hint)
    if role["label"] not in panel.columns or len(panel.columns) == 1:
        return ""
    others = [c for c in panel.columns if c != role["label"]]
    return (
        f"{table.name}: column {role['label']!r} holds the same classes as "
        f"{', '.join(map(repr, others[:4]))}. Who gave what? Name the labelers with "
        f"`labeler_columns={others[:6]}`, or the one column of labels with "
        f"`label_column={role['label']!r}`."
    )


def _wide_or_counts(
    table: Table, asked: Asked, role: dict[str, str], columns: list[str], hint: frozenset[Any]
) -> Settled:
    """Labels or votes? Whole numbers in every cell could be either."""
    named = {c for c in columns if key(c) in hint or _COUNT_COLUMN.fullmatch(c)}
    numeric = [c for c in columns if not never_a_labeler(c) or c in named]
    whole = _whole_numbers(table, numeric) if len(numeric) > 1 else None
    panel = choose(table, columns, hint) if not table.nameless else None
    if panel is None:
        panel = Panel(tuple(columns))
    if asked.layout is None and len(numeric) > 1 and all(map(_COUNT_COLUMN.fullmatch, numeric)):
        unused = {c: "it holds no votes for a class" for c in columns if c not in numeric}
        return Settled("counts", role, tuple(numeric), unused)
    if asked.layout == "wide" or whole is None:
        return _wide(role, panel)
    evidence = _votes(whole, numeric, named, hint, panel, table)
    unused = {c: "it holds no votes for a class" for c in columns if c not in numeric}
    other = {"counts": "one label from each labeler", "wide": "votes for each class"}
    if evidence == "ask":
        problem = (
            f"{table.name} could hold one label from each labeler or votes for each class: say "
            "`layout='wide'` or `layout='counts'`."
        )
        return Settled("wide", role, panel.columns, panel.others, problem=problem)
    rival = "wide" if evidence == "counts" else "counts"
    doubt = (
        f"{table.name} was read as {other[rival]}; it could hold {other[evidence]} too: "
        f"`layout={rival!r}`."
    )
    if evidence == "counts":
        doubts = () if named == set(numeric) else (doubt,)
        return Settled("counts", role, tuple(numeric), unused, checks=doubts)
    settled = _wide(role, panel)
    if hint or all(_RATER.fullmatch(c) for c in panel.columns):
        return settled
    if np.nanmax(whole) <= 1:
        return replace(settled, remarks=(*settled.remarks, doubt))
    return replace(settled, checks=(doubt,))


def _wide(role: Mapping[str, str], panel: Panel) -> Settled:
    remarks: tuple[str, ...] = ()
    if panel.others and panel.columns:
        remarks = (
            f"Labelers are {', '.join(panel.columns[:6])}"
            + (f" and {len(panel.columns) - 6} more" if len(panel.columns) > 6 else "")
            + f"; no labels: {', '.join(c or '(no name)' for c in list(panel.others)[:6])}"
            + (f" and {len(panel.others) - 6} more." if len(panel.others) > 6 else "."),
        )
    return Settled("wide", role, panel.columns, panel.others, remarks, problem=panel.problem)


def _votes(
    whole: Array,
    columns: Sequence[str],
    named: set[str],
    hint: frozenset[Any],
    panel: Panel,
    table: Table,
) -> str:
    """counts, wide or ask, from names of columns, known classes and the numbers themselves."""
    if len(named) == len(columns):
        return "counts"
    if all(_RATER.fullmatch(c) for c in columns):
        return "wide"
    if hint:
        if len(panel.columns) >= 1 and not named:
            return "wide"
        return "ask" if panel.columns else "counts" if len(named) > 1 else "wide"
    known = whole[~np.isnan(whole).any(axis=1)]
    sums = np.unique(known.sum(axis=1)) if len(known) else np.array([])
    values = np.unique(whole[~np.isnan(whole)])
    constant = len(sums) == 1 and len(known) >= 2
    if constant and (len(known) >= 5 or values.max() > 1):
        return "ask" if values.max() <= 1 else "counts"
    if values.max() <= 1 or (values.min() >= 1 and values.max() <= 10):
        return "wide"
    if len(values) <= 11 and values.max() <= 10 and _agree(whole):
        return "wide"
    return "ask"


def _agree(whole: Array) -> bool:
    """Whether the columns of a row tend to hold the same number, as ratings do and votes do not."""
    pairs, same, expected = 0, 0.0, 0.0
    for a in range(min(whole.shape[1], 20)):
        for b in range(a):
            both = ~np.isnan(whole[:, a]) & ~np.isnan(whole[:, b])
            x, y = whole[both, a], whole[both, b]
            pairs += len(x)
            same += float((x == y).sum())
            levels = np.unique(np.concatenate([x, y]))
            expected += len(x) * float(sum((x == v).mean() * (y == v).mean() for v in levels))
    return pairs >= 20 and same - expected > 3 * np.sqrt(pairs)


def _whole_numbers(table: Table, columns: Sequence[str]) -> Array | None:
    """The cells as non-negative integers, NaN where empty, or None where one is neither."""
    cells = table.frame.select(columns).head(20_000)
    if any(not (d.is_numeric() or d == pl.String) for d in cells.dtypes):
        return None
    numbers = cells.select(pl.all().cast(pl.Float64, strict=False).fill_nan(None))
    for c in columns:
        lost = cells[c].is_not_null() & numbers[c].is_null()
        if cells[c].dtype == pl.String:
            lost &= cells[c].str.strip_chars() != ""
        if lost.any():
            return None
    values = numbers.fill_null(float("nan")).to_numpy()
    known = values[~np.isnan(values)]
    if len(known) == 0 or not np.isfinite(known).all():
        return None
    return values if (known >= 0).all() and (known == np.floor(known)).all() else None
