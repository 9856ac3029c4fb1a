"""Streamed from disk, the answers are those of labels in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.engine import partition, regroup


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


def same(streamed: Any, memory: Any) -> None:
    """Every number to 1e-9, every sentence to the letter."""
    if isinstance(memory, dict):
        assert streamed.keys() == memory.keys()
        for key in memory:
            same(streamed[key], memory[key])
    elif isinstance(memory, list | tuple):
        assert len(streamed) == len(memory)
        for a, b in zip(streamed, memory):
            same(a, b)
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
    streamed = tr.grade(*files, gold=gold, engine="stream")
    same(streamed.to_dict(), memory.to_dict())
    for name in memory.metrics:
        assert streamed.at_face_value(name) == pytest.approx(memory.at_face_value(name), abs=1e-9)
    ours = streamed.truth_frame().sort("item")
    theirs = memory.truth_frame().sort("item")
    assert ours["item"].to_list() == theirs["item"].to_list()
    assert np.abs(ours[:, 1:].to_numpy() - theirs[:, 1:].to_numpy()).max() < 1e-9
    assert np.abs(streamed.noise.error - memory.noise.error).max() < 1e-9


@pytest.mark.parametrize("n_gold", [0, 80])
@pytest.mark.parametrize("target", ["sample", "population"])
def test_rate_streamed_is_rate(tmp_path: Path, target: str, n_gold: int) -> None:
    rows, predictions, truth = panel(n_classes=3, seed=1)
    _, labels = written(tmp_path, rows, predictions)
    gold = {k: truth[k] for k in list(truth)[:n_gold]} or None
    asked: dict[str, Any] = {"gold": gold, "target": target}
    memory = tr.prevalence(labels, engine="memory", **asked)
    streamed = tr.prevalence(labels, engine="stream", **asked)
    same(streamed.to_dict(), memory.to_dict())
