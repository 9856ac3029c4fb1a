"""Who agrees with whom more than the model explains: two passes over the labels, whose sums add up
over shards of items.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from truthing.class_codes import Array
from truthing.engine.base import Engine, Shard
from truthing.truth.consensus import DawidSkeneFit
from truthing.truth.passes import Tables, count_keys, posterior_pass

TWINS = 0.98
BUSIEST = 40
N, SAME, EXPECTED, VARIANCE, FIRST, SECOND = range(6)  # sums of a pair


def unusual_agreement(
    engine: Engine, names: list[Any], fit: DawidSkeneFit, *, most_pairs: int, enough: int
) -> list[dict[str, Any]]:
    """Pairs of raters whose agreement the model does not explain: observed and expected share, z
    score and p (Bonferroni).

    What a pair would agree on is computed from the others' opinion of each item, so that their own
    agreement cannot explain itself.
    """
    n_classes = engine.n_classes
    given = engine.add(count_keys).reshape(-1, n_classes).sum(axis=1)
    busiest = np.argsort(-given, kind="stable")[:BUSIEST]
    place = np.full(len(given), -1, dtype=np.int32)
    place[busiest] = np.arange(len(busiest))
    shared = engine.add(count_pairs, place)
    chosen = np.argwhere(np.triu(shared, 1) >= enough)[:most_pairs]
    if len(chosen) == 0:
        return []
    number = np.full(shared.shape, -1, dtype=np.int32)
    number[chosen[:, 0], chosen[:, 1]] = np.arange(len(chosen))
    rows = fit.rows()[busiest]
    alike = (rows[chosen[:, 0]] * rows[chosen[:, 1]]).sum(axis=2)
    highest = np.full(len(chosen), np.inf)
    sums = engine.add(add_pairs, fit.tables, place, number, alike, highest)
    twins = sums[:, SAME] > TWINS * sums[:, N]
    if twins.any():
        # two raters who always agree look perfect to any model; how well they agree with
        # everybody else says otherwise
        usual = (sums[:, FIRST] + sums[:, SECOND]) / sums[:, N] / 2
        cap = usual**2 + (1 - usual) ** 2 / max(n_classes - 1, 1)
        highest = np.where(twins, cap, np.inf)
        sums = engine.add(add_pairs, fit.tables, place, number, alike, highest)
    return _told([(names[busiest[a]], names[busiest[b]]) for a, b in chosen], sums)


def _told(pairs: list[tuple[Any, Any]], sums: Array) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for (first, second), pair in zip(pairs, sums):
        surprise = (pair[SAME] - pair[EXPECTED]) / math.sqrt(max(pair[VARIANCE], 1e-9))
        found.append(
            {
                "first": first,
                "second": second,
                "items": int(pair[N]),
                "observed": float(pair[SAME] / pair[N]),
                "expected": float(pair[EXPECTED] / pair[N]),
                "z": float(surprise),
                "p": min(1.0, len(pairs) * math.erfc(abs(surprise) / math.sqrt(2)) / 2),
            }
        )
    return sorted(found, key=lambda pair: -pair["z"])


def count_pairs(shard: Shard, place: Array) -> Array:
    """On how many items each pair of the busiest raters meets."""
    n = int(place.max()) + 1
    shared = np.zeros((n, n))
    _count_pairs(*shard.arrays, shard.n_labelers, shard.n_classes, place, shared)
    return shared


def add_pairs(
    shard: Shard, tables: Tables, place: Array, number: Array, alike: Array, highest: Array
) -> Array:
    """Sums of each chosen pair; ``highest`` bounds what agreement may be expected on an item."""
    sums = np.zeros((len(alike), 6))
    (posterior,) = posterior_pass(shard, tables)
    _add_pairs(
        *shard.arrays,
        shard.n_labelers,
        tables.logs,
        posterior,
        place,
        number,
        alike,
        highest,
        sums,
    )
    return sums


@numba.njit(cache=True, nogil=True)
def _busy(start, stop, key, guess, n_classes, place, who, said):  # type: ignore[no-untyped-def]
    """The busy raters of an item and their first keys; ``guess`` is the classifier's or -1."""
    found = 0
    for n in range(start, stop + (guess >= 0)):
        label = key[n] if n < stop else guess
        at = place[label // n_classes]
        if at < 0:
            continue
        again = False
        for k in range(found):
            again |= who[k] == at
        if not again:
            who[found], said[found] = at, label
            found += 1
    return found


@numba.njit(cache=True, nogil=True)
def _count_pairs(  # type: ignore[no-untyped-def]
    start_of, key, votes, gold, predicted, n_labelers, n_classes, place, shared
):
    who, said = np.empty(len(shared), np.int64), np.empty(len(shared), np.int64)
    for i in range(len(start_of) - 1):
        guess = n_labelers * n_classes + predicted[i] if len(predicted) else -1
        found = _busy(start_of[i], start_of[i + 1], key, guess, n_classes, place, who, said)
        for j in range(found):
            for k in range(j):
                shared[who[j], who[k]] += 1
                shared[who[k], who[j]] += 1


@numba.njit(cache=True, nogil=True)
def _add_pairs(  # type: ignore[no-untyped-def]
    start_of,
    key,
    votes,
    gold,
    predicted,
    n_labelers,
    logs,
    posterior,
    place,
    number,
    alike,
    highest,
    sums,
):
    n_classes = posterior.shape[1]
    who, said = np.empty(len(number), np.int64), np.empty(len(number), np.int64)
    others = np.empty(n_classes)
    for i in range(len(start_of) - 1):
        guess = n_labelers * n_classes + predicted[i] if len(predicted) else -1
        found = _busy(start_of[i], start_of[i + 1], key, guess, n_classes, place, who, said)
        for j in range(found):
            for k in range(found):
                pair = number[who[j], who[k]]
                if pair < 0:
                    continue
                best, total, expected = 0, 0.0, 0.0
                for c in range(n_classes):
                    log_q = math.log(max(posterior[i, c], 1e-300))
                    others[c] = log_q - logs[said[j], c] - logs[said[k], c]
                    if others[c] > others[best]:
                        best = c
                top = others[best]
                for c in range(n_classes):
                    chance = math.exp(others[c] - top)
                    total += chance
                    expected += chance * alike[pair, c]
                expected = min(expected / total, highest[pair])
                first, second = said[j] % n_classes, said[k] % n_classes
                sums[pair, 0] += 1
                sums[pair, 1] += first == second
                sums[pair, 2] += expected
                sums[pair, 3] += expected * (1 - expected)
                sums[pair, 4] += first == best
                sums[pair, 5] += second == best
