"""A calibration set: against enumeration on tiny data, in every front door, and its refusals."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.render.methods import methods
from truthing.truth import calibrated
from truthing.truth.calibrated import Setting, balanced, draw_chances


def sets(n: int = 200, calibration: int = 80, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)

    def made(size: int, share: float, first: str) -> Any:
        truth = (rng.random(size) < share).astype(int)
        answers = [np.where(rng.random(size) < q, truth, 1 - truth) for q in (0.85, 0.8, 0.75, 0.9)]
        names = [f"{first}{i}" for i in range(size)]
        labels = tr.Labels.from_matrix(
            np.stack(answers[:3], axis=1), items=names, labelers=["a", "b", "c"]
        )
        return truth, dict(zip(names, map(int, answers[3]))), labels

    return made(n, 0.7, "g"), made(calibration, 0.4, "c")


def test_shares_equal_a_grid() -> None:
    """Two categories, twelve graded items: the class share integrated on a grid over the rows."""
    seen = np.array([[16.0, 4.0], [3.0, 17.0]])
    counts = np.array([4, 8])
    setting = Setting(
        2,
        counts,
        np.zeros(2, dtype=np.int64),
        np.arange(2),
        np.zeros((2, 2), dtype=np.int64),
        seen,
        np.arange(2),
        np.zeros((1, 2)),
    )
    found = draw_chances(setting, 4000, np.random.default_rng(0)).shares[:, 1]
    grid = (np.arange(120) + 0.5) / 120
    first, second, share = np.meshgrid(grid, grid, grid, indexing="ij")  # P(category 1 | class)
    mixed = (1 - share) * first + share * second
    log = counts[1] * np.log(mixed) + counts[0] * np.log(1 - mixed)
    for row, chance in zip(seen, (first, second)):
        log = log + (row[1] - 0.5) * np.log(chance) + (row[0] - 0.5) * np.log(1 - chance)
    log = log - 0.5 * np.log(share) - 0.5 * np.log(1 - share)
    weight = np.exp(log - log.max())
    mean = (weight * share).sum() / weight.sum()
    spread = np.sqrt((weight * share**2).sum() / weight.sum() - mean**2)
    assert found.mean() == pytest.approx(mean, abs=0.012)
    assert found.std() == pytest.approx(spread, rel=0.06)


def test_new_data_have_the_shares_of_the_posterior() -> None:
    """Two judges' verdicts counted by hand: the spread for new data is that of the corrected rate,
    sampling of the graded items included."""
    rng = np.random.default_rng(4)

    def verdicts(truth: np.ndarray, first: str) -> tr.Labels:
        said = np.where(rng.random(len(truth)) < 0.8, truth, 1 - truth)
        names = [f"{first}{i}" for i in range(len(truth))]
        return tr.Labels.from_matrix(np.stack([said, said], axis=1), items=names)

    known = np.repeat([0, 1], 400)
    other = verdicts(known, "c")
    graded = verdicts((rng.random(100) < 0.7).astype(int), "g")
    rate = tr.prevalence(
        graded,
        calibration_set=(other, dict(zip(other.items, map(int, known)))),
        calibration_chosen="truth",
        target="population",
        panel="models",
        draws=2000,
    )
    apparent = float((graded.matrix()[:, 0] == 1).mean())
    hits, calm = (float((other.matrix()[known == k, 0] == k).mean()) for k in (1, 0))
    slope = hits + calm - 1
    centre = (apparent + calm - 1) / slope
    spread = apparent * (1 - apparent) / 100
    spread += (centre**2 * hits * (1 - hits) + (1 - centre) ** 2 * calm * (1 - calm)) / 400
    assert rate[1].mean == pytest.approx(centre, abs=0.03)
    assert rate[1].std == pytest.approx(np.sqrt(spread) / slope, rel=0.12)


def test_every_front_door_uses_it() -> None:
    (truth, said, labels), (known, theirs, other) = sets()
    about: Any = (other, dict(zip(other.items, map(int, known))))
    how: Any = {"calibration_set": about, "calibration_chosen": "truth"}
    rate = tr.prevalence(labels, **how)
    low, high = rate[1].interval(0.95)
    assert low <= truth.mean() <= high
    assert high - low < 0.4
    report = tr.grade(said | theirs, labels, **how)
    right = np.array([said[i] for i in labels.items]) == truth
    low, high = report["accuracy"].interval(0.95)
    assert low <= right.mean() <= high
    assert not any("only in predictions" in w for w in report.warnings)
    assert any("80 calibration items" in a for a in report.assumptions)
    paragraph, _ = methods(report)
    assert "learned on 80 other items with known truth" in paragraph
    assert "Newton" not in paragraph
    rows = report.sensitivity().rows
    assert rows[0].mean < rows[2].mean
    wide = tr.grade(said, labels, **how)["accuracy"]
    assert (
        wide.std > report["accuracy"].std
    )  # nothing says how classifier and labelers err together
    inverted = {i: 1 - k for i, k in (said | theirs).items()}
    both = tr.compare({"m": said | theirs, "w": inverted}, labels, draws=500, **how)
    assert both.difference("accuracy").probability_better > 0.99
    assert both.estimate("m").mean == pytest.approx(report["accuracy"].mean, abs=0.03)


def test_another_kind_of_items_is_noticed() -> None:
    (_, _, labels), (known, _, _) = sets(800, 300)
    easy = np.stack([known] * 3, axis=1)
    other = tr.Labels.from_matrix(
        easy, items=[f"c{i}" for i in range(300)], labelers=["a", "b", "c"]
    )
    truth = dict(zip(other.items, map(int, known)))
    told = tr.prevalence(
        labels, calibration_set=(other, truth), calibration_chosen="truth", draws=500
    ).warnings
    assert any("answer otherwise here" in words for words in told)


def test_refusals() -> None:
    (_, said, labels), (known, _, other) = sets()
    truth = dict(zip(other.items, map(int, known)))
    strangers = tr.Labels.from_matrix(other.matrix(), items=list(other.items), labelers=list("xyz"))

    def ask(**more: Any) -> Any:
        return tr.grade(said, labels, draws=200, **more)

    with pytest.raises(tr.InputError, match="share no labeler"):
        ask(calibration_set=(strangers, truth))
    with pytest.raises(tr.InputError, match="has no truth"):
        ask(calibration_set=other)
    with pytest.raises(tr.InputError, match="leave one out"):
        ask(calibration_set=(other, truth), noise=0.1)
    with pytest.raises(tr.InputError, match=r"calibration_chosen='verdit'.*Did you mean 'verdict'"):
        ask(calibration_set=(other, truth), calibration_chosen="verdit")
    with pytest.raises(tr.InputError, match="at least 10"):
        ask(calibration_set=(other, {"c1": 1, "c2": 0}))


def test_balanced_verdicts_are_asked_about() -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(60) < 0.4).astype(int)
    (_, _, labels), _ = sets()
    verdict = np.repeat([0, 1], 30)
    other = tr.Labels.from_matrix(
        np.stack([verdict] * 3, axis=1), items=[f"c{i}" for i in range(60)], labelers=list("abc")
    )
    about = (other, dict(zip(other.items, map(int, truth))))
    with pytest.raises(tr.InputError, match="were its items chosen by that"):
        tr.prevalence(labels, calibration_set=about)
    told = tr.prevalence(labels, calibration_set=about, calibration_chosen="verdict", draws=500)
    assert any("chosen by the labelers' verdict" in words for words in told.assumptions)


def test_balance_by_design() -> None:
    assert balanced(np.repeat([0, 1], 50))
    assert not balanced(np.repeat([0, 1], [60, 40]))


def test_command_line(tmp_path: Path) -> None:
    (_, _, labels), (known, _, other) = sets()
    for name, part, truth in (("here", labels, None), ("there", other, known)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            heads = ["item", "a", "b", "c", *([] if truth is None else ["truth"])]
            rows = [
                [i, *votes, *([] if truth is None else [truth[k]])]
                for k, (i, votes) in enumerate(zip(part.items, part.matrix()))
            ]
            csv.writer(file).writerows([heads, *rows])
    here, there = (str(tmp_path / f"{n}.csv") for n in ("here", "there"))
    shown = CliRunner().invoke(
        app, ["rate", here, "--calibration-set", there, "--calibration-chosen", "truth"]
    )
    assert shown.exit_code == 0, shown.output
    assert "80 calibration items" in shown.output


class Chains:
    """Chains whose mean moves by ``pace`` at each step."""

    def __init__(self, pace: float) -> None:
        self.pace, self.steps = pace, 0

    def climb(self) -> None:
        self.steps = 0

    def step(self) -> None:
        self.steps += 1

    def summary(self) -> np.ndarray:
        return np.linspace(0, 0.1, 50)[:, None] + self.pace * self.steps


def test_chains_that_move_are_not_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    still, moving, slow = Chains(0.0), Chains(0.01), Chains(1e-5)
    assert calibrated._settle(still) is True
    assert still.steps == calibrated.BURN
    assert calibrated._settle(moving) is False
    assert moving.steps == calibrated.MOST_BURN
    assert calibrated._settle(slow) is True
    monkeypatch.setattr(calibrated, "_settle", lambda state: False)
    (_, said, labels), (truth, _, other) = sets()
    gold = dict(zip(other.items, map(int, truth)))
    found = tr.grade(said, labels, calibration_set=(other, gold), draws=100)
    assert any("did not settle" in words for words in found.warnings)
