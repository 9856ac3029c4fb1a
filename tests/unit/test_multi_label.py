"""Several labels at once: how tags are read, what is reported, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.errors import InputError
from truthing.metrics.estimate import Estimate
from truthing.multi_label.joint import Coupling, all_right, shared_doubt, ways
from truthing.multi_label.sets import read_tagged
from truthing.randomness import generator

TAGS = ["news", "politics", "sports"]
RUN = CliRunner()
FAST: dict[str, Any] = {"noise": 0.1, "draws": 300}


def simulated(n: int = 120) -> Any:
    """Truth, a model and four labelers, items × tags."""
    rng = np.random.default_rng(3)
    truth = rng.random((n, 3)) < [0.5, 0.35, 0.25]

    def said(error: float) -> Any:
        return np.where(rng.random((n, 3)) < error, ~truth, truth)

    return truth, said(0.1), [said(0.1) for _ in range(4)]


def as_sets(table: Any) -> list[list[str]]:
    return [[tag for tag, tick in zip(TAGS, row) if tick] for row in table]


def panel(votes: Any) -> list[list[list[str]]]:
    return [list(row) for row in zip(*(as_sets(v) for v in votes))]


def sentence(tags: list[str], sign: str = ";") -> str:
    return sign.join(tags) or "[]"


def split(labels: Any, predictions: Any = None, tags: Any = "auto") -> Any:
    models = {} if predictions is None else {"model": predictions}
    return read_tagged(labels, models, None, tags, "error")


def test_every_way_to_write_tags_means_the_same(tmp_path: Path) -> None:
    _, model, votes = simulated(40)
    wanted = split(panel(votes), as_sets(model))
    rows = [
        {"item": i, "labeler": f"w{k}", "label": sentence(as_sets(v)[i])}
        for k, v in enumerate(votes)
        for i in range(40)
    ]
    lists = [{**row, "label": as_sets(votes[int(row["labeler"][1])])[row["item"]]} for row in rows]
    ticks = [
        {
            **{k: v for k, v in row.items() if k != "label"},
            **{t: int(t in r["label"]) for t in TAGS},
        }
        for row, r in zip(rows, lists)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "cells.csv")
    (tmp_path / "lists.jsonl").write_text("\n".join(map(json.dumps, lists)))
    pl.DataFrame(ticks).write_csv(tmp_path / "ticks.csv")
    guess = {"item": range(40), **{t: model[:, k].astype(int) for k, t in enumerate(TAGS)}}
    pl.DataFrame(guess).write_csv(tmp_path / "guess.csv")
    for name, tags in (("cells.csv", ";"), ("lists.jsonl", "auto"), ("ticks.csv", TAGS)):
        predictions = tmp_path / "guess.csv" if name == "ticks.csv" else as_sets(model)
        found = split(tmp_path / name, predictions, tags)
        assert list(found.cases) == TAGS
        for tag in TAGS:
            mine, theirs = found.cases[tag].labels, wanted.cases[tag].labels
            assert mine.classes == (f"not {tag}", tag)
            assert (mine.matrix() == theirs.matrix()).all()
            assert found.cases[tag].predictions.label.tolist() == model[:, TAGS.index(tag)].tolist()


def test_a_row_for_each_tag_is_one_answer() -> None:
    rows = [("a", "ann", "x"), ("a", "ann", "y"), ("a", "bob", "x"), ("b", "ann", "y")]
    items, who, label = zip(*rows)
    found = split(tr.Labels.from_long(items, who, label), tags=["x", "y"])
    assert found.cases["x"].labels.matrix().tolist() == [[1, 1], [0, -1]]
    assert found.cases["y"].labels.matrix().tolist() == [[1, 0], [1, -1]]
    assert any("are one answer" in said for said in found.remarks)


def test_apostrophes_and_items_of_another_type() -> None:
    labels = [[["don't", "b"], ["b"]], [["b"], []]]
    found = split(labels, {"0": ["don't"], "1": ["b"]})
    assert list(found.cases) == ["b", "don't"]
    assert found.predicted["model"] == {0: {"don't"}, 1: {"b"}}


def label_studio() -> list[dict[str, Any]]:
    def answer(who: str, *choices: str) -> dict[str, Any]:
        result = [{"from_name": "topic", "value": {"choices": list(choices)}}] if choices else []
        return {"completed_by": who, "result": result}

    return [
        {"id": 1, "annotations": [answer("ann", "x", "y"), answer("bob", "x")]},
        {"id": 2, "annotations": [answer("ann", "y"), answer("bob")]},
    ]


def test_label_studio_multi_select(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(label_studio()))
    with pytest.raises(
        InputError, match=r"task 1: one answer names several classes.*`tags='auto'`"
    ):
        tr.read_labels(path)
    found = split(path)
    assert found.cases["x"].labels.matrix().tolist() == [[1, 1], [0, 0]]
    assert found.cases["y"].labels.matrix().tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("rows", "tags", "words"),
    [
        (["a;b", "a"], ["a", "c"], "not among the tags"),
        (["a", "b"], "auto", "no answer names several"),
        (["a;b", "a,b"], "auto", "say which"),
        (["[a;b", "c"], "auto", "not a list of tags"),
        (["a;b", "b"], 7, "is not understood"),
    ],
)
def test_what_is_refused(rows: list[str], tags: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        split(tr.Labels.from_long(range(2), ["w", "w"], rows), tags=tags)


def test_an_empty_cell_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,labeler,label\n1,ann,a;b\n2,ann,\n3,ann,[]\n")
    with pytest.raises(InputError, match=r"line 3: column 'label' is empty.*Write \[\]"):
        split(path)


@pytest.mark.parametrize(
    "option", [{"cut": 2}, {"positive": "news"}, {"by": "x"}, {"deployment": 0.5}, {"unsure": "x"}]
)
def test_arguments_that_do_not_go_along(option: dict[str, Any]) -> None:
    _, model, votes = simulated(20)
    with pytest.raises(InputError, match="does not go together with `tags=`"):
        tr.grade(as_sets(model), panel(votes), tags="auto", **option)


# ---- what is reported ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> Any:
    _, model, votes = simulated()
    return tr.grade(as_sets(model), panel(votes), tags="auto", **FAST)


def test_averages_by_hand(report: Any) -> None:
    """Complete dependence: the quantiles of a mean are the means of the quantiles."""
    each = np.stack([np.sort(report.tags[t]["f1"].draws) for t in TAGS])
    assert report["macro_f1"].mean == pytest.approx(each.mean(), abs=2e-3)
    wide = [np.ptp(report.tags[t]["f1"].interval()) for t in TAGS]
    assert np.ptp(report["macro_f1"].interval()) == pytest.approx(np.mean(wide), rel=0.15)
    said = np.array([report.tags[t].confusion.mean for t in TAGS])  # truth in rows
    micro = 2 * said[:, 1, 1].sum() / (said[:, 1].sum() + said[:, :, 1].sum())
    assert report["micro_f1"].mean == pytest.approx(micro, abs=5e-3)
    right = np.mean([report.tags[t]["accuracy"].mean for t in TAGS])
    assert report["hamming_accuracy"].mean == pytest.approx(right, abs=2e-3)
    assert report["recall[ sports ]"] is report.tags["sports"]["recall"]
    assert report["subset_accuracy"].mean < report["hamming_accuracy"].mean


def test_face_values_by_hand(report: Any) -> None:
    _, model, votes = simulated()
    same = [(model == v).all(axis=1).mean() for v in votes]
    assert report.at_face_value("subset_accuracy") == pytest.approx(np.mean(same))
    hit = np.mean([model == v for v in votes])
    assert report.at_face_value("hamming_accuracy") == pytest.approx(hit)
    tp = sum((model & v).sum() for v in votes)
    both = sum(model.sum() + v.sum() for v in votes)
    assert report.at_face_value("micro_f1") == pytest.approx(2 * tp / both)


def test_what_all_tags_say_is_said_once(report: Any) -> None:
    said = [a for a in report.assumptions if "names look like" in a or "err independently" in a]
    assert said
    assert len(set(said)) == len(said)
    assert not any(a.startswith(("news:", "politics:", "sports:")) for a in said)


def test_no_gold_is_a_doubt(report: Any) -> None:
    assert any("every tag is off in the same direction" in said for said in report.warnings)


def test_a_gate_in_plain_words(report: Any) -> None:
    assert report.require("macro F1 >= .1").met
    assert report.require("recall[news] >= 99%").outcome == "missed"
    with pytest.raises(InputError, match="Did you mean 'macro_f1'"):
        report.require("makro_f1 >= .8")
    with pytest.raises(InputError, match="no tag is called 'art'"):
        report["f1[art]"]


def test_gold_says_how_far_doubts_go_together() -> None:
    rng = np.random.default_rng(0)
    common, own = rng.normal(size=(300, 1)), rng.normal(size=(300, 4))
    apart = shared_doubt(own, generator(0, "a"))
    close = shared_doubt(common + 0.5 * own, generator(0, "a"))
    assert apart < 0.1
    assert 0.75 < close < 0.95  # 0.8, and its upper limit
    assert shared_doubt(own[:10], generator(0, "a")) == 1.0
    tags = [Estimate.from_draws(rng.normal(0.5, 0.1, 2000)) for _ in range(4)]
    widths = [Coupling.of(4, shared, 0).mean(tags).std for shared in (0.0, 0.5, 1.0)]
    assert widths == pytest.approx([0.05, 0.079, 0.1], rel=0.08)


def test_all_right_lies_between_product_and_smallest() -> None:
    right = np.tile([0.9, 0.8], (4000, 1))
    accuracy = np.tile([[0.9], [0.8]], (1, 50))
    rng = generator(0, "x")
    for way, wanted in ((0.0, 0.72), (1.0, 0.8)):
        found = all_right(right, accuracy, np.array([way]), rng, "sample")
        assert found.mean == pytest.approx(wanted, abs=0.01)
    moved = all_right(right, accuracy - 0.1, np.array([0.0]), rng, "sample")
    assert moved.mean == pytest.approx(0.8 * 0.7, abs=0.01)


def test_gold_says_whether_tags_are_right_together() -> None:
    rng = np.random.default_rng(1)
    apart = rng.random((400, 3)) < 0.7
    close = np.repeat(rng.random((400, 1)) < 0.7, 3, axis=1)
    agree = np.full((400, 3), 0.7)
    assert ways(apart, agree).mean() < 0.3
    assert ways(close, agree).mean() > 0.9
    assert ways(apart[:5], agree[:5]).mean() == pytest.approx(0.5)


def test_shares_and_comparison() -> None:
    truth, model, votes = simulated()
    gold = {i: as_sets(truth)[i] for i in range(0, 120, 2)}
    shares = tr.prevalence(panel(votes), gold=gold, tags="auto", **FAST)
    total = sum(shares[tag].mean for tag in TAGS)
    assert shares.tags_per_item.mean == pytest.approx(total, abs=0.01)
    assert shares.require("sports <= 0.9").met
    worse = np.where(np.arange(120)[:, None] % 2 == 0, ~truth, truth)
    pair = {"good": as_sets(model), "bad": as_sets(worse)}
    result = tr.compare(pair, panel(votes), tags="auto", panel_error=0, **FAST)
    gap = result.difference("macro_f1", "good", "bad")
    each = [result.difference(f"f1[{tag}]", "good", "bad").mean for tag in TAGS]
    assert gap.mean == pytest.approx(np.mean(each), abs=2e-3)
    assert result.require("macro_f1: good - bad >= 0").met
    assert result.verdict().startswith("good is better than bad in macro f1 over 3 tags")
    with pytest.raises(InputError, match="is not compared"):
        result.difference("subset_accuracy")


def test_command_line_and_page(tmp_path: Path) -> None:
    _, model, votes = simulated(60)
    labels, predictions, other = (str(tmp_path / f"{n}.csv") for n in ("l", "p", "q"))
    rows = [
        {"item": i, "labeler": f"w{k}", "label": sentence(tags)}
        for k, v in enumerate(votes)
        for i, tags in enumerate(as_sets(v))
    ]
    pl.DataFrame(rows).write_csv(labels)
    for path, table in ((predictions, model), (other, votes[0])):
        cells = [sentence(tags) for tags in as_sets(table)]
        pl.DataFrame({"item": range(60), "prediction": cells}).write_csv(path)
    quick = ["--tags", ";", "--noise", "0.1"]

    def run(*arguments: str) -> Any:
        done = RUN.invoke(app, [*arguments, *quick])
        return done.exit_code, done.stdout, done

    code, text, _ = run("grade", predictions, labels, "--draws", "300")
    assert code == 0
    assert "Macro F1 over 3 tags" in text
    assert "sports" in text
    code, text, _ = run("grade", predictions, labels, "--require", "macro F1 >= .99", "--json")
    assert code == 3
    assert json.loads(text)["question"] == "grade"
    code, _, _ = run("grade", predictions, labels, "--require", "makro >= .5")
    assert code == 2
    code, text, _ = run("rate", labels, "--require", "news >= 0.1", "--markdown")
    assert code == 0
    assert "tags per item" in text
    code, text, _ = run("compare", labels, predictions, other, "--draws", "300")
    assert code == 0
    assert "macro f1" in text
    done = run("grade", predictions, labels, "--sensitivity")[2]
    assert "one tag at a time" in str(done.exception)
