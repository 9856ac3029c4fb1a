"""labelers(): confusion, bits, copies, adversaries, spammers; and the command behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import truthing as tr
from truthing.noise.base import symmetric_table
from truthing.people.copies import find_copies, kind, reading
from truthing.people.pairs import unusual_pairs
from truthing.simulation import Simulation
from truthing.truth.consensus import Entries, fit_dawid_skene

TRUTHING = [sys.executable, "-c", "from truthing.cli import main; main()"]
SPAM = Path(tr.__file__).parent / "examples" / "spam"
ERRORS = (0.05, 0.15, 0.25, 0.5)
TABLES = np.concatenate([symmetric_table(np.array(ERRORS), 2), [[[0.1, 0.9], [0.8, 0.2]]]])


@pytest.fixture(scope="module")
def panel() -> Simulation:
    """Four honest labelers of falling quality, the fourth a guesser, and w5, who answers the
    opposite."""
    return tr.simulate(500, 5, prior=[0.6, 0.4], confusion=TABLES, availability=0.9, seed=5)


@pytest.fixture(scope="module")
def report(panel: Simulation) -> tr.LabelersReport:
    return tr.labelers(panel.labels)


def test_everybody_is_recognised(report: tr.LabelersReport) -> None:
    assert report.kinds[0] == report.kinds[1] == "useful"
    assert report.kinds[3] == "spammer"
    assert report.kinds[4] == "adversary"
    assert report.readings == {"w5": {1: 0, 0: 1}}
    assert report.labelers[report.order[0]] == "w1"
    assert report.pairs == []
    assert report.verdict().startswith("Keep w1, w2. Retrain w5 (swaps answers)")
    assert "Drop w4 (tells nothing)." in report.verdict()
    advised = dict(zip(report.labelers, report.advice))
    assert str(advised["w4"]) == "drop: tells nothing"
    rows = report.to_frame().to_dicts()
    assert {r["labeler"]: r["advice"] for r in rows} == {n: a.action for n, a in advised.items()}


def test_who_errs_much_and_adds_nothing_is_not_kept() -> None:
    """61% wrong of four classes, and nothing added: what the note says the headline says."""
    tables = [symmetric_table(0.1, 4)] * 4 + [symmetric_table(0.61, 4)]
    data = tr.simulate(500, 5, prior=[0.25] * 4, confusion=np.array(tables), seed=5)
    report = tr.labelers(data.labels, draws=300)
    assert report.error[:, 4].mean() == pytest.approx(0.61, abs=0.08)
    assert report.advice[4].action == "retrain"
    assert [a.action for a in report.advice[:4]] == ["keep"] * 4
    first = report.sentences()[0]
    assert first == "Keep w1, w2, w3, w4. Retrain w5 (tells little)." or sorted(
        first.removeprefix("Keep ").partition(".")[0].split(", ")
    ) == ["w1", "w2", "w3", "w4"]
    assert "Retrain w5 (tells little)." in first


def test_the_table_fits_80_columns_with_the_error(report: tr.LabelersReport) -> None:
    import io

    from rich.console import Console

    from truthing.render.labelers import show

    screen = io.StringIO()
    show(report, Console(file=screen, width=80, highlight=False), top=20)
    lines = screen.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if line.startswith("w4 "))
    low, high = report["w4"]["error"].interval()
    assert f"{low:.3f} – {high:.3f}" in row
    assert row.rstrip().endswith("drop: tells nothing")


def test_without_somebody_the_interval_is_a_number(report: tr.LabelersReport) -> None:
    found = report.without("w1")
    assert found.names == ("w1",)
    everybody, others = found.widths()
    assert 0 < everybody < 1
    assert 0 < others < 1
    assert "Without w1 the share of 1 would be" in found.sentence()
    with pytest.raises(tr.InputError, match="no labeler is called"):
        report.without("nobody")


def test_intervals_hold_what_is_known(report: tr.LabelersReport) -> None:
    """Error, bits and bits added of each labeler, and the panel's bits, at 99.9%."""
    prior = np.array([0.6, 0.4])
    for t, name in enumerate(report.labelers):
        alone = tr.information(confusion=TABLES[t], prior=prior).value
        error = 1 - float((prior * TABLES[t].diagonal()).sum())
        for what, actual in (("error", error), ("bits", alone)):
            low, high = report[name][what].interval(0.999)
            assert low - 1e-3 <= actual <= high, (name, what)
    whole = report.panel.interval(0.999)
    grid = report.given.sum() / 500 / 5
    assert grid == pytest.approx(0.9, abs=0.03)
    exact = tr.information(confusion=TABLES, prior=prior).value
    assert whole[0] < exact, "nine tenths of the labels carry no more than all of them"
    assert whole[1] > 0.8 * exact
    assert report.equivalent_error.mean == pytest.approx(
        tr.equivalent_labeler(confusion=TABLES, prior=prior).value, abs=0.03
    )


