"""Preferences: what is read, position bias, ties, ranking against independent fits, every form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app
from truthing.preference.judges import pooled_shares
from truthing.preference.outcomes import draw_outcomes
from truthing.preference.ranking import HALF_WIN, connected, fit_davidson
from truthing.preference.verdicts import FIRST, SECOND, TIED, read_verdicts

EXAMPLE = Path(tr.__file__).parent / "examples" / "prefer"
RUN = CliRunner()


def row(item: Any, verdict: str, judge: str = "j1", **more: Any) -> dict[str, Any]:
    return (
        {"item": item, "judge": judge, "system_a": "new", "system_b": "old"}
        | more
        | {"verdict": verdict}
    )


def panel(n: int = 40, judges: int = 2) -> list[dict[str, Any]]:
    return [
        row(i, "B" if i % 4 == 0 else "A", f"j{j}", order=order)
        for i in range(n)
        for j in range(judges)
        for order in ("AB", "BA")
    ]


# ---- what is read --------------------------------------------------------------------------------


def test_verdicts_are_about_systems_whatever_the_columns_order() -> None:
    """A is the system in column system_a; shown first is what the order says."""
    read = read_verdicts(
        [
            row(1, "A", order="AB"),
            row(1, "old", judge="j2", system_a="old", system_b="new", order="AB"),
            row(2, "tie", order="BA"),
            row(2, "B", judge="j2", system_a="old", system_b="new", order="BA"),
        ]
    )
    assert read.systems == ("new", "old")
    assert read.outcome.tolist() == [FIRST, SECOND, TIED, FIRST]
    assert read.swapped.tolist() == [False, True, True, False]
    assert read.items == (1, 2)


def test_a_missing_verdict_is_counted_and_an_unknown_one_refused() -> None:
    result = tr.prefer([*panel(), row(99, "", judge="j0")])
    assert any("1 rows hold no verdict" in said for said in result.assumptions)
    with pytest.raises(tr.InputError, match="row 1: verdict '2' is not A, B, tie"):
        tr.prefer([row(1, "A"), row(2, "2")])
    read = read_verdicts([row(1, "1"), row(2, "0")], meant={"1": "A", "0": "tie"})
    assert read.outcome.tolist() == [FIRST, TIED]
    assert len(read_verdicts([row(1, "A"), row(2, "hm")], missing=["hm"]).outcome) == 1


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(1, "A", system_b="new")], "both 'new'"),
        ([row(1, "A", system_a="tie")], "verdict too"),
        ([row(1, "A"), row(1, "B")], "two verdicts on item 1 in the same order"),
        ([row(1, "A", order="north")], "does not say which system was shown first"),
        ([{"item": 1, "judge": "j"}], "no column for the verdict"),
        ([row(1, "A", system_a="B", system_b="A")], "Rename the systems"),
        ([{"item": 1, "system_a": "x", "verdict": "A"}], "one of the two systems only"),
        ([row(1, "")], "holds no verdict"),
    ],
)
def test_what_could_mean_two_things_is_refused(rows: list[Any], words: str) -> None:
    with pytest.raises(tr.InputError, match=words):
        read_verdicts(rows)


def test_repeats_are_kept_or_cut_as_asked() -> None:
    rows = [row(1, "A"), row(1, "B"), row(1, "B")]
    assert read_verdicts(rows, repeats="first").outcome.tolist() == [FIRST]
    assert read_verdicts(rows, repeats="last").outcome.tolist() == [SECOND]
    assert read_verdicts(rows, repeats="keep").outcome.tolist() == [FIRST, SECOND, SECOND]


def test_gold_in_every_form_is_the_same() -> None:
    rows = panel(8)
    forms: list[Any] = [
        {0: "B", 1: "A"},
        {0: "old", 1: "new"},
        [{"item": 0, "truth": "old"}, {"item": 1, "truth": "new"}],
        [
            {"item": 0, "system_a": "old", "system_b": "new", "truth": "A"},
            {"item": 1, "system_a": "new", "system_b": "old", "truth": "A"},
        ],
    ]
    for gold in forms:
        assert read_verdicts(rows, gold).gold.tolist() == [1, 0, *[-1] * 6]
    beside = [{**r, "truth": {0: "B", 1: "A"}.get(r["item"])} for r in rows]
    assert read_verdicts(beside).gold.tolist() == [1, 0, *[-1] * 6]


def test_gold_that_could_mean_two_things_is_refused() -> None:
    turned = [*panel(4), row(0, "A", "j9", system_a="old", system_b="new", order="AB")]
    with pytest.raises(tr.InputError, match="as A in one row and as B in another"):
        read_verdicts(turned, {0: "A"})
    assert read_verdicts(turned, {0: "new"}).gold[0] == FIRST
    several = [*panel(4), row(0, "A", "j9", system_b="third", order="AB")]
    with pytest.raises(tr.InputError, match="several pairs of systems"):
        read_verdicts(several, {0: "new"})
    with pytest.raises(tr.InputError, match="none of these comparisons"):
        read_verdicts(panel(4), {"elsewhere": "A"})
    twice = [{"item": 0, "truth": "A"}, {"item": 0, "truth": "B"}]
    with pytest.raises(tr.InputError, match="two things"):
        read_verdicts(panel(4), twice)


def test_one_judge_without_gold_is_refused_and_with_gold_answered() -> None:
    one = [r for r in panel() if r["judge"] == "j0"]
    with pytest.raises(tr.NotIdentified, match="one judge and no gold"):
        tr.prefer(one)
    gold = {i: "B" if i % 4 == 0 else "A" for i in range(0, 40, 3)}
    low, high = tr.prefer(one, gold=gold).win_rate("new", "old").interval()
    assert low < 0.75 < high
    assert tr.prefer(one, panel_error=0.1).sizes["n_judges"] == 1
    with pytest.raises(tr.InputError, match="panel_error 0"):
        tr.prefer(panel(), panel_error=0)


# ---- the model -----------------------------------------------------------------------------------


def leaning(n: int, lean: float, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Three judges; the last says "the first shown" whatever the truth, so often."""
    rows = []
    for i in range(n):
        truth = "A" if rng.random() < 0.6 else "B"
        for j in range(3):
            for order in ("AB", "BA"):
                said = truth if rng.random() < 0.9 else {"A": "B", "B": "A"}[truth]
                said = order[0] if j == 2 and rng.random() < lean else said
                rows.append(row(i, said, f"j{j}", order=order))
    return rows


