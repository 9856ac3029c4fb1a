"""One pass of the consensus over the labels, beside the gathers and scatters that any such pass
needs, in the same run: nanoseconds per label on one thread, and their ratio.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from truthing.engine.base import NO_VOTES, Shard
from truthing.truth.passes import Tables, expectation_pass


@numba.njit(nogil=True)
def gather_and_scatter(key, logs, counts):  # type: ignore[no-untyped-def]
    """Read one run of numbers for each label and add to another: nothing else."""
    total = 0.0
    for n in range(len(key)):
        for c in range(logs.shape[1]):
            total += logs[key[n], c]
    for n in range(len(key)):
        for c in range(logs.shape[1]):
            counts[key[n], c] += 0.5
    return total


def fastest(work: Callable[[], Any], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--labelers", type=int, default=20_000)
    asked = parser.parse_args()
    heads = ("classes", "labels", "gather+scatter", "pass", "ratio", "with the step before")
    print("".join(f"{name:>22}" for name in heads))
    rng = np.random.default_rng(0)
    for n_classes in (2, 10):
        for n_labels in asked.labels:
            n_items = n_labels // 5
            rows = asked.labelers * n_classes
            key = rng.integers(0, rows, n_items * 5).astype(np.int32)
            nobody = np.full(n_items, -1, dtype=np.int32)
            none = np.empty(0, dtype=np.int32)
            start_of = np.arange(0, n_items * 5 + 1, 5, dtype=np.int64)
            shard = Shard(start_of, key, NO_VOTES, nobody, none, asked.labelers, n_classes)
            tables = Tables(np.log(rng.dirichlet(np.ones(n_classes), rows)), np.zeros(n_classes))
            counts = np.zeros((rows, n_classes))
            gather_and_scatter(key[:10], tables.logs, counts)
            expectation_pass(shard.some(0, 2), tables, tables)
            least = fastest(lambda: gather_and_scatter(key, tables.logs, counts))  # noqa: B023
            took = fastest(lambda: expectation_pass(shard, tables))  # noqa: B023
            both = fastest(lambda: expectation_pass(shard, tables, tables))  # noqa: B023
            each = [1e9 * seconds / len(key) for seconds in (least, took, both)]
            print(
                f"{n_classes:>22}{len(key):>22,}{each[0]:>22.1f}{each[1]:>22.1f}"
                f"{took / least:>22.2f}{each[2]:>22.1f}"
            )


if __name__ == "__main__":
    main()
