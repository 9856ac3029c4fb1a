"""Faults of storage and of files are named, and nothing wrong is returned."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.engine import partition, regroup, stream
from truthing.engine.store import Stored


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Predictions and labels in folders of three Parquet files each; shards are small."""
    monkeypatch.setattr(regroup, "PER_SHARD", 300)
    monkeypatch.setattr(partition, "BATCH", 500)
    data = tr.simulate(
        400, 5, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.2, seed=0
    )
    names = np.array([f"i{i}" for i in data.labels.item])
    rows = pl.DataFrame(
        {"item": names, "labeler": data.labels.labeler + 100, "label": data.labels.label}
    ).sample(fraction=1.0, shuffle=True, seed=0)
    guesses = pl.DataFrame({"item": [f"i{i}" for i in range(400)], "prediction": data.predictions})
    for name, table in (("labels", rows), ("predictions", guesses)):
        (tmp_path / name).mkdir()
        for k in range(3):
            table[k::3].write_parquet(tmp_path / name / f"part-{k}.parquet")
    return tmp_path / "predictions", tmp_path / "labels"


def shards(labels: Path) -> list[Path]:
    return sorted(labels.with_name("labels.shards").rglob("*.npz"))


def on_the_third_read(monkeypatch: pytest.MonkeyPatch, do: Callable[[Path], None]) -> None:
    """Something happens to a shard in the middle of the work, after it was read twice."""
    load, seen = Stored.load, {"times": 0}

    def wrapped(self: Stored) -> Any:
        if self.number == 1:
            seen["times"] += 1
            if seen["times"] == 3:
                do(self.path)
        return load(self)

    monkeypatch.setattr(Stored, "load", wrapped)


def test_an_item_whose_rows_lie_in_several_files_is_one_item(files: tuple[Path, Path]) -> None:
    report = tr.grade(*files, engine="stream")
    together = [pl.read_parquet(f"{folder}/*.parquet") for folder in files]
    assert len(shards(files[1])) > 3
    assert report.sizes["items"] == 400
    memory = tr.grade(*together, engine="memory")
    assert report["accuracy"].mean == pytest.approx(memory["accuracy"].mean, abs=1e-9)


def test_a_shard_that_vanishes(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    on_the_third_read(monkeypatch, Path.unlink)
    with pytest.raises(tr.InputError, match=r"shard .*00001\.npz is gone"):
        tr.grade(*files, engine="stream")


def test_a_shard_that_is_damaged(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 255  # one byte in the middle of the data
        path.write_bytes(content)

    on_the_third_read(monkeypatch, damage)
    with pytest.raises(tr.InputError, match=r"shard .*00001\.npz is damaged .*written anew"):
        tr.grade(*files, engine="stream")


def test_a_shard_that_is_cut_off(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    on_the_third_read(monkeypatch, lambda path: path.write_bytes(path.read_bytes()[:100]) and None)
    with pytest.raises(tr.InputError, match=r"shard .*00001\.npz is damaged"):
        tr.grade(*files, engine="stream")


def test_a_shard_of_another_run(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def swap(path: Path) -> None:
        path.write_bytes(path.with_name("00002.npz").read_bytes())

    on_the_third_read(monkeypatch, swap)
    with pytest.raises(tr.InputError, match=r"00001\.npz is damaged .*another number of"):
        tr.grade(*files, engine="stream")


def test_storage_that_stalls(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    tr.grade(*files, engine="stream")
    monkeypatch.setattr(stream, "STALLED", 0.2)
    on_the_third_read(monkeypatch, lambda path: time.sleep(1.5))
    with pytest.raises(tr.InputError, match=r"00001\.npz has not come .* storage stalls"):
        tr.grade(*files, engine="stream")


def test_mixed_schemas(files: tuple[Path, Path]) -> None:
    odd = files[1] / "part-1.parquet"
    pl.read_parquet(odd).with_columns(pl.col("label").cast(pl.String)).write_parquet(odd)
    with pytest.raises(tr.InputError, match=r"part-1.parquet has String in column 'label' where"):
        tr.grade(*files, engine="stream")
    pl.read_parquet(odd).drop("label").write_parquet(odd)
    with pytest.raises(tr.InputError, match=r"part-1.parquet has nothing in column 'label' where"):
        tr.grade(*files, engine="stream")


def test_a_file_that_is_no_parquet(files: tuple[Path, Path]) -> None:
    (files[1] / "part-2.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(tr.InputError, match=r"part-2.parquet is not a readable Parquet file"):
        tr.grade(*files, engine="stream")


def test_cells_without_a_name(files: tuple[Path, Path]) -> None:
    odd = files[1] / "part-1.parquet"
    rows = pl.read_parquet(odd)
    for column, words in (("item", "no item"), ("labeler", "a label without a labeler")):
        place = pl.int_range(pl.len()) == 17
        rows.with_columns(pl.when(~place).then(column)).write_parquet(odd)
        with pytest.raises(tr.InputError, match=rf"part-1.parquet row 18: {words}"):
            tr.grade(*files, engine="stream")


def test_a_word_that_may_mean_missing(files: tuple[Path, Path]) -> None:
    for odd in files[1].iterdir():
        text = pl.col("label").cast(pl.String).replace("0", "none")
        pl.read_parquet(odd).with_columns(text).write_parquet(odd)
    with pytest.raises(tr.InputError, match=r"'none': is it a class, or a missing value"):
        tr.prevalence(files[1], engine="stream")


def test_an_item_predicted_twice(files: tuple[Path, Path]) -> None:
    odd = files[0] / "part-1.parquet"
    rows = pl.read_parquet(odd)
    pl.concat([rows, rows[:1]]).write_parquet(odd)
    with pytest.raises(tr.InputError, match="the predictions name item 'i1' twice"):
        tr.grade(*files, engine="stream")


def test_new_rows_are_seen_and_old_shards_used_again(files: tuple[Path, Path]) -> None:
    first = tr.grade(*files, engine="stream")
    made = shards(files[1])
    times = [path.stat().st_mtime_ns for path in made]
    tr.grade(*files, engine="stream")
    assert [path.stat().st_mtime_ns for path in made] == times
    odd = files[1] / "part-1.parquet"
    pl.read_parquet(odd)[:-50].write_parquet(odd)
    second = tr.grade(*files, engine="stream")
    assert second.sizes["labels"] == first.sizes["labels"] - 50


def test_no_room_for_shards_says_where_they_may_go(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("TRUTHING_CACHE", str(tmp_path / "a file"))
    with pytest.raises(tr.InputError, match=r"cannot be written .*TRUTHING_CACHE"):
        tr.grade(*files, engine="stream")
