"""Gold that errs: the arithmetic of two raters' mistakes, gold alone, and the facades."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.truth.erring_gold import ErringGoldAlone
from truthing.truth.gold_error import GoldError, both_wrong, error_behind


def test_shared_mistakes_have_the_odds_ratio_asked_for() -> None:
    a, b = np.array([0.1, 0.3, 0.02]), np.array([0.2, 0.05, 0.4])
    odds = np.array([4.0, 1.0, 0.5])
    both = both_wrong(a, b, odds)
    neither = 1 - a - b + both
    found = both * neither / ((a - both) * (b - both))
    assert found == pytest.approx(odds, rel=1e-3)


def test_the_error_behind_differing_reads() -> None:
    error, odds = np.array([0.05, 0.2]), np.array([6.0, 1.0])
    both = both_wrong(error, error, odds)
    assert error_behind(2 * (error - both), odds, np.ones(2)) == pytest.approx(error, abs=1e-6)


def test_the_chances_of_what_gold_says_add_up() -> None:
    slips = GoldError(0.1, 0.1).draws(3, 4, np.random.default_rng(0))
    on_right, on_wrong = slips.beside(np.full(3, 0.8))
    for predicted in (0, 2):
        table = [slips.says(gold, predicted, 4, on_right, on_wrong) for gold in range(4)]
        assert np.sum(table, axis=0) == pytest.approx(np.ones((3, 4)))
    # right predictions on 80%: the expert's error averages to what was said
    assert 0.8 * on_right + 0.2 * on_wrong == pytest.approx(np.full(3, 0.1))


def test_class_shares_by_gold_alone_equal_a_grid() -> None:
    """14 of 40 say class 1, each wrong with chance .1: P(say 1) = .1 + .8 θ, θ ~ Beta(½, ½)."""
    gold = np.repeat([1, 0], [14, 26])
    alone = ErringGoldAlone(
        ("a", "b"),
        1,
        np.zeros(40, dtype=int),
        gold,
        "population",
        2000,
        np.random.SeedSequence(1),
        gold_error=GoldError(0.1, 0.1),
    )
    grid = (np.arange(4000) + 0.5) / 4000
    weight = binom.pmf(14, 40, 0.1 + 0.8 * grid) / np.sqrt(grid * (1 - grid))
    weight /= weight.sum()
    mean = weight @ grid
    spread = np.sqrt(weight @ (grid - mean) ** 2)
    found = alone.shares()[:, 1]
    assert found.mean() == pytest.approx(mean, abs=0.012)
    assert found.std() == pytest.approx(spread, rel=0.1)


def simulated(error: float, seed: int = 1) -> tuple[Any, dict[Any, Any], dict[Any, Any]]:
    data = tr.simulate(
        300, 3, prior=[0.6, 0.4], operating_point=(0.95, 0.05), fallibility=0.3, seed=seed
    )
    rng = np.random.default_rng(seed)
    gold = data.gold(80, seed)
    reads = [{i: 1 - c if rng.random() < error else c for i, c in gold.items()} for _ in range(2)]
    return data, reads[0], reads[1]


def test_gold_that_errs_no_longer_blames_the_classifier() -> None:
    data, gold, second = simulated(0.15)
    truth = float((data.predictions == data.truth).mean())
    common: dict[str, Any] = {"gold": gold, "draws": 1000}
    naive = tr.grade(data.predictions, data.labels, **common)
    assert naive["accuracy"].interval(0.95)[1] < truth
    for said in (0.15, (0.1, 0.2), second):
        report = tr.grade(data.predictions, data.labels, gold_error=said, **common)
        low, high = report["accuracy"].interval(0.95)
        assert low <= truth <= high
        assert any("Gold itself errs" in sentence for sentence in report.assumptions)
        assert report.truth.sum(axis=1) == pytest.approx(np.ones(300))
        assert report.truth.max() < 1  # no gold item is certain


def test_no_error_is_gold_as_before() -> None:
    data, gold, _ = simulated(0.0)
    common: dict[str, Any] = {"gold": gold, "draws": 500}
    before = tr.grade(data.predictions, data.labels, **common)
    after = tr.grade(data.predictions, data.labels, gold_error=0, **common)
    assert after["accuracy"].mean == pytest.approx(before["accuracy"].mean)
    small = tr.grade(data.predictions, data.labels, gold_error=1e-4, **common)
    assert small["accuracy"].mean == pytest.approx(before["accuracy"].mean, abs=0.01)


def test_rate_and_compare_answer_too() -> None:
    data, gold, _ = simulated(0.1)
    shares = tr.prevalence(data.labels, gold=gold, gold_error=0.1, draws=500)
    plain = tr.prevalence(data.labels, gold=gold, draws=500)
    assert shares[1].std > plain[1].std
    other = np.where(np.arange(300) % 6 == 0, 1 - data.truth, data.truth)
    models = {"a": data.predictions, "b": other}
    found = tr.compare(models, data.labels, gold=gold, gold_error=(0.05, 0.15), draws=400)
    low, high = found.difference("accuracy").interval(0.95)
    truth = (data.predictions == data.truth).mean() - (other == data.truth).mean()
    assert low <= truth <= high
    assert any("Gold itself errs" in sentence for sentence in found.assumptions)


def test_given_noise_takes_gold_as_one_more_opinion() -> None:
    data, gold, _ = simulated(0.1)
    report = tr.grade(
        data.predictions,
        data.labels,
        gold=gold,
        gold_error=0.1,
        noise=0.15,
        panel_error=0,
        draws=500,
    )
    known = [i for i, item in enumerate(report.items) if item in gold]
    assert report.truth[known].max() < 1


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (0.7, "share of gold items"),
        ((0.2, 0.1), "lower one first"),
        ((0.1, 0.2, 0.3), "one share, or two"),
        ({"nobody": 1}, "needs at least 10"),
    ],
)
def test_what_cannot_be_used_is_refused(said: Any, words: str) -> None:
    data, gold, _ = simulated(0.1)
    with pytest.raises(tr.InputError, match=words):
        tr.grade(data.predictions, data.labels, gold=gold, gold_error=said)


def test_refused_where_gold_is_missing_or_trusted() -> None:
    data, gold, _ = simulated(0.1)
    with pytest.raises(tr.InputError, match="there is none"):
        tr.grade(data.predictions, data.labels, gold_error=0.1)
    with pytest.raises(tr.InputError, match="put the expert among the labelers"):
        tr.grade(data.predictions, data.labels, gold=gold, gold_error=0.1, panel_error=0)
    with pytest.raises(tr.InputError, match="takes gold for the truth"):
        tr.grade(data.predictions, data.labels, gold=gold, gold_error=0.1, method="majority")


def test_the_command_takes_a_number_a_range_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, gold, second = simulated(0.1)
    monkeypatch.chdir(tmp_path)
    grid = data.labels.matrix()
    names = [f"i{k}" for k in data.labels.items]
    pl.DataFrame({"item": names, **{f"w{t}": grid[:, t] for t in range(3)}}).write_csv("labels.csv")
    pl.DataFrame({"item": names, "prediction": data.predictions}).write_csv("predictions.csv")
    for file, reads in (("gold.csv", gold), ("second.csv", second)):
        rows = {"item": [f"i{k}" for k in reads], "truth": list(reads.values())}
        pl.DataFrame(rows).write_csv(file)
    for said in ("0.1", "0.05-0.15", "second.csv"):
        command = ["grade", "predictions.csv", "labels.csv", "--gold", "gold.csv", "--draws", "300"]
        done = CliRunner().invoke(app, [*command, "--gold-error", said])
        assert done.exit_code == 0, done.output
        assert "Gold itself errs" in " ".join(done.output.split())
    done = CliRunner().invoke(
        app, ["rate", "labels.csv", "--gold", "gold.csv", "--gold-error", "x"]
    )
    assert done.exit_code == 1


def test_compare_refuses_erring_gold_where_labels_are_trusted() -> None:
    data = tr.simulate(60, 3, prior=0.5, operating_point=(0.9, 0.1), fallibility=0.2, seed=1)
    models = {"a": data.predictions, "b": 1 - data.predictions}
    with pytest.raises(tr.InputError, match="gold_error"):
        tr.compare(models, data.labels, gold=data.gold(20), gold_error=0.05, panel_error=0)


def _weighted(weights: Any, seed: int = 0) -> tr.Report:
    """Half of the items are easy: the classifier is right on all of them."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 400)
    predicted = np.where((np.arange(400) < 200) | (rng.random(400) < 0.7), truth, 1 - truth)
    votes = np.stack([np.where(rng.random(400) < 0.8, truth, 1 - truth) for _ in range(3)], axis=1)
    gold = {int(i): int(truth[i]) for i in rng.choice(400, 100, replace=False)}
    about: Any = {"gold": gold, "gold_error": (0.02, 0.06), "panel": "people", "draws": 2000}
    return tr.grade(predicted, tr.Labels.from_matrix(votes), weights=weights, seed=seed, **about)


