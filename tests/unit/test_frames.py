"""Data frames of every kind go straight in, and mean what the file would mean."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import truthing as tr
from truthing.grading import prepare
from truthing.matching import Joined

LABELS = {
    "item": [i for i in range(12) for _ in "ab"],
    "labeler": ["a", "b"] * 12,
    "label": [i % 3 == 0 for i in range(12) for _ in "ab"],
}
PREDICTIONS = {"item": list(range(12)), "prediction": [int(i % 3 == 0) for i in range(12)]}


class Stream:
    """Something that only speaks Arrow's stream, as a DuckDB relation does."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._table = pa.table(data)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class ClassLabel:
    """A column of numbers that stand for names."""

    names = ("no", "yes")


class Dataset:
    """Something with columns by name, as a Hugging Face dataset has them."""

    def __init__(self, data: dict[str, Any], features: Any = None, shown: Any = None) -> None:
        self.column_names = list(data)
        self.features = features
        self._data, self._shown = data, shown

    def with_format(self, shown: Any) -> Dataset:
        return Dataset(self._data, self.features, shown)

    def __getitem__(self, name: str) -> Any:
        values = list(self._data[name])
        return pa.array(values) if self._shown == "arrow" else values


def relation(data: dict[str, Any]) -> Any:
    table = pa.table(data)
    return duckdb.connect().from_arrow(table)


def records(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(data, row)) for row in zip(*data.values())]


KINDS = {
    "pandas": pd.DataFrame,
    "pandas strings": lambda d: pd.DataFrame(d).convert_dtypes(),
    "pandas index": lambda d: pd.DataFrame(d).set_index("item"),
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": pa.table,
    "arrow stream": Stream,
    "duckdb": relation,
    "dataset": Dataset,
    "dataset shown as Arrow": lambda d: Dataset(d, shown="arrow"),
    "columns": dict,
    "arrays": lambda d: {k: np.array(v) for k, v in d.items()},
    "rows": records,
}


def same(joined: Joined) -> bool:
    grid = joined.labels.matrix()
    assert joined.predicted is not None
    return bool((joined.predicted[:, None] == grid).all()) and joined.labels.n_labels == 24


@pytest.mark.parametrize("kind", KINDS)
def test_any_frame_is_read(kind: str) -> None:
    make: Any = KINDS[kind]
    assert same(prepare(make(PREDICTIONS), make(LABELS), gold=None))
    gold = {"item": [1, 3], "truth": [False, True]}
    joined = prepare(make(PREDICTIONS), make(LABELS), gold=make(gold))
    assert (joined.gold >= 0).sum() == 2


def test_datasets_know_the_names_of_their_classes() -> None:
    numbers = {**LABELS, "label": [*map(int, LABELS["label"][:-1]), -1]}
    labels = tr.read_labels(Dataset(numbers, {"label": ClassLabel}))
    assert (labels.classes, labels.n_labels) == (("no", "yes"), 23)
    splits = Dataset(LABELS)
    splits.column_names = {"train": list(LABELS)}  # type: ignore[assignment]
    with pytest.raises(tr.InputError, match=r"give one, such as dataset\['train'\]"):
        tr.read_labels(splits)


def test_what_holds_no_predictions_is_named() -> None:
    with pytest.raises(tr.InputError, match="cannot be read from a object"):
        tr.grade(object(), LABELS)


def test_pandas_needs_no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({**LABELS, "label": [None, *map(str, LABELS["label"][1:])]})

    def refuse(*_: Any, **__: Any) -> None:
        raise ImportError("pyarrow")

    monkeypatch.setattr(pl, "from_pandas", refuse)
    assert tr.read_labels(frame).n_labels == 23


def test_an_index_without_a_name_names_the_items() -> None:
    wide = pd.DataFrame(
        {"ann": ["x", "y"] * 6, "bob": ["x", "y"] * 6}, index=[f"t{i}" for i in range(12)]
    )
    guesses = pd.Series(["x", "y"] * 6, index=[f"t{i}" for i in range(12)])
    joined = prepare(guesses[::-1], wide, gold=None)
    assert joined.labels.items[0] == "t0"
    assert joined.labels.labelers == ("ann", "bob")
    assert joined.predicted is not None
    assert (joined.predicted == joined.labels.matrix()[:, 0]).all()


def test_mixed_and_odd_values() -> None:
    big = tr.read_labels(
        [{"item": 2**70, "labeler": "a", "label": "x"}, {"item": 1, "labeler": "a", "label": "y"}]
    )
    assert big.items == (2**70, 1)
    with pytest.raises(tr.InputError, match="equally long"):
        tr.read_labels({"item": [1, 2], "labeler": ["a"], "label": ["x"]})
    with pytest.raises(tr.InputError, match="no rows"):
        tr.read_labels(pl.DataFrame({"item": [], "labeler": [], "label": []}))
    with pytest.raises(tr.InputError, match="twice"):
        tr.read_labels(pd.DataFrame([[1, 2]], columns=["item", "item"]))
    with pytest.raises(tr.InputError, match="cannot read labels from a int"):
        tr.read_labels(3)


def test_doubled_blanks_in_names_of_columns() -> None:
    odd = {"item": "my  item", "labeler": "who ", "label": "what\nis it"}
    frame = pl.DataFrame({odd[k]: v for k, v in LABELS.items()})
    frame = frame.with_columns(pl.lit(1).alias("not  this"))
    named = {f"{role}_column": name for role, name in odd.items()}
    found = tr.read_labels(frame, **named, ignore=["not  this"])
    assert found.counts().tolist() == tr.read_labels(pl.DataFrame(LABELS)).counts().tolist()
    with pytest.raises(tr.InputError, match="there is no column 'that' to ignore"):
        tr.read_labels(frame, **named, ignore=["that"])
    sides = {**PREDICTIONS, "the  side": ["left", "right"] * 6}
    report = tr.grade(pl.DataFrame(sides), pl.DataFrame(LABELS), by="the  side", draws=100)
    assert {part.name for part in report.by_slice()} == {"left", "right"}
