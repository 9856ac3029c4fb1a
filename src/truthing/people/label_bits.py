"""Bits in the labels that were actually collected, for every draw of the labelers' confusion
matrices (docs/labelers.md, 7-9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truthing.class_codes import Array
from truthing.compiled import njit
from truthing.randomness import Seed, compiled_seeds
from truthing.threads import in_threads
from truthing.truth.samplers.draws import draw_index, softmax

WORK = 4_000_000  # simulated labels of all draws together, where that leaves FEWEST draws
FEWEST, MOST = 50, 200
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Collected:
    """Draw by draw: bits in all labels of an average item, and what a label of each labeler adds to
    the others' on its items.
    """

    panel: Array
    added: Array


def collected_bits(
    start_of: Array,
    labeler: Array,
    tables: Array,
    priors: Array,
    *,
    repeats: int | None = None,
    seed: Seed = 0,
) -> Collected:
    """Labels simulated on the items that each labeler labeled: entries of item i are
    ``start_of[i]:start_of[i + 1]``.

    What labeler t adds is averaged over the *other* labels of its items only: given the posterior q
    that they leave, its own label is worth I(q; Π_t), which needs no simulation and is never
    negative.
    """
    if repeats is None:
        n_draws = int(np.clip(WORK // max(len(labeler), 1), FEWEST, MOST))
        step = max(1, len(tables) // n_draws)
        tables, priors = tables[::step], priors[::step]
        repeats = int(np.clip(WORK // max(len(labeler) * len(tables), 1), 1, 4000))
    seeds = compiled_seeds(seed, len(tables), "bits in labels")
    added = np.zeros((len(tables), tables.shape[1]))
    # one memory layout, so that the loop is compiled once
    rows = np.ascontiguousarray(np.maximum(tables, TINY))
    shares = np.ascontiguousarray(priors, dtype=float)
    of = start_of.astype(np.int64), labeler.astype(np.int64)
    jobs = [
        (_Panel(*of, rows[d], shares[d]), repeats, seeds[d], added[d]) for d in range(len(tables))
    ]
    panel = np.array(in_threads(_simulate, jobs))
    count = np.bincount(labeler, minlength=tables.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return Collected(panel, added / (count * repeats))


@njit
def _bits(p):  # type: ignore[no-untyped-def]
    total = 0.0
    for value in p:
        if value > 0:
            total -= value * math.log2(value)
    return total


class _Panel(NamedTuple):
    """Who labeled which item, and one draw of their tables and of the class prior."""

    start_of: Array
    labeler: Array
    rows: Array
    prior: Array


@njit
def _worth(q, rows, inside, chance):  # type: ignore[no-untyped-def]
    """Bits of one more label by a labeler with these rows, given the posterior q; ``inside`` is the
    entropy of each row.
    """
    bits = 0.0
    for k in range(len(q)):
        chance[k] = 0.0
    for c in range(len(q)):
        bits -= q[c] * inside[c]
        for k in range(len(q)):
            chance[k] += q[c] * rows[c, k]
    return max(bits + _bits(chance), 0.0)


@njit(nogil=True)
def _simulate(panel, repeats, seed, added):  # type: ignore[no-untyped-def]
    """Bits in all labels of an average item; ``added`` grows by what each labeler's labels are
    worth beside the others'.
    """
    np.random.seed(seed)
    start_of, labeler, rows, prior = panel
    n_items, n_classes = len(start_of) - 1, len(prior)
    logs, inside = np.log(rows), np.empty((len(rows), n_classes))
    for t in range(len(rows)):
        for c in range(n_classes):
            inside[t, c] = _bits(rows[t, c])
    score, q, other = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    label = np.empty(len(labeler), dtype=np.int64)
    total = 0.0
    for _ in range(repeats):
        for i in range(n_items):
            truth = draw_index(prior, 1.0)
            for c in range(n_classes):
                score[c] = math.log(max(prior[c], 1e-300))
            for n in range(start_of[i], start_of[i + 1]):
                t = labeler[n]
                label[n] = draw_index(rows[t, truth], 1.0)
                for c in range(n_classes):
                    score[c] += logs[t, c, label[n]]
            softmax(score, q)
            total += _bits(q)
            for n in range(start_of[i], start_of[i + 1]):
                t = labeler[n]
                for c in range(n_classes):
                    other[c] = score[c] - logs[t, c, label[n]]
                softmax(other, q)
                added[t] += _worth(q, rows[t], inside[t], other)
    return _bits(prior) - total / (repeats * n_items)
