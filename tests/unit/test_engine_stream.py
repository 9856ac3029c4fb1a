"""Streamed from disk, the answers are those of labels in memory."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.cli.main import app
from truthing.engine import partition, regroup
from truthing.streaming import choice
from truthing.truth.samplers import bootstrap


def panel(n_items: int = 1500, n_labelers: int = 30, n_classes: int = 2, seed: int = 0) -> Any:
    """Labels as rows in no order, predictions, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    item = np.repeat(np.arange(n_items), 5)
    who = np.argsort(rng.random((n_items, n_labelers)), axis=1)[:, :5].reshape(-1)
    error = rng.uniform(0.05, 0.5, n_labelers)[who]
    said = np.where(
        rng.random(len(item)) < error, rng.integers(0, n_classes, len(item)), truth[item]
    )
    guess = np.where(rng.random(n_items) < 0.2, rng.integers(0, n_classes, n_items), truth)
    names = np.array(["cat", "dog", "owl"])[:n_classes]
    rows = pl.DataFrame(
        {
            "item": [f"i{i}" for i in item],
            "labeler": [f"worker {t}" for t in who],
            "label": names[said],
        }
    ).sample(fraction=1.0, shuffle=True, seed=seed)
    predictions = pl.DataFrame(
        {"item": [f"i{i}" for i in range(n_items)], "prediction": names[guess]}
    )
    return rows, predictions, {f"i{i}": str(names[truth[i]]) for i in range(n_items)}


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches, buckets and shards also of small data."""
    monkeypatch.setattr(regroup, "PER_SHARD", 1000)
    monkeypatch.setattr(partition, "BATCH", 700)


def written(folder: Path, rows: pl.DataFrame, predictions: pl.DataFrame) -> tuple[str, str]:
    rows.write_parquet(folder / "labels.parquet")
    predictions.write_parquet(folder / "predictions.parquet")
    return str(folder / "predictions.parquet"), str(folder / "labels.parquet")


def assert_same(streamed: Any, memory: Any) -> None:
    """Every number to 1e-9, every sentence to the letter."""
    if isinstance(memory, dict):
        assert streamed.keys() == memory.keys()
        for key in memory:
            assert_same(streamed[key], memory[key])
    elif isinstance(memory, list | tuple):
        assert len(streamed) == len(memory)
        for a, b in zip(streamed, memory):
            assert_same(a, b)
    elif isinstance(memory, float):
        assert streamed == pytest.approx(memory, abs=1e-9, rel=1e-9, nan_ok=True)
    else:
        assert streamed == memory


@pytest.mark.parametrize("n_gold", [0, 80])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_grade_streamed_is_grade(tmp_path: Path, n_classes: int, n_gold: int) -> None:
    rows, predictions, truth = panel(n_classes=n_classes)
    files = written(tmp_path, rows, predictions)
    gold = {k: truth[k] for k in list(truth)[:n_gold]} or None
    memory = tr.grade(*files, gold=gold, engine="memory")
    for other in (tr.grade(*files, gold=gold, engine="stream"), in_groups(*files, gold=gold)):
        assert_same(other.to_dict(), memory.to_dict())
        for name in memory.metrics:
            assert other.at_face_value(name) == pytest.approx(memory.at_face_value(name), abs=1e-9)
        ours = other.truth_frame().sort("item")
        theirs = memory.truth_frame().sort("item")
        assert ours["item"].to_list() == theirs["item"].to_list()
        assert np.abs(ours[:, 1:].to_numpy() - theirs[:, 1:].to_numpy()).max() < 1e-9
        assert np.abs(other.noise.error - memory.noise.error).max() < 1e-9
        assert other.noise.labelers == memory.noise.labelers


def in_groups(*files: Path, **asked: Any) -> Any:
    """A grade in memory as if there were very many items."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "MANY_ITEMS", 0)
        return tr.grade(*files, engine="memory", **asked)


