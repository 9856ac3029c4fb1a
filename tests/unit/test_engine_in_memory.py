"""Very many items in memory are counted in groups; the answer is that of items one by one."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing import names as name_columns
from truthing import sorting
from truthing.labels import Labels
from truthing.streaming import choice, in_memory


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few items count as very many, and their names stay in a column."""
    monkeypatch.setattr(choice, "MANY_ITEMS", 100)
    monkeypatch.setattr(name_columns, "MANY", 100)


def case(n_items: int = 600, seed: int = 3) -> tuple[dict[str, str], Labels, dict[str, str]]:
    """Predictions in another order than the labels, labels, and gold."""
    data = tr.simulate(n_items, 6, prior=[0.6, 0.4], operating_point=(0.85, 0.15), seed=seed)
    rng = np.random.default_rng(seed)
    grid, names = data.labels.matrix(), np.array(["no", "yes"])
    item, who = np.nonzero(rng.random(grid.shape) < 0.7)
    order = rng.permutation(len(item))
    item, who = item[order], who[order]
    labels = Labels.from_long(
        [f"i{i}" for i in item], [f"w{t}" for t in who], names[grid[item, who]].tolist()
    )
    places = [int(i[1:]) for i in labels.items]
    guess = {f"i{i}": str(names[data.predictions[i]]) for i in sorted(places)}
    gold = {f"i{i}": str(names[data.truth[i]]) for i in rng.permutation(places)[:40]}
    return guess, labels, gold


def rows(report: tr.Report) -> dict[Any, list[float]]:
    return dict(zip(report.items, report.truth.tolist()))


@pytest.mark.parametrize("with_gold", [False, True])
def test_groups_are_items(monkeypatch: pytest.MonkeyPatch, with_gold: bool) -> None:
    guess, labels, gold = case()
    known = gold if with_gold else None
    by_items = tr.grade(guess, labels, gold=known, panel="people")
    monkeypatch.setattr(choice, "MANY_ITEMS", 100)
    called = []
    monkeypatch.setattr(
        in_memory, "count_panel", lambda s, f=in_memory.count_panel: called.append(s) or f(s)
    )
    grouped = tr.grade(guess, labels, gold=known, panel="people")
    assert called  # otherwise nothing was compared
    assert grouped.warnings == by_items.warnings
    assert grouped.assumptions == by_items.assumptions
    for name in by_items.metrics:
        np.testing.assert_allclose(grouped[name].draws, by_items[name].draws, atol=1e-9)
    assert list(grouped.items) == list(by_items.items)
    np.testing.assert_allclose(grouped.truth, by_items.truth, atol=1e-9)
    assert isinstance(grouped.truth, np.ndarray)
    assert grouped.truth is grouped.truth  # computed once


def test_what_else_it_might_have_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    guess, labels, _ = case()
    by_items = tr.grade(guess, labels, draws=400).sensitivity()
    monkeypatch.setattr(choice, "MANY_ITEMS", 100)
    grouped = tr.grade(guess, labels, draws=400)
    for _ in range(2):
        assert str(grouped.sensitivity()) == str(by_items)


@pytest.mark.usefixtures("many")
def test_new_items_join() -> None:
    guess, labels, _ = case()
    grouped = tr.grade(guess, labels)
    fresh, more, _ = case(seed=8)
    other = Labels.from_codes(
        more.item,
        more.labeler,
        more.label,
        items=[f"new {i}" for i in more.items],
        labelers=more.labelers,
        classes=more.classes,
    )
    joined = grouped.update(other, {f"new {i}": said for i, said in fresh.items()})
    assert joined.sizes["items"] == grouped.sizes["items"] + other.n_items
    with pytest.raises(tr.InputError, match="was graded before"):
        grouped.update(labels, guess)


@pytest.mark.usefixtures("many")
def test_rows_in_any_order() -> None:
    guess, labels, gold = case()
    first = tr.grade(guess, labels, gold=gold)
    other = labels[np.random.default_rng(1).permutation(labels.n_items)]
    turned = other.select(labels.labelers[::-1])
    second = tr.grade(dict(reversed(guess.items())), turned, gold=gold)
    np.testing.assert_array_equal(first["accuracy"].draws, second["accuracy"].draws)
    assert rows(first) == rows(second)


