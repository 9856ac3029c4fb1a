"""compare on streams: the answers of labels in memory, counted instead of drawn item by item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.cli.main import app
from truthing.comparison import compare as comparing
from truthing.engine import partition, regroup


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regroup, "PER_SHARD", 1000)
    monkeypatch.setattr(partition, "BATCH", 700)


def two_models(folder: Path, n_classes: int = 2, seed: int = 0) -> tuple[Any, str, dict[str, str]]:
    """Files of two models that err differently, of the labels, and the truth."""
    rng, names = np.random.default_rng(seed), np.array(["cat", "dog", "owl"])[:n_classes]
    truth, item = rng.integers(0, n_classes, 1500), np.repeat(np.arange(1500), 5)

    def erring(codes: np.ndarray, rate: Any) -> np.ndarray:
        wrong = rng.random(codes.shape) < rate
        return names[np.where(wrong, rng.integers(0, n_classes, codes.shape), codes)]

    who = np.argsort(rng.random((1500, 30)), axis=1)[:, :5].ravel()
    said = erring(truth[item], rng.uniform(0.05, 0.5, 30)[who])
    rows = {"item": [f"i{i}" for i in item], "labeler": [f"w{t}" for t in who], "label": said}
    pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=1).write_parquet(folder / "l.parquet")
    models = {}
    for name, rate in (("one", 0.2), ("other", 0.35)):
        items = {"item": [f"i{i}" for i in range(1500)], "prediction": erring(truth, rate)}
        models[name] = str(folder / f"{name}.parquet")
        pl.DataFrame(items).sample(fraction=1, shuffle=True, seed=2).write_parquet(models[name])
    return models, str(folder / "l.parquet"), {f"i{i}": str(names[t]) for i, t in enumerate(truth)}


def flat(found: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and sentence of a result, by its path."""
    if isinstance(found, dict | list | tuple):
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        for key, value in pairs:
            yield from flat(value, f"{at}/{key}")
    else:
        yield at, found


