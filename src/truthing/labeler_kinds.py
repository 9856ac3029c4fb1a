"""Which labeler is of which group: a mapping, a file, or a table, as a mapping by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truthing.case import is_source
from truthing.class_codes import Array
from truthing.errors import InputError, did_you_mean, listing
from truthing.labels import Labels
from truthing.tables.source import open_table

WHO = ("labeler", "judge", "worker", "annotator", "rater", "name", "model")
WHAT = ("group", "family", "kind", "maker", "team", "prompt", "role")


def read_groups(groups: Any) -> dict[str, str] | None:
    """Labeler to group."""
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        found = {str(who): str(group) for who, group in groups.items() if group is not None}
    elif is_source(groups):
        found = _from_table(groups)
    else:
        raise InputError(
            f"groups is a {type(groups).__name__}: give a mapping from labeler to group, or a file "
            "with these two columns."
        )
    if not found:
        raise InputError("groups= names no labeler: give a mapping from labeler to group.")
    return found


def _from_table(source: Any) -> dict[str, str]:
    table = open_table(source)
    columns = {str(c).strip().lower(): c for c in table.frame.columns}
    who = next((columns[c] for c in WHO if c in columns), None)
    what = next((columns[c] for c in WHAT if c in columns), None)
    if who is None or what is None:
        raise InputError(
            f"{table.name} needs a column labeler and a column group; it has "
            f"{listing(table.frame.columns, 10)}."
        )
    rows = zip(table.frame[who].to_list(), table.frame[what].to_list())
    found: dict[str, str] = {}
    for name, group in rows:
        if name is None or group is None:
            continue
        if found.setdefault(str(name).strip(), str(group).strip()) != str(group).strip():
            raise InputError(f"{table.name}: labeler {name!r} is in two groups. Keep one.")
    return found


def siblings(own: Sequence[str | None], groups: Mapping[str, str] | None, labels: Labels) -> Array:
    """For each model, which labelers are of its group: models × labelers."""
    if groups is None:
        raise InputError("classifier_group= needs groups=, the groups of the labelers.")
    known = sorted(set(groups.values()))
    rows = []
    for group in own:
        if group is not None and group not in known:
            raise InputError(
                f"classifier_group {group!r} is no group here.{did_you_mean(group, known)} There "
                f"are {listing(known, 8)}."
            )
        rows.append([group is not None and groups.get(str(w)) == group for w in labels.labelers])
    return np.array(rows)


def too_few_left(mine: Array, labels: Labels) -> bool:
    """Are nearly all items labeled by the classifier's siblings only?"""
    others = np.unique(labels.item[~mine[labels.labeler]])
    return len(others) < 0.5 * labels.n_items
