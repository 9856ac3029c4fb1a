"""Clusters, weights and slices beyond accuracy: areas under curves, labelers, plans."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.people.drawn import design_effects
from truthing.planning.drawn import Sampling, by_word
from truthing.planning.surface import simulate_surface
from truthing.planning.widths import Goal
from truthing.planning.world import assumed_world
from truthing.truth.scores import ScoreAnswer

RUN = CliRunner()


def mann_whitney(truth: np.ndarray, score: np.ndarray, weight: np.ndarray) -> float:
    """Weighted pairs in the right order, ties half."""
    up, down = truth == 1, truth == 0
    pairs = weight[up][:, None] * weight[down]
    gap = score[up][:, None] - score[down]
    return float((pairs * ((gap > 0) + 0.5 * (gap == 0))).sum() / pairs.sum())


def scored(n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, n)
    score = np.round(truth + rng.normal(size=n), 1)
    order = np.argsort(-score, kind="stable")
    weight = rng.choice([1.0, 3.0, 10.0], n)
    return truth[order], score[order], weight / weight.mean()


def test_weighted_area_is_the_weighted_mann_whitney() -> None:
    truth, score, weight = scored()
    answer = ScoreAnswer(score, lambda: truth[None].astype(np.uint8), weight=weight)
    assert answer.estimate("auc").mean == pytest.approx(mann_whitney(truth, score, weight))
    curve = answer.roc()
    last = np.concatenate([curve.x[-1:], curve.y[-1:]])
    assert last == pytest.approx([1.0, 1.0])


def test_areas_of_new_data_redraw_whole_clusters() -> None:
    """The spread of the draws against a cluster bootstrap worked here."""
    truth, score, _ = scored(120)
    cluster = np.argsort(np.argsort(-score)) // 10  # clusters of alike scores
    keys = np.repeat(truth[None].astype(np.uint8), 2000, axis=0)
    by_cluster = ScoreAnswer(score, lambda: keys, 5, cluster=cluster).estimate("auc").draws
    one_by_one = ScoreAnswer(score, lambda: keys, 5).estimate("auc").draws
    rng = np.random.default_rng(0)
    mine = [
        mann_whitney(truth, score, rng.standard_exponential(cluster.max() + 1)[cluster])
        for _ in range(1000)
    ]
    assert by_cluster.std() == pytest.approx(np.std(mine), rel=0.1)
    assert by_cluster.mean() == pytest.approx(np.mean(mine), abs=0.01)
    assert by_cluster.std() != pytest.approx(one_by_one.std(), rel=0.1)


def test_grade_and_compare_answer_areas_with_weights_and_clusters() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 240)
    votes = [np.where(rng.random(240) < 0.85, truth, 1 - truth) for _ in range(4)]
    labels = tr.Labels.from_matrix(np.stack(votes, axis=1))
    score = 1.5 * truth + rng.normal(size=240)
    gold = {int(i): int(truth[i]) for i in range(0, 240, 4)}
    how: dict[str, Any] = {
        "gold": gold,
        "weights": 1 + np.arange(240) % 3,
        "cluster": np.arange(240) // 6,
        "target": "population",
        "panel": "people",
        "draws": 300,
    }
    report = tr.grade(None, labels, scores=score, threshold=0.75, **how)
    low, high = report["auc"].interval(0.95)
    assert low < mann_whitney(truth, score, np.ones(240)) < high
    assert not any("left out" in words for words in report.warnings)
    tables = {
        name: {"item": list(labels.items), "score": (sign * score).tolist()}
        for name, sign in (("a", 1), ("b", -1))
    }
    models = {name: pl.DataFrame(table) for name, table in tables.items()}
    both = tr.compare(models, labels, threshold=0.0, positive=1, **how)
    assert both.difference("auc").mean > 0.3


def crowd(effect: float = 1.5) -> tuple[np.ndarray, tr.Labels, np.ndarray]:
    rng = np.random.default_rng(2)
    part = np.repeat(np.arange(40), 6)
    truth = rng.integers(0, 2, 240)
    votes = []
    for _ in range(4):
        level = 1.5 + effect * rng.normal(size=40)[part]
        votes.append(np.where(rng.random(240) < 1 / (1 + np.exp(-level)), truth, 1 - truth))
    return truth, tr.Labels.from_matrix(np.stack(votes, axis=1)), part


def test_labelers_know_less_where_items_come_in_clusters() -> None:
    truth, labels, part = crowd()
    gold = {int(i): int(truth[i]) for i in np.flatnonzero(part < 10)}
    plain = tr.labelers(labels, gold=gold, draws=300, panel="people")
    clustered = tr.labelers(labels, gold=gold, cluster=part, draws=300, panel="people")
    for name in labels.labelers:
        assert clustered[name]["error"].std > 1.1 * plain[name]["error"].std
        assert clustered[name]["graded"].std > plain[name]["graded"].std
        assert clustered[name]["error"].mean == pytest.approx(plain[name]["error"].mean, abs=0.04)
    assert any("40 clusters" in words for words in clustered.assumptions)


def test_design_effect_grows_with_likeness() -> None:
    for effect, low, high in ((0.0, 1.2, 1.8), (2.5, 2.0, 6.0)):
        truth, labels, part = crowd(effect)
        found = design_effects(labels, truth, part)
        assert (found >= low).all()
        assert (found <= high).all()


def test_labelers_by_slice_and_weight() -> None:
    truth, labels, _ = crowd(0.0)
    gold = {int(i): int(truth[i]) for i in range(0, 240, 3)}
    half = ["x" if i < 120 else "y" for i in range(240)]
    weight = np.where(np.arange(240) < 120, 9.0, 1.0)
    how: dict[str, Any] = {"gold": gold, "draws": 300, "panel": "people"}
    report = tr.labelers(labels, by=half, weights=weight, **how)
    first = report.by_slice(labels.labelers[0])
    assert [each.name for each in first] == ["x", "y"]
    assert sum(each.items for each in first) == 240
    assert sum(each.gold for each in first) == len(gold)
    # nine tenths of the weight is in slice x
    whole = report[labels.labelers[0]]["graded"].mean
    mixed = 0.9 * first[0].estimate.mean + 0.1 * first[1].estimate.mean
    assert whole == pytest.approx(mixed, abs=0.01)
    told = " ".join(report.assumptions)
    assert "count by their weights" in told
    assert "not studied" in told
    assert {each["labeler"] for each in report.to_dict()["slices"]} == set(
        map(str, labels.labelers)
    )
    with pytest.raises(tr.InputError, match="`by=` cannot be answered where the labelers' noise"):
        tr.labelers(labels, by=half, noise=0.1)


def surface() -> Any:
    assumed = {"labelers": 0.15, "accuracy": 0.8, "prior": 0.5, "shared": 0.0, "positive": None}
    world = assumed_world(**assumed, assumptions=[])
    goal = Goal("accuracy", "population", 0.95, True)
    return simulate_surface(world, goal, (2.0,), (50, 800), gold=True, sets=2, seed=0)


def test_a_plan_counts_clusters_by_their_design_effect() -> None:
    found = surface()
    plain, clusters = Sampling(), by_word((8, 0.3), None, 0.8)
    assert clusters.design_effect == pytest.approx(3.1)
    items = 3.1 * 200
    assert clusters.width(found, items, 0) == pytest.approx(plain.width(found, 200, 0))
    assert by_word(1, None, 0.8).plain
    assert by_word(None, [1, 1, 4], 0.8).share == pytest.approx(36 / 54)
    gold = [0, 20, 100, 400]
    widths = [float(clusters.width(found, 800, g)) for g in gold]
    assert widths == sorted(widths, reverse=True)
    # gold one by one loses little: nearer to plain gold than by the whole design effect
    worth = clusters.width(found, 800, 100)
    assert worth < plain.width(found, 800 / 3.1, 100 / 3.1)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"cluster": "patient"}, "A column needs"),
        ({"cluster": (0.5, 0.2)}, "at least 1 item per cluster"),
        ({"cluster": (8, 2)}, "correlation from 0 to 1"),
        ({"weights": "w"}, "A column needs"),
        ({"weights": 1.5}, "0 to 1"),
        ({"weights": [0, 0]}, "not all 0"),
    ],
)
def test_plans_refuse_what_they_cannot_use(said: dict[str, Any], words: str) -> None:
    with pytest.raises(tr.InputError, match=words):
        tr.plan(budget=100, costs={"item": 0.1, "label": 0.05}, sets=2, **said)


def files(folder: Path) -> tuple[str, str]:
    truth, labels, part = crowd()
    rng = np.random.default_rng(0)
    said = np.where(rng.random(240) < 0.85, truth, 1 - truth)
    votes = labels.matrix()
    names = [f"w{k}" for k in range(4)]
    with (folder / "labels.csv").open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["item", "labeler", "label", "patient", "site", "stands_for", "truth"])
        for i in range(240):
            about = f"p{part[i]}", f"s{i % 2}", 1 + i % 3, truth[i] if i % 4 == 0 else ""
            for name, vote in zip(names, votes[i]):
                table.writerow([f"i{i}", name, int(vote), *about])
    with (folder / "predictions.csv").open("w", newline="") as out:
        csv.writer(out).writerows(
            [["item", "prediction"], *zip((f"i{k}" for k in range(240)), said)]
        )
    return str(folder / "labels.csv"), str(folder / "predictions.csv")


def test_options_of_labelers_and_plan(tmp_path: Path) -> None:
    labels, predictions = files(tmp_path)
    drawn = ["--cluster", "patient", "--weights", "stands_for", "--by", "site"]
    answer = RUN.invoke(app, ["labelers", labels, "--truth-column", "truth", *drawn, "--json"])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert {each["slice"] for each in found["slices"]} == {"s0", "s1"}
    assert any("40 clusters" in words for words in found["assumptions"])
    shown = RUN.invoke(app, ["labelers", labels, "--truth-column", "truth", "--by", "site"])
    assert "errs most in" in shown.stdout
    prices = ["--budget", "100", "--label-cost", "0.1", "--gold-cost", "1", "--sets", "2"]
    pilot = ["plan", "--pilot", labels, "--predictions", predictions, "--cluster", "patient"]
    answer = RUN.invoke(app, [*pilot, "--target", "population", *prices, "--json"])
    assert answer.exit_code == 0, answer.output
    assert any("clusters of 6" in words for words in json.loads(answer.stdout)["assumptions"])
    guessed = ["plan", *prices, "--item-cost", "0.1", "--most-labels", "2", "--json"]
    answer = RUN.invoke(app, [*guessed, "--cluster", "8:0.3", "--weights", "1,3,10"])
    assert answer.exit_code == 0, answer.output
    told = " ".join(json.loads(answer.stdout)["assumptions"])
    assert "clusters of 8 with correlation 0.3" in told
    assert "Weights leave 59%" in told
    answer = RUN.invoke(app, [*guessed, "--cluster", "patient"])
    assert isinstance(answer.exception, tr.InputError)
    assert "--pilot" in str(answer.exception)
