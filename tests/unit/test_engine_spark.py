"""The engine interface is small enough for Spark to be added in a page: the adapter of
docs/large.md, on a local session."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import truthing as tr
from truthing.engine import regroup
from truthing.engine.base import Engine, Kernel
from truthing.engine.stream import Stream, run
from truthing.progress import silent
from truthing.streaming.held import hold
from truthing.truth.link.views import fit_both

pyspark_sql = pytest.importorskip("pyspark.sql")


class Spark(Engine):
    """Shards on the executors of a Spark session."""

    def __init__(self, stream: Stream, session: Any) -> None:
        self.stream, self.session, self.n_classes = stream, session, stream.n_classes

    def map(self, kernel: Kernel, *shared: Any) -> Iterator[Any]:
        shards = self.stream.shards

        def work(batches: Any) -> Any:
            import pyarrow as pa

            for batch in batches:
                for number in batch.column(0).to_pylist():
                    done = pickle.dumps(run([shards[number]], kernel, shared))
                    yield pa.RecordBatch.from_pydict({"number": [number], "result": [done]})

        numbers = self.session.range(len(shards))
        rows = numbers.mapInArrow(work, "number long, result binary").collect()
        for row in sorted(rows, key=lambda row: row.number):
            yield pickle.loads(row.result)


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")  # new pandas
def test_spark_gives_what_the_stream_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regroup, "PER_SHARD", 500)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    data = tr.simulate(
        400, 6, prior=[0.5, 0.5], operating_point=(0.9, 0.1), fallibility=0.2, seed=0
    )
    rows = {"item": data.labels.item, "labeler": data.labels.labeler, "label": data.labels.label}
    pl.DataFrame(rows).write_parquet(tmp_path / "labels.parquet")
    held = hold(None, tmp_path / "labels.parquet", gold=None, progress=silent)
    assert len(held.shards.shards) > 3
    session = pyspark_sql.SparkSession.builder.master("local[2]").getOrCreate()
    try:
        ours = fit_both(Spark(held.shards, session))
    finally:
        session.stop()
    theirs = fit_both(held.shards)
    assert np.abs(ours[0].log_rows - theirs[0].log_rows).max() < 1e-9
    assert np.abs(ours[1].log_odds - theirs[1].log_odds).max() < 1e-9
