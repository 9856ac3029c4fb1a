"""Bits in the labels that were actually collected, for every draw of the labelers' confusion matrices (docs/labelers.md, 7-9)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.truth.samplers.known import draw_index

WORK = 4_000_000  # simulated labels of all draws together, where that leaves FEWEST draws
FEWEST, MOST = 50, 200
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Collected:
    """Draw by draw: bits in all labels of an average item, and what a label of each labeler adds to the others' on its items."""

    panel: Array
    added: Array


def collected_bits(
    start_of: Array,
    labeler: Array,
    tables: Array,
    priors: Array,
    *,
    repeats: int | None = None,
    seed: int = 0,
) -> Collected:
    """Labels simulated on the items that each labeler labeled: entries of item i are ``start_of[i]:start_of[i + 1]``.

    What labeler t adds is averaged over the *other* labels of its items only: given the posterior q that they leave, its
    own label is worth I(q; Π_t), which needs no simulation and is never negative.
    """
    if repeats is None:
        n_draws = int(np.clip(WORK // max(len(labeler), 1), FEWEST, MOST))
        step = max(1, len(tables) // n_draws)
        tables, priors = tables[::step], priors[::step]
        repeats = int(np.clip(WORK // max(len(labeler) * len(tables), 1), 1, 4000))
    seeds = np.random.default_rng(seed).integers(0, 2**31, len(tables))
    panel = np.zeros(len(tables))
    added = np.zeros((len(tables), tables.shape[1]))
    # one memory layout, so that the loop is compiled once
    rows, priors = (
        np.ascontiguousarray(np.maximum(tables, TINY)),
        np.ascontiguousarray(priors, dtype=float),
    )
    _simulate(
        start_of.astype(np.int64),
        labeler.astype(np.int64),
        rows,
        priors,
        repeats,
        seeds,
        panel,
        added,
    )
    count = np.bincount(labeler, minlength=tables.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return Collected(panel, added / (count * repeats))


@numba.njit(cache=True)
def _bits(p):  # type: ignore[no-untyped-def]
    total = 0.0
    for value in p:
        if value > 0:
            total -= value * math.log2(value)
    return total


@numba.njit(parallel=True, cache=True)
def _simulate(start_of, labeler, tables, priors, repeats, seeds, panel, added):  # type: ignore[no-untyped-def]
    n_items, n_classes = len(start_of) - 1, tables.shape[2]
    for s in numba.prange(len(tables)):
        np.random.seed(seeds[s])
        rows, prior = tables[s], priors[s]
        logs = np.log(rows)
        inside = np.empty((rows.shape[0], n_classes))
        for t in range(rows.shape[0]):
            for c in range(n_classes):
                inside[t, c] = _bits(rows[t, c])
        score, q, said = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
        label = np.empty(np.diff(start_of).max(), dtype=np.int64)
        total = 0.0
        for _ in range(repeats):
            for i in range(n_items):
                first = start_of[i]
                truth = draw_index(prior, 1.0)
                for c in range(n_classes):
                    score[c] = math.log(max(prior[c], 1e-300))
                for n in range(first, start_of[i + 1]):
                    t = labeler[n]
                    label[n - first] = draw_index(rows[t, truth], 1.0)
                    for c in range(n_classes):
                        score[c] += logs[t, c, label[n - first]]
                _softmax(score, q)
                total += _bits(q)
                for n in range(first, start_of[i + 1]):
                    t = labeler[n]
                    for c in range(n_classes):
                        said[c] = score[c] - logs[t, c, label[n - first]]
                    _softmax(said, q)
                    worth = 0.0
                    said[:] = 0.0
                    for c in range(n_classes):
                        worth -= q[c] * inside[t, c]
                        for k in range(n_classes):
                            said[k] += q[c] * rows[t, c, k]
                    added[s, t] += max(worth + _bits(said), 0.0)
        panel[s] = _bits(prior) - total / (repeats * n_items)


@numba.njit(cache=True)
def _softmax(score, out):  # type: ignore[no-untyped-def]
    top, total = score.max(), 0.0
    for c in range(len(score)):
        out[c] = math.exp(score[c] - top)
        total += out[c]
    out /= total
