"""labelers and ceiling of labels that do not fit in memory: a random choice of items, and said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.ceiling.files import read_ceiling
from truthing.cli.main import app
from truthing.streaming import some_items as choosing
from truthing.streaming.some_items import some_items


def written(folder: Path, n_items: int = 3000, seed: int = 0) -> tuple[str, dict[str, str]]:
    """A folder of two Parquet files in which items are split, and the truth."""
    data = tr.simulate(
        n_items, 6, prior=[0.6, 0.4], fallibility=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], seed=seed
    )
    labels = data.labels
    rows = pl.DataFrame(
        {
            "task": [f"t{i}" for i in labels.item],
            "worker": [f"anna-{t}" for t in labels.labeler],
            "label": [("ham", "spam")[k] for k in labels.label],
        }
    ).sample(fraction=1.0, shuffle=True, seed=seed)
    where = folder / "labels"
    where.mkdir()
    for number, part in enumerate((rows[:5000], rows[5000:])):
        part.write_parquet(where / f"{number}.parquet")
    return str(where), {f"t{i}": ("ham", "spam")[k] for i, k in enumerate(data.truth)}


def test_all_labels_that_fit_are_read(tmp_path: Path) -> None:
    where, truth = written(tmp_path)
    gold = {item: truth[item] for item in list(truth)[:40]}
    single = tmp_path / "all.parquet"
    pl.scan_parquet(where).sink_parquet(single)
    whole = tr.labelers(single, gold=gold)
    for found in (tr.labelers(where, gold=gold), tr.labelers(single, gold=gold, engine="stream")):
        theirs, ours = (r.to_frame().sort("labeler") for r in (whole, found))
        assert ours.equals(theirs)
        assert not any("random" in words for words in found.assumptions)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "MOST_LABELS", 4500)  # of 18,000
    monkeypatch.setattr(choosing, "BATCH", 1000)


@pytest.mark.usefixtures("few")
def test_a_random_choice_has_all_labels_of_its_items_and_all_gold(tmp_path: Path) -> None:
    where, truth = written(tmp_path)
    gold = {item: truth[item] for item in list(truth)[:40]}
    table = some_items(where, "auto", gold=gold)
    per_item = table.frame["task"].value_counts()
    assert per_item["count"].to_list() == [6] * per_item.height
    assert set(gold) <= set(per_item["task"].to_list())
    others = per_item.height - len(gold)
    assert others / 2960 == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 2960))
    (remark,) = table.notes.remarks
    assert f"{table.height:,} of 18,000 labels were read" in remark
    assert "a random 0.25 of the items and all gold items" in remark
    again = some_items(where, "stream", gold=gold)
    assert again.frame.equals(table.frame)


@pytest.mark.usefixtures("few")
def test_labelers_of_a_choice_are_those_of_all_and_it_is_said(tmp_path: Path) -> None:
    where, truth = written(tmp_path)
    gold = {item: truth[item] for item in list(truth)[:40]}
    found = tr.labelers(where, gold=gold)
    assert sum("were read" in words for words in found.assumptions) == 1
    whole = tr.labelers(pl.read_parquet(f"{where}/*.parquet"), gold=gold)
    low, high = (found.to_frame().sort("labeler")[name] for name in ("error_low", "error_high"))
    error = whole.to_frame().sort("labeler")["error"]
    assert ((low - 0.02 <= error) & (error <= high + 0.02)).all()
    asked: dict[str, Any] = {"catch_exceptions": False}
    done = CliRunner().invoke(app, ["labelers", where, "--json"], **asked)
    assert done.exit_code == 0
    assert any("were read" in words for words in json.loads(done.stdout)["assumptions"])


@pytest.mark.usefixtures("few")
def test_ceiling_of_a_choice(tmp_path: Path) -> None:
    where, _ = written(tmp_path)
    found = read_ceiling(where)
    assert "were read" in found.remarks
    some = tr.bayes_error(**found.arguments)
    whole = tr.bayes_error(counts=tr.read_labels(pl.read_parquet(f"{where}/*.parquet")))
    assert some.value == pytest.approx(whole.value, abs=0.03)
    done = CliRunner().invoke(app, ["ceiling", where], catch_exceptions=False)
    assert done.exit_code == 0
    assert "were read" in done.stdout.replace("\n", " ")


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    where, _ = written(tmp_path, 300)
    with pytest.raises(tr.InputError, match="engine 'dask' is not known here"):
        tr.labelers(where, engine="dask")
    with pytest.raises(tr.InputError, match="give its path"):
        tr.labelers(pl.read_parquet(f"{where}/*.parquet"), engine="stream")
    with pytest.raises(tr.InputError, match="is a folder"):
        tr.labelers(where, engine="memory")