def test_added_bits_are_the_difference_without_the_labeler(report: tr.LabelersReport) -> None:
    """Complete panel, known noise: I(all) - I(all but one), exactly."""
    data = tr.simulate(400, 4, prior=[0.6, 0.4], confusion=TABLES[[0, 1, 2, 4]], seed=2)
    given = tr.labelers(
        data.labels, noise=tr.noise.Confusion(TABLES[[0, 1, 2, 4]]), prior=[0.6, 0.4]
    )
    whole = tr.information(confusion=TABLES[[0, 1, 2, 4]], prior=[0.6, 0.4]).value
    for t in range(4):
        rest = np.delete(TABLES[[0, 1, 2, 4]], t, axis=0)
        gain = whole - tr.information(confusion=rest, prior=[0.6, 0.4]).value
        assert given.adds[0, t] == pytest.approx(gain, abs=0.004)
    assert given.panel.mean == pytest.approx(whole, abs=0.004)
    assert given.consensus_error is None
    assert (report.adds.mean(axis=0) <= report.bits.mean(axis=0) + 0.02).all()


def test_needed_counts_equal_labelers(report: tr.LabelersReport) -> None:
    assert report.needed(expert=0.05, labeler="w2") < report.needed(expert=0.05, labeler="w3")
    with pytest.raises(tr.InputError, match="Did you mean 'w2'"):
        report.needed(labeler="w22")


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_copies_have_no_vote_and_add_little(share: float) -> None:
    """A copied labeler looks perfect to any model of independent labelers; here the pair is found
    and errors stay honest."""
    data = tr.simulate(500, 5, prior=[0.6, 0.4], confusion=symmetric_table(0.18, 2), seed=3)
    grid, rng = data.labels.matrix(), np.random.default_rng(0)
    own = np.where(rng.random(500) < 0.2, 1 - data.truth, data.truth)
    copy = np.where(rng.random(500) < share, grid[:, 1], own)
    labels = tr.Labels.from_matrix(np.column_stack([grid, copy]), labelers=[*"abcde", "b2"])
    report = tr.labelers(labels, draws=400)
    worst = report.pairs[0]
    assert {worst.first, worst.second} == {"b", "b2"}
    assert worst.repeated == pytest.approx(share, abs=0.15)
    assert report.kinds[5] == "copy"
    wrong = (labels.matrix() != data.truth[:, None]).mean(axis=0)
    assert report.error.mean(axis=0) == pytest.approx(wrong, abs=0.05)
    others = report.adds.mean(axis=0)[[0, 2, 3, 4]].mean()
    assert (report.adds.mean(axis=0)[[1, 5]] < (0.1 + 1 - share) * others).all()
    assert "Drop b2 (double of b)." in report.verdict()
    assert "labels cannot tell" in report.verdict()
    told = tr.labelers(
        labels, noise=tr.noise.Confusion([symmetric_table(0.2, 2)] * 6, weight=20), draws=400
    )
    assert told.kinds[5] == "copy"
    assert told.panel.mean < 0.9


