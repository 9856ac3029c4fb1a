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
from truthing.streaming import choice
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
    monkeypatch.setattr(choosing, "MUCH_GOLD", 0.1)


@pytest.mark.usefixtures("few")
def test_a_random_choice_has_all_labels_of_its_items_and_all_gold(tmp_path: Path) -> None:
    where, truth = written(tmp_path)
    gold = {item: truth[item] for item in list(truth)[:40]}
    table, left = some_items(where, "auto", gold=gold)
    assert left.as_dict() == gold
    per_item = table.frame["task"].value_counts()
    assert per_item["count"].to_list() == [6] * per_item.height
    assert set(gold) <= set(per_item["task"].to_list())
    others = len(set(per_item["task"].to_list()) - set(gold))
    assert others / 2960 == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 2960))
    (remark,) = table.notes.remarks
    assert f"{table.height:,} of 18,000 labels were read" in remark
    assert "a random 25.00% of the items, and of all gold items" in remark
    again, _ = some_items(where, "stream", gold=gold)
    assert again.frame.equals(table.frame)


@pytest.mark.usefixtures("few")
def test_much_gold_does_not_shape_the_choice(tmp_path: Path) -> None:
    """Gold chosen by its class would otherwise change the shares of the classes."""
    where, truth = written(tmp_path)
    gold = {item: c for item, c in truth.items() if c == "spam"}
    table, left = some_items(where, "auto", gold=gold)
    chosen = set(table.frame["task"].to_list())
    assert set(left.items) == chosen & set(gold)
    share = np.mean([truth[item] == "spam" for item in chosen])
    assert share == pytest.approx(np.mean([c == "spam" for c in truth.values()]), abs=0.1)
    (check,) = (words for words in table.notes.checks if "gold" in words)
    assert f"{len(gold) - len(left):,} gold items are not among the items" in check
    assert "gold" not in table.notes.remarks[0]
    found = tr.labelers(where, gold=gold)
    assert check in found.warnings
    assert not any("not among the labeled items" in words for words in found.warnings)


@pytest.mark.usefixtures("few")
def test_gold_in_any_form_is_found(tmp_path: Path) -> None:
    """As a frame, as a column beside the labels, and of items that files spell as 7.0."""
    data = tr.simulate(3000, 6, prior=[0.6, 0.4], fallibility=[0.3] * 6, seed=1)
    truth = dict(enumerate(map(int, data.truth)))
    rows = pl.DataFrame(
        {
            "item": data.labels.item.astype(float),
            "labeler": [f"anna-{t}" for t in data.labels.labeler],
            "label": data.labels.label,
        }
    )
    rows.write_csv(tmp_path / "labels.csv")
    gold = {item: truth[item] for item in range(0, 3000, 100)}
    frame = pl.DataFrame({"item": list(gold), "truth": list(gold.values())})
    for given in (gold, frame, {float(item): c for item, c in gold.items()}):
        found = tr.labelers(tmp_path / "labels.csv", gold=given, engine="stream")
        assert found.sizes["gold"] == 30
    known = pl.Series(data.labels.item).is_in(list(gold))
    beside = rows.with_columns(truth=pl.when(known).then(pl.Series(data.truth[data.labels.item])))
    beside.with_columns(pl.col("item").cast(pl.Int64)).write_parquet(tmp_path / "beside.parquet")
    found = tr.labelers(tmp_path / "beside.parquet", engine="stream")
    assert found.sizes["gold"] == 30
    assert any("and of all gold items" in words for words in found.assumptions)


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
def test_who_is_not_in_the_choice_is_counted(tmp_path: Path) -> None:
    where, _ = written(tmp_path)
    more = pl.DataFrame({"task": ["t1", "t2"], "worker": ["bob-1", "bob-2"], "label": ["ham"] * 2})
    more.write_parquet(Path(where) / "2.parquet")
    table, _ = some_items(where, "stream")
    there = set(table.frame["worker"].to_list())
    absent = 8 - len(there)
    assert absent > 0
    assert any(words.startswith(f"{absent} labelers gave none") for words in table.notes.checks)
    assert any("Only " in words for words in table.notes.checks)


@pytest.mark.usefixtures("few")
def test_other_columns_are_read_where_they_are_named(tmp_path: Path) -> None:
    where, _ = written(tmp_path)
    site = pl.col("task").str.slice(1).cast(pl.Int64) % 2
    for n, path in enumerate(sorted(Path(where).iterdir())):
        more = {"site": site, f"note {n}": pl.lit(n)}
        pl.read_parquet(path).with_columns(**more).write_parquet(path)
    table, _ = some_items(where, "stream")
    assert table.frame.columns == ["task", "worker", "label"]
    report = tr.labelers(where, by="site")
    assert {found.name for found in report.by_slice("anna-0")} == {"0", "1"}
    pl.read_parquet(path).with_columns(site=pl.lit("x")).write_parquet(path)
    with pytest.raises(tr.InputError, match="in column 'site' where"):
        tr.labelers(where, by="site")
    assert tr.labelers(where).sizes["labelers"] == 6  # a column that nobody asks for


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


def test_a_large_file_of_another_kind_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "MANY_ROWS", 10)
    soft = tmp_path / "soft.parquet"
    pl.DataFrame({"item": range(100), "soft": np.linspace(0, 1, 100)}).write_parquet(soft)
    assert list(read_ceiling(soft).arguments) == ["soft"]
    with pytest.raises(tr.InputError, match="reads votes"):
        read_ceiling(soft, kind="soft", engine="stream")
    wide = tmp_path / "wide.parquet"
    votes = np.random.default_rng(0).integers(0, 2, (100, 3))
    columns = {f"anna {t}": votes[:, t] for t in range(3)}
    pl.DataFrame({"item": range(100), **columns}).write_parquet(wide)
    assert tr.labelers(wide).sizes["labels"] == 300


def test_what_cannot_be_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, _ = written(tmp_path, 300)
    with pytest.raises(tr.InputError, match="engine 'dask' is not known here"):
        tr.labelers(where, engine="dask")
    for several in (pl.read_parquet(f"{where}/*.parquet"), [where]):
        with pytest.raises(tr.InputError, match="give its path"):
            tr.labelers(several, engine="stream")
    with pytest.raises(tr.InputError, match=r"is a folder.*unless `engine='memory'`"):
        tr.labelers(where, engine="memory")
    done = CliRunner().invoke(app, ["labelers", where, where, "--engine", "nonsense"])
    assert isinstance(done.exception, tr.InputError)
    monkeypatch.chdir(where)
    assert tr.labelers(".").sizes["labelers"] == 6
    (Path(where) / "more.csv").write_text("task,worker,label\nt1,anna-0,ham\n")
    with pytest.raises(tr.InputError, match=r"holds more\.csv beside Parquet files"):
        tr.labelers(where)
