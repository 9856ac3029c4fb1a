"""What is done otherwise with very many labels gives what is done with few."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing import class_codes, hashed, names, sorting
from truthing.class_codes import code_series, places_by_name, places_in_order, tally
from truthing.names import Names, named, names_at, places_among
from truthing.tables import layouts, lean
from truthing.truth import checks


@pytest.fixture
def as_if_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred are many, and blocks are short."""
    for module in (class_codes, layouts, lean, checks):
        monkeypatch.setattr(module, "MANY", 100)
    monkeypatch.setattr(names, "MANY", 50)
    monkeypatch.setattr(names, "BLOCK", 7)
    for module in (lean, hashed):
        monkeypatch.setattr(module, "BLOCK", 64)
    monkeypatch.setattr(class_codes, "BLOCK", 33)
    monkeypatch.setattr(sorting, "BLOCK", 19)


def rows(seed: int = 0, n_items: int = 300) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels in no order, and predictions of most of the items and some others."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n_items + 20)
    item = np.repeat(np.arange(n_items), 4)
    who = np.argsort(rng.random((n_items, 15)), axis=1)[:, :4].reshape(-1)
    said = np.where(rng.random(len(item)) < 0.3, rng.integers(0, 3, len(item)), truth[item])
    words = np.array(["cat", "dog", "owl"])
    labels = pl.DataFrame(
        {
            "item": [f"item {i} with a longer name" for i in item],
            "labeler": [f"w{t}" for t in who],
            "label": words[said],
        }
    )
    guess = np.where(rng.random(n_items + 20) < 0.2, rng.integers(0, 3, n_items + 20), truth)
    kept = np.arange(10, n_items + 20)
    predictions = pl.DataFrame(
        {"item": [f"item {i} with a longer name" for i in kept], "prediction": words[guess[kept]]}
    )
    return labels.sample(fraction=1.0, shuffle=True, seed=seed), predictions


def written(folder: Path, labels: pl.DataFrame, predictions: pl.DataFrame) -> tuple[str, str]:
    labels.write_parquet(folder / "labels.parquet")
    predictions.write_parquet(folder / "predictions.parquet")
    return str(folder / "predictions.parquet"), str(folder / "labels.parquet")


def told(report: Any) -> Any:
    return report.to_dict(), report.truth.tolist(), list(report.items)


@pytest.mark.parametrize("numbers", [False, True])
def test_a_large_file_gives_the_same_grade(
    tmp_path: Path, request: pytest.FixtureRequest, numbers: bool
) -> None:
    labels, predictions = rows()
    if numbers:
        number = pl.col("item").str.extract(r"(\d+)").cast(pl.Int64)
        labels, predictions = labels.with_columns(number), predictions.with_columns(number)
    doubled = pl.concat([labels, labels[:40]])  # identical repeats count once
    files = written(tmp_path, doubled, predictions)
    known = dict(zip(predictions["item"][:30], predictions["prediction"][:30]))
    want = tr.grade(*files, gold=known, engine="memory")
    request.getfixturevalue("as_if_many")
    table = lean.lean_table(files[1], tr.case.UNASKED)
    assert isinstance(table, lean.Lean)
    assert table.frame.height <= lean.HEAD
    found = tr.grade(*files, gold=known, engine="memory")
    assert isinstance(found.items, Names)
    assert told(found) == told(want)
    by_item = {i: k % 5 for k, i in enumerate(found.items)}
    assert tr.grade(*files, cluster=by_item, engine="memory").items == want.items


def refused_alike(files: tuple[str, str], request: pytest.FixtureRequest) -> str:
    """The same words, whether names are many or few."""
    with pytest.raises(tr.InputError) as want:
        tr.grade(*files, engine="memory")
    request.getfixturevalue("as_if_many")
    with pytest.raises(tr.InputError) as found:
        tr.grade(*files, engine="memory")
    assert str(found.value) == str(want.value)
    return str(found.value)


