"""Items that belong together: how alike their mistakes are, and what they are worth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truthing.class_codes import Array

FEWEST_CLUSTERS = 5
MOST_LOOKED = 100_000  # names of items
TRUST = 15.0  # pairs of gold items that count as much as the whole panel's disagreement
LEAST = 0.06  # items of one cluster are never quite strangers
SEPARATED = re.compile(r"^(.+?)[:/|#_. -]+[^:/|#_. -]+$")
USUAL = {
    *("patient", "patient_id", "subject", "subject_id", "case", "study", "document", "document_id"),
    *("doc", "doc_id", "conversation", "conversation_id", "session", "session_id", "prompt_id"),
    *("query", "query_id", "qid", "thread", "user", "user_id", "customer", "epoch_of", "page"),
}
WEIGHTS = {
    *("weight", "weights", "sampling_weight", "sample_weight", "survey_weight", "stratum"),
    *("strata", "sampling_probability", "inclusion_probability"),
}


@dataclass(frozen=True)
class Alike:
    """``correlation`` of being right within a cluster; ``sharing`` is the mean number of items in
    an item's cluster, itself included."""

    correlation: float
    sharing: float
    n_clusters: int

    @property
    def design_effect(self) -> float:
        """How many times wider a variance is than with items drawn one by one."""
        return 1 + (self.sharing - 1) * self.correlation


def sharing(cluster: Array, items: Any = slice(None)) -> float:
    """The mean number of these items in the cluster of one of them."""
    sizes = np.bincount(cluster[items])
    return float((sizes.astype(float) ** 2).sum() / max(sizes.sum(), 1))


def intraclass(right: Array, cluster: Array) -> tuple[float, float]:
    """Correlation of a yes or no within clusters (analysis of variance), and the number of pairs
    that it rests on.

    >>> intraclass(np.array([1.0, 1, 0, 0, 1, 1, 0, 0]), np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    (1.0, 4.0)
    """
    sizes = np.bincount(cluster).astype(float)
    sizes, place = sizes[sizes > 0], np.unique(cluster, return_inverse=True)[1].reshape(-1)
    n, k = float(sizes.sum()), len(sizes)
    pairs = float((sizes * (sizes - 1) / 2).sum())
    spread = right.var()
    if k < 2 or n <= k or spread == 0:
        return 0.0, pairs
    means = np.bincount(place, weights=right) / sizes
    between = (sizes * (means - right.mean()) ** 2).sum() / (k - 1)
    within = ((right - means[place]) ** 2).sum() / (n - k)
    typical = (n - (sizes**2).sum() / n) / (k - 1)
    total = between + (typical - 1) * within
    return float(np.clip((between - within) / max(total, 1e-12), 0.0, 1.0)), pairs


def alike(cluster: Array, agrees: Array, gold: Array, predicted: Array) -> Alike:
    """From gold where several gold items share a cluster, else from whether the prediction
    ``agrees`` with the consensus, which is known for every item."""
    seen, _ = intraclass(agrees.astype(float), cluster)
    known = np.flatnonzero(gold >= 0)
    checked, pairs = 0.0, 0.0
    if len(known):
        right = (gold[known] == predicted[known]).astype(float)
        checked, pairs = intraclass(right, cluster[known])
    found = (TRUST * seen + pairs * checked) / (TRUST + pairs)
    return Alike(max(found, LEAST), sharing(cluster), len(np.unique(cluster)))


def gold_worth(cluster: Array, gold: Array, found: Alike, target: str) -> float:
    """What one gold item counts: 1 where gold items were drawn one by one and the question is
    about these items, less where whole clusters are gold or the question is about new clusters."""
    known = np.flatnonzero(gold >= 0)
    if len(known) < 2:
        return 1.0
    expected = 1.0
    if target == "sample":
        sizes = np.bincount(cluster).astype(float)
        n = sizes.sum()
        expected += (len(known) - 1) * (sizes * (sizes - 1)).sum() / max(n * (n - 1), 1.0)
    together = sharing(cluster, known)
    # how alike items are is itself known from few clusters: the variance of Student's t
    few = 1 + 2 / max(len(known) / together - 3, 1.0)
    return 1 / (1 + max(0.0, together - expected) * found.correlation * few)


def worth_in_clusters(cluster: Array, right: Array) -> float:
    """What one of these items counts for new clusters like theirs, where it is known who is
    right."""
    found, _ = intraclass(right.astype(float), cluster)
    together = sharing(cluster)
    few = 1 + 2 / max(len(cluster) / together - 3, 1.0)
    return 1 / (1 + (together - 1) * max(found, LEAST) * few)


def forgotten_weights(readings: Iterable[Any]) -> str | None:
    """A sentence where a column looks like weights or strata that nobody named."""
    for _, name in _unused(readings, WEIGHTS):
        what = "stratum" if name.lower().startswith("strat") else "weights"
        return (
            f"Column {name!r} was not used. If items were not drawn with equal chances, say so "
            f"with `{what}={name!r}`: the figures are about these items as they are."
        )
    return None


def suspected(items: Sequence[Any], readings: Iterable[Any]) -> str | None:
    """A sentence where names of items or a column suggest clusters that nobody declared."""
    for reading, name in _unused(readings, USUAL):
        held = list(reading.column(name).values())
        if _groups([str(v) for v in held if v is not None], len(items)):
            return _asked(f"column {name!r}", f"`cluster={name!r}`")
    looked = items[:MOST_LOOKED]
    stems: list[str] = []
    first = ""
    for number, item in enumerate(looked, 1):
        found = SEPARATED.match(str(item))
        if found:
            first = first or found.group(0)
            stems.append(found.group(1))
        elif number - len(stems) > 0.1 * len(looked):
            return None  # most files have plain names: nothing is left to find
    if len(stems) >= 0.9 * len(looked) and _groups(stems, len(looked)):
        return _asked(f"names of items such as {first!r}", "`cluster=`")
    return None


def _unused(readings: Iterable[Any], names: set[str]) -> Iterator[tuple[Any, str]]:
    """Columns of such names that were taken for nothing."""
    for reading in readings:
        for name in reading.table.frame.columns:
            if str(name).lower() in names and name not in reading.columns.role.values():
                yield reading, str(name)


def _groups(stems: list[str], n_items: int) -> bool:
    sizes = np.unique(np.array(stems, dtype=object).astype(str), return_counts=True)[1]
    if len(sizes) < FEWEST_CLUSTERS or len(stems) < 0.5 * n_items:
        return False
    return bool(len(stems) / len(sizes) >= 1.5 and sizes.max() < 0.5 * len(stems))


def _asked(what: str, how: str) -> str:
    return (
        f"By {what} several items seem to belong together. If they share mistakes (images of one "
        f"patient, answers to one prompt), say so with {how}: otherwise intervals for new data, "
        "or with gold by whole groups, are too narrow."
    )
