"""The alarm: its promise by brute force and by simulation, what is read, and every form."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.monitoring.evidence import STAKES, evidence_of_fall, running_mean

RUN = CliRunner()


def test_the_evidence_is_the_mean_over_gamblers_written_out() -> None:
    passed, floor = np.array([1, 0, 1, 0, 0], dtype=float), 0.8
    expected = []
    for t in range(1, 6):
        total = 1 - sum(1 / (s * (s + 1)) for s in range(1, t + 1))
        for s in range(1, t + 1):
            for stake in STAKES:
                bets = 1 + stake / (1 - floor) * (floor - passed[s - 1 : t])
                total += bets.prod() / (s * (s + 1)) / len(STAKES)
        expected.append(total)
    np.testing.assert_allclose(evidence_of_fall(passed, floor), expected)


@pytest.mark.parametrize("floor", [0.5, 0.9])
def test_no_gambler_expects_to_win_at_the_floor(floor: float) -> None:
    """Over all outcomes of eight items the expectation is exactly 1 at every look, so Ville's
    inequality holds; above the floor it is less."""
    outcomes = np.array(list(itertools.product((0, 1), repeat=8)))
    for rate in (floor, floor + 0.05):
        weight = np.prod(np.where(outcomes == 1, rate, 1 - rate), axis=1)
        mean = sum(w * evidence_of_fall(x, floor) for w, x in zip(weight, outcomes))
        if rate == floor:
            np.testing.assert_allclose(mean, 1.0)
        else:
            assert (np.asarray(mean) < 1).all()


def judged(rates: dict[str, float], seed: int = 0, size: int = 60) -> list[dict[str, object]]:
    """Rows with truth and the label of a judge whose versions agree with it at these rates."""
    rng = np.random.default_rng(seed)
    rows = []
    for version, rate in rates.items():
        for _ in range(size):
            truth = int(rng.random() < 0.9)
            label = truth if rng.random() < rate else 1 - truth
            rows.append({"version": version, "truth": truth, "label": label})
    return rows


def test_a_judge_that_changed_is_found() -> None:
    result = tr.monitor(judged({"v1": 0.95, "v2": 0.6}, size=120))
    first, second = result.agreement()
    assert (first.name, first.items, second.name) == ("v1", 120, "v2")
    assert first.low <= 0.95 <= first.high
    (step,) = result.agreement_changes()
    assert step.low <= second.rate - first.rate <= step.high < 0
    assert result.agreement_p_value < 0.001
    assert "differs between versions" in result.verdict()
    assert json.loads(result.to_json())["agreement"][1]["version"] == "v2"
    assert "agreement with gold" in result.to_markdown()


def test_the_test_of_versions_keeps_its_error_and_changes_are_held() -> None:
    """400 data sets of three equal versions: more than 36 of p < .05 have probability below .001;
    fewer than 367 held pairs of changes have probability below .001."""
    from monitor import judge_changes

    rings, held = judge_changes(400, (0.85, 0.85, 0.85), size=30, seed=3)
    assert sum(rings) <= 36
    assert sum(held) >= 367
    rings, held = judge_changes(200, (0.95, 0.7, 0.7), size=60, seed=4)
    assert np.mean(rings) > 0.8
    assert sum(held) >= 179


def test_rows_without_both_say_nothing_of_the_judge() -> None:
    rows = [{k: v for k, v in row.items() if k != "label"} for row in judged({"a": 0.9, "b": 0.9})]
    result = tr.monitor(rows)
    assert result.agreement() == []
    assert result.agreement_p_value == 1.0
    assert result.judge_words() == ""


def test_false_alarms_over_a_thousand_looks_and_the_delay() -> None:
    """300 data sets: at a true rate of .05 more than 27 alarms have probability below .001."""
    from monitor import delays, false_alarms

    ours, theirs = false_alarms(300, 0.9, seed=7)
    assert sum(ours) <= 27
    assert np.mean(theirs) > 0.2  # a test at every look
    assert np.median(delays(40, 0.7, seed=8)) < 80


def test_the_running_mean_holds_at_all_looks() -> None:
    held = []
    for n in range(200):
        passed = np.random.default_rng([9, n]).random(400) < 0.9
        low, high = running_mean(passed, 0.95)
        held.append(((low <= 0.9) & (high >= 0.9)).all())
    assert np.mean(held) >= 0.95
    assert high[-1] - low[-1] < 0.25


def rows(n: int = 300) -> list[dict[str, object]]:
    """Batches of 100: good, good, bad; the label fails some of the passing."""
    rng = np.random.default_rng(3)
    found: list[dict[str, object]] = []
    for i in range(n):
        good = rng.random() < (0.97 if i < 200 else 0.6)
        label = "pass" if good and rng.random() > 0.05 else "fail"
        day = f"2026-01-{1 + i // 10:02d}"
        found.append(
            {"date": day, "batch": f"b{i // 100}", "truth": "pass" if good else "fail"}
            | {"label": label}
        )
    return found


def test_a_fall_rings_in_its_batch_and_batches_differ() -> None:
    result = tr.monitor(rows())
    assert result.alarm
    assert result.alarm_at is not None
    assert "2026-01-21" <= result.alarm_at <= "2026-01-30"
    assert result.gold
    best, worst = result.drifted() or (None, None)
    assert worst is not None
    assert (best.name in ("b0", "b1"), worst.name) == (True, "b2")
    assert "Batches differ" in result.verdict()
    good = tr.monitor(rows(200))
    assert not good.alarm
    assert good.drifted() is None


def test_rows_are_put_in_the_order_of_time() -> None:
    given = rows()
    mixed = sorted(given, key=lambda r: str(r["date"]), reverse=True)
    mixed = [
        r
        for day in sorted({r["date"] for r in given}, reverse=True)
        for r in given
        if r["date"] == day
    ]
    assert tr.monitor(mixed).alarm_at == tr.monitor(given).alarm_at
    with pytest.raises(tr.InputError, match="not a date as 2026-05-31"):
        tr.monitor([{**r, "date": "31/5/26"} for r in given])


def test_labels_need_a_bound_on_their_mistakes() -> None:
    with pytest.raises(tr.NotIdentified, match="stricter judge"):
        tr.monitor(rows(), evidence="labels")
    result = tr.monitor(rows(), evidence="labels", wrong_fails=0.08)
    assert result.alarm
    assert not result.gold
    assert any("became kinder" in said for said in result.warnings)
    assert any("0.828" in said for said in result.assumptions)  # .9 × .92
    assert not tr.monitor(rows(200), evidence="labels", wrong_fails=0.08).alarm


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"floor": 1.2}, "floor 1.2 is not between 0 and 1"),
        ({"alarm": 0}, "alarm 0 is not between"),
        ({"evidence": "hope"}, "choose gold or labels"),
        ({"evidence": "labels", "wrong_fails": 2}, "share of the passing items"),
        ({"truth_column": "thruth"}, "Did you mean 'truth'"),
    ],
)
def test_what_cannot_be_meant_is_refused(asked: dict[str, object], words: str) -> None:
    with pytest.raises(tr.InputError, match=words):
        tr.monitor(rows(), **asked)
    with pytest.raises(tr.InputError, match="neither pass nor fail"):
        tr.monitor(["great", "poor"])
    assert tr.monitor(["great", "poor"], passing="great").passed.tolist() == [True, False]


def test_the_command_ends_with_three_on_an_alarm(tmp_path: Path) -> None:
    import polars as pl

    pl.DataFrame(rows()).write_csv(tmp_path / "stream.csv")
    command = ["monitor", str(tmp_path / "stream.csv")]
    assert RUN.invoke(app, [*command, "--exit-code"]).exit_code == 3
    done = RUN.invoke(app, command, env={"COLUMNS": "80"})
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Alarm at 2026-01-2" in " ".join(done.stdout.split())