def test_independent_labelers_are_seldom_suspected() -> None:
    """40 honest panels: at most a tenth may be suspected (measured .01 to .03; 4 of 40 has
    probability .03 at .03)."""
    suspected = 0
    for seed in range(40):
        rates = np.random.default_rng(seed).uniform(0.05, 0.35, 6)
        labels = tr.simulate(
            250, 6, prior=[0.7, 0.3], confusion=symmetric_table(rates, 2), seed=seed
        ).labels
        nothing = np.full(250, -1)
        suspected += bool(unusual_pairs(labels, nothing, fit_dawid_skene(Entries.of(labels))))
    assert suspected <= 4


def test_contradictors_are_named() -> None:
    """Two camps that split the hard items between them agree less than their qualities allow."""
    rng = np.random.default_rng(1)
    truth = (rng.random(600) < 0.5).astype(int)
    grid = np.where(rng.random((600, 6)) < 0.1, 1 - truth[:, None], truth[:, None])
    hard = rng.random(600) < 0.35
    side = rng.integers(0, 2, 600)
    grid[hard, 0], grid[hard, 1] = side[hard], 1 - side[hard]
    found = find_copies(tr.Labels.from_matrix(grid), np.full(600, -1)).pairs
    assert any({p.first, p.second} == {0, 1} and p.z < 0 for p in found)
    assert "read the task differently" in str(next(p for p in found if p.z < 0))


def test_swapped_classes_are_read_back() -> None:
    table = np.array([[0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]])
    drawn = np.random.default_rng(0).dirichlet(np.ones(3), (200, 3)) * 0.1 + 0.9 * table
    assert reading(drawn, ("a", "b", "c")) == {"c": "b", "b": "c"}
    assert reading(np.tile(np.full((3, 3), 1 / 3), (20, 1, 1)), ("a", "b", "c")) == {}


def test_swapping_a_guessers_answers_back_is_no_use() -> None:
    """Many labels make it certain that a guesser is a little worse than chance; still a guesser."""
    most = np.full(100, 0.97)
    assert kind(False, True, np.full(100, 0.001), most) == "spammer"
    assert kind(False, True, np.full(100, 0.4), most) == "adversary"
    assert kind(True, False, np.full(100, 0.4), most) == "copy"
    assert kind(False, False, np.linspace(0, 0.06, 100), most) == "unclear"


def test_gold_shows_the_panel_wrong_together() -> None:
    data = tr.simulate(
        600, 5, prior=[0.5, 0.5], confusion=symmetric_table(0.2, 2), shared_difficulty=0.8, seed=4
    )
    blind = tr.labelers(data.labels, draws=400)
    shown = tr.labelers(data.labels, gold=data.gold(150), draws=400)
    assert not any("wrong together:" in w for w in blind.warnings)
    assert any("labels alone cannot show it" in a for a in blind.assumptions)
    assert any("wrong together:" in w for w in shown.warnings)
    assert shown.gold_checked.sum() == 750
    assert shown.error.mean() > blind.error.mean() + 0.02
    assert shown.consensus_error is not None
    low, high = shown.consensus_error.interval(0.999)
    votes = data.labels.counts().argmax(axis=1)
    assert low < (votes != data.truth).mean() < high


