"""From the words of a column to its classes: what is missing, the same, or a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array, recode, sort_classes, tally
from truthing.errors import InputError, listing
from truthing.notes import Notes
from truthing.spelling import is_missing_word, key, letters, merged_spellings
from truthing.tables.asked import Asked
from truthing.tables.table import Table, parse_names

UNSURE = {"unsure", "unknown", "not sure", "don't know", "dont know", "?", "skip", "skipped", "idk"}
MANY = 0.05  # of a labeler's labels: a word this frequent may be a class


@dataclass(frozen=True)
class Words:
    """Values as codes of classes in class order, -1 where nothing was said."""

    codes: Array
    classes: tuple[Any, ...]
    notes: Notes
    taken_for_missing: tuple[str, ...] = ()


def settle(
    table: Table,
    asked: Asked,
    codes: Array,
    names: tuple[Any, ...],
    *,
    what: str,
    labeler: Array | None = None,
) -> Words:
    """Classes behind raw names; ``what`` is labels, predictions or gold."""
    counts = tally(codes.ravel(), len(names))
    words = [k for k, name in enumerate(names) if counts[k] and is_missing_word(name)]
    gone = [k for k, name in enumerate(names) if asked.is_missing(name)]
    kept = {letters(c) for c in asked.classes or ()} | {letters(m) for m in asked.map}
    words = [k for k in words if k not in gone and letters(names[k]) not in kept]
    doubtful = [k for k in words if letters(names[k])]
    if doubtful and asked.classes is None and len(words) < len(names):
        _refuse_doubtful(table, what, codes, names, doubtful, labeler)
    missing = sorted({*words, *gone})
    sentences = [
        f"{table.name}: {_so_many(counts[k], what, names[k])} as missing."
        for k in missing
        if letters(names[k]) and counts[k]
    ]
    open_words = [k for k in range(len(names)) if counts[k] and k not in {*words, *gone}]
    unsure = [k for k in open_words if what == "labels" and letters(names[k]) in UNSURE]
    checks = [
        f"{table.name}: {int(counts[k]):,} labels {names[k]!r} count as a class of their own. If "
        f"they mean no answer, say `missing={names[k]!r}`."
        for k in unsure
        if asked.classes is None and letters(names[k]) not in kept
    ]
    place = np.full(len(names) + 1, -1, dtype=np.int32)
    present = [k for k in range(len(names)) if k not in set(missing)]
    spelled = [asked.meant(names[k]) for k in present]
    sentences += [
        f"{table.name}: {_so_many(counts[k], what, names[k])} as {name!r}, as `map=` says."
        for k, name in zip(present, spelled)
        if counts[k] and str(name) != str(names[k])
    ]
    if asked.classes is not None:
        spelled = [_among(asked.classes, name, table, what) for name in spelled]
        classes = tuple(asked.classes)
    else:
        merged, more = merged_spellings(spelled, counts[present], table.name)
        spelled = [merged.get(n, n) if not isinstance(n, bool) else n for n in spelled]
        sentences += more
        if not table.typed:
            unique = tuple(dict.fromkeys(map(str, spelled)))
            parsed = dict(zip(unique, parse_names(unique)))
            spelled = [parsed[str(n)] if isinstance(n, str) else n for n in spelled]
        classes = sort_classes({(type(n), n): n for n in spelled}.values())
    place[present] = recode(np.arange(len(spelled), dtype=np.int32), spelled, classes)
    return Words(
        place[codes],
        classes,
        Notes(tuple(sentences), tuple(checks)),
        tuple(str(names[k]) for k in words),
    )


def _so_many(count: int, what: str, name: Any) -> str:
    if count == 1:
        return f"1 {what.removesuffix('s')} {name!r} counts"
    return f"{int(count):,} {what} {name!r} count"


def _among(classes: tuple[Any, ...], name: Any, table: Table, what: str) -> Any:
    """The given class that a name stands for, case and blanks apart."""
    for same in (
        [c for c in classes if type(c) is type(name) and c == name],
        [c for c in classes if str(c) == str(name)],
        [c for c in classes if key(c) == key(name) or letters(c) == letters(name)],
    ):
        if len(same) == 1:
            return same[0]
    raise InputError(
        f"{table.name}: the {what} hold {name!r}, which is not among the classes "
        f"{listing(map(repr, classes))}. Add it to `classes=...`, or say what it means with "
        f"`map={{{str(name)!r}: ...}}` or `missing={str(name)!r}`."
    )


def _refuse_doubtful(
    table: Table,
    what: str,
    codes: Array,
    names: tuple[Any, ...],
    doubtful: list[int],
    labeler: Array | None,
) -> None:
    """A word for "missing" that may be a class: frequent with several labelers, or predicted."""
    for k in doubtful:
        here = codes == k
        if what == "labels" and labeler is not None:
            size = int(labeler.max()) + 1
            given = np.bincount(labeler[codes >= 0], minlength=size)
            share = np.bincount(labeler[here], minlength=size) / np.maximum(given, 1)
            often = int((share >= MANY).sum())
            if often < min(2, int((given > 0).sum())):
                continue
            where = f"makes up {here.sum() / max((codes >= 0).sum(), 1):.0%} of the labels"
        else:
            where = f"stands among the {what} {int(here.sum()):,} times"
        word = str(names[k])
        others = [str(n) for n in names if letters(n) != letters(word)][:5]
        raise InputError(
            f"{table.name}: {word!r} {where}: is it a class, or a missing value? "
            f"Say `missing={word!r}`, or name the classes with `classes={[word, *others]}`."
        )
