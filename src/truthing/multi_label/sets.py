"""From answers that name several tags to one case of two classes for each tag."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truthing.case import Case, is_source, read_case
from truthing.class_codes import Array, is_missing
from truthing.errors import InputError, listing
from truthing.labels import Labels
from truthing.predictions import Predictions
from truthing.spelling import letters
from truthing.tables.asked import Asked
from truthing.tables.tags import AUTO, spelt, tag_names

SIGNS = (";", "|", ",")
MOST_TAGS = 100
_ROLES = {"item", "id", "task", "prediction", "pred", "truth", "gold", "label", "labeler"}


@dataclass(frozen=True, eq=False)
class Split:
    """One case for each tag; ``said`` is what was understood."""

    cases: Mapping[str, Case]
    labels: Labels  # of sets
    sets: tuple[frozenset[str], ...]  # of each class of those labels
    predicted: Mapping[str, Mapping[Any, frozenset[str]]]  # model → item → tags
    gold: Mapping[Any, frozenset[str]]
    remarks: tuple[str, ...]


def read_tagged(
    labels: Any, models: Mapping[str, Any], gold: Any, tags: Any, repeats: str
) -> Split:
    """Whatever holds labels, predictions and gold, tag by tag."""
    names = tag_names(tags)
    asked = Asked(tags=tags)
    if not isinstance(labels, Case):
        labels = _as_labels(labels)
    given = {model: _one_cell(value, names) for model, value in models.items()}
    case = read_case(labels, given, _one_cell(gold, names), asked=asked)
    if case.labels.anonymous:
        raise InputError(
            "votes without labelers cannot be split into tags: give one row or column for each "
            "labeler."
        )
    _refuse_empty(case)
    return _split(case, tags, names, repeats)


# ---- what Python hands over ------------------------------------------------------------------


def _is_set(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset)


def _cell(value: Any) -> Any:
    if _is_set(value):
        return spelt(list(value))
    return None if is_missing(value) else value


def _one_cell(value: Any, names: tuple[str, ...]) -> Any:
    """Predictions or gold with lists of tags, or with a column of 0 and 1 for each, as texts."""
    if isinstance(value, np.ndarray) and value.ndim == 2:
        if value.shape[1] != len(names) or not np.isin(value, (0, 1)).all():
            raise InputError(
                f"a table of {value.shape[1]} columns needs the names of as many tags, and holds "
                "0 and 1: give `tags=[...]`."
            )
        return [spelt([n for n, tick in zip(names, row) if tick]) for row in value]
    if isinstance(value, Mapping):
        if not _ROLES & {str(key).casefold() for key in value}:
            return {item: _cell(tags) for item, tags in value.items()}
        return value
    if isinstance(value, list | tuple) and value and any(_is_set(v) for v in value):
        return [_cell(v) for v in value]
    return value


def _as_labels(labels: Any) -> Any:
    """A matrix of items × labelers whose cells are lists of tags."""
    if isinstance(labels, Labels) or is_source(labels):
        return labels
    rows = list(labels) if isinstance(labels, list | tuple | np.ndarray) else []
    if not rows or not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return labels
    if all(is_source(part) for part in rows):
        return labels
    cells = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        if len(row) != cells.shape[1]:
            raise InputError(
                f"item {i} has {len(row)} answers, others have {cells.shape[1]}: give one for "
                "each labeler, None where there is none."
            )
        for j, value in enumerate(row):
            cells[i, j] = _cell(value)
    return Labels.from_matrix(cells)


def _refuse_empty(case: Case) -> None:
    """An empty cell is no answer, or an answer without any tag: nobody can know."""
    for reading in case.readings:
        table, roles = reading.table, reading.columns.role
        if not table.asks or "" in (reading.asked.missing or ()):
            continue
        columns = [roles[r] for r in ("label", "prediction") if r in roles]
        columns += [roles["truth"]] if "truth" in roles and not columns else []
        if reading.columns.layout == "wide" and "label" not in roles:
            columns += list(reading.columns.rest)
        for name in columns:
            empty = [k for k, cell in enumerate(table.frame[name].to_list()) if _is_empty(cell)]
            if empty:
                raise InputError(
                    f"{table.place(empty[0])}: column {name!r} is empty ({len(empty):,} times): "
                    "no tag, or no answer? Write [] where no tag fits; where there is no answer, "
                    "remove the row, or say `missing=''`."
                )


def _is_empty(cell: Any) -> bool:
    return is_missing(cell) or (isinstance(cell, str) and not cell.strip())


# ---- tags ------------------------------------------------------------------------------------


def _split(case: Case, tags: Any, names: tuple[str, ...], repeats: str) -> Split:
    models = list(case.models.values())
    held: list[Any] = [case.labels, *models, *([] if case.gold is None else [case.gold])]
    written = [c for each in held for c in each.classes]
    sign = _sign(tags, names, written)
    spelling = {letters(name): name for name in names}
    sets = {_key(c): _parse(c, sign, spelling, known=bool(names)) for c in written}
    every = names or tuple(sorted({tag for found in sets.values() for tag in found}))
    if len(every) < 2 or (not names and all(len(found) < 2 for found in sets.values())):
        raise InputError(
            "no answer names several tags, so there is one class for each item: leave `tags=` out, "
            "or give the names of all tags."
        )
    if len(every) > MOST_TAGS:
        raise InputError(
            f"{len(every):,} tags are too many to report ({listing(every, 4)}): merge rare ones, "
            f"at most {MOST_TAGS}."
        )
    labels, remarks = _resolved(case.labels, sets, repeats)
    cases = {tag: _case_of(tag, replace(case, labels=labels), sets, repeats) for tag in every}
    sign_said = f", split at {sign!r}" if sign else ""
    remarks.insert(0, f"Each of {len(every)} tags ({listing(every, 8)}) is a question{sign_said}.")
    same = {str(item): item for item in labels.items}  # 7 and "7", as labels have them
    predicted = {
        name: {
            same.get(str(item), item): sets[_key(p.classes[c])]
            for item, c in zip(p.items, _codes(p))
            if c >= 0
        }
        for name, p in case.models.items()
    }
    gold = {} if case.gold is None else case.gold.as_dict()
    known = {same.get(str(item), item): sets[_key(c)] for item, c in gold.items()}
    of_class = tuple(sets[_key(c)] for c in labels.classes)
    return Split(cases, labels, of_class, predicted, known, tuple(remarks))


def _key(name: Any) -> Any:
    return type(name), name


def _sign(tags: Any, names: tuple[str, ...], written: Sequence[Any]) -> str:
    """The sign between two tags; empty where there is none."""
    if isinstance(tags, str) and not names and tags != AUTO:
        return tags
    texts = [c for c in written if isinstance(c, str) and not c.lstrip().startswith("[")]
    found = [sign for sign in SIGNS if any(sign in text for text in texts)]
    if len(found) > 1:
        raise InputError(
            f"tags may be split at {' or at '.join(map(repr, found))}: say which, "
            f"`tags={found[0]!r}`."
        )
    return found[0] if found else ""


def _parse(name: Any, sign: str, spelling: dict[str, str], *, known: bool) -> frozenset[str]:
    """The tags that an answer names; the same tag is spelt the same way everywhere."""
    if _is_set(name):
        parts = [str(part) for part in name]
    elif isinstance(name, str) and name.strip().startswith("["):
        parts = _listed(name)
    else:
        parts = str(name).split(sign) if sign else [str(name)]
    found = set()
    for part in (p.strip() for p in parts):
        if not part:
            continue
        if known and letters(part) not in spelling:
            raise InputError(
                f"an answer names {part!r}, which is not among the tags "
                f"{listing(spelling.values(), 8)}. Add it to `tags=`, or correct it."
            )
        found.add(spelling.setdefault(letters(part), part))
    return frozenset(found)


def _listed(text: str) -> list[str]:
    """The tags of a list written as JSON or as Python writes it."""
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError):
            continue
        if isinstance(found, list):
            return [str(part) for part in found]
    raise InputError(f'{text!r} is not a list of tags: write ["a", "b"], or a;b.')


def _resolved(labels: Labels, sets: Mapping[Any, Any], repeats: str) -> tuple[Labels, list[str]]:
    """Labels with one answer for each labeler and item; rows with one tag each are one answer."""
    clash = labels.contradictions
    if not len(clash):
        return labels, []
    if repeats in ("first", "last"):
        return labels.resolve_repeats(repeats), []  # type: ignore[arg-type]
    single = all(
        len(sets[_key(labels.classes[labels.label[at]])]) == 1
        for at in np.unique(np.concatenate([clash, clash - 1]))
    )
    if not single or repeats == "keep":
        return labels.resolve_repeats("error"), []
    return labels, [
        "Several rows of one labeler on one item, with a tag each, are one answer. An item that a "
        "labeler gave no row is not answered: write [] where no tag fits."
    ]


def _case_of(tag: str, case: Case, sets: Mapping[Any, Any], repeats: str) -> Case:
    """The question of one tag: is it there or not?"""
    pair = (f"not {tag}", tag)

    def there(classes: Sequence[Any]) -> Array:
        return np.array([int(tag in sets[_key(c)]) for c in classes], dtype=np.int32)

    labels = case.labels
    ticked = there(labels.classes)[labels.label]
    new = np.ones(len(ticked), dtype=bool)
    new[labels.contradictions] = False
    starts = np.flatnonzero(new)
    made = Labels.from_codes(
        labels.item[starts],
        labels.labeler[starts],
        np.maximum.reduceat(ticked, starts),
        items=labels.items,
        labelers=labels.labelers,
        classes=pair,
    )
    made = replace(made, notes=labels.notes, numbered=labels.numbered, settled=True)
    models = {}
    for name, each in case.models.items():
        at = _codes(each)
        code = np.where(at >= 0, there(each.classes)[np.maximum(at, 0)], -1).astype(np.int32)
        models[name] = replace(
            each, classes=pair, label=code, scores=None, score_classes=(), settled=True
        )
    gold = case.gold
    if gold is not None:
        gold = replace(gold, classes=pair, label=there(gold.classes)[gold.label], settled=True)
    return Case(made, models, gold, case.readings)


def _codes(predictions: Predictions) -> Array:
    if predictions.label is None:
        raise InputError(
            "predictions of several tags are needed, not scores: cut the scores first, and give "
            "the tags of each item."
        )
    return predictions.label


def told(split: Split, found: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Warnings and assumptions of all tags, each once; where they differ in numbers only, that of
    the first tag with a count of the others."""
    return (
        _once({tag: each.warnings for tag, each in found.items()}),
        [*split.remarks, *_once({tag: each.assumptions for tag, each in found.items()})],
    )


def _once(sentences: Mapping[str, Sequence[str]]) -> list[str]:
    alike: dict[str, list[tuple[str, str]]] = {}
    for tag, lines in sentences.items():
        for line in lines:
            bare = re.sub(rf"(?<!\w)(not )?{re.escape(tag)}(?!\w)", "…", line)
            bare = re.sub(r"[\d.,%]+", "#", bare)
            alike.setdefault(bare, []).append((tag, line))
    out = []
    for group in alike.values():
        tags = list(dict.fromkeys(tag for tag, _ in group))
        different = {line for _, line in group}
        if len(different) == 1 and len(tags) == len(sentences):
            out.append(group[0][1])
        elif len(different) == 1:
            out.append(f"{listing(tags, 4)}: {group[0][1]}")
        else:
            more = len(tags) - 1
            alike_words = f" (Much the same for {more} more tags.)" if more else ""
            out.append(f"{tags[0]}: {group[0][1]}{alike_words}")
    return out
