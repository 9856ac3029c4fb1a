"""Who agrees with whom more than the model explains: two passes over the labels, whose sums add up
over shards of items.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truthing.class_codes import Array
from truthing.engine.base import Engine, Shard
from truthing.truth.consensus import DawidSkeneFit
from truthing.truth.passes import Tables, count_keys, first_key, loops, posterior_pass

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
    rows = fit.rows(busiest)
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
    loops(shard).count_pairs(*shard.arrays, first_key(shard), shard.n_classes, place, shared)
    return shared


def add_pairs(
    shard: Shard, tables: Tables, place: Array, number: Array, alike: Array, highest: Array
) -> Array:
    """Sums of each chosen pair; ``highest`` bounds what agreement may be expected on an item."""
    sums = np.zeros((len(alike), 6))
    (posterior,) = posterior_pass(shard, tables)
    given = first_key(shard), tables.logs, posterior, place, number, alike, highest, sums
    loops(shard).add_pairs(*shard.arrays, *given)
    return sums
