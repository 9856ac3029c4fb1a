"""How many messy files of known meaning are read right, refused, or misread: 95 kinds.

python studies/messy_files.py [files of each kind] [folder to keep the misread ones in]

A case is read as `tr.grade("predictions.csv", "labels.csv", gold="gold.csv")` reads it. It is
misread when anything but its meaning comes out; where nobody could know the meaning, any answer
is a misreading. The generators in `studies/messy` were written before the readers they try.
"""

from __future__ import annotations

import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from messy import columns, files, vocabulary
from messy.world import Mess

from truthing.asking import positive_class, prepare
from truthing.errors import TruthingError
from truthing.predicted import predicted_classes

OUTCOMES = ("right", "refused", "misread", "crashed")
KINDS = [*vocabulary.KINDS, *columns.KINDS, *files.KINDS]


def outcome(mess: Mess, folder: Path) -> tuple[str, str]:
    """Right, refused or misread, and a word on it."""
    for name, content in mess.files.items():
        (folder / name).write_bytes(content)

    def path(name: str | None) -> str | None:
        return None if name is None else str(folder / name)

    try:
        joined = prepare(path(mess.predictions), path(mess.labels), gold=path(mess.gold))
        predicted, scores = None, None
        if mess.predictions is not None:
            positive = positive_class(joined.labels.classes, None, [])
            predicted, scores = predicted_classes(joined, positive, mess.threshold, [])
    except TruthingError as problem:
        return "refused", str(problem)
    except Exception as problem:  # a traceback is counted, not hidden
        return "crashed", f"{type(problem).__name__}: {problem}"
    if mess.meaning is None:
        return "misread", f"classes {joined.labels.classes}, labelers {joined.labels.labelers[:6]}"
    wrong = difference(mess, joined, predicted, scores)
    return ("misread", wrong) if wrong else ("right", "")


def difference(mess: Mess, joined: Any, predicted: Any, scores: Any) -> str:
    """What was read otherwise than it was meant, or nothing. Classes may bear other names."""
    meaning, labels = mess.meaning, joined.labels
    assert meaning is not None
    if {str(i) for i in labels.items} != {str(i) for i in meaning.items}:
        return f"items {labels.items[:3]} …, {labels.n_items} of them"
    item = {str(name): name for name in meaning.items}
    pairs: set[tuple[int, int]] = set()
    if mess.votes:
        votes = Counter((i, k) for (i, _), k in meaning.labels.items())
        read = labels.counts().tolist()  # these classes sort as they are numbered
        meant = [[votes[item[str(i)], k] for k in range(meaning.n_classes)] for i in labels.items]
        if not labels.anonymous or read != meant:
            return "votes differ"
    else:
        names = {str(t) for t in meaning.labelers}
        if {str(t) for t in labels.labelers} != names:
            return f"labelers {labels.labelers[:6]}"
        found = {
            (item[str(labels.items[i])], str(labels.labelers[t])): int(c)
            for i, t, c in zip(labels.item, labels.labeler, labels.label)
        }
        if set(found) != set(meaning.labels):
            return f"{len(found)} labels for {len(meaning.labels)}"
        pairs |= {(found[key], k) for key, k in meaning.labels.items()}
    for place, name in enumerate(labels.items):
        if predicted is not None:
            pairs.add((int(predicted[place]), meaning.predicted[item[str(name)]]))
        if mess.gold is not None:
            code = int(joined.gold[place])
            if (code >= 0) != (item[str(name)] in meaning.gold):
                return "gold items differ"
            if code >= 0:
                pairs.add((code, meaning.gold[item[str(name)]]))
    if len({a for a, _ in pairs}) != len(pairs) or len({b for _, b in pairs}) != len(pairs):
        return f"classes {labels.classes} mixed up: {sorted(pairs)}"
    return _scores_differ(meaning, labels, scores, mess, item)


def _scores_differ(meaning: Any, labels: Any, scores: Any, mess: Mess, item: dict[str, Any]) -> str:
    """Scores are right when they order the items as the probabilities of the last class do."""
    if scores is None or mess.predictions is None:
        return ""
    meant = np.array([meaning.score[item[str(i)]] for i in labels.items])
    order = np.argsort(meant, kind="stable")
    steps = np.diff(np.asarray(scores, dtype=float)[order])
    return "" if (steps >= -1e-3).all() else "scores run otherwise than they were meant"


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    keep = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    total: Counter[str] = Counter()
    knowable = 0
    print(f"{'kind':<36}" + "".join(f"{what:>9}" for what in OUTCOMES))
    for kind in KINDS:
        here: Counter[str] = Counter()
        word = ""
        for n in range(times):
            mess = kind(np.random.default_rng([n, zlib.crc32(kind.__name__.encode())]))
            with tempfile.TemporaryDirectory() as scratch:
                what, why = outcome(mess, Path(scratch))
            here[what] += 1
            knowable += mess.meaning is not None
            word = why if what in ("misread", "crashed") or not word else word
            if what == "misread" and keep is not None:
                folder = keep / f"{kind.__name__}-{n}"
                folder.mkdir(parents=True, exist_ok=True)
                for name, content in mess.files.items():
                    (folder / name).write_bytes(content)
        total += here
        numbers = "".join(f"{here[what]:>9}" for what in OUTCOMES)
        print(f"{kind.__name__.replace('_', ' '):<36}{numbers}   {word[:150]}")
    every = sum(total.values())
    print(
        f"\n{len(KINDS)} kinds, {every} cases: {total['right'] / every:.0%} read right "
        f"({total['right'] / knowable:.0%} of the {knowable} whose meaning can be known), "
        f"{total['refused'] / every:.0%} refused, {total['misread']} misread, "
        f"{total['crashed']} ended in a traceback"
    )
    sys.exit(1 if total["misread"] + total["crashed"] else 0)


if __name__ == "__main__":
    main()
