"""Every format and layout: simulate, write, read, equal; and the recognition of columns."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import truthing as tr
from truthing.predictions import Gold
from truthing.tables import inspect, read_everything
from truthing.tables.write import gold_frame, labels_frame, predictions_frame, write_frame

CLASS_NAMES: list[tuple[Any, ...]] = [("ham", "spam"), (-1, 1), (False, True), (0, 1)]


def sample(classes: tuple[Any, ...]) -> tr.Labels:
    data = tr.simulate(40, 3, prior=[0.6, 0.4], availability=(1, 0.6, 0.5), classes=classes, seed=4)
    return data.labels


def same_labels(a: tr.Labels, b: tr.Labels) -> bool:
    def rows(x: tr.Labels) -> set[tuple[Any, ...]]:
        return {
            (x.items[i], str(x.labelers[t]), x.classes[c], type(x.classes[c]))
            for i, t, c in zip(x.item, x.labeler, x.label)
        }

    return rows(a) == rows(b) and a.classes == b.classes


@pytest.mark.parametrize("classes", CLASS_NAMES, ids=str)
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "csv.gz"])
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_round_trip(tmp_path: Path, classes: tuple[Any, ...], ending: str, layout: str) -> None:
    labels = sample(classes)
    write_frame(labels_frame(labels, layout), tmp_path / f"labels.{ending}")
    assert same_labels(tr.read_labels(tmp_path / f"labels.{ending}"), labels)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_round_trip_of_counts_and_groups(tmp_path: Path, ending: str) -> None:
    labels = sample(("cat", "dog"))
    write_frame(labels_frame(labels, "counts"), tmp_path / f"counts.{ending}")
    votes = tr.read_labels(tmp_path / f"counts.{ending}")
    assert votes.anonymous
    assert votes.counts().tolist() == labels.counts().tolist()
    assert votes.classes == labels.classes
    write_frame(labels_frame(labels, "grouped"), tmp_path / f"grouped.{ending}")
    grouped = tr.read_labels(tmp_path / f"grouped.{ending}")
    assert sorted(map(tuple, grouped.matrix())) == sorted(map(tuple, labels.matrix()))


def test_round_trip_of_predictions_and_gold(tmp_path: Path) -> None:
    data = tr.simulate(30, 2, prior=0.5, classes=("no", "yes"), seed=1)
    predictions = data.as_predictions()
    gold = Gold.from_mapping(data.gold(7))
    for ending in ("csv", "tsv", "parquet", "jsonl"):
        write_frame(predictions_frame(predictions), tmp_path / f"p.{ending}")
        write_frame(gold_frame(gold), tmp_path / f"g.{ending}")
        assert tr.read_predictions(tmp_path / f"p.{ending}") == predictions
        assert tr.read_gold(tmp_path / f"g.{ending}") == gold
    table = tr.Predictions.from_sequence(
        ["a", "b"], items=[1, 2], scores=[[0.7, 0.3], [0.2, 0.8]], score_classes=["a", "b"]
    )
    write_frame(predictions_frame(table), tmp_path / "t.csv")
    assert tr.read_predictions(tmp_path / "t.csv") == table


def test_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "labels.npy", np.array([[0, 1, 1], [1, -1, 1]]))
    labels = tr.read_labels(tmp_path / "labels.npy")
    assert labels.matrix().tolist() == [[1, 2, 2], [2, 0, 2]]
    assert labels.classes == (-1, 0, 1)
    np.save(tmp_path / "floats.npy", np.array([[0, np.nan], [1, 1.0]]))
    assert tr.read_labels(tmp_path / "floats.npy").n_labels == 3
    np.save(tmp_path / "votes.npy", np.array([[3, 7], [9, 1]]))
    assert tr.read_labels(tmp_path / "votes.npy").anonymous
    assert not tr.read_labels(tmp_path / "votes.npy", layout="wide").anonymous
    np.save(tmp_path / "pred.npy", np.array(["a", "b"]))
    assert tr.read_predictions(tmp_path / "pred.npy").classes == ("a", "b")
    np.save(tmp_path / "prob.npy", np.array([[0.1, 0.9], [0.5, 0.5]]))
    assert tr.read_predictions(tmp_path / "prob.npy").scores.shape == (2, 2)


def test_data_frames() -> None:
    rows = {"task": [1, 1, 2], "worker": ["a", "b", "a"], "answer": ["x", "y", "x"]}
    expected = tr.Labels.from_long(*rows.values())
    for frame in (
        pd.DataFrame(rows),
        pl.DataFrame(rows),
        pa.table(rows),
        pd.DataFrame(rows).set_index("task"),
    ):
        assert tr.read_labels(frame) == expected
    categorical = pd.DataFrame(rows).astype({"worker": "category", "answer": "category"})
    assert tr.read_labels(categorical) == expected
    with pytest.raises(tr.InputError, match="cannot read labels from a int"):
        tr.read_labels(3)


def test_label_studio(tmp_path: Path) -> None:
    def choice(name: str) -> list[dict[str, Any]]:
        return [{"value": {"choices": [name]}, "type": "choices"}]

    tasks = [
        {
            "id": 11,
            "annotations": [
                {"completed_by": 1, "result": choice("cat")},
                {"completed_by": {"id": 2, "email": "b@x.org"}, "result": choice("dog")},
                {"completed_by": 3, "was_cancelled": True, "result": choice("dog")},
                {"completed_by": 9, "ground_truth": True, "result": choice("cat")},
            ],
            "predictions": [{"model_version": "m", "score": 0.8, "result": choice("cat")}],
        },
        {
            "id": 12,
            "annotations": [{"completed_by": 1, "result": choice("dog")}],
            "predictions": [],
        },
        {"id": 13, "annotations": [], "predictions": [{"result": choice("dog"), "score": 0.4}]},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    labels, predictions, gold = read_everything(path)
    assert labels.n_labels == 3
    assert labels.labelers == (1, "b@x.org")
    assert predictions.items == (11, 13)
    assert gold is not None
    assert gold.as_dict() == {11: "cat"}


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(b"item\tjudge\tlabel\n1\ta\t0\n1\tb\t1\n")
    monkeypatch.setattr(sys, "stdin", type("Pipe", (), {"buffer": io.BytesIO(data)}))
    assert tr.read_labels("-").labelers == ("a", "b")


def test_columns_are_recognised_and_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("Question_ID,Rater,Rating,extra\nq1,a,good,1\nq1,b,bad,2\n")
    reading = inspect(path)
    assert reading.columns.describe() == "Question_ID → item, Rater → labeler, Rating → label"
    path.write_text("q,who,verdict\n1,a,good\n1,b,bad\n")
    labels = tr.read_labels(path, item_column="q", labeler_column="who", label_column="verdict")
    assert labels.n_labels == 2
    assert inspect(path, item_column="image,q", label_column="verdict").columns.get("item") == "q"
    with pytest.raises(tr.InputError, match="no column 'image,task' for the item"):
        inspect(path, item_column="image,task")
    path.write_text("item,model,label\n1,gpt,good\n")
    with pytest.raises(
        tr.InputError, match="`labeler_column='model'` or `prediction_column='model'`"
    ):
        tr.read_labels(path)
    assert tr.read_labels(path, labeler_column="model").labelers == ("gpt",)


def test_one_file_with_everything(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("item,labeler,label,prediction,gold\n1,a,x,x,x\n1,b,y,x,x\n2,a,y,y,\n")
    labels, predictions, gold = read_everything(path)
    assert (labels.n_labels, predictions.n_items) == (3, 2)
    assert gold is not None
    assert gold.as_dict() == {1: "x"}
    path.write_text("item,labeler,label,prediction\n1,a,x,x\n1,b,y,y\n")
    with pytest.raises(tr.InputError, match="different values"):
        read_everything(path)


def test_missing_words_and_negative_classes(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("item,a,b\n1,-1,NA\n2,+1,-\n3,null,-1\n4,0,none\n")
    labels = tr.read_labels(path)
    assert labels.classes == (-1, 0, 1)
    assert labels.n_labels == 4


def test_ambiguous_tables_are_said(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("item,a,b,c\n1,0,1,1\n2,1,1,0\n")
    assert "`layout='counts'`" in inspect(path).columns.notes.remarks[0]
    path.write_text("item,cat,dog\n1,7,3\n2,1,9\n")
    assert "`layout='wide'`" in inspect(path).columns.notes.checks[0]


def test_leading_zeros_survive(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("item,labeler,label\n007,a,x\n7,a,y\n")
    assert tr.read_labels(path).items == ("007", "7")


def test_grouped_patterns(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('pattern,prediction,count\n"0|1|-",0,3\n"1|1|1",1,2\n')
    labels = tr.read_labels(path)
    assert (labels.n_items, labels.n_labels) == (5, 12)
    assert tr.read_predictions(path).label.tolist() == [0, 0, 0, 1, 1]
