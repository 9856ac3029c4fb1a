"""One pass of the consensus over the labels, beside the gathers and scatters that any such pass
needs, turn by turn in the same run: nanoseconds of processor time per label, medians over the
turns, their ratio, and what a label costs beside the smallest size.

    python benchmarks/large_passes.py --labels 1000000 10000000 --threads 2
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from truthing.engine.base import NO_VOTES, Shard
from truthing.threads import in_threads, shares
from truthing.truth.passes import Tables, expectation_pass

HEADS = ("classes", "labels", "gather+scatter", "pass", "ratio", "ratio from .. to", "of smallest")


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


def spent(work: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> float:
    """Processor seconds of all threads together."""
    start = time.process_time()
    in_threads(work, jobs)
    return time.process_time() - start


def measure(n_labels: int, n_labelers: int, n_classes: int, n_threads: int, turns: int) -> Any:
    """Nanoseconds per label of the gathers and scatters and of the pass, at each turn."""
    rng = np.random.default_rng(0)
    n_items, rows = n_labels // 5, n_labelers * n_classes
    key = rng.integers(0, rows, n_items * 5, dtype=np.int32)
    nobody = np.full(n_items, -1, dtype=np.int32)
    none = np.empty(0, dtype=np.int32)
    start_of = np.arange(0, n_items * 5 + 1, 5, dtype=np.int64)
    whole = Shard(start_of, key, NO_VOTES, nobody, none, n_labelers, n_classes)
    tables = Tables(np.log(rng.dirichlet(np.ones(n_classes), rows)), np.zeros(n_classes))
    parts = shares(n_items, n_threads)
    least = [(key[5 * a : 5 * b], tables.logs, np.zeros((rows, n_classes))) for a, b in parts]
    passes = [(whole.some(a, b), tables) for a, b in parts]
    gather_and_scatter(key[:10], tables.logs, least[0][2])
    expectation_pass(whole.some(0, 2), tables)
    found = [
        (spent(gather_and_scatter, least), spent(expectation_pass, passes)) for _ in range(turns)
    ]
    return 1e9 * np.array(found) / len(key)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--labelers", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=9)
    asked = parser.parse_args()
    print("".join(f"{name:>18}" for name in HEADS))
    for n_classes in (2, 10):
        smallest = None
        for n_labels in asked.labels:
            each = measure(n_labels, asked.labelers, n_classes, asked.threads, asked.turns)
            least, took = np.median(each, axis=0)
            ratio = each[:, 1] / each[:, 0]
            smallest = smallest or took
            span = f"{ratio.min():.2f} .. {ratio.max():.2f}"
            print(
                f"{n_classes:>18}{n_labels:>18,}{least:>18.1f}{took:>18.1f}"
                f"{np.median(ratio):>18.2f}{span:>18}{took / smallest:>18.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