def test_position_bias_and_inconsistency_are_found_in_the_judge_who_has_them() -> None:
    rows = leaning(300, 0.5, np.random.default_rng(4))
    judges = tr.prefer(rows, draws=500).judges
    assert judges["j2"].first.mean == pytest.approx(0.75, abs=0.04)  # (1 + lean) / 2
    assert judges["j2"].changes.mean == pytest.approx(0.545, abs=0.06)
    for name in ("j0", "j1"):
        assert judges[name].first.interval()[0] < 0.5 < judges[name].first.interval()[1]
        assert judges[name].changes.mean == pytest.approx(0.18, abs=0.06)
    assert any("j2 (7" in said for said in tr.prefer(rows, draws=500).warnings)


def test_a_fixed_order_cannot_tell_a_lean_from_a_better_system() -> None:
    rows = [{k: v for k, v in r.items() if k != "order"} for r in panel() if r["order"] == "AB"]
    result = tr.prefer(rows)
    assert all(judge.first is None and judge.changes is None for judge in result.judges.values())
    assert any("shown first nearly always" in said for said in result.warnings)
    assert any("system_a is taken to be" in said for said in result.assumptions)


def test_shares_are_pooled_towards_all_judges() -> None:
    hits, given = np.array([5.0, 300.0, 310.0]), np.array([5.0, 500.0, 500.0])
    found = pooled_shares(hits, given, np.random.default_rng(0))
    assert 0.6 < found[0].mean < 0.85  # not 1, as five of five would say
    assert found[1].mean == pytest.approx(0.6, abs=0.03)


