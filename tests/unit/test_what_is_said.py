"""What is done to the data, and what is doubtful about it, is said the same everywhere."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import truthing as tr
from truthing.render import terminal
from truthing.report import Report

COMMAND = [sys.executable, "-c", "from truthing.cli import main; main()"]


def labels_and_truth(n: int, error: float, seed: int = 0) -> tuple[tr.Labels, np.ndarray]:
    """Five labelers who share a fifth of the items' mistakes, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    shared = np.where(rng.random(n) < error, 1 - truth, truth)
    table = [np.where(rng.random(n) < 0.12, 1 - shared, shared) for _ in range(5)]
    return tr.Labels.from_matrix(np.stack(table, axis=1)), truth


def some_gold(labels: tr.Labels, truth: np.ndarray, n: int, seed: int = 0) -> dict[int, int]:
    chosen = np.random.default_rng(seed).permutation(len(truth))[:n]
    return {labels.items[i]: int(truth[i]) for i in chosen}


def test_gold_does_not_shape_what_labels_say_where_the_noise_is_given() -> None:
    """A classifier right on 97% beside a panel that is right on 90%: with the labelers' true error
    given, 0 of 60 intervals held with 100 gold items when a gold item passed for its own labels."""
    held = []
    for seed in range(12):
        labels, truth = labels_and_truth(400, 0.1, seed)
        rng = np.random.default_rng(seed)
        said = np.where(rng.random(400) < 0.03, 1 - truth, truth)
        gold = some_gold(labels, truth, 100, seed)
        report = tr.grade(said, labels, gold=gold, noise=0.2, draws=1000, seed=seed)
        low, high = report["accuracy"].interval(0.95)
        held.append(low <= (said == truth).mean() <= high)
    assert np.mean(held) >= 0.75


def test_gold_without_labels_leaves_with_the_other_items_without_labels() -> None:
    """Kept, it would make random gold look chosen: .97 of such grades said so."""
    rng = np.random.default_rng(3)
    table = rng.integers(0, 2, (300, 4)).astype(float)
    table[rng.random(300) < 0.3] = np.nan
    labels = tr.Labels.from_matrix(table)
    bare = int((labels.per_item == 0).sum())
    gold = {i: int(rng.integers(0, 2)) for i in rng.permutation(300)[:100]}
    lost = sum(labels.per_item[labels.items.index(i)] == 0 for i in gold)
    report = tr.grade(rng.integers(0, 2, 300), labels, gold=gold, draws=400)
    assert lost > 10
    assert report.sizes["items"] == 300 - bare
    assert report.sizes["gold"] == 100 - lost
    assert any(f"{lost} gold items have no label" in line for line in report.warnings)
    assert not any("not a random choice" in line for line in report.warnings)
    assert tr.prevalence(labels, gold=gold, draws=400).sizes["gold"] == 100 - lost


def test_a_prior_that_would_not_be_used_is_refused() -> None:
    labels, truth = labels_and_truth(200, 0.1)
    with pytest.raises(tr.InputError, match="not used"):
        tr.prevalence(labels, prior=[0.9, 0.1])
    with pytest.raises(tr.InputError, match="not used"):
        tr.grade(truth, labels, prior=[0.9, 0.1])
    majority = tr.grade(truth, labels, prior=[0.9, 0.1], method="majority")
    assert any("makes no use of the class prior" in line for line in majority.assumptions)
    shares = [
        tr.prevalence(labels, prior=prior, noise=0.3, panel_error=0, draws=500)["1"].mean
        for prior in ([0.9, 0.1], [0.1, 0.9])
    ]
    assert shares[1] > shares[0]


def test_predictions_that_follow_the_majority_are_doubted() -> None:
    labels, _ = labels_and_truth(300, 0.1)
    majority = labels.counts().argmax(axis=1)
    asked = {"draws": 400}
    assert any("what most labels say" in w for w in tr.grade(majority, labels, **asked).warnings)
    told = tr.grade(majority, labels, trained_on_labels=True, **asked)
    assert not any("what most labels say" in w for w in told.warnings)
    other = majority.copy()
    split = np.flatnonzero(labels.counts().min(axis=1) > 0)[0]
    other[split] = 1 - other[split]
    assert not any("what most labels say" in w for w in tr.grade(other, labels, **asked).warnings)
    models = {"a": majority, "b": other}
    found = tr.compare(models, labels, trained_on_labels=None, **asked).warnings
    assert any("Model 'a' says what most labels say" in line for line in found)


def test_compare_leaves_out_labelers_who_are_a_model_as_grade_does() -> None:
    labels, truth = labels_and_truth(300, 0.15)
    copy = labels.matrix()[:, 0]
    better = np.where(np.random.default_rng(1).random(300) < 0.05, 1 - truth, truth)
    asked = {"draws": 1000, "panel": "people"}
    found = tr.compare({"a": copy, "b": better}, labels, trained_on_labels=False, **asked)
    assert any("Labeler 0 says exactly what model 'a' says" in line for line in found.warnings)
    for name, said in (("a", copy), ("b", better)):
        alone = tr.grade(said, labels, **asked)["accuracy"]
        assert found.estimate(name).interval(0.95) == pytest.approx(alone.interval(0.95), abs=1e-9)
        assert found.estimate(name, "error").mean == pytest.approx(1 - alone.mean)


