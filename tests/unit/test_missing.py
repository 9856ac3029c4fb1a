"""Votes that are missing for a reason: unsure answers, skipped items, the check and its work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.truth.missing import skipping


def hard_items(
    seed: int = 0, n: int = 500, unsure: float = 0.5, n_labelers: int = 5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels as words ("?" where a labeler was unsure), predictions and truth: on a quarter of the
    items everybody errs often and is often unsure."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.5).astype(int)
    hard = rng.random(n) < 0.25
    error = np.where(hard, 0.4, 0.08)
    said = np.where(rng.random((n_labelers, n)) < error, 1 - truth, truth).T
    predicted = np.where(rng.random(n) < error, 1 - truth, truth)
    words = np.array(["no", "yes"], dtype=object)
    grid = words[said]
    grid[rng.random(grid.shape) < np.where(hard, unsure, 0.02)[:, None]] = "?"
    return grid, words[predicted], words[truth]


def test_skipping_what_is_hard_is_noticed_and_chance_is_not() -> None:
    grid, _, _ = hard_items(n=800)
    skipped = np.where(grid == "?", None, grid)
    found = skipping(tr.Labels.from_matrix(skipped))
    assert found is not None
    assert found.suspicious
    assert found.skipped > found.labelled
    alarms = 0
    for seed in range(20):
        grid, _, _ = hard_items(seed, n=300, unsure=0.0)
        rng = np.random.default_rng(seed)
        by_chance = np.where(rng.random(grid.shape) < 0.3, None, grid)
        chance = skipping(tr.Labels.from_matrix(np.where(by_chance == "?", None, by_chance)))
        alarms += bool(chance and chance.suspicious)
    assert alarms <= 1


def test_an_unsure_answer_is_no_class_and_marks_the_item() -> None:
    grid, predicted, truth = hard_items()
    labels = tr.Labels.from_matrix(grid)
    common: dict[str, Any] = {"panel": "people", "draws": 500}
    report = tr.grade(predicted, labels, unsure="?", **common)
    assert report.classes == ("no", "yes")
    assert any("is no class" in said for said in report.assumptions)
    plain = tr.Labels.from_matrix(np.where(grid == "?", None, grid))
    dropped = tr.grade(predicted, plain, **common)
    assert report["accuracy"].mean < dropped["accuracy"].mean
    low, high = report["accuracy"].interval(0.95)
    assert low <= (predicted == truth).mean() <= high


def test_items_with_nothing_but_doubt_are_kept() -> None:
    grid, predicted, _ = hard_items(n=120)
    grid[:3] = "?"
    report = tr.grade(
        predicted, tr.Labels.from_matrix(grid), unsure=["?"], panel="people", draws=300
    )
    assert report.sizes["items"] == 120
    models = {"a": predicted, "b": np.roll(predicted, 1)}
    found = tr.compare(models, tr.Labels.from_matrix(grid), unsure=["?"], panel="people", draws=300)
    assert found.sizes["items"] == 120
    assert any("is no class" in said for said in found.assumptions)


def test_skips_that_are_hard_lower_the_grade_and_are_said() -> None:
    grid, predicted, _ = hard_items()
    labels = tr.Labels.from_matrix(np.where(grid == "?", None, grid))
    common: dict[str, Any] = {"panel": "people", "draws": 500}
    chance = tr.grade(predicted, labels, skips="random", **common)
    hard = tr.grade(predicted, labels, skips="hard", **common)
    assert hard["accuracy"].mean < chance["accuracy"].mean
    assert not any("skip what others dispute" in w for w in chance.warnings)
    unsaid = tr.grade(predicted, labels, **common)
    assert any("skip what others dispute" in w for w in unsaid.warnings)
    shares = tr.prevalence(labels, skips="hard", **common)
    assert any("leave out what is hard" in said for said in shares.assumptions)


def test_the_sensitivity_shows_harder_items() -> None:
    grid, predicted, _ = hard_items(n=200)
    report = tr.grade(predicted, tr.Labels.from_matrix(grid), unsure="?", panel="people", draws=300)
    rows = [r for r in report.sensitivity().rows if "left out or unsure" in r.assumption]
    assert [r.value for r in rows] == [1.0, 0.5, 0.25]
    assert rows[0].mean > rows[1].mean > rows[2].mean


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unsure": "perhaps"}, "no label says that"),
        ({"unsure": ["?", "no"]}, "fewer than two classes"),
        ({"skips": "sometimes"}, "choose 'random'"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], words: str) -> None:
    grid, predicted, _ = hard_items(n=60)
    with pytest.raises(tr.InputError, match=words):
        tr.grade(predicted, tr.Labels.from_matrix(grid), **options)


def test_a_prediction_must_be_a_class() -> None:
    grid, predicted, _ = hard_items(n=60)
    predicted[0] = "?"
    with pytest.raises(tr.InputError, match="the predictions say '\\?'"):
        tr.grade(predicted, tr.Labels.from_matrix(grid), unsure="?")


def test_the_commands_take_unsure_cut_and_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    truth = rng.integers(1, 6, 120)
    rows = ["item,labeler,label"]
    for i, grade in enumerate(truth):
        for who in "abcd":
            said = str(int(np.clip(grade + rng.integers(-1, 2), 1, 5)))
            rows.append(f"i{i},{who},{'skip' if rng.random() < 0.1 else said}")
    Path("labels.csv").write_text("\n".join(rows))
    guesses = np.clip(truth + rng.integers(-1, 2, 120), 1, 5)
    lines = [f"i{i},{g}" for i, g in enumerate(guesses)]
    Path("model.csv").write_text("\n".join(["item,prediction", *lines]))
    Path("groups.csv").write_text("labeler,group\na,x\nb,x\nc,y\nd,y\n")
    common = ["--unsure", "skip", "--panel", "people"]
    for words in (
        ["grade", "model.csv", "labels.csv", "--cut", "3", "--require", "recall >= 0.1"],
        ["grade", "model.csv", "labels.csv", "--ordinal", "--groups", "groups.csv"],
        ["rate", "labels.csv", "--ordinal"],
        ["rate", "labels.csv", "--cut", "4"],
        ["compare", "labels.csv", "a=model.csv", "b=model.csv", "--cut", "3"],
    ):
        done = CliRunner().invoke(app, [*words, *common])
        assert done.exit_code in (0, 3, 4), done.output
        assert "is no class" in " ".join(done.output.split())
    done = CliRunner().invoke(
        app, ["labelers", "labels.csv", "--missing", "skip", "--ordinal", "--groups", "groups.csv"]
    )
    assert done.exit_code == 0, done.output
    assert "independent ones" in " ".join(done.output.split())