def test_without_gold_the_interval_is_wide_and_gold_narrows_it() -> None:
    rows = panel(80, 4)
    truth = {i: "B" if i % 4 == 0 else "A" for i in range(80)}
    widths = []
    for count in (0, 10, 30):
        gold = {i: truth[i] for i in np.random.default_rng(1).permutation(80)[:count]}
        low, high = tr.prefer(rows, gold=gold or None).win_rate("new", "old").interval()
        assert low <= 0.75 <= high
        widths.append(high - low)
    assert widths[0] > 0.3
    assert widths[0] > widths[1] > widths[2]


def test_gold_overrules_judges_who_are_wrong_together() -> None:
    """All judges agree and are wrong on most: gold says so, and the answer follows gold."""
    rows = [
        row(i, "A", f"j{j}", order=o) for i in range(100) for j in range(4) for o in ("AB", "BA")
    ]
    gold = {i: "B" if i % 5 else "A" for i in range(0, 100, 3)}
    result = tr.prefer(rows, gold=gold)
    low, high = result.win_rate("old", "new").interval()
    assert low < 0.8 < high
    assert result.at_face_value("new") == pytest.approx(1.0)
    assert any("contradicts the judges" in said for said in result.warnings)


def test_rows_in_another_order_change_nothing() -> None:
    rows = leaning(60, 0.3, np.random.default_rng(2))
    mixed = [rows[i] for i in np.random.default_rng(3).permutation(len(rows))]
    one, other = (tr.prefer(r, gold={1: "A", 2: "B"}, draws=400) for r in (rows, mixed))
    np.testing.assert_array_equal(one.outcomes.counts, other.outcomes.counts)


def test_names_of_systems_do_not_matter() -> None:
    """Swapping the names swaps the answer, up to Monte Carlo error."""
    rows = leaning(120, 0.3, np.random.default_rng(5))
    gold = {i: "A" if i % 3 else "B" for i in range(30)}
    turned = [{**r, "system_a": "zz new"} for r in rows]  # sorts behind "old"
    one = tr.prefer(rows, gold=gold).win_rate("new", "old")
    other = tr.prefer(turned, gold=gold).win_rate("zz new", "old")
    assert one.mean == pytest.approx(other.mean, abs=0.02)
    assert one.interval() == pytest.approx(other.interval(), abs=0.04)


def test_counts_add_up_and_gold_is_never_overruled() -> None:
    read = read_verdicts(panel(30), dict.fromkeys(range(30), "tie"))
    for target in ("sample", "population"):
        about = {"panel": None, "panel_error": None, "target": target, "n_draws": 200, "seed": 0}
        found = draw_outcomes(read, **about)
        assert found.counts.sum(axis=2) == pytest.approx(30)
        if target == "sample":
            assert found.counts[:, 0, TIED] == pytest.approx(30)


# ---- ranking -------------------------------------------------------------------------------------


def by_scipy(counts: np.ndarray, pairs: list[tuple[int, int]], n: int, ties: bool) -> np.ndarray:
    """Davidson's likelihood, written out pair by pair and maximised without derivatives of ours."""

    def loss(theta: np.ndarray) -> float:
        total = 0.5 * theta[:n].sum() ** 2
        for (a, b), (wins, losses, draws) in zip(pairs, counts):
            x, y = np.exp(theta[a]), np.exp(theta[b])
            tie = np.exp(theta[n]) * np.sqrt(x * y) if ties else 0.0
            all_of_it = x + y + tie
            total -= (wins + HALF_WIN) * np.log(x / all_of_it)
            total -= (losses + HALF_WIN) * np.log(y / all_of_it)
            if ties:
                total -= (draws + HALF_WIN) * np.log(tie / all_of_it)
        return float(total)

    return np.asarray(minimize(loss, np.zeros(n + ties), method="BFGS", options={"gtol": 1e-8}).x)


