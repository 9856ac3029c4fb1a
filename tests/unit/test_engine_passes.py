"""A pass over the labels does what its formula says, and shards change no sum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from truthing.engine.base import NO_VOTES, NOTHING, Shard
from truthing.engine.memory import Memory
from truthing.truth import agreements, passes
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


@pytest.fixture(params=["plain", "compiled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small shards take plain numpy, large ones compiled loops."""
    if request.param == "compiled":
        monkeypatch.setattr(passes, "SMALL", -1)
    return str(request.param)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_pass_is_its_formula(n_classes: int, way: str) -> None:
    part = shard(n_classes)
    assert passes.loops(part).__name__.endswith(way)
    now, before = tables(part, 1), tables(part, 2)
    found = expectation_pass(part, now, before)
    (posterior, counts), (earlier, _) = plainly(part, now), plainly(part, before)
    assert np.abs(found.counts - counts).max() < 1e-9
    assert np.abs(found.totals - posterior.sum(axis=0)).max() < 1e-9
    assert found.moved == pytest.approx(np.abs(posterior - earlier).sum(), rel=1e-9)
    assert found.farthest == pytest.approx(np.abs(posterior - earlier).max(), rel=1e-9)
    weighted = replace(part, votes=np.ones(len(part.key)))  # takes the way for any votes
    assert np.abs(expectation_pass(weighted, now, before).counts - counts).max() < 1e-9


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_item_with_thousands_of_labels(n_classes: int, way: str) -> None:
    """Products of so many chances vanish; their logarithms do not."""
    part = shard(n_classes, n_items=3)
    key = np.random.default_rng(1).integers(0, 12 * n_classes, 4000).astype(np.int32)
    start_of = np.array([0, 5, 4000, 4000])
    long = replace(part, start_of=start_of, key=key, gold=np.full(3, -1, dtype=np.int32))
    now = tables(long, 1)
    assert passes.loops(long).__name__.endswith(way)
    posterior, counts = plainly(long, now)
    found = expectation_pass(long, now)
    np.testing.assert_allclose(found.counts, counts, atol=1e-8)
    np.testing.assert_allclose(found.totals, posterior.sum(axis=0), atol=1e-10)


def test_tables_too_large_for_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    part = shard(3)
    monkeypatch.setattr(passes, "SMALL", -1)
    whole = expectation_pass(part, tables(part, 1), tables(part, 2))
    monkeypatch.setattr(passes, "MOST_CELLS", 10)
    found = expectation_pass(part, tables(part, 1), tables(part, 2))
    np.testing.assert_allclose(found.counts, whole.counts, atol=1e-9)
    assert found.moved == pytest.approx(whole.moved, rel=1e-9)


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


CASES = {
    "two classes": lambda: shard(2),
    "four classes": lambda: shard(4, seed=1),
    "votes": lambda: voted(shard(3, seed=2)),
    "no classifier": lambda: replace(shard(3, seed=3), predicted=NOTHING),
    "some of the items": lambda: shard(2, seed=4).some(100, 250),
    "no item": lambda: shard(2, seed=5).some(7, 7),
}


def voted(part: Shard) -> Shard:
    return replace(part, votes=np.random.default_rng(8).integers(1, 5, len(part.key)).astype(float))


def everything(part: Shard) -> list[np.ndarray]:
    """What every pass finds, one after the other."""
    now, before = tables(part, 1), tables(part, 2)
    sums = [expectation_pass(part, now, before), expectation_pass(part, now)]
    sums.append(passes.majority_pass(part, np.full(part.n_classes, 1 / part.n_classes)))
    found = [x for s in sums for x in (s.counts, s.totals, np.array([s.moved, s.farthest]))]
    found += [passes.count_keys(part), passes.votes_pass(part), *passes.posterior_pass(part, now)]
    discount = np.random.default_rng(3).random(part.n_items)
    found += passes.together_and_alone(part, now, discount)
    n_raters = part.n_rows // part.n_classes
    counts = np.random.default_rng(5).gamma(0.5, 5, (n_raters, *[part.n_classes] * 2))
    found.append(passes.expected_log(counts, counts.mean(axis=0), 2.5))
    place = np.arange(n_raters, dtype=np.int32) - 2  # two are not among the busy
    shared = agreements.count_pairs(part, place)
    chosen = np.argwhere(np.triu(np.ones_like(shared), 1) > 0)
    number = np.full(shared.shape, -1, dtype=np.int32)
    number[tuple(chosen.T)] = np.arange(len(chosen))
    alike = np.random.default_rng(4).random((len(chosen), part.n_classes))
    highest = np.where(np.arange(len(chosen)) % 3 == 0, 0.4, np.inf)
    return [*found, shared, agreements.add_pairs(part, now, place, number, alike, highest)]


@pytest.mark.parametrize("name", CASES)
def test_plain_and_compiled_loops_find_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    part = CASES[name]()
    plain = everything(part)
    monkeypatch.setattr(passes, "SMALL", -1)
    compiled = everything(part)
    for one, other in zip(plain, compiled, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
