from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import truthing as tr

triples = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from("abc"), st.sampled_from(["x", "y", "z"])),
    min_size=1,
    max_size=40,
)


def test_is_frozen_and_prints_itself() -> None:
    labels = tr.Labels.from_long([1, 1, 2], ["a", "b", "a"], ["x", "y", "x"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        labels.items = ()  # type: ignore[misc]
    assert "2 items, 2 labelers, 3 labels (1 to 2 per item" in str(labels)
    assert "25% of the grid is empty" in str(labels)


def test_types_are_kept_apart() -> None:
    labels = tr.Labels.from_long([1, 2, 3], ["a"] * 3, [True, 1, "1"])
    assert labels.classes == (True, 1, "1")
    assert len(set(labels.label.tolist())) == 3


def test_missing_in_a_matrix() -> None:
    labels = tr.Labels.from_matrix([[0, np.nan, -1], [1, None, 1]], missing=-1)
    assert (labels.n_labels, labels.classes) == (3, (0, 1))
    kept = tr.Labels.from_matrix(np.array([[0, -1], [1, 1]]))
    assert kept.classes == (-1, 0, 1)


def test_counts_are_anonymous_votes() -> None:
    labels = tr.Labels.from_counts([[2, 1, 0], [0, 0, 4]])
    assert labels.anonymous
    assert labels.n_labels == 7
    assert labels.counts().tolist() == [[2, 1, 0], [0, 0, 4]]
    with pytest.raises(tr.InputError, match="whole numbers"):
        tr.Labels.from_counts([[1.5, 0]])


@given(triples)
def test_slicing_by_item_equals_building_from_the_slice(rows: list[tuple[int, str, str]]) -> None:
    labels = tr.Labels.from_long(*zip(*rows)).resolve_repeats("first")
    half = labels[: max(1, labels.n_items // 2)]
    kept = {
        (labels.items[i], labels.labelers[t], labels.classes[c])
        for i, t, c in zip(labels.item, labels.labeler, labels.label)
    }
    found = {
        (half.items[i], half.labelers[t], half.classes[c])
        for i, t, c in zip(half.item, half.labeler, half.label)
    }
    assert found == {k for k in kept if k[0] in half.items}


@given(triples)
def test_repeats_rules(rows: list[tuple[int, str, str]]) -> None:
    labels = tr.Labels.from_long(*zip(*rows))
    first: dict[tuple[int, str], str] = {}
    last: dict[tuple[int, str], str] = {}
    for item, who, what in rows:
        first.setdefault((item, who), what)
        last[(item, who)] = what
    contradictory = {k for k in first if len({w for i, t, w in rows if (i, t) == k}) > 1}
    if contradictory:
        with pytest.raises(tr.InputError, match="says both"):
            labels.resolve_repeats("error")
    else:
        assert labels.resolve_repeats("error") is labels
    assert named(labels.resolve_repeats("first")) == first
    simple = {k: v for k, v in last.items() if len({w for i, t, w in rows if (i, t) == k}) <= 1}
    assert simple.items() <= named(labels.resolve_repeats("last")).items()


def named(labels: tr.Labels) -> dict[tuple[int, str], str]:
    return {
        (labels.items[i], labels.labelers[t]): labels.classes[c]
        for i, t, c in zip(labels.item, labels.labeler, labels.label)
    }


def test_keep_keeps_both() -> None:
    labels = tr.Labels.from_long([1, 1, 1], ["a"] * 3, ["x", "y", "x"])
    assert labels.identical_repeats == 1
    assert labels.resolve_repeats("keep").n_labels == 2


def test_selecting_labelers() -> None:
    labels = tr.Labels.from_matrix([[0, 1, 1], [1, 1, 0]], labelers=["a", "b", "c"])
    assert labels.select(["c", "a"]).matrix().tolist() == [[1, 0], [0, 1]]
    with pytest.raises(tr.InputError, match="no labeler is called d"):
        labels.select(["d"])


def test_agreement_is_fleiss_kappa() -> None:
    labels = tr.Labels.from_matrix([[0, 0, 0], [1, 1, 0]])
    share, kappa = labels.agreement()
    assert share == pytest.approx(4 / 6)
    chance = (4 / 6) ** 2 + (2 / 6) ** 2
    assert kappa == pytest.approx((share - chance) / (1 - chance))


def test_unequal_lengths() -> None:
    with pytest.raises(tr.InputError, match="equally long"):
        tr.Labels.from_long([1, 2], ["a"], ["x", "y"])
    with pytest.raises(tr.InputError, match="twice"):
        tr.Predictions.from_sequence([0, 1], items=["a", "a"])
