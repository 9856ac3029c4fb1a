"""How a name is written: which spellings are the same name, and which only look alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from truthing.class_codes import Array, plain
from truthing.errors import InputError

MISSING_WORDS = ("na", "n/a", "null", "nan", "none", "-", "error")
TRUTH_WORDS = {"true": True, "yes": True, "y": True, "t": True, "1": True}
TRUTH_WORDS |= {"false": False, "no": False, "n": False, "f": False, "0": False}
_PAIRS = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("0", "1"))
_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))
_JOINTS = re.compile(r"(?<=\w)[-_\s.]+(?=\w)|[.?!:;,*'\"]+$|^['\"]+")
_ALIKE = str.maketrans({"l": "1", "i": "1", "|": "1", "o": "0"})


def tidy(text: str) -> str:
    """A name without blanks around it, invisible letters and doubled blanks.

    >>> tidy("  not\\u00a0 spam \\ufeff")
    'not spam'
    """
    return one_line(unicodedata.normalize("NFC", text).translate(_INVISIBLE))


def one_line(text: str) -> str:
    """Names of columns are one line, with single blanks."""
    return " ".join(text.split())


def as_column(name: str, columns: Iterable[str]) -> str:
    """The column that a user means: names in frames may hold blanks that nobody sees.

    >>> as_column("my  item", ["my item", "label"]), as_column("other", ["label"])
    ('my item', 'other')
    """
    known = {one_line(column): column for column in columns}
    return name if name in known.values() else known.get(one_line(name), name)


def letters(name: Any) -> str:
    """What somebody would type for a name, in small letters: True, "TRUE" and " true" are one."""
    return tidy(str(plain(name))).casefold()


def key(name: Any) -> Any:
    """Names with equal keys are the same class in different sources.

    >>> key(" Spam") == key("SPAM"), key("1.0") == key(1), key("007") == key(7)
    (True, True, False)
    """
    name = plain(name)
    if isinstance(name, bool):
        return ("truth", name)
    if isinstance(name, int | float):
        return ("number", name)
    if isinstance(name, str):
        text = tidy(name)
        if _NUMBER.fullmatch(text):
            return ("number", plain(float(text)) if "." in text else int(text))
        return ("text", text.casefold())
    return (type(name).__name__, name)


def truth_value(name: Any) -> bool | None:
    """The meaning of true, yes, 1 and the like; None for any other name."""
    return TRUTH_WORDS.get(letters(name)) if not isinstance(name, tuple) else None


def opposite(name: Any) -> Any:
    """The other word of the pair, written the same way: no for yes, FALSE for TRUE."""
    if isinstance(name, bool):
        return not name
    if not isinstance(name, str):
        return 1 - name
    low = letters(name)
    other = next(b if low == a else a for a, b in _PAIRS if low in (a, b))
    if name.isupper():
        return other.upper()
    return other.title() if name.istitle() else other


def is_missing_word(name: Any) -> bool:
    return isinstance(name, str) and letters(name) in ("", *MISSING_WORDS)


def look_alike(a: Any, b: Any) -> bool:
    """Different names that one would take for each other: "1" and "l", "not-spam" and "not spam".

    >>> look_alike("1", "l"), look_alike(">50K", ">50K."), look_alike("cat", "dog")
    (True, True, False)
    """
    return _skeleton(a) == _skeleton(b) and not (_is_number(a) and _is_number(b))


def alike(names: Iterable[Any]) -> list[tuple[Any, Any]]:
    """All pairs of names that look alike."""
    seen: dict[str, Any] = {}
    pairs = []
    for name in names:
        skeleton = _skeleton(name)
        if skeleton in seen and look_alike(seen[skeleton], name):
            pairs.append((seen[skeleton], name))
        seen.setdefault(skeleton, name)
    return pairs


def _is_number(name: Any) -> bool:
    return bool(key(name)[0] == "number")


def _skeleton(name: Any) -> str:
    text = unicodedata.normalize("NFKD", letters(name))
    text = "".join(c for c in text if not unicodedata.combining(c))
    return (_JOINTS.sub("", text) or text).translate(_ALIKE)


def one_slip_apart(a: Any, b: Any) -> bool:
    """Whether one letter typed, left out, changed or swapped makes one name of the other.

    >>> one_slip_apart("spam", "spma"), one_slip_apart("class1", "class2")
    (True, False)
    """
    a, b = letters(a), letters(b)
    if max(len(a), len(b)) < 4 or abs(len(a) - len(b)) > 1 or a == b:
        return False
    start = next((n for n, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    ends = {
        (a[start + i :], b[start + j :]): a[start : start + i] + b[start : start + j]
        for i, j in ((1, 0), (0, 1), (1, 1))
    }
    for (left, right), slip in ends.items():
        if left == right:
            return slip.isalpha()
    swapped = (
        a[start : start + 2] == b[start : start + 2][::-1] and a[start + 2 :] == b[start + 2 :]
    )
    return swapped and a[start : start + 2].isalpha()


def merged_spellings(
    names: Sequence[Any], counts: Array, where: str
) -> tuple[dict[Any, Any], list[str]]:
    """Spellings of one source that differ in case and blanks only, as the most frequent of them.

    A number and its text are one class where every name is a number, and asked about elsewhere.
    Returns every name's spelling (only those that change) and what to say about it.
    """
    groups: dict[Any, list[int]] = {}
    for place, name in enumerate(names):
        groups.setdefault(key(name), []).append(place)
    changed: dict[Any, Any] = {}
    sentences = []
    for places in groups.values():
        kept = [names[p] for p in places]
        if len(kept) == 1:
            if isinstance(kept[0], str) and tidy(kept[0]) != kept[0]:
                changed[kept[0]] = tidy(kept[0])
            continue
        if len({type(name) for name in kept}) > 1 and all(g[0] == "number" for g in groups):
            best = next(name for name in kept if not isinstance(name, str))
            texts = [name for name in kept if isinstance(name, str)]
            changed |= dict.fromkeys(texts, best)
            sentences.append(f"{where}: {texts[0]!r} and {best!r} count as one class, {best!r}.")
            continue
        if len({type(name) for name in kept}) > 1:
            raise InputError(
                f"{where} writes {kept[0]!r} and {kept[1]!r}, a number and a text: one class or "
                f"two? Write them the same way, or give `map={{{str(kept[0])!r}: ...}}`."
            )
        folded = {tidy(name) for name in kept}
        if len(folded) > 1 and all(len(f) == 1 for f in folded) and truth_value(kept[0]) is None:
            raise InputError(
                f"{where} holds {kept[0]!r} and {kept[1]!r}: one class or two? Name the classes "
                f"with `classes={sorted(map(str, names))[:6]}`, or give "
                f"`map={{{kept[1]!r}: {kept[0]!r}}}`."
            )
        best = tidy(names[max(places, key=lambda p: (int(counts[p]), names[p]))])
        changed |= {name: best for name in kept if name != best}
        if len(folded) > 1:
            others = ", ".join(repr(f) for f in sorted(folded - {best}))
            sentences.append(f"{where}: {others} and {best!r} count as one class, {best!r}.")
    return changed, sentences
