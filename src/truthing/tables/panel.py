"""Which columns of a wide table are labelers: those that share one small vocabulary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from truthing.class_codes import Array, codable, recode
from truthing.errors import listing
from truthing.spelling import is_missing_word, key, truth_value
from truthing.tables.table import Table

NEVER = (
    "id ids uid uuid guid key index idx number nr no date day time timestamp created updated at "
    "duration seconds minutes hours text comment comments note notes remark remarks url uri link "
    "path file filename email title subject description content prompt input output question "
    "context reason reasons explanation rationale source split fold batch seed version age price "
    "cost length len tokens words weight weights size latency is has flag test train majority "
    "consensus final adjudicated agreed agreement pred preds prediction predictions predicted "
    "truth gold group cluster stratum system country language lang difficulty status total sum"
)
_NEVER = frozenset(NEVER.split())
# in a table of labelers a column of such a name is no label either
BESIDE = (
    "certainty conf confidence trust clicks order position round hour gender expected correct "
    "classifier model"
)
_BESIDE = frozenset(BESIDE.split())
_TOKENS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
SAMPLE = 20_000  # rows that are looked at to recognise a column


@dataclass(frozen=True)
class Panel:
    """The labelers' columns, why the others are none, and what keeps the choice open."""

    columns: tuple[str, ...]
    others: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def never_a_labeler(name: str) -> bool:
    """Names that say it: ids, dates, texts, and what somebody derived from the labels.

    >>> [never_a_labeler(n) for n in ("patient_id", "Unnamed: 0", "majority", "ann", "rater_1")]
    [True, True, True, False, False]
    """
    if not name.strip() or name.startswith("Unnamed:"):
        return True
    return any(token.lower() in _NEVER for token in _TOKENS.findall(name))


def hints(names: Sequence[Any]) -> frozenset[Any]:
    """What classes of predictions or gold look like, for recognising labels by them."""
    found = {key(name) for name in names}
    if names and all(truth_value(name) is not None for name in names):
        found.add("truth value")
    return frozenset(found)


def choose(table: Table, candidates: Sequence[str], hint: frozenset[Any]) -> Panel:
    """Labelers among the columns that have no other role."""
    others: dict[str, str] = {}
    seen: dict[str, tuple[Array, list[Any]]] = {}
    for column in candidates:
        codes, keys = _vocabulary(table, column)
        matching = bool(hint) and _share_in(codes, keys, hint) > 0.5
        if never_a_labeler(column):
            others[column] = "its name says that it holds no labels"
        elif len(keys) == 0:
            others[column] = "it is empty"
        elif hint and not matching:
            others[column] = "its values are not the classes of the predictions or the gold"
        elif not matching and (why := _not_labels(codes, keys)):
            others[column] = why
        else:
            seen[column] = codes, keys
    if hint and not seen:
        # no column speaks the language of the predictions: whose labels they are can still be told,
        # and what does not fit is then said with both vocabularies side by side
        return choose(table, candidates, frozenset())
    if not hint and len(seen) > 1:
        groups = _groups(seen)
        if len(groups) > 1:
            first, second = groups[0], groups[1]
            if len(first) == len(second):
                return Panel((), others, _tie(table, first, second))
            for column in seen:
                if column not in first:
                    others[column] = f"it shares no class with {listing(first, 3)}"
            seen = {column: seen[column] for column in first}
    problem = _odd_one_out(table, seen)
    return Panel(tuple(seen), others, problem)


def _vocabulary(table: Table, column: str) -> tuple[Array, list[Any]]:
    """Codes of the first rows of a column, and a key for each of its words."""
    series = table.frame[column].head(SAMPLE)
    if not codable(series):
        series = pl.Series(column, [None if v is None else str(v) for v in series.to_list()])
    small = Table(series.to_frame(), table.name, table.kind, typed=True)
    codes, names = small.raw(column)
    keys = [None if is_missing_word(name) else key(name) for name in names]
    order = {k: n for n, k in enumerate(dict.fromkeys(k for k in keys if k is not None))}
    place = np.array([order.get(k, -1) for k in keys] + [-1], dtype=np.int32)
    return place[codes], list(order)


