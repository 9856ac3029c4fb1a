"""One pass over the labels of a shard: the E step of each item, and its share of the M step while
its labels are at hand.

Tables have one row for each key (labeler · classes + label) and one column for each true class, so
that a label reads and writes one run of numbers. Dawid-Skene and one coin are the same pass over
different tables. Small shards take plain numpy, large ones compiled loops: the same to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.engine.base import Shard

SMALL = 400_000  # labels times classes; compiling pays beyond (benchmarks/startup.py)
MOST_CELLS = 8_000_000  # of a table whose chances are kept beside their logarithms


class LogTables(NamedTuple):
    """What a label adds to the log chance of each class, keys × classes, and the log prior."""

    logs: Array
    log_prior: Array


class Tables(LogTables):
    """The same; its chances are computed once for all shards of a pass."""

    @cached_property
    def chances(self) -> tuple[Array, Array]:
        """What a label multiplies the chance of each class by, and the prior; empty where a second
        table would be too large, or a leap of EM went so far that numbers overflow."""
        if self.logs.size <= MOST_CELLS:
            with np.errstate(over="ignore"):
                found = np.exp(self.logs), np.exp(self.log_prior)
            if all(np.isfinite(part).all() for part in found):
                return found
        return np.empty((0, 0)), np.empty(0)


@dataclass(eq=False)
class PassSums:
    """Labels by key and true class, items by true class, and how far items moved since an earlier
    step (in all, and at most)."""

    counts: Array
    totals: Array
    moved: float = 0.0
    farthest: float = 0.0
    n_items: int = 0
    compared: bool = False

    def __iadd__(self, other: PassSums) -> PassSums:
        self.counts += other.counts
        self.totals += other.totals
        self.moved += other.moved
        self.farthest = max(self.farthest, other.farthest)
        self.n_items += other.n_items
        self.compared |= other.compared
        return self


def loops(shard: Shard) -> Any:
    """The module whose loops go over this shard."""
    size = int(shard.start_of[-1] - shard.start_of[0]) + shard.n_items
    return _loops(size * shard.n_classes)


def _loops(size: int) -> Any:
    """Compiling takes seconds, which only many numbers give back."""
    from truthing.truth import passes_compiled, passes_plain

    return passes_plain if size <= SMALL else passes_compiled


def first_key(shard: Shard) -> int:
    """The classifier's key for the first class."""
    return shard.n_labelers * shard.n_classes


def count_keys(shard: Shard) -> Array:
    """How often each key occurs, votes counted, the classifier's last."""
    given = np.zeros(shard.n_rows)
    loops(shard).count_keys(*shard.arrays, first_key(shard), given)
    return given


def majority_pass(shard: Shard, frequency: Array) -> PassSums:
    """The M step of a soft majority vote; ``frequency`` are the shares of the classes."""
    sums = _nothing(shard)
    loops(shard).majority(*shard.arrays, first_key(shard), frequency, sums.counts, sums.totals)
    return sums


def expectation_pass(shard: Shard, now: Tables, before: Tables | None = None) -> PassSums:
    """E step at ``now`` and the sums of the M step; beside ``before``, how far items moved."""
    sums, chosen = _nothing(shard), loops(shard)
    sums.compared = before is not None
    old = before or now
    added = sums.compared, sums.counts, sums.totals
    if shard.n_classes == 2 and not len(shard.votes) and hasattr(chosen, "two_classes"):
        start_of, key, _, gold, predicted = shard.arrays
        odds = [table[..., 1] - table[..., 0] for table in (*now, *old)]
        found = chosen.two_classes(start_of, key, gold, predicted, first_key(shard), *odds, *added)
    else:
        found = chosen.expectation(
            *shard.arrays, first_key(shard), *now, *old, *added, *_chances(shard, now, old)
        )
    sums.moved, sums.farthest = found
    return sums


def _chances(shard: Shard, now: Tables, old: Tables) -> tuple[Array, ...]:
    """What compiled loops multiply, where each label is one vote."""
    if len(shard.votes) or not (len(now.chances[0]) and len(old.chances[0])):
        return (np.empty((0, 0)), np.empty(0)) * 2
    return now.chances + old.chances


def coin_pass(shard: Shard, now: Tables, before: Tables | None = None) -> PassSums:
    """The same for one coin; sums of both models are kept apart by the names of their passes."""
    return expectation_pass(shard, now, before)


def posterior_pass(shard: Shard, now: Tables) -> tuple[Array]:
    """Each item's posterior, items × classes."""
    posterior = np.empty((shard.n_items, shard.n_classes))
    loops(shard).posteriors(*shard.arrays, first_key(shard), *now, posterior)
    return (posterior,)


def votes_pass(shard: Shard) -> Array:
    """Votes for each class, items × classes."""
    votes = np.zeros((shard.n_items, shard.n_classes))
    loops(shard).votes_by_class(*shard.arrays, votes)
    return votes


def together_and_alone(shard: Shard, now: Tables, discount: Array) -> tuple[Array, Array]:
    """Each item's posterior with the classifier as a rater (if it is one), and from the labelers
    alone, what one vote on each item counts given by ``discount``."""
    together = np.empty((shard.n_items, shard.n_classes))
    alone = np.empty((shard.n_items, shard.n_classes))
    given = first_key(shard), *now, discount, together, alone
    loops(shard).together_and_alone(*shard.arrays, *given)
    return together, alone


def expected_log(counts: Array, pool: Array, concentration: float) -> Array:
    """Of each rater's rows (raters × truth × label) with a Dirichlet prior around ``pool``."""
    log = np.empty_like(counts)
    _loops(counts.size).expected_log(counts, pool, concentration, log)
    return log


def _nothing(shard: Shard) -> PassSums:
    n = shard.n_classes
    return PassSums(np.zeros((shard.n_rows, n)), np.zeros(n), n_items=shard.n_items)