@pytest.mark.parametrize("ties", [True, False])
def test_strengths_equal_an_independent_maximum_likelihood(ties: bool) -> None:
    rng = np.random.default_rng(6)
    pairs = [(0, 1), (0, 2), (1, 3), (2, 3)]
    counts = rng.integers(0, 30, (5, len(pairs), 3)).astype(float)
    counts[0, 0] = 40, 0, 0  # one always wins
    if not ties:
        counts[:, :, 2] = 0
    strength, log_tie = fit_davidson(counts, pairs, 4)
    for d in range(5):
        expected = by_scipy(counts[d], pairs, 4, ties)
        np.testing.assert_allclose(strength[d], expected[:4] - expected[:4].mean(), atol=1e-4)
        if ties:
            assert log_tie[d] == pytest.approx(expected[4], abs=1e-4)


def test_two_systems_have_the_closed_form() -> None:
    """log of the ratio of wins, when there are two."""
    strength, _ = fit_davidson(np.array([[[30.0, 10.0, 0.0]]]), [(0, 1)], 2)
    assert strength[0, 0] - strength[0, 1] == pytest.approx(np.log(30.5 / 10.5))


def test_systems_that_no_comparison_joins_are_not_ranked() -> None:
    assert connected(4, [(0, 1), (2, 3)]) == [[0, 1], [2, 3]]
    assert len(connected(3, [(1, 2), (0, 2)])) == 1
    other = [{**r, "system_a": "x", "system_b": "y"} for r in panel(12)]
    result = tr.prefer([*panel(12), *other], draws=200)
    assert not result.rankable
    assert any("cannot be ranked" in said for said in result.warnings)
    assert np.isnan(result.probability_best["x"])
    assert "cannot be ranked" in result.verdict()


def test_the_example_ranks_as_it_was_made() -> None:
    result = tr.prefer(EXAMPLE / "verdicts.csv", gold=EXAMPLE / "gold.csv")
    assert result.order == ["tuned", "large", "base"]
    assert result.probability_best["tuned"] > 0.8
    assert sum(result.probability_best.values()) == pytest.approx(1)
    for pair, share in {("tuned", "base"): 0.62, ("large", "base"): 0.56}.items():
        low, high = result.win_rate(*pair).interval()
        assert low <= share <= high
    low, high = result.win_rate("tuned", "large").interval()
    assert low <= 0.60 <= high
    assert result.at_face_value("large") > result["large"].mean  # the judges like it too much
    with pytest.raises(tr.InputError, match="Did you mean 'tuned'"):
        result["tunde"]
    with pytest.raises(tr.InputError, match="no verdict compares"):
        result.win_rate("tuned", "tuned")


# ---- command line --------------------------------------------------------------------------------


def test_the_command_as_a_gate() -> None:
    command = ["prefer", str(EXAMPLE / "verdicts.csv"), "--gold", str(EXAMPLE / "gold.csv")]
    for asked, code in {"score[tuned] >= 0.5": 0, "base >= 0.6": 3, "large >= 0.46": 4}.items():
        assert RUN.invoke(app, [*command, "--require", asked]).exit_code == code, asked
    assert RUN.invoke(app, [*command, "--require", "nobody >= 0.5"]).exit_code == 2
    assert RUN.invoke(app, [*command, "--require", "tuned"]).exit_code == 2


def test_the_screen_fits_eighty_columns() -> None:
    command = ["prefer", str(EXAMPLE / "verdicts.csv")]
    done = RUN.invoke(app, command, env={"COLUMNS": "80"})
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "is the best of 3 systems" in done.stdout