def _share_in(codes: Array, keys: list[Any], hint: frozenset[Any]) -> float:
    any_truth = "truth value" in hint
    known = np.array([k in hint or (any_truth and truth_value(k[1]) is not None) for k in keys])
    present = codes[codes >= 0]
    return float(known[present].mean()) if len(present) else 0.0


def _not_labels(codes: Array, keys: list[Any]) -> str:
    """A reason why a column cannot hold labels, or nothing."""
    present = codes[codes >= 0]
    numbers = [k[1] for k in keys if k[0] == "number"]
    if len(numbers) == len(keys):
        if any(isinstance(n, float) for n in numbers):
            return "it holds measured numbers"
        values = np.array(numbers, dtype=float)[present]
        if len(values) > 10 and len(keys) == len(values) and (np.diff(values) > 0).all():
            return "its numbers run through"
    if len(present) >= 20 and len(keys) > max(12, 0.3 * len(present)):
        return "almost every row has its own value"
    return ""


def may_hold_labels(table: Table, column: str, item: str, most: int) -> bool:
    """Whether a column of a table of labelers holds few classes that are not the same for every row
    of an item, as what is known of the item would be."""
    codes, keys = _vocabulary(table, column)
    tokens = {token.lower() for token in _TOKENS.findall(column)}
    if tokens & _BESIDE or not 1 < len(keys) <= most or _not_labels(codes, keys):
        return False
    of_item = table.frame.head(SAMPLE).group_by(item).agg(pl.col(column).drop_nulls().n_unique())
    return bool((of_item[column] > 1).any())


def _groups(seen: dict[str, tuple[Array, list[Any]]]) -> list[list[str]]:
    """Columns that share a vocabulary, the largest group first."""
    groups: list[tuple[list[str], set[Any]]] = []
    for column, (_, keys) in sorted(seen.items(), key=lambda pair: -len(pair[1][1])):
        words = set(keys)
        for members, vocabulary in groups:
            if 2 * len(words & vocabulary) >= len(words):
                members.append(column)
                vocabulary |= words
                break
        else:
            groups.append(([column], words))
    order = list(seen)
    found = [sorted(members, key=order.index) for members, _ in groups]
    return sorted(found, key=len, reverse=True)


def _tie(table: Table, first: list[str], second: list[str]) -> str:
    return (
        f"{table.name}: the labelers may be {listing(first, 4)} or {listing(second, 4)}, which "
        f"share no class. Name them with `labeler_columns={first}`."
    )


def _odd_one_out(table: Table, seen: dict[str, tuple[Array, list[Any]]]) -> str:
    """A column that agrees with nobody where the others agree may be no labeler at all."""
    if not 3 <= len(seen) <= 40:
        return ""
    names = list(seen)
    every = list(dict.fromkeys(k for _, keys in seen.values() for k in keys))
    grid = np.stack([recode(codes, keys, every) for codes, keys in seen.values()])
    kappa = np.full((len(names), len(names)), np.nan)
    for a in range(len(names)):
        for b in range(a):
            kappa[a, b] = kappa[b, a] = _agreement(grid[a], grid[b], len(every))
    for a, name in enumerate(names):
        rest = [b for b in range(len(names)) if b != a]
        with_others, among = kappa[a, rest], kappa[np.ix_(rest, rest)]
        if np.isnan(with_others).all() or np.isnan(among).all():
            continue
        numbered = re.sub(r"\d+", "9", name)
        like = "9" in numbered and any(re.sub(r"\d+", "9", names[b]) == numbered for b in rest)
        if np.nanmax(with_others) < 0.1 and np.nanmedian(among) > 0.3 and not like:
            return (
                f"{table.name}: column {name!r} agrees with no other labeler although the others "
                f"agree: is it a labeler? If so, `labeler_columns={names}`; if not, "
                f"`ignore={name!r}`."
            )
    return ""


def _agreement(a: Array, b: Array, n_classes: int) -> float:
    """Cohen's κ of two columns, NaN where they share too few rows."""
    both = (a >= 0) & (b >= 0)
    if both.sum() < 20:
        return float("nan")
    x, y = a[both], b[both]
    chance = float(
        (np.bincount(x, minlength=n_classes) / len(x))
        @ (np.bincount(y, minlength=n_classes) / len(y))
    )
    return float("nan") if chance > 0.999 else (float((x == y).mean()) - chance) / (1 - chance)