@pytest.mark.parametrize("n_gold", [0, 80])
@pytest.mark.parametrize("target", ["sample", "population"])
def test_rate_streamed_is_rate(tmp_path: Path, target: str, n_gold: int) -> None:
    rows, predictions, truth = panel(n_classes=3, seed=1)
    _, labels = written(tmp_path, rows, predictions)
    gold = {k: truth[k] for k in list(truth)[:n_gold]} or None
    asked: dict[str, Any] = {"gold": gold, "target": target}
    memory = tr.prevalence(labels, engine="memory", **asked)
    streamed = tr.prevalence(labels, engine="stream", **asked)
    assert_same(streamed.to_dict(), memory.to_dict())


def assert_streamed_is_memory(
    folder: Path, rows: pl.DataFrame, predictions: pl.DataFrame, **asked: Any
) -> Any:
    """A grade by both engines: the same in everything. The streamed one, for more questions."""
    files = written(folder, rows, predictions)
    memory = tr.grade(*files, engine="memory", **asked)
    streamed = tr.grade(*files, engine="stream", **asked)
    assert_same(streamed.to_dict(), memory.to_dict())
    assert_same(in_groups(*files, **asked).to_dict(), memory.to_dict())
    return streamed


def test_labelers_too_many_for_a_matrix_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a million labelers both engines tell how often they err, and nothing more."""
    monkeypatch.setattr(bootstrap, "MOST_TABLE_CELLS", 50)
    rows, predictions, _ = panel(n_classes=3, seed=4)
    streamed = assert_streamed_is_memory(tmp_path, rows, predictions)
    memory = tr.grade(*written(tmp_path, rows, predictions), engine="memory")
    assert streamed.noise.confusion is None
    assert streamed.noise.labelers == memory.noise.labelers
    np.testing.assert_allclose(streamed.noise.error, memory.noise.error, atol=1e-6)
    given = rows["labeler"].value_counts()
    assert dict(given.iter_rows()).keys() == set(streamed.noise.labelers)


def test_gold_weights_and_a_stated_panel_error(tmp_path: Path) -> None:
    rows, predictions, truth = panel(seed=2)
    gold = {k: truth[k] for k in list(truth)[:90]}
    chances = {k: 0.1 + 0.005 * n for n, k in enumerate(gold)}
    assert_streamed_is_memory(
        tmp_path, rows, predictions, gold=gold, gold_weights=chances, panel_error=0.05
    )


@pytest.mark.parametrize("choice", [None, "random", "seen"])
def test_gold_chosen_by_what_was_seen(tmp_path: Path, choice: str | None) -> None:
    """Gold on predicted dogs only is corrected for, as in memory."""
    rows, predictions, truth = panel(seed=12)
    dogs = predictions.filter(pl.col("prediction") == "dog")["item"].to_list()
    gold = {k: truth[k] for k in [*dogs[:70], *list(truth)[:20]]}
    assert_streamed_is_memory(tmp_path, rows, predictions, gold=gold, gold_choice=choice)
    files = written(tmp_path, rows, predictions)
    memory = tr.prevalence(files[1], gold=gold, gold_choice=choice, engine="memory")
    streamed = tr.prevalence(files[1], gold=gold, gold_choice=choice, engine="stream")
    assert_same(streamed.to_dict(), memory.to_dict())


def test_a_population_with_gold_that_is_partly_elsewhere(tmp_path: Path) -> None:
    rows, predictions, truth = panel(seed=3)
    gold = {**{k: truth[k] for k in list(truth)[:60]}, "elsewhere": "cat"}
    report = assert_streamed_is_memory(tmp_path, rows, predictions, gold=gold, target="population")
    assert any("1 gold item is not among" in line for line in report.warnings)


def test_items_of_one_side_only_are_dropped_and_counted(tmp_path: Path) -> None:
    rows, predictions, _ = panel(seed=4)
    more = pl.DataFrame({"item": ["x1", "x2"], "prediction": ["cat", "dog"]})
    report = assert_streamed_is_memory(tmp_path, rows, pl.concat([predictions[7:], more]))
    assert report.dropped["only in labels"] == 7
    assert report.dropped["only in predictions"] == 2


def test_a_labeler_that_is_the_classifier_is_left_out(tmp_path: Path) -> None:
    rows, predictions, _ = panel(seed=5)
    copy = predictions.select("item", labeler=pl.lit("the model"), label="prediction")
    report = assert_streamed_is_memory(tmp_path, pl.concat([rows, copy]), predictions)
    assert any("'the model' says exactly what the classifier says" in w for w in report.warnings)


def test_one_class_predicted_for_every_item(tmp_path: Path) -> None:
    rows, predictions, truth = panel(seed=6)
    gold = {k: truth[k] for k in list(truth)[:60]}
    assert_streamed_is_memory(
        tmp_path, rows, predictions.with_columns(prediction=pl.lit("dog")), gold=gold
    )


def test_whole_numbers_and_two_groups_that_share_no_item(tmp_path: Path) -> None:
    rows, predictions, _ = panel(seed=7)
    number = pl.col("item").str.slice(1).cast(pl.Int64).alias("item")
    apart = pl.when(number % 2 == 0).then(pl.col("labeler") + "b").otherwise(pl.col("labeler"))
    rows = rows.with_columns(apart.alias("labeler")).with_columns(number)
    report = assert_streamed_is_memory(tmp_path, rows, predictions.with_columns(number))
    assert any("2 groups that share no item" in line for line in report.warnings)


@pytest.mark.parametrize("rule", ["first", "last", "keep"])
def test_repeats(tmp_path: Path, rule: str) -> None:
    rows, predictions, _ = panel(seed=8)
    other = rows[:40].with_columns(
        label=pl.when(pl.col("label") == "cat").then(pl.lit("dog")).otherwise(pl.lit("cat"))
    )
    again = pl.concat([rows, other, rows[100:150]])
    assert_streamed_is_memory(tmp_path, again, predictions, repeats=rule)
    files = written(tmp_path, again, predictions)
    with pytest.raises(tr.InputError, match=r"says both .* Keep one with"):
        tr.grade(*files, engine="stream")


def test_csv_is_converted_once(tmp_path: Path) -> None:
    rows, predictions, _ = panel(seed=9)
    number = pl.col("labeler").str.slice(7).alias("labeler")
    rows.with_columns(number).write_csv(tmp_path / "labels.csv")
    predictions.write_csv(tmp_path / "predictions.csv")
    files = str(tmp_path / "predictions.csv"), str(tmp_path / "labels.csv")
    memory = tr.grade(*files, engine="memory")
    streamed = tr.grade(*files, engine="stream")
    assert_same(streamed.to_dict(), memory.to_dict())
    made = sorted((tmp_path / "labels.csv.shards").glob("*.parquet"))
    before = [file.stat().st_mtime_ns for file in made]
    assert len(made) == 2
    tr.grade(*files, engine="stream")
    assert [file.stat().st_mtime_ns for file in made] == before


def test_spellings_are_one_class_as_in_memory(tmp_path: Path) -> None:
    rows, predictions, _ = panel(seed=10)
    odd = rows.with_row_index().with_columns(
        label=pl.when(pl.col("index") % 9 == 0)
        .then(pl.col("label").str.to_uppercase())
        .otherwise("label")
    )
    assert_streamed_is_memory(tmp_path, odd.drop("index"), predictions)


def test_what_needs_memory_is_refused_in_words(tmp_path: Path) -> None:
    rows, predictions, _ = panel()
    files = written(tmp_path, rows, predictions)
    for asked, word in (({"noise": 0.1}, "noise="), ({"method": "majority"}, "majority")):
        with pytest.raises(tr.InputError, match=f"{word}.* needs the labels in memory"):
            tr.grade(*files, engine="stream", **asked)
    with pytest.raises(tr.InputError, match="choose auto, memory, stream, dask"):
        tr.grade(*files, engine="streams")
    with pytest.raises(tr.InputError, match="reads labels from a Parquet or CSV file"):
        tr.prevalence(rows, engine="stream")
    with pytest.raises(tr.InputError, match="sensitivity repeats the grade on labels in memory"):
        tr.grade(*files, engine="stream").sensitivity()


def run(*words: str) -> str:
    from typer.testing import CliRunner

    from truthing.cli.main import app

    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("target", ["truth.csv", "truth.parquet", "truth"])
def test_command_line(tmp_path: Path, target: str) -> None:
    """--engine stream prints what --engine memory prints, and --truth is written shard by shard."""
    rows, predictions, truth = panel(seed=11)
    files = written(tmp_path, rows.rename({"label": "said"}), predictions)
    gold = tmp_path / "gold.csv"
    gold.write_text("item,truth\n" + "".join(f"{k},{v}\n" for k, v in list(truth.items())[:60]))
    common = [*files, "--gold", str(gold), "--label-column", "said", "--json"]
    printed = {}
    for engine in ("memory", "stream"):
        place = tmp_path / engine
        place.mkdir()
        to = place / target if engine == "stream" else place / "truth.csv"
        done = run("grade", *common, "--engine", engine, "--truth", str(to))
        printed[engine] = json.loads(done)
    assert_same(printed["stream"], printed["memory"])
    ours = tmp_path / "stream" / target
    read = pl.read_csv if ours.suffix == ".csv" else pl.read_parquet
    streamed = read(ours).sort("item")
    memory = pl.read_csv(tmp_path / "memory" / "truth.csv").sort("item")
    assert streamed["item"].to_list() == memory["item"].to_list()
    assert np.abs(streamed[:, 1:].to_numpy() - memory[:, 1:].to_numpy()).max() < 1e-9
    rate = run("rate", files[1], "--label-column", "said", "--engine", "stream", "--json")
    assert json.loads(rate)["items"] == 1500


def test_no_argument_is_accepted_and_ignored() -> None:
    """An argument of grade or prevalence is used by the streamed answer, or refused by name."""
    import inspect

    from truthing.streaming.choice import ONE_BY_ONE
    from truthing.streaming.grade import _graded, grade_streamed

    streamed = inspect.signature(grade_streamed).parameters, inspect.signature(_graded).parameters
    used = {*streamed[0], *streamed[1], "method"}
    for function in (tr.grade, tr.prevalence):
        assert {*inspect.signature(function).parameters} <= used | {*ONE_BY_ONE}


def test_a_rule_for_repeats_that_is_none(tmp_path: Path) -> None:
    rows, predictions, _ = panel(n_items=100)
    for engine in ("stream", "memory"):
        with pytest.raises(tr.InputError, match="is no rule"):
            tr.grade(*written(tmp_path, rows, predictions), engine=engine, repeats="frist")


def test_predictions_that_mean_missing(tmp_path: Path) -> None:
    """A word said to mean missing is none among the predictions too, and its items are dropped."""
    rows, predictions, _ = panel(n_classes=3)
    rows, predictions = (
        frame.with_columns(pl.col(column).replace("owl", "skipped"))
        for frame, column in ((rows, "label"), (predictions, "prediction"))
    )
    files, out = written(tmp_path, rows, predictions), tmp_path / "out.json"
    told = []
    for engine in ("stream", "memory"):
        with pytest.raises(SystemExit) as end, out.open("w") as file, redirect_stdout(file):
            app(["grade", *files, "--missing", "skipped", "--json", "--engine", engine])
        assert end.value.code in (0, None)
        told.append(json.loads(out.read_text()))
    assert told[0]["dropped"] == told[1]["dropped"]
    assert_same(told[0]["metrics"], told[1]["metrics"])


def test_gold_of_one_class_is_named(tmp_path: Path) -> None:
    rows, predictions, truth = panel()
    gold = {k: c for k, c in truth.items() if c == "cat"}
    gold = dict(list(gold.items())[:15])
    streamed = assert_streamed_is_memory(tmp_path, rows, predictions, gold=gold)
    assert any("All 15 gold items are 'cat'" in words for words in streamed.warnings)
