"""Compiled work on several threads: each job lets go of the interpreter and seeds its own
generator.

A parallel loop inside compiled code would do the same work and take twice as long to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def n_threads() -> int:
    """How many threads compiled code may use (NUMBA_NUM_THREADS sets it)."""
    import numba

    return int(numba.get_num_threads())


def in_threads(function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> list[Any]:
    """``function(*job)`` for each job, results in their order; ``function`` is compiled with
    ``nogil``.

    >>> in_threads(divmod, [(7, 2), (9, 4)])
    [(3, 1), (2, 1)]
    """
    listed = list(jobs)
    workers = min(len(listed), n_threads()) if len(listed) > 1 else 1
    if workers < 2:
        return [function(*job) for job in listed]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: function(*job), listed))


def shares(n_items: int, parts: int) -> list[tuple[int, int]]:
    """Items cut into ``parts`` runs of nearly equal length, as (first, last).

    >>> shares(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    return [(n_items * k // parts, n_items * (k + 1) // parts) for k in range(parts)]