def test_two_labelers_one_labeler_and_no_names() -> None:
    pair = tr.labelers(tr.simulate(100, 2, prior=[0.5, 0.5], seed=1).labels, draws=400)
    assert any("Two labelers" in w for w in pair.warnings)
    assert not any("classifier" in said for said in pair.warnings + pair.assumptions)
    single = tr.simulate(100, 1, prior=[0.5, 0.5], seed=1)
    with pytest.raises(tr.NotIdentified, match="Say how often"):
        tr.labelers(single.labels)
    assert tr.labelers(single.labels, noise=0.1).error[0, 0] == pytest.approx(0.1)
    assert tr.labelers(single.labels, gold=single.gold(60)).gold_checked[0] == 60
    with pytest.raises(tr.InputError, match="anonymous"):
        tr.labelers(tr.Labels.from_counts([[3, 1], [0, 4]]))
    with pytest.raises(tr.InputError, match="tell nothing"):
        tr.labelers([["a", "a"], ["a", "a"]])
    with pytest.raises(tr.InputError, match="no confusion matri"):
        tr.labelers(single.labels, noise=tr.noise.Difficulty(0.1, 0.2))


def test_same_seed_same_answer(panel: Simulation, report: tr.LabelersReport) -> None:
    again = tr.labelers(panel.labels)
    assert np.array_equal(again.adds, report.adds)
    assert np.array_equal(again.panel_bits, report.panel_bits)


def test_command(tmp_path: Path) -> None:
    table, picture = tmp_path / "people.csv", tmp_path / "people.png"
    command = [
        *TRUTHING,
        "labelers",
        str(SPAM / "labels.csv"),
        "--gold",
        str(SPAM / "gold.csv"),
        "--csv",
        str(table),
    ]
    done = subprocess.run(
        [*command, "--plot", str(picture)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Keep all 5 labelers.")
    assert "--table FILE" in done.stderr
    assert "wrong on gold" in done.stdout
    assert "Krippendorff's α" in done.stdout
    assert table.read_text().splitlines()[0].startswith("labeler,labels,error,error_low")
    assert picture.read_bytes().startswith(b"\x89PNG")
    shown = subprocess.run([*command[:-2], "--json"], capture_output=True, text=True, check=True)
    found = json.loads(shown.stdout)
    first = found["labelers"][0]
    assert first["labeler"] == "ben"
    assert first["error_low"] < first["error"] < first["error_high"]
    assert np.sum(first["confusion"]["mean"], axis=1) == pytest.approx([1, 1])
    assert found["panel"]["equivalent_error"]["low"] < 0.08


def test_command_refuses_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("item,labeler,label\n1,a,x\n2,a,y\n")
    done = subprocess.run([*TRUTHING, "labelers", str(path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("truthing: there is one labeler")
    assert done.stderr.count("\n") == 1


def test_labelers_are_graded_by_the_others(panel: Simulation, report: tr.LabelersReport) -> None:
    """The same answer as `grade` gives for the labeler as a classifier; wider than where labelers
    are taken to err independently."""
    name = panel.labels.labelers[0]
    grid = panel.labels.matrix()
    others = panel.labels.select([w for w in panel.labels.labelers if w != name])
    asked = (grid[:, 0] >= 0) & (others.per_item > 0)
    predicted = np.array(panel.labels.classes)[grid[asked, 0]]
    expected = tr.grade(predicted, others[np.flatnonzero(asked)])["error"]
    found = report[name]["graded"]
    assert found.mean == pytest.approx(expected.mean, abs=0.02)
    assert found.interval(0.5) == pytest.approx(expected.interval(0.5), abs=0.03)
    independent = report[name]["error"].interval()
    low, high = found.interval()
    assert high - low > independent[1] - independent[0]


def test_nobody_else_speaks_of_their_items() -> None:
    """The fifth labeler shares too few items with the others to be graded by them: no number
    instead of a guess."""
    data = tr.simulate(200, 5, prior=[0.5, 0.5], fallibility=0.3, seed=4)
    alone = (data.labels.labeler == 4) & (data.labels.item >= 10)
    apart = np.where(alone, data.labels.item + 1000, data.labels.item)
    report = tr.labelers(tr.Labels.from_long(apart, data.labels.labeler, data.labels.label))
    assert "graded" in report[0]
    assert "graded" not in report[4]
    assert report.to_frame().filter(report.to_frame()["labeler"] == "4")["graded"].is_nan().all()
