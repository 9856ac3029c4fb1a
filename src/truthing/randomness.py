"""Random streams that never meet: one seed from the user, and from it a stream for each purpose, by
name.

Two purposes under one seed share nothing, nor do seeds 0 and 1; and a new purpose leaves the
others' streams as they were.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

Seed = int | np.random.SeedSequence


def child(seed: Seed, *purpose: str | int) -> np.random.SeedSequence:
    """The seed of one purpose: words, and numbers where there are several of a kind.

    >>> child(0, "chains").generate_state(2).tolist() == child(0,
    ...     "chains").generate_state(2).tolist()
    True
    >>> child(0, "chains").generate_state(2).tolist() == child(1,
    ...     "chains").generate_state(2).tolist()
    False
    """
    parent = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    key = [zlib.crc32(word.encode()) if isinstance(word, str) else word for word in purpose]
    return np.random.SeedSequence(parent.entropy, spawn_key=(*parent.spawn_key, *key))


def generator(seed: Seed, *purpose: str | int) -> np.random.Generator:
    """A generator for one purpose."""
    return np.random.default_rng(child(seed, *purpose))


def compiled_seeds(seed: Seed, count: int, *purpose: str | int) -> Any:
    """Numbers with which compiled loops seed themselves, one for each chain or draw."""
    return child(seed, *purpose).generate_state(count).astype(np.int64)
