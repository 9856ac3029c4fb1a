"""Files and options that could mean two things: refused, or said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app

RUN = CliRunner()


def written(folder: Path, name: str, lines: list[str]) -> str:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return str(path)


WIDE = ["ticket_id,ann,bo,cy", "T1,a,a,b", "T2,b,b,b", "T3,a,a,a", "T4,b,a,b"]


@pytest.mark.parametrize(
    "more", [WIDE[1:], WIDE[2:3], ["T2,a,a,a"] + [f"U{i},a,b,a" for i in range(9)]]
)
def test_ids_that_stand_twice_are_no_row_numbers(tmp_path: Path, more: list[str]) -> None:
    labels = written(tmp_path, "labels.csv", [*WIDE, *more])
    with pytest.raises(tr.InputError, match="has more than one row"):
        tr.prevalence(labels)
    guesses = [line.split(",")[0] + ",a" for line in [*WIDE, *more][1:]]
    predictions = written(tmp_path, "p.csv", ["ticket_id,prediction", *guesses])
    with pytest.raises(tr.InputError, match="predictions or gold has one row per item"):
        tr.grade(predictions, written(tmp_path, "l.csv", WIDE))


def test_a_column_that_groups_rows_is_no_item(tmp_path: Path) -> None:
    rows = [f"S{i % 3},{'ab'[i % 2]},{'ab'[i % 2]},{'ab'[(i % 7 == 0) ^ i % 2]}" for i in range(30)]
    labels = written(tmp_path, "labels.csv", ["session_id,ann,bo,cy", *rows])
    assert tr.read_labels(labels).n_items == 30


def scored() -> tuple[tr.Labels, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    says = np.where(rng.random((200, 3)) < 0.15, 1 - truth[:, None], truth[:, None])
    words = np.array(["reject", "approve"])[says].tolist()
    return tr.Labels.from_matrix(words), np.clip(0.7 * truth + rng.uniform(0, 0.3, 200), 0, 1)


def test_scores_of_the_other_class_are_refused_unless_it_was_named() -> None:
    labels, score = scored()  # they grow with "approve", and "reject" is the last in order
    with pytest.raises(tr.InputError, match="say `positive='approve'`"):
        tr.grade(None, labels, scores=score, threshold=0.5)
    good = tr.grade(None, labels, scores=score, threshold=0.5, positive="approve")
    assert good["accuracy"].mean > 0.6
    bad = tr.grade(None, labels, scores=score, threshold=0.5, positive="reject")
    assert any("scores of the other class" in words for words in bad.warnings)


def test_a_threshold_that_no_score_reaches() -> None:
    labels, score = scored()
    found = tr.grade(None, labels, scores=score, threshold=50, positive="approve")
    assert any("no score reaches the threshold 50" in words for words in found.warnings)


def test_compare_takes_one_metric(tmp_path: Path) -> None:
    labels = written(tmp_path, "labels.csv", WIDE)
    guess = written(tmp_path, "p.csv", ["ticket_id,prediction", "T1,a", "T2,b", "T3,a", "T4,a"])
    done = RUN.invoke(
        app, ["compare", labels, f"x={guess}", f"y={guess}", *(["--metric", "f1"] * 2)]
    )
    assert done.exit_code != 0
    assert "one metric at a time" in str(done.exception)


def test_cells_of_several_values(tmp_path: Path) -> None:
    lines = [
        '{"id": 1, "verdicts": {"x": "pass", "y": "fail"}}',
        '{"id": 2, "verdicts": {"x": "fail"}}',
    ]
    with pytest.raises(tr.InputError, match="column 'verdicts' holds several values"):
        tr.prevalence(written(tmp_path, "nested.jsonl", lines))


def test_weighted_recall_is_accuracy_beside_gold() -> None:
    data = tr.simulate(300, 3, prior=[0.5, 0.5], operating_point=(0.8, 0.2), seed=4)
    report = tr.grade(data.predictions, data.labels, gold=data.gold(30, seed=1))
    assert report["weighted_recall"].interval() == report["accuracy"].interval()


def test_streams_say_which_columns_they_took(tmp_path: Path) -> None:
    """In the same words as memory; a gold item without labels is one item, not items."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 40)
    ids = [f"r{i}" for i in range(40)]
    votes = [
        {"response_id": ids[i], "judge": f"j{t}", "verdict": int(truth[i] ^ (rng.random() < 0.1))}
        for i in range(39)
        for t in range(3)
    ]
    files = {
        "labels": pl.DataFrame(votes),
        "predictions": pl.DataFrame({"response_id": ids, "prediction": truth}),
        "gold": pl.DataFrame({"response_id": ids[30:], "truth": truth[30:]}),
    }
    for name, frame in files.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    labels, predictions, gold = (tmp_path / f"{name}.parquet" for name in files)
    memory, stream = (
        tr.grade(predictions, labels, gold=gold, draws=200, engine=engine)
        for engine in ("memory", "stream")
    )
    assert sorted(stream.assumptions) == sorted(memory.assumptions)
    assert sum("'response_id' was taken for the item" in a for a in stream.assumptions) == 3
    assert stream.warnings == memory.warnings
    assert any(w.startswith("1 gold item is not among") for w in stream.warnings)
