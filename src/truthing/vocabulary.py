"""One list of classes for labels, predictions and gold, or a refusal that shows both lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from truthing.class_codes import Array
from truthing.errors import InputError, listing
from truthing.notes import Notes
from truthing.spelling import (
    alike,
    key,
    letters,
    look_alike,
    merged_spellings,
    one_slip_apart,
    opposite,
    truth_value,
)

RARE = 0.1  # a class this much rarer than its neighbour may be a slip of the keyboard
Renamed = dict[Any, Any]


@dataclass(frozen=True)
class WordSource:
    """Who uses which classes how often; ``settled`` where the user named the classes."""

    what: str
    names: tuple[Any, ...]
    counts: Array
    settled: bool = False


def unify(sources: Sequence[WordSource]) -> tuple[list[Renamed], Notes]:
    """New names for the classes of each source, the first source's spelling where it has one.

    Case, blanks, 1 and "1.0", and true, yes and 1 count as the same across sources, and that is
    said. What only looks the same, and sources that share no class, are refused with the remedy.
    """
    sources = [source for source in sources if source.names]
    if any(source.settled for source in sources):
        leader = next(source for source in sources if source.settled)
        renamed = [_as_in(source, leader.names) for source in sources]
        for source, names in zip(sources, renamed):
            if not source.settled:
                _refuse_strangers([leader, source], [{}, names])
        return renamed, _said(sources, renamed)
    renamed, lines = [], []
    for source in sources:
        merged, words = _within(source)
        renamed.append(merged)
        lines += words
    first = _names(sources[0], renamed[0])
    for source, names in zip(sources[1:], renamed[1:]):
        names |= _as_in(source, first, names)
    _truth_values(sources, renamed)
    _refuse_strangers(sources, renamed)
    _refuse_lookalikes(sources, renamed)
    checks = _only_in_gold(sources, renamed)
    return renamed, Notes(tuple(lines), tuple(checks)) + _said(sources, renamed)


def _within(source: WordSource) -> tuple[Renamed, list[str]]:
    """Case and blanks inside one source; names of different type stay apart."""
    changed: Renamed = {}
    lines: list[str] = []
    for kind in {type(name) for name in source.names}:
        places = [p for p, name in enumerate(source.names) if type(name) is kind]
        if kind is str:
            names = [source.names[p] for p in places]
            changed, lines = merged_spellings(names, source.counts[places], f"the {source.what}")
    return changed, lines


def _names(source: WordSource, renamed: Mapping[Any, Any]) -> tuple[Any, ...]:
    """The names of a source after renaming; 1 and True are two names."""
    return tuple({(type(n), n): n for n in (_new(renamed, n) for n in source.names)}.values())


def _new(renamed: Mapping[Any, Any], name: Any) -> Any:
    return renamed.get(name, name) if not isinstance(name, bool) else renamed.get(_flag(name), name)


def _flag(value: bool) -> tuple[str, bool]:
    """A key for True that is not the key for 1."""
    return ("truth", value)


def rename(renamed: Mapping[Any, Any], names: Sequence[Any]) -> tuple[Any, ...]:
    """Each name as `unify` decided."""
    return tuple(_new(renamed, name) for name in names)


def _as_in(
    source: WordSource, target: Sequence[Any], so_far: Mapping[Any, Any] | None = None
) -> Renamed:
    """Names as the target spells them, where it has one name of that key."""
    spelled: dict[Any, list[Any]] = {}
    for name in target:
        spelled.setdefault(key(name), []).append(name)
    exact = {(type(name), name) for name in target}
    found: Renamed = {}
    for name in source.names:
        now = _new(so_far or {}, name)
        same = spelled.get(key(now), [])
        if (type(now), now) not in exact and len(same) == 1:
            found[_flag(name) if isinstance(name, bool) else name] = same[0]
    return found


def _truth_values(sources: Sequence[WordSource], renamed: list[Renamed]) -> None:
    """Booleans, 0/1, yes/no, where every source holds nothing else."""
    every = [_names(s, r) for s, r in zip(sources, renamed)]
    values = [[truth_value(n) for n in names] for names in every]
    if any(v is None for found in values for v in found):
        return
    union = {(type(n), n) for names in every for n in names}
    if len(union) <= len({v for found in values for v in found}) or len(sources) == 1:
        return
    if any(len(set(found)) < len(found) for found in values if len(found) > 1):
        # yes and 1 side by side in one source: the same thing, unless their types say otherwise
        for names, found in zip(every, values):
            if len(set(found)) < len(found) and len({type(n) for n in names}) > 1:
                return
    spelling: dict[bool, Any] = {}
    for names, found, source in zip(every, values, sources):
        order = sorted(range(len(names)), key=lambda p: -_count(source, names[p]))
        for p in order:
            value = found[p]
            if value is not None and value not in spelling:
                other = spelling.get(not value)
                spelling[value] = names[p] if other is None else opposite(other)
    for source, changes in zip(sources, renamed):
        for name in source.names:
            value = truth_value(_new(changes, name))
            assert value is not None
            new = spelling[value]
            if (type(new), new) != (type(name), name):
                changes[_flag(name) if isinstance(name, bool) else name] = new


def _count(source: WordSource, name: Any) -> int:
    return sum(
        int(n) for c, n in zip(source.names, source.counts) if type(c) is type(name) and c == name
    )


def _refuse_strangers(sources: Sequence[WordSource], renamed: Sequence[Renamed]) -> None:
    """Two sources that share no class, or each have their own, do not speak of the same things."""
    first = sources[0]
    there = _names(first, renamed[0])
    for source, names in zip(sources[1:], renamed[1:]):
        here = _names(source, names)
        if source.what == "gold":  # what only the classifier says may be true
            pairs = zip(sources, renamed)
            there = tuple(n for s, r in pairs if s.what != "gold" for n in _names(s, r))
        known = {(type(n), n) for n in there}
        shared = [n for n in here if (type(n), n) in known]
        own = [n for n in here if (type(n), n) not in known]
        others = [n for n in there if (type(n), n) not in {(type(m), m) for m in here}]
        if not own:
            continue
        if not shared:
            raise _strangers(first, source, "no class is in both", own)
        if source.what == "gold":
            close = [(a, b) for a in own for b in there if _similar(a, b)]
            if close:
                raise _strangers(first, source, f"{close[0][0]!r} resembles {close[0][1]!r}", own)
            continue
        if not others:
            continue
        weight = {letters(n): int(c) for n, c in zip(source.names, source.counts)}
        shared_share = sum(weight.get(letters(n), 0) for n in shared) / max(sum(weight.values()), 1)
        close = [(a, b) for a in own for b in others if _similar(a, b)]
        if close:
            raise _strangers(first, source, f"{close[0][1]!r} resembles {close[0][0]!r}", own)
        if (len(here) <= 2 and len(there) <= 2) or shared_share < 0.5:
            raise _strangers(first, source, "each has classes that the other lacks", own)
        if _shifted(here, there):
            raise _strangers(first, source, "one may count from 0 and the other from 1", own)


def _similar(a: Any, b: Any) -> bool:
    short, long = sorted((letters(a), letters(b)), key=len)
    starts = len(short) >= 3 and long.startswith(short) and not short.isdigit()
    return look_alike(a, b) or one_slip_apart(a, b) or starts


def _shifted(here: Sequence[Any], there: Sequence[Any]) -> bool:
    whole = [n for n in (*here, *there) if isinstance(n, int) and not isinstance(n, bool)]
    return len(whole) == len(here) + len(there) and min(here) != min(there)


def _strangers(first: WordSource, source: WordSource, why: str, own: Sequence[Any]) -> InputError:
    sides = "; ".join(f"{s.what}: {listing(map(repr, s.names), 8)}" for s in (first, source))
    meant = ", ".join(f"{str(n)!r}: ..." for n in own[:4])
    every = list(dict.fromkeys(str(n) for s in (first, source) for n in s.names))[:6]
    return InputError(
        f"The classes of {first.what} and {source.what} do not fit: {why} ({sides}). "
        f"Say what is the same with `map={{{meant}}}`, or that all are classes of their own "
        f"with `classes={every}`."
    )


def _refuse_lookalikes(sources: Sequence[WordSource], renamed: Sequence[Renamed]) -> None:
    total: dict[tuple[type, Any], int] = {}
    seen: dict[tuple[type, Any], set[str]] = {}
    for source, changes in zip(sources, renamed):
        for name, count in zip(rename(changes, source.names), source.counts):
            place = (type(name), name)
            total[place] = total.get(place, 0) + int(count)
            seen.setdefault(place, set()).add(source.what)
    names = [name for _, name in total]
    pairs = [(a, b) for a, b in alike(names) if key(a) != key(b)]
    if len(names) <= 200:
        rare = [n for (_, n), count in total.items() if count <= RARE * max(total.values())]
        for a in rare:
            pairs += [(b, a) for b in names if _slip(a, b, total, seen)]
    if pairs:
        a, b = pairs[0]
        where = " and ".join(sorted(seen[type(b), b]))
        raise InputError(
            f"The {where} hold {b!r} ({total[type(b), b]:,} times) beside {a!r} "
            f"({total[type(a), a]:,} times): one class or two? Give "
            f"`map={{{str(b)!r}: {str(a)!r}}}` for one, "
            f"`classes={[str(n) for n in names[:6]]}` for two."
        )


def _slip(a: Any, b: Any, total: Mapping[Any, int], seen: Mapping[Any, set[str]]) -> bool:
    here, there = (type(a), a), (type(b), b)
    return total[here] <= RARE * total[there] and len(seen[here]) == 1 and one_slip_apart(a, b)


def _only_in_gold(sources: Sequence[WordSource], renamed: Sequence[Renamed]) -> list[str]:
    known = {
        (type(n), n)
        for s, r in zip(sources, renamed)
        if s.what != "gold"
        for n in rename(r, s.names)
    }
    return [
        f"Only the gold holds class {listing(map(repr, own), 3)}: kept as a class of its own. "
        "Correct the gold if it is a slip."
        for s, r in zip(sources, renamed)
        if s.what == "gold"
        and (own := [n for n in rename(r, s.names) if (type(n), n) not in known])
    ]


def _said(sources: Sequence[WordSource], renamed: Sequence[Renamed]) -> Notes:
    """One sentence for each source whose classes were matched with another spelling."""
    lines = []
    for source, names in zip(sources, renamed):
        changed = [(n, _new(names, n)) for n in source.names]
        pairs = [f"{a!r} as {b!r}" for a, b in changed if letters(a) != letters(b)]
        if pairs:
            lines.append(f"The {source.what} were matched by meaning: {listing(pairs, 4)}.")
    return Notes(remarks=tuple(lines))