@pytest.mark.usefixtures("many")
def test_a_labeler_that_is_the_classifier() -> None:
    guess, labels, _ = case()
    n = labels.n_items
    words = [guess[i] for i in labels.items]
    both = Labels.from_codes(
        np.concatenate([labels.item, np.arange(n)]),
        np.concatenate([labels.labeler, np.full(n, labels.n_labelers)]),
        np.concatenate([labels.label, [labels.classes.index(w) for w in words]]),
        items=labels.items,
        labelers=(*labels.labelers, "copy"),
        classes=labels.classes,
    )
    found = tr.grade(guess, both)
    assert any("'copy' says exactly what" in w for w in found.warnings)
    assert found["accuracy"].mean == pytest.approx(tr.grade(guess, labels)["accuracy"].mean)


def test_what_asks_for_single_items_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    guess, labels, _ = case()
    monkeypatch.setattr(choice, "MANY_ITEMS", 100)
    monkeypatch.setattr(in_memory, "count_panel", None)  # would fail
    assert tr.grade(guess, labels, noise=0.2, draws=200).noise.learned is False
    half = {i: "a" if int(i[1:]) % 2 else "b" for i in labels.items}
    assert len(tr.grade(guess, labels, by=half, draws=200).by_slice("accuracy")) == 2
    constant = tr.grade(dict.fromkeys(guess, "yes"), labels, draws=200)
    assert constant.at_face_value("recall") == 1


def test_items_with_many_labels_are_sorted_too() -> None:
    rng = np.random.default_rng(0)
    size = np.array([3, 0, sorting.LONG + 5, 1])
    item = rng.permutation(np.repeat(np.arange(4), size)).astype(np.int32)
    labeler = rng.integers(0, 30, len(item)).astype(np.int32)
    label = rng.integers(-1, 3, len(item)).astype(np.int32)
    places = sorting.sorted_by(item, labeler, label, 4)
    held = np.flatnonzero(label >= 0)
    np.testing.assert_array_equal(places, held[np.lexsort((held, labeler[held], item[held]))])
    by_item = np.argsort(item, kind="stable")
    labeler, label = labeler[by_item], np.abs(label[by_item])
    chosen = np.array([2, 0, 3, 1], dtype=np.int32)
    start = np.append(0, np.cumsum(size[chosen]))
    first = np.cumsum(size) - size
    rank, key = rng.permutation(30).astype(np.int32), np.empty(len(item), dtype=np.int32)
    sorting.keys_in_order(start, first, chosen, rank, labeler, label, 3, key)
    expected = []
    for i in chosen:
        mine = slice(first[i], first[i] + size[i])
        expected.append(np.sort(rank[labeler[mine]] * 3 + label[mine]))
    np.testing.assert_array_equal(key, np.concatenate(expected))


@pytest.mark.usefixtures("many")
def test_a_report_holds_no_input_and_no_old_callback() -> None:
    guess, labels, gold = case()
    table = pl.DataFrame(
        {
            "item": [labels.items[i] for i in labels.item],
            "labeler": [labels.labelers[t] for t in labels.labeler],
            "label": [labels.classes[k] for k in labels.label],
        }
    )
    held, chances, calls = weakref.ref(table), dict.fromkeys(gold, 0.5), list[float]()
    report = tr.grade(
        guess,
        table,
        gold=gold,
        gold_weights=chances,
        draws=200,
        progress=lambda share, _: calls.append(share),
    )
    del table
    gc.collect()
    assert held() is None
    before = len(calls)
    chances.clear()
    now: list[float] = []
    report.sensitivity(progress=lambda share, _: now.append(share))
    assert len(calls) == before
    assert now == sorted(now)
    assert now[0] < 0.3


@pytest.mark.usefixtures("many")
def test_two_copies_are_named_in_one_order() -> None:
    guess, labels, _ = case()
    own = np.array([labels.classes.index(guess[i]) for i in labels.items])
    n, words = labels.n_items, []
    for names in (("copy 1", "copy 2"), ("copy 2", "copy 1")):
        both = Labels.from_codes(
            np.concatenate([np.tile(np.arange(n), 2), labels.item]),
            np.concatenate([np.repeat([0, 1], n), labels.labeler + 2]),
            np.concatenate([own, own, labels.label]),
            items=labels.items,
            labelers=(*names, *labels.labelers),
            classes=labels.classes,
        )
        words.append([w for w in tr.grade(guess, both, draws=200).warnings if "exactly" in w])
    assert words[0] == words[1]
    assert "'copy 1', 'copy 2'" in words[0][0]
