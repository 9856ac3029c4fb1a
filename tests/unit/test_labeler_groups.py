"""Labelers in groups: how far they share mistakes, what that does to an answer, and the facades."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truthing as tr
from truthing.truth.labeler_groups import learn_groups


def copied(seed: int = 0, copying: float = 0.8, n: int = 500) -> tuple[tr.Labels, Any, Any]:
    """Three independent labelers, and six who copy one leader; predictions and truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.4).astype(int)

    def say(error: float) -> np.ndarray:
        return np.where(rng.random(n) < error, 1 - truth, truth)

    leader = say(0.3)
    copies = [np.where(rng.random(n) < copying, leader, say(0.3)) for _ in range(6)]
    labels = tr.Labels.from_matrix(
        np.stack([say(0.15), say(0.15), say(0.15), *copies], axis=1),
        labelers=["a", "b", "c", *(f"copy{k}" for k in range(6))],
    )
    return labels, say(0.12), truth


GROUPS = {f"copy{k}": "copies" for k in range(6)}


def test_what_copies_share_is_found_and_strangers_share_nothing() -> None:
    labels, _, _ = copied(n=4000)
    rng = np.random.default_rng(0)
    found = learn_groups(GROUPS, labels, rng)
    # two copies are both the leader's with chance .64; then they are the same label
    assert found.likeness[found.names.index("copies")] == pytest.approx(0.64, abs=0.12)
    pairs = {**GROUPS, "a": "x", "b": "x"}
    assert learn_groups(pairs, labels, rng).likeness[0] < 0.2


def test_votes_of_a_group_count_less_together() -> None:
    labels, _, _ = copied()
    found = learn_groups(GROUPS, labels, np.random.default_rng(0))
    votes = found.votes(labels)
    alone = votes[labels.labeler == 0]
    assert alone == pytest.approx(np.ones(len(alone)))
    rho = found.likeness[found.names.index("copies")]
    assert votes[labels.labeler == 5] == pytest.approx(np.full(500, 1 / (1 + 5 * rho)))
    assert found.effective_size.mean < 5


def test_copies_no_longer_outvote_the_others() -> None:
    labels, predicted, truth = copied()
    right = float((predicted == truth).mean())
    common: dict[str, Any] = {"panel": "people", "draws": 600}
    naive = tr.grade(predicted, labels, **common)
    report = tr.grade(predicted, labels, groups=GROUPS, **common)
    low, high = report["accuracy"].interval(0.95)
    assert low <= right <= high
    assert abs(report["accuracy"].mean - right) < abs(naive["accuracy"].mean - right)
    assert any("independent ones" in said for said in report.assumptions)


def test_a_sibling_is_not_judged_by_its_siblings() -> None:
    labels, _, truth = copied()
    grid = labels.matrix()
    sibling = np.where(np.random.default_rng(5).random(500) < 0.8, grid[:, 3], truth)
    right = float((sibling == truth).mean())
    common: dict[str, Any] = {"groups": GROUPS, "panel": "people", "draws": 600}
    report = tr.grade(sibling, labels, classifier_group="copies", **common)
    low, high = report["accuracy"].interval(0.95)
    assert low <= right <= high
    assert any("count still less" in said for said in report.assumptions)
    models = {"copy9": sibling, "other": truth}
    found = tr.compare(models, labels, **{**common, "groups": {**GROUPS, "copy9": "copies"}})
    assert found.difference("accuracy", "other", "copy9").probability_positive > 0.9
    few = labels.select([f"copy{k}" for k in range(6)])
    doubted = tr.grade(sibling, few, classifier_group="copies", **common)
    assert any("as if it had learned" in said for said in doubted.assumptions)


def test_rate_and_labelers_take_groups() -> None:
    labels, _, truth = copied()
    low, high = tr.prevalence(labels, groups=GROUPS, panel="people", draws=600)[1].interval(0.95)
    assert low <= truth.mean() <= high
    report = tr.labelers(labels, groups=GROUPS, draws=200)
    assert report.effective_size is not None
    assert 1 <= report.effective_size.mean < 6


def test_a_file_of_groups(tmp_path: Path) -> None:
    labels, predicted, _ = copied(n=150)
    file = tmp_path / "groups.csv"
    file.write_text("judge,family\n" + "".join(f"{k},copies\n" for k in GROUPS))
    by_file = tr.grade(predicted, labels, groups=file, panel="people", draws=300)
    by_name = tr.grade(predicted, labels, groups=GROUPS, panel="people", draws=300)
    assert by_file["accuracy"].mean == pytest.approx(by_name["accuracy"].mean)
    file.write_text("judge,family\ncopy1,x\ncopy1,y\n")
    with pytest.raises(tr.InputError, match="two groups"):
        tr.grade(predicted, labels, groups=file)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": {"nobody": "x"}}, "none of them a labeler"),
        ({"groups": {}}, "names no labeler"),
        ({"groups": 3}, "mapping from labeler"),
        ({"classifier_group": "x"}, "needs groups"),
        ({"groups": GROUPS, "classifier_group": "copie"}, "no group here"),
        ({"groups": GROUPS, "panel_error": 0}, "leave noise and panel_error out"),
        ({"groups": GROUPS, "noise": 0.1}, "leave noise and panel_error out"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], words: str) -> None:
    labels, predicted, _ = copied(n=100)
    with pytest.raises(tr.InputError, match=words):
        tr.grade(predicted, labels, draws=200, **options)


def test_one_group_for_all_changes_nothing_and_says_so() -> None:
    labels, predicted, _ = copied(n=150)
    everyone = dict.fromkeys(labels.labelers, "one")
    report = tr.grade(predicted, labels, groups=everyone, panel="people", draws=300)
    plain = tr.grade(predicted, labels, panel="people", draws=300)
    assert report["accuracy"].mean == pytest.approx(plain["accuracy"].mean)
    assert any("of one group" in said for said in report.warnings)