def test_contradictions_are_told_where_they_stand(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    labels, predictions = rows()
    other = labels[:1].with_columns(label=pl.lit("fish"))
    files = written(tmp_path, pl.concat([labels, other]), predictions)
    assert f"row {labels.height + 1}" in refused_alike(files, request)


def test_a_labeler_without_a_name_is_refused_alike(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    labels, predictions = rows()
    labels = labels.with_columns(
        labeler=pl.when(pl.int_range(pl.len()) == 77).then(None).otherwise("labeler")
    )
    files = written(tmp_path, labels, predictions)
    assert refused_alike(files, request)


def test_only_files_of_nothing_else_are_read_column_by_column(
    tmp_path: Path, as_if_many: None
) -> None:
    labels, predictions = rows()
    more = labels.with_columns(weight=pl.lit(1.5))
    _, path = written(tmp_path, more, predictions)
    assert lean.lean_table(path, tr.case.UNASKED) is None


def test_a_damaged_file_is_refused_in_words(tmp_path: Path, as_if_many: None) -> None:
    labels, predictions = rows()
    files = written(tmp_path, labels, predictions)
    data = bytearray(Path(files[1]).read_bytes())
    data[4:400] = bytes(396)
    Path(files[1]).write_bytes(data)
    with pytest.raises(tr.InputError, match=r"labels\.parquet"):
        tr.grade(*files, engine="memory")


def test_labels_that_cannot_fit_are_refused_with_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_if_many: None
) -> None:
    files = written(tmp_path, *rows())
    room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(lean, "PER_ROW", room // 1000)
    with pytest.raises(tr.InputError, match=r"1,200 rows.*engine='stream'"):
        tr.compare({"a": files[0], "b": files[0]}, files[1])
    with pytest.raises(tr.InputError, match=r"is a folder.*`labelers` and `ceiling`"):
        tr.read_labels(tmp_path)


def test_codes_of_texts(request: pytest.FixtureRequest) -> None:
    rng = np.random.default_rng(1)
    texts = pl.Series([None if n == 7 else f"name {n}" for n in rng.integers(0, 90, 1000)])
    codes, known = code_series(texts)
    request.getfixturevalue("as_if_many")
    found = hashed.code_texts(hashed.blocks_of(texts), len(texts))
    assert found is not None
    assert found[0].tolist() == codes.tolist()
    assert found[1].to_list() == known.to_list()
    assert code_series(texts)[0].tolist() == codes.tolist()


def test_texts_that_share_their_hash_are_coded_another_way(
    monkeypatch: pytest.MonkeyPatch, as_if_many: None
) -> None:
    texts = pl.Series([f"name {n % 130}" for n in range(500)])
    want = code_series(texts)
    monkeypatch.setattr(
        pl.Series, "hash", lambda self, *_: (self.str.len_bytes() * 0).cast(pl.UInt64)
    )
    assert hashed.code_texts(hashed.blocks_of(texts), 500) is None
    found = code_series(texts)
    assert found[0].tolist() == want[0].tolist()
    assert found[1].to_list() == want[1].to_list()
    column = Names(want[1])
    assert places_among(column, ("name 3", "x")).tolist() == [3, -1]


def test_order_of_labels_by_counting(request: pytest.FixtureRequest) -> None:
    rng = np.random.default_rng(2)
    item, labeler = rng.integers(0, 60, 400), rng.integers(0, 9, 400)
    label = rng.integers(-1, 3, 400)
    want = places_in_order(item, labeler, label, (60, 9))
    request.getfixturevalue("as_if_many")
    found = places_in_order(item, labeler, label, (60, 9))
    assert found.tolist() == want.tolist()
    again = places_in_order(item[found], labeler[found], label[found], (60, 9))
    assert again is None


@pytest.mark.parametrize("values", [[f"n{k * 7 % 61}" for k in range(61)], list(range(9, 70))])
def test_many_names_behave_like_a_tuple(values: list[Any], as_if_many: None) -> None:
    column, plain = named(pl.Series(values)), tuple(values)
    assert isinstance(column, Names)
    assert len(column) == 61
    assert tuple(column) == plain
    assert column == plain
    assert column[3] == plain[3]
    assert column[-2:] == plain[-2:]
    assert plain[5] in column
    assert "absent" not in column
    assert names_at(column, np.array([4, 2])) == (plain[4], plain[2])
    assert places_by_name(column).tolist() == places_by_name(plain).tolist()
    wanted = (plain[9], "absent", plain[0])
    assert places_among(column, wanted).tolist() == [9, -1, 0]
    assert places_among(column, named(pl.Series(values[::-1]))).tolist() == [*range(60, -1, -1)]
    assert column != plain[:-1]
    assert column == named(pl.Series(values))


def test_votes_are_counted_in_blocks(as_if_many: None) -> None:
    rng = np.random.default_rng(3)
    codes, votes = rng.integers(-1, 5, 500), rng.integers(1, 9, 500)
    want = [int(votes[codes == k].sum()) for k in range(5)]
    assert tally(codes, 5, votes).tolist() == want
    assert tally(codes, 5).tolist() == [int((codes == k).sum()) for k in range(5)]
