"""On a Dask cluster the answer is that of memory, also when a worker is killed in the middle."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.engine import regroup


@pytest.fixture(scope="module")
def client() -> Any:
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
    )
    with cluster, distributed.Client(cluster) as found:
        yield found


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setattr(regroup, "PER_SHARD", 300)
    data = tr.simulate(
        600, 6, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.2, seed=0
    )
    rows = pl.DataFrame(
        {"item": data.labels.item, "labeler": data.labels.labeler, "label": data.labels.label}
    )
    rows.write_parquet(tmp_path / "labels.parquet")
    guesses = pl.DataFrame({"item": np.arange(600), "prediction": data.predictions})
    guesses.write_parquet(tmp_path / "predictions.parquet")
    return tmp_path / "predictions.parquet", tmp_path / "labels.parquet"


def numbers(report: Any) -> np.ndarray:
    return np.array([x for name in report.metrics for x in report[name].interval()])


def test_the_answer_is_that_of_memory(files: tuple[Path, Path], client: Any) -> None:
    memory = numbers(tr.grade(*files, engine="memory"))
    assert np.abs(numbers(tr.grade(*files, engine=client)) - memory).max() < 1e-9
    address = tr.grade(*files, engine=client.scheduler.address)
    assert np.abs(numbers(address) - memory).max() < 1e-9


def test_models_are_compared_as_on_a_stream(files: tuple[Path, Path], client: Any) -> None:
    other = files[0].with_name("other.parquet")
    guesses = pl.read_parquet(files[0])
    flip = pl.Series(np.arange(600) % 7 == 0)
    changed = pl.when(flip).then(1 - pl.col("prediction")).otherwise(pl.col("prediction"))
    guesses.with_columns(prediction=changed).write_parquet(other)
    models = {"one": files[0], "other": other}
    streamed, spread = (
        tr.compare(models, files[1], engine=engine, draws=400) for engine in ("stream", client)
    )
    assert np.abs(spread.draws("accuracy") - streamed.draws("accuracy")).max() < 1e-9


def test_an_address_without_a_scheduler(files: tuple[Path, Path]) -> None:
    with pytest.raises(tr.InputError, match="no scheduler of Dask answers"):
        tr.grade(*files, engine="dsk://10.0.0.1:8786")


def test_a_worker_killed_in_the_middle_of_a_pass(
    files: tuple[Path, Path], client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tasks of a pass are with the workers when one of them dies."""
    memory = numbers(tr.grade(*files, engine="memory"))
    victim = next(iter(client.run(os.getpid).values()))
    gather, passes = client.gather, {"n": 0}

    def interrupted(futures: Any) -> Any:
        passes["n"] += 1
        if passes["n"] == 6:
            os.kill(victim, signal.SIGKILL)
        return gather(futures)

    monkeypatch.setattr(client, "gather", interrupted)
    report = tr.grade(*files, engine=client)
    assert passes["n"] > 6
    assert victim not in client.run(os.getpid).values()
    assert np.abs(numbers(report) - memory).max() < 1e-9
