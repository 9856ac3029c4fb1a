"""A pass over the labels does what its formula says, and shards change no sum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from truthing.engine.base import NO_VOTES, Shard
from truthing.engine.memory import Memory
from truthing.truth.passes import Tables, expectation_pass


def shard(n_classes: int, seed: int = 0, n_items: int = 400, n_labelers: int = 12) -> Shard:
    rng = np.random.default_rng(seed)
    per_item = rng.integers(0, 6, n_items)
    key = rng.integers(0, n_labelers * n_classes, per_item.sum()).astype(np.int32)
    gold = np.where(rng.random(n_items) < 0.1, rng.integers(0, n_classes, n_items), -1)
    return Shard(
        np.concatenate([[0], np.cumsum(per_item)]).astype(np.int64),
        key,
        NO_VOTES,
        gold.astype(np.int32),
        rng.integers(0, n_classes, n_items).astype(np.int32),
        n_labelers,
        n_classes,
    )


def tables(part: Shard, seed: int) -> Tables:
    rng = np.random.default_rng(seed)
    n = part.n_classes
    return Tables(np.log(rng.dirichlet(np.ones(n), part.n_rows)), np.log(rng.dirichlet(np.ones(n))))


def plainly(part: Shard, now: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors and counts, label by label."""
    posterior, counts = [], np.zeros((part.n_rows, part.n_classes))
    for i in range(part.n_items):
        keys = list(part.key[part.start_of[i] : part.start_of[i + 1]])
        keys.append(part.n_labelers * part.n_classes + part.predicted[i])
        q = softmax(now.log_prior + sum(now.logs[k] for k in keys))
        if part.gold[i] >= 0:
            q = np.eye(part.n_classes)[part.gold[i]]
        for k in keys:
            counts[k] += q
        posterior.append(q)
    return np.array(posterior), counts


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_pass_is_its_formula(n_classes: int) -> None:
    part = shard(n_classes)
    now, before = tables(part, 1), tables(part, 2)
    found = expectation_pass(part, now, before)
    (posterior, counts), (earlier, _) = plainly(part, now), plainly(part, before)
    assert np.abs(found.counts - counts).max() < 1e-9
    assert np.abs(found.totals - posterior.sum(axis=0)).max() < 1e-9
    assert found.moved == pytest.approx(np.abs(posterior - earlier).sum(), rel=1e-9)
    assert found.farthest == pytest.approx(np.abs(posterior - earlier).max(), rel=1e-9)
    weighted = replace(part, votes=np.ones(len(part.key)))  # takes the way for any votes
    assert np.abs(expectation_pass(weighted, now, before).counts - counts).max() < 1e-9


def test_shards_change_no_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    part = shard(2)
    now, before = tables(part, 1), tables(part, 2)
    whole = expectation_pass(part, now, before)
    monkeypatch.setattr("truthing.engine.memory.RUN", 20)
    engine = Memory(part)
    assert len(engine.shards) > 3
    found = engine.add(expectation_pass, now, before)
    assert np.abs(found.counts - whole.counts).max() < 1e-9
    assert found.moved == pytest.approx(whole.moved, rel=1e-9)
    assert found.farthest == pytest.approx(whole.farthest, rel=1e-12)
    assert found.n_items == whole.n_items
