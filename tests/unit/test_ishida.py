"""Ishida's estimators, what they refuse, and what votes identify."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

import truthing as tr
from truthing.ceiling.calibrate import isotonic
from truthing.ceiling.mean import mean_limits
from truthing.ceiling.plurality import left_out, plug_in
from truthing.cli.main import app
from truthing.papers import ishida

RNG = np.random.default_rng(0)


def test_the_estimators_are_the_papers() -> None:
    c = RNG.random(500)
    noisy = np.clip(c + 0.1, 0, 1)
    assert float(tr.bayes_error(c)) == pytest.approx(np.minimum(c, 1 - c).mean())
    folded = tr.bayes_error(uncertainty=np.minimum(c, 1 - c))
    assert folded.value == pytest.approx(tr.bayes_error(c).value)
    assert tr.bayes_error(noisy=noisy).paper == pytest.approx(np.minimum(noisy, 1 - noisy).mean())
    signed = tr.bayes_error(noisy=noisy, signs=np.where(c > 0.5, 1, -1))
    assert signed.paper == pytest.approx(np.where(c > 0.5, 1 - noisy, noisy).mean())
    hard = (RNG.random(500) < c).astype(int)
    assert tr.bayes_error(hard=hard, signs=c > 0.5).paper == pytest.approx(
        (hard != (c > 0.5)).mean()
    )
    r = np.append(c, 0.0)
    assert tr.bayes_error(positive_confidence=r, prior=0.3).value == pytest.approx(
        0.3 * (1 - np.maximum(0, 2 - 1 / np.maximum(r, 1e-300)).mean())
    )


def test_the_bounds_are_the_papers() -> None:
    c = RNG.random(200)
    assert tr.bayes_error(c).bound(0.95) == pytest.approx(np.sqrt(np.log(2 / 0.05) / (8 * 200)))
    assert tr.bayes_error(noisy=c, signs=c > 0.5).bound(0.9) == pytest.approx(
        np.sqrt(np.log(2 / 0.1) / (2 * 200))
    )
    found = tr.bayes_error(positive_confidence=c, prior=0.5)
    assert found.bound(0.95) == pytest.approx(tr.bayes_error(c).bound(0.95)), (
        "Prop. 4.3 is Prop. 3.2 for balanced data"
    )
    assert ishida.bias_hard_labels(1000, 3) == pytest.approx(
        1 / (2 * 3**0.5) + np.sqrt(np.log(2000 * 3**0.5) / 6)
    )


@pytest.mark.parametrize("k", [0, 1, 7, 50])
def test_limits_of_a_mean_are_exact_for_yes_and_no(k: int) -> None:
    low, high = mean_limits([1] * k + [0] * (50 - k), 0, 1)
    assert low == pytest.approx(stats.beta.ppf(0.025, k, 51 - k) if k else 0, rel=0.03, abs=1e-9)
    assert high == pytest.approx(stats.beta.ppf(0.975, k + 1, 50 - k) if k < 50 else 1, rel=0.01)


def test_limits_of_a_mean_become_those_of_the_central_limit_theorem() -> None:
    values = RNG.beta(0.3, 1, 100_000) / 2
    low, high = mean_limits(values, 0, 0.5)
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert (high - low) / 2 == pytest.approx(half, rel=0.01)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0.5, 0.99))
@settings(max_examples=100, deadline=None)
def test_limits_hold_the_mean_and_mirror(values: list[float], level: float) -> None:
    low, high = mean_limits(values, 0, 1, level)
    assert -1e-9 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 1 + 1e-9
    mirrored = mean_limits([1 - v for v in values], 0, 1, level)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-7)


def test_one_label_an_item_identifies_only_the_class_shares() -> None:
    result = tr.bayes_error(hard=[1] * 30 + [0] * 70)
    assert result.identified == pytest.approx((0, 0.3), abs=1e-5)
    assert result.interval()[0] == 0
    assert result.interval()[1] > 0.3
    assert any("One label" in sentence for sentence in result.warnings)
    assert result.paper == 0


def test_votes_in_every_form_agree() -> None:
    matrix = [["a", "b", None], ["a", "a", "a"], ["b", None, None], ["b", "a", "b"]] * 20
    counts = [[1, 1], [3, 0], [0, 1], [1, 2]] * 20
    items = [i for i, row in enumerate(matrix) for v in row if v]
    who = [j for row in matrix for j, v in enumerate(row) if v]
    values = [v for row in matrix for v in row if v]
    forms = [
        tr.bayes_error(hard=matrix),
        tr.bayes_error(counts=counts),
        tr.bayes_error(counts=tr.Labels.from_matrix(matrix)),
        tr.bayes_error(hard=tr.Labels.from_long(items, who, values)),
    ]
    for other in forms[1:]:
        assert other.value == pytest.approx(forms[0].value)
        assert other.interval() == pytest.approx(forms[0].interval())
    assert forms[0].lower <= forms[0].value <= forms[0].upper


def test_the_plug_in_is_below_and_the_left_out_label_above() -> None:
    """Exactly, by summing over every possible vote of four labels on three classes."""
    votes = np.array([[a, b, 4 - a - b] for a in range(5) for b in range(5 - a)])
    for p in RNG.dirichlet([1, 1, 1], 20):
        chance = stats.multinomial.pmf(votes, 4, p)
        assert chance @ plug_in(votes) <= 1 - p.max() + 1e-12
        assert chance @ left_out(votes, 0) >= 1 - p.max() - 1e-12


def test_several_classes() -> None:
    p = RNG.dirichlet([0.3] * 4, 400)
    assert tr.bayes_error(p).value == pytest.approx((1 - p.max(axis=1)).mean())
    assert tr.bayes_error(np.full((50, 4), 0.25)).interval() == pytest.approx((0.75, 0.75), abs=0.1)
    votes = tr.bayes_error(counts=RNG.multinomial(5, p))
    assert votes.lower <= votes.value <= votes.upper
    assert votes.paper < votes.value
    signed = tr.bayes_error(noisy=p, signs=p.argmax(axis=1))
    assert signed.paper == pytest.approx(tr.bayes_error(p).value)


def test_without_the_prior_only_the_ratio() -> None:
    r = RNG.uniform(0.2, 1, 300)
    unknown = tr.bayes_error(positive_confidence=r, predictions=r > 0.5)
    known = tr.bayes_error(positive_confidence=r, prior=0.4, predictions=r > 0.5)
    assert np.isnan(unknown.value)
    assert unknown.details["over_prior"] == pytest.approx(known.value / 0.4)
    assert any("prior" in sentence for sentence in unknown.warnings)
    assert unknown.verdict is not None
    assert known.verdict is not None
    assert unknown.verdict.excess == pytest.approx(known.verdict.excess / 0.4)
    assert unknown.verdict.standing == known.verdict.standing


def test_verdicts() -> None:
    c = RNG.beta(0.4, 0.4, 3000)
    best = tr.bayes_error(c, predictions=c > 0.5).verdict
    coin = tr.bayes_error(c, predictions=RNG.random(3000) < 0.5).verdict
    leaked = tr.bayes_error(c, predictions=(hard := RNG.random(3000) < c), hard=hard).verdict
    assert best is not None
    assert best.standing == "none left"
    assert best.excess == pytest.approx(0, abs=1e-12)
    assert coin is not None
    assert coin.standing == "room left"
    assert leaked is not None
    assert leaked.standing == "suspicious"
    for verdict in (best, coin, leaked):
        assert verdict.below + verdict.at + verdict.above == pytest.approx(1)
        low, high = verdict.interval()
        assert low <= verdict.error <= high


def test_a_model_that_learned_the_votes_is_found_out() -> None:
    c = RNG.beta(1, 1, 20_000)
    k = RNG.binomial(5, c)
    votes = np.stack([5 - k, k], axis=1)
    peeked = tr.bayes_error(counts=votes, predictions=k > 2).verdict
    honest = tr.bayes_error(counts=votes, predictions=c > 0.5).verdict
    assert peeked is not None
    assert peeked.standing == "suspicious"
    assert honest is not None
    assert honest.below < 0.05


def test_the_reading_as_labeler_error() -> None:
    counts = RNG.multinomial(10, [0.8, 0.2], 500)
    ambiguous = tr.bayes_error(counts=counts)
    definite = tr.bayes_error(counts=counts, reading="labeler error")
    assert definite.value == 0
    assert definite.interval() == (0, 0)
    assert definite.labeler_error is not None
    assert definite.labeler_error.value == pytest.approx(ambiguous.value)
    assert definite.labeler_error.interval() == pytest.approx(ambiguous.interval())
    assert "definite truth" in definite.assumptions[0]


def test_predictions_are_joined_by_item() -> None:
    labels = tr.Labels.from_counts(
        [[9, 1], [2, 8], [5, 5]], items=["x", "y", "z"], classes=["no", "yes"]
    )
    result = tr.bayes_error(counts=labels, predictions={"y": "yes", "x": "yes", "other": "no"})
    assert result.verdict is not None
    assert result.verdict.error == pytest.approx((0.2 + 0.9) / 2)
    assert any("left out of the verdict" in sentence for sentence in result.warnings)


def test_isotonic_equals_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.isotonic")
    scores, decided = RNG.normal(size=200).round(1), (RNG.random(200) < 0.5).astype(float)
    starts, heights = isotonic(scores, decided)
    ours = heights[np.searchsorted(starts, scores, side="right") - 1]
    assert ours == pytest.approx(sklearn.IsotonicRegression().fit_transform(scores, decided))


BAD = {
    "soft labels must lie between": lambda: tr.bayes_error([0.5, 1.2]),
    "add up to": lambda: tr.bayes_error([[0.5, 0.4], [0.5, 0.5]]),
    "whole numbers": lambda: tr.bayes_error(counts=[[1, -1]]),
    "votes are whole": lambda: tr.bayes_error(counts=[[1.5, 1]]),
    "empty": lambda: tr.bayes_error([]),
    "nan": lambda: tr.bayes_error([0.1, float("nan")]),
    "diverges": lambda: tr.bayes_error(
        positive_confidence=[0.5, 0.0], prior=0.5, predictions=[1, 1]
    ),
    "between 0 and 0.5": lambda: tr.bayes_error(uncertainty=[0.7]),
    "one kind of labels": lambda: tr.bayes_error([0.1], counts=[[1, 2]]),
    "This call has nothing": lambda: tr.bayes_error(),
    "no use with soft": lambda: tr.bayes_error([0.1], prior=0.5),
    "two kinds": lambda: tr.bayes_error(noisy=[0.1, 0.2, 0.3], signs=[1, 2, 3]),
    "one for each": lambda: tr.bayes_error(noisy=[0.1, 0.2], signs=[1]),
    "predictions for": lambda: tr.bayes_error([0.1, 0.2], predictions=[1]),
    "is not known": lambda: tr.bayes_error([0.1], reading="guess"),
    "all the same": lambda: tr.bayes_error(scores=[1, 2, 3, 4], decisions=[1, 1, 1, 1]),
    "do not say which class": lambda: tr.bayes_error(uncertainty=[0.1], predictions=[1]),
    "no vote at all": lambda: tr.bayes_error(counts=[[0, 0]]),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_one_sentence(message: str) -> None:
    with pytest.raises(tr.InputError, match=message) as problem:
        BAD[message]()
    assert "\n" not in str(problem.value)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from truthing.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "ceiling", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def as_json(path: Path) -> Any:
    """What the command prints, without a process of its own."""
    return json.loads(CliRunner().invoke(app, ["ceiling", str(path), "--json"]).stdout)


def test_the_command(tmp_path: Path) -> None:
    k = RNG.binomial(8, RNG.beta(0.5, 0.5, 200))
    rows = "\n".join(f"{i},{8 - v},{v}" for i, v in enumerate(k))
    (tmp_path / "votes.csv").write_text("item,count_no,count_yes\n" + rows)
    (tmp_path / "model.csv").write_text(
        "item,prediction\n" + "\n".join(f"{i},no" for i in range(200))
    )
    done = run(
        str(tmp_path / "votes.csv"),
        "--predictions",
        str(tmp_path / "model.csv"),
        "--plot",
        str(tmp_path / "a.png"),
    )
    assert done.returncode == 0, done.stderr
    assert "No classifier can err on fewer than" in done.stdout
    assert "Room left" in done.stdout
    assert (tmp_path / "a.png").stat().st_size > 1000
    found = as_json(tmp_path / "votes.csv")
    assert found["low"] <= found["value"] <= found["high"]
    (tmp_path / "soft.csv").write_text("item,soft\n1,0.2\n2,0.9\n")
    assert as_json(tmp_path / "soft.csv")["value"] == pytest.approx(0.15)
    (tmp_path / "wide.csv").write_text("item,a,b,c\n1,0,0,1\n2,1,1,1\n3,0,1,0\n")
    assert "labelers" in as_json(tmp_path / "wide.csv")["source"]  # column c is one here
    (tmp_path / "bad.csv").write_text("item,soft\n1,0.2\n2,1.9\n")
    failed = run(str(tmp_path / "bad.csv"))
    assert failed.returncode == 1
    assert "between 0 and 1" in failed.stderr
    assert "Traceback" not in failed.stderr