def assert_same(one: tr.Comparison, other: tr.Comparison) -> None:
    """Every number to 1e-9, every sentence to the letter."""
    for (place, a), (there, b) in zip(flat(one.to_dict()), flat(other.to_dict()), strict=True):
        assert place == there
        assert a == (pytest.approx(b, abs=1e-9, nan_ok=True) if isinstance(b, float) else b), place


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels in memory are counted too, as where items are many."""
    monkeypatch.setattr(comparing, "MOST_ANSWERS", 1000)


@pytest.mark.parametrize("n_gold", [0, 60])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("target", ["sample", "population"])
def test_compare_streamed_is_compare(
    tmp_path: Path, counted: None, n_classes: int, n_gold: int, target: str
) -> None:
    models, labels, truth = two_models(tmp_path, n_classes)
    gold = {k: truth[k] for k in list(truth)[:n_gold]} or None
    asked: dict[str, Any] = {"gold": gold, "target": target, "draws": 600}
    memory = tr.compare(models, labels, engine="memory", **asked)
    streamed = tr.compare(models, labels, engine="stream", **asked)
    assert_same(streamed, memory)
    assert streamed.difference("f1" if n_classes == 2 else "macro_f1").mean == pytest.approx(
        memory.difference("f1" if n_classes == 2 else "macro_f1").mean, abs=1e-9
    )


@pytest.mark.parametrize("target", ["sample", "population"])
@pytest.mark.parametrize("n_gold", [0, 60])
def test_counts_are_those_of_drawn_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_gold: int, target: str
) -> None:
    """Within 5 standard errors of 2,000 draws each: means, and spreads within a tenth."""
    models, labels, truth = two_models(tmp_path, seed=3)
    gold = {k: truth[k] for k in list(truth)[:n_gold]} or None
    asked: dict[str, Any] = {"gold": gold, "target": target, "draws": 2000}
    drawn = tr.compare(models, labels, **asked)
    monkeypatch.setattr(comparing, "MOST_ANSWERS", 1000)
    counted = tr.compare(models, labels, **asked)
    assert isinstance(drawn.truth, np.ndarray)
    assert not isinstance(counted.truth, np.ndarray)
    for one, other in zip(drawn.tallies, counted.tallies):
        if target == "sample":
            assert (other.truth.sum(axis=1) == 1500).all()
            assert (other.predicted == one.predicted).all()
    for metric in ("accuracy", "precision", "recall", "f1"):
        for find in ("draws", "paired_draws"):
            one, other = getattr(drawn, find)(metric), getattr(counted, find)(metric)
            gaps = [values[:, 0] - values[:, 1] for values in (one, other)]
            for a, b in [*zip(one.T, other.T), tuple(gaps)]:
                assert a.mean() == pytest.approx(b.mean(), abs=5 * a.std() / np.sqrt(1000))
                assert a.std() == pytest.approx(b.std(), rel=0.12)


def test_models_of_other_items_are_refused(tmp_path: Path) -> None:
    models, labels, _ = two_models(tmp_path)
    pl.read_parquet(models["other"]).head(1400).write_parquet(models["other"])
    with pytest.raises(tr.InputError, match="do not predict the same items"):
        tr.compare(models, labels, engine="stream")
    assert tr.compare(models, labels, engine="memory").sizes["items"] == 1400


def test_dropped_items_are_counted_alike(tmp_path: Path, counted: None) -> None:
    models, labels, _ = two_models(tmp_path)
    gone = [f"i{i}" for i in range(30)]
    for path in models.values():  # without 30 items of the labels, with one that nobody labelled
        own = pl.read_parquet(path).filter(~pl.col("item").is_in(gone))
        more = pl.DataFrame({"item": ["new"], "prediction": ["cat"]})
        pl.concat([own, more]).write_parquet(path)
    memory = tr.compare(models, labels, engine="memory")
    assert_same(tr.compare(models, labels, engine="stream"), memory)
    assert memory.dropped == {
        "only in labels": 30,
        "only in predictions": 1,
        "without any label": 0,
    }
    assert "30 items are only in labels and were dropped." in memory.warnings
    assert "1 item is only in predictions and was dropped." in memory.warnings


@pytest.mark.parametrize("predicted", [True, False])
def test_items_without_any_label_are_counted_once(
    tmp_path: Path, counted: None, predicted: bool
) -> None:
    models, labels, _ = two_models(tmp_path)
    own = pl.read_parquet(labels)
    empty = pl.DataFrame({"item": ["e1", "e2"], "labeler": ["w1", "w2"], "label": [None, None]})
    pl.concat([own, empty.cast(own.schema)]).write_parquet(labels)
    if predicted:
        for path in models.values():
            more = pl.DataFrame({"item": ["e1", "e2"], "prediction": ["cat", "dog"]})
            pl.concat([pl.read_parquet(path), more]).write_parquet(path)
    memory = tr.compare(models, labels, engine="memory")
    assert_same(tr.compare(models, labels, engine="stream"), memory)
    assert memory.dropped["without any label" if predicted else "only in labels"] == 2
    assert sum(memory.dropped.values()) == 2
    graded = tr.grade(models["one"], labels, engine="memory")
    assert graded.dropped == memory.dropped


def test_an_item_that_one_model_left_out_is_not_called_unlabelled(tmp_path: Path) -> None:
    models, labels, _ = two_models(tmp_path)
    own = pl.read_parquet(models["other"])
    left = own.filter(pl.col("item").is_in(["i3", "i4"]).not_())
    left.write_parquet(models["other"])
    found = tr.compare(models, labels, engine="memory", draws=200)
    assert not any(found.dropped.values())
    assert [w for w in found.warnings if "dropped" in w] == [
        "2 items of 'one' are not predicted by every model and were dropped."
    ]


def test_what_needs_items_is_refused_in_words(tmp_path: Path) -> None:
    models, labels, _ = two_models(tmp_path)
    with pytest.raises(tr.InputError, match=r"by=.*needs the labels in memory"):
        tr.compare(models, labels, engine="stream", by="item")
    with pytest.raises(tr.InputError, match="not in a file"):
        tr.compare({"one": ["cat"] * 1500, "other": models["other"]}, labels, engine="stream")
    with pytest.raises(tr.InputError, match="counted in groups, not drawn one by one"):
        tr.compare(models, labels, engine="stream").draws_of("f1", np.arange(9), "sample")
    for gold in (None, {}):
        with pytest.raises(tr.NotIdentified, match="learned from these labels"):
            tr.compare(models, labels, engine="stream", gold=gold, trained_on_labels="one")
    for engine in (5, None, "strem"):
        with pytest.raises(tr.InputError, match="is not known"):
            tr.compare(models, labels, engine=engine)
    with pytest.raises(tr.InputError, match=r"scores of two classes .* in memory"):
        tr.compare(models, labels, engine="stream", draws=200).difference("auc")


def test_advice_counts_items_not_groups(tmp_path: Path, counted: None) -> None:
    models, labels, _ = two_models(tmp_path)
    asked = "accuracy: one - other >= 0.06"
    memory, streamed = (
        tr.compare(models, labels, engine=engine, draws=400).require(asked).sentence
        for engine in ("memory", "stream")
    )
    assert streamed == memory


def test_metrics_of_grades_draw_items_after_all(tmp_path: Path, counted: None) -> None:
    models, labels, _ = two_models(tmp_path)
    for path in (*models.values(), labels):
        frame = pl.read_parquet(path)
        last = frame.columns[-1]
        graded = frame.with_columns(pl.col(last).replace_strict({"cat": 1, "dog": 2}))
        graded.write_parquet(path)
    found = tr.compare(models, labels, draws=300)
    assert not isinstance(found.truth, np.ndarray)
    assert found.draws("mean_absolute_error").shape == (100, 2)


def test_two_models_of_one_name(tmp_path: Path) -> None:
    models, labels, _ = two_models(tmp_path)
    with pytest.raises(tr.InputError, match="two models are called '1'"):
        tr.compare({1: models["one"], "1": models["other"]}, labels)


def test_a_model_that_says_one_class_only(tmp_path: Path, counted: None) -> None:
    models, labels, _ = two_models(tmp_path)
    always = pl.read_parquet(models["other"]).with_columns(prediction=pl.lit("dog"))
    always.write_parquet(models["other"])
    memory = tr.compare(models, labels, engine="memory", draws=400)
    streamed = tr.compare(models, labels, engine="stream", draws=400)
    assert_same(streamed, memory)


def test_the_command_streams_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models, labels, _ = two_models(tmp_path)
    folder = tmp_path / "labels"
    folder.mkdir()
    rows = pl.read_parquet(labels)
    for part in range(3):
        rows[part * 2500 : (part + 1) * 2500].write_parquet(folder / f"{part}.parquet")
    files = [f"{name}={file}" for name, file in models.items()]
    with pytest.raises(SystemExit) as end:
        app(["compare", str(folder), *files, "--csv"])
    assert end.value.code in (0, None)
    told = capsys.readouterr().out
    assert told == _told(capsys, ["compare", labels, *files, "--engine", "stream", "--csv"])


def _told(capsys: pytest.CaptureFixture[str], command: list[str]) -> str:
    with pytest.raises(SystemExit):
        app(command)
    return capsys.readouterr().out