def test_equal_weights_change_nothing_where_gold_errs() -> None:
    plain, equal = _weighted(None), _weighted(np.ones(400))
    for name in ("accuracy", "recall"):
        for one, other in ((plain, equal), (plain.gold_alone, equal.gold_alone)):
            assert one[name].interval() == pytest.approx(other[name].interval(), abs=0.02)
            assert one[name].mean == pytest.approx(other[name].mean, abs=0.01)


def test_weights_of_easy_items_raise_the_answer_where_gold_errs() -> None:
    plain, easy = _weighted(None), _weighted(np.where(np.arange(400) < 200, 9.0, 1.0))
    assert easy["accuracy"].mean > plain["accuracy"].mean + 0.04
    assert plain["accuracy"].interval()[0] < 0.85 < easy["accuracy"].interval()[0]
    assert easy["accuracy"].interval()[1] > 0.97  # .9 + .7 of a tenth
    assert easy.gold_alone["accuracy"].mean > plain.gold_alone["accuracy"].mean + 0.02
    assert easy.gold_alone["recall"].mean > plain.gold_alone["recall"].mean + 0.01


def test_many_classes_weights_and_gold_that_errs() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 110, 300)
    reads = [np.where(rng.random(300) < 0.2, rng.integers(0, 110, 300), truth) for _ in range(4)]
    report = tr.grade(
        reads[0],
        tr.Labels.from_matrix(np.stack(reads[1:], axis=1)),
        gold={i: int(truth[i]) for i in range(60)},
        gold_error=0.05,
        weights=1.0 + np.arange(300) % 2,
        panel="people",
        draws=100,
    )
    low, high = report["accuracy"].interval()
    assert low < (reads[0] == truth).mean() < high