def test_a_trusted_noise_model_grades_models_without_their_copies() -> None:
    """Five labelers who err by themselves, and a copy of each model among them: with the copies a
    model agrees with itself, and the interval missed in 3 of 3 cases."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    table = [np.where(rng.random(300) < 0.2, 1 - truth, truth) for _ in range(5)]
    models = {
        n: np.where(rng.random(300) < e, 1 - truth, truth) for n, e in (("a", 0.1), ("b", 0.2))
    }
    labels = tr.Labels.from_matrix(np.stack([*table, *models.values()], axis=1))
    bare = tr.Labels.from_matrix(np.stack(table, axis=1))
    asked = {"panel_error": 0, "draws": 500}
    found, wanted = (tr.compare(models, some, **asked) for some in (labels, bare))
    for name in models:
        one, other = found.estimate(name).interval(0.95), wanted.estimate(name).interval(0.95)
        assert one == pytest.approx(other, abs=0.02)


def test_gold_is_looked_at_beside_every_model() -> None:
    """Gold on what one model calls positive is seen whichever model comes first."""
    labels, truth = labels_and_truth(400, 0.1, 3)
    rng = np.random.default_rng(3)
    a, b = (np.where(rng.random(400) < 0.3, 1 - truth, truth) for _ in "ab")
    chosen = rng.permutation(np.flatnonzero((b == 1) & (labels.counts()[:, 1] > 2)))[:60]
    gold = {labels.items[i]: int(truth[i]) for i in chosen}
    for models in ({"a": a, "b": b}, {"b": b, "a": a}):
        found = tr.compare(models, labels, gold=gold, draws=400)
        assert any("Gold is not a random choice" in line for line in found.warnings)


def test_accuracies_that_cannot_be_true_together_are_still_those_of_grade() -> None:
    """A perfect model beside one that differs from it on a fifth of the items."""
    labels, truth = labels_and_truth(300, 0.2, 4)
    other = np.where(np.random.default_rng(5).random(300) < 0.2, 1 - truth, truth)
    gold = some_gold(labels, truth, 25)
    found = tr.compare({"a": truth, "b": other}, labels, gold=gold, draws=1000)
    for name, said in (("a", truth), ("b", other)):
        alone = tr.grade(said, labels, gold=gold, draws=1000)["accuracy"]
        assert found.estimate(name).interval(0.95) == pytest.approx(alone.interval(0.95), abs=1e-9)
    assert any("draws of its own" in line for line in found.assumptions)


def test_trained_models_are_named() -> None:
    labels, truth = labels_and_truth(100, 0.1)
    with pytest.raises(tr.InputError, match="does not say which models"):
        tr.compare({"a": truth, "b": 1 - truth}, labels, trained_on_labels=True)


def test_a_winner_who_is_not_sure_is_called_undecided() -> None:
    labels, truth = labels_and_truth(200, 0.1)
    rng = np.random.default_rng(2)
    models = {n: np.where(rng.random(200) < 0.1, 1 - truth, truth) for n in "ab"}
    found = tr.compare(models, labels, draws=400)
    assert max(found.probability_best("accuracy").values()) < 0.95
    assert found.verdict().startswith("Not decided: ")


@pytest.fixture(scope="module")
def graded() -> Report:
    labels, truth = labels_and_truth(300, 0.1)
    return tr.grade(truth, labels, gold=some_gold(labels, truth, 40), draws=500)


def test_gold_alone_stands_beside_the_answer_in_every_form(graded: Report) -> None:
    low, high = graded.gold_alone["accuracy"].interval(0.95)
    told = graded.to_dict()["gold_alone"]["accuracy"]
    assert (told["low"], told["high"]) == pytest.approx((low, high))
    words = f"The 40 gold items by themselves say: accuracy {told['mean']:.3f}"
    assert words in graded.to_html()
    assert words in graded.to_markdown()
    screen = io.StringIO()
    terminal.show(graded, Console(file=screen, width=200))
    assert words in screen.getvalue()
    labels, truth = labels_and_truth(300, 0.1)
    bare = tr.grade(truth, labels, draws=200)
    assert bare.to_dict()["gold_alone"] == {}
    assert "by themselves say" not in bare.to_html()


def test_gold_alone_stands_beside_shares_too() -> None:
    labels, truth = labels_and_truth(300, 0.1)
    gold = some_gold(labels, truth, 40)
    found = tr.prevalence(labels, gold=gold, draws=1000)
    alone = found.gold_alone[1].interval(0.95)
    told = found.to_dict()["gold_alone"]["1"]
    assert (told["low"], told["high"]) == pytest.approx(alone)
    hits = sum(gold.values())
    draws = np.random.default_rng(0).beta(hits + 0.5, 40 - hits + 0.5, 4000)
    shares = (hits + np.random.default_rng(1).binomial(260, draws)) / 300
    expected = tr.Estimate.from_draws(shares).interval(0.95)
    assert alone == pytest.approx(expected, abs=0.02)
    assert "The 40 gold items by themselves say: 1 " in found.to_markdown()
    assert tr.prevalence(labels, draws=200).to_dict()["gold_alone"] == {}


def written(folder: Path) -> list[str]:
    """Files of predictions and labels, with a typing error, repeats and a contradiction."""
    labels, truth = labels_and_truth(60, 0.1)
    names = np.array(["ham", "spam"])
    rows = [
        f"{labels.items[i]},w{t},{names[k]}\n"
        for i, t, k in zip(labels.item, labels.labeler, labels.label)
    ]
    rows[3] = rows[3].replace("spam", "spamm").replace("ham", "spamm")
    other = rows[40].replace("ham", "x").replace("spam", "ham").replace("x", "spam")
    rows += [*rows[20:25], other]
    (folder / "labels.csv").write_text("item,labeler,label\n" + "".join(rows))
    said = "".join(f"{i},{names[k]}\n" for i, k in zip(labels.items, truth))
    (folder / "predictions.csv").write_text("item,prediction\n" + said)
    return [str(folder / "predictions.csv"), str(folder / "labels.csv")]


def test_what_was_done_to_the_data_is_said(tmp_path: Path) -> None:
    files = written(tmp_path)
    done = subprocess.run(
        [*COMMAND, "grade", *files, "--map", "spamm=spam", "--repeats", "last", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    told = " ".join(json.loads(done.stdout)["assumptions"])
    assert "1 label 'spamm' counts as 'spam', as --map says" in told
    assert "5 labels repeat an earlier one of the same labeler and item and count once" in told
    assert "Once a labeler contradicts itself on an item: the last label counts" in told


def test_files_are_written_when_nobody_reads_the_answer(tmp_path: Path) -> None:
    """As with `| head -1`: the reader is gone before the answer is."""
    files, page = written(tmp_path), tmp_path / "page.html"
    options = ["--map", "spamm=spam", "--repeats", "first", "--html", str(page)]
    command = subprocess.Popen(
        [*COMMAND, "grade", *files, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdout is not None
    command.stdout.close()
    command.communicate()
    assert "truthing report" in page.read_text()


def test_a_plan_knows_what_the_panel_is_made_of() -> None:
    """By the labelers' names in a pilot, as `grade` does, or by the user's word."""
    data = tr.simulate(200, 4, prior=[0.5, 0.5], operating_point=(0.8, 0.2), seed=1)
    asked = {"width": 0.3, "costs": {"label": 0.05, "gold": 2.0}, "sets": 2}
    floors = {}
    for kind, name in (("people", "rater {}"), ("models", "gpt-4o-{}"), ("unknown", "x{}")):
        drawn = data.labels
        names = [name.format(t) for t in range(4)]
        own = {"items": drawn.items, "labelers": names, "classes": drawn.classes}
        labels = tr.Labels.from_codes(drawn.item, drawn.labeler, drawn.label, **own)
        pilot = {"labels": labels, "predictions": data.predictions}
        found = tr.plan(pilot=pilot, **asked)
        report = tr.grade(data.predictions, labels, target=found.goal.target, draws=2000)
        now = np.ptp(report["accuracy"].interval(0.95))
        assert found.now.width == pytest.approx(now, abs=0.01)
        floors[kind] = found.floor
        told = any("names look like" in line for line in found.assumptions)
        assert told == (kind != "unknown")
        if kind == "unknown":
            assert tr.plan(pilot=pilot, panel="people", **asked).floor < found.floor
    assert floors["people"] < floors["unknown"] < floors["models"]
    with pytest.raises(tr.InputError, match="known noise"):
        tr.plan(width=0.1, costs=asked["costs"], noise="known", labelers=0.1, panel="people")


@pytest.mark.parametrize("noise", [tr.noise.OneCoin(), tr.noise.DawidSkene()])
def test_noise_that_moves_no_interval_is_said(noise: Any) -> None:
    labels, truth = labels_and_truth(200, 0.1)
    plain, told = (tr.grade(truth, labels, noise=given, draws=400) for given in (None, noise))
    assert told["accuracy"].interval(0.95) == plain["accuracy"].interval(0.95)
    assert any("does not use it" in line for line in told.assumptions)
    assert not any("does not use it" in line for line in plain.assumptions)
    trusted = tr.grade(truth, labels, noise=noise, panel_error=0, draws=400)
    assert not any("does not use it" in line for line in trusted.assumptions)
    assert any("does not use it" in w for w in tr.prevalence(labels, noise=noise).assumptions)
    models = {"a": truth, "b": 1 - truth}
    found = tr.compare(models, labels, noise=noise, draws=400)
    assert any("does not use it" in line for line in found.assumptions)
