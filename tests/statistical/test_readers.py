"""Readers as a sample: against an analysis written independently, and on Roe and Metz's data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from readers import HIGH_HIGH, coverage, simulate
from scipy import stats
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

import truthing as tr
from truthing.cli.main import app


def as_rows(scores: np.ndarray, truth: np.ndarray) -> list[dict[str, Any]]:
    return [
        {"case": c, "reader": f"r{j}", "modality": f"m{i}", "score": float(scores[i, j, c])}
        | {"truth": int(truth[c])}
        for i in range(len(scores))
        for j in range(scores.shape[1])
        for c in range(scores.shape[2])
    ]


def by_hand(scores: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Obuchowski and Rockette, term by term: U-statistics case by case, sums written out."""
    sick, well = np.flatnonzero(truth), np.flatnonzero(~truth)
    arms, readers = scores.shape[:2]

    def kernel(x: float, y: float) -> float:
        return 1.0 if x > y else 0.5 if x == y else 0.0

    area, v10, v01 = {}, {}, {}
    for i in range(arms):
        for j in range(readers):
            psi = [[kernel(scores[i, j, a], scores[i, j, b]) for b in well] for a in sick]
            area[i, j] = sum(map(sum, psi)) / len(sick) / len(well)
            v10[i, j] = [sum(row) / len(well) for row in psi]
            v01[i, j] = [sum(row[b] for row in psi) / len(sick) for b in range(len(well))]

    def cov(p: tuple[int, int], q: tuple[int, int]) -> float:
        total = 0.0
        for v, n in ((v10, len(sick)), (v01, len(well))):
            s = sum((a - area[p]) * (b - area[q]) for a, b in zip(v[p], v[q]))
            total += s / (n - 1) / n
        return total

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    apart = [(j, k) for j in range(readers) for k in range(readers) if j != k]
    cov2 = mean([cov((i, j), (i, k)) for i in range(2) for j, k in apart])
    cov3 = mean([cov((0, j), (1, k)) for j, k in apart])
    gaps = [area[1, j] - area[0, j] for j in range(readers)]
    # with two modalities MS(T*R) is half the variance of the readers' differences
    ms = sum((g - mean(gaps)) ** 2 for g in gaps) / (readers - 1) / 2
    whole = ms + readers * max(cov2 - cov3, 0)
    own = mean([cov((0, j), (0, k)) for j, k in apart])
    first = [area[0, j] for j in range(readers)]
    msr = sum((a - mean(first)) ** 2 for a in first) / (readers - 1)
    single = msr + readers * max(own, 0)
    return {
        "gap": mean(gaps),
        "gap_error": (2 / readers * whole) ** 0.5,
        "gap_freedom": whole**2 / (ms**2 / (readers - 1)),
        "average": mean(first),
        "error": (single / readers) ** 0.5,
        "freedom": single**2 / (msr**2 / (readers - 1)),
    }


def data(seed: int, rounded: bool) -> tuple[np.ndarray, np.ndarray]:
    scores, truth = simulate(HIGH_HIGH, (1.0, 1.4), 4, 40, np.random.default_rng(seed))
    return (np.round(scores) if rounded else scores), truth


@pytest.mark.parametrize("rounded", [False, True])  # ties between ratings, too
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_same_as_an_analysis_written_independently(seed: int, rounded: bool) -> None:
    scores, truth = data(seed, rounded)
    expected, study = by_hand(scores, truth), tr.readers(as_rows(scores, truth))
    gap, first = study.difference(), study.average("m0")
    found = [*gap[:3], *first[:3]]
    names = ("gap", "gap_error", "gap_freedom", "average", "error", "freedom")
    np.testing.assert_allclose(found, [expected[name] for name in names])
    t = expected["gap"] / expected["gap_error"]
    assert gap.p_value == pytest.approx(2 * stats.t.sf(abs(t), expected["gap_freedom"]))
    assert study.merit[1, 2] == pytest.approx(roc_auc_score(truth, scores[1, 2]))


def test_intervals_hold_for_other_readers_and_cases() -> None:
    """400 data sets: a coverage of .91 fails with probability about .97, .95 passes with .99."""
    held = coverage(HIGH_HIGH, (1.5, 1.8), 5, 100, 400, seed=11)
    assert np.mean(held["average"]) >= 0.925
    assert np.mean(held["difference"]) >= 0.925
    assert np.mean(held["readers fixed"]) < 0.92  # what is lost if readers are taken as fixed


def test_other_figures_of_merit() -> None:
    scores, truth = data(4, False)
    rows = as_rows(scores, truth)
    for metric, chosen in (
        ("sensitivity", truth),
        ("specificity", ~truth),
        ("accuracy", truth | ~truth),
    ):
        study = tr.readers(rows, metric=metric, threshold=0.5)
        right = ((scores >= 0.5) == truth)[:, :, chosen].mean(axis=2)
        np.testing.assert_allclose(study.merit, right)
        assert study.difference().error > 0


@pytest.mark.parametrize(
    ("change", "asked", "words"),
    [
        (lambda r: r[1:], {}, "1 reads are missing, the first of reader 'r0' on case 0"),
        (lambda r: [*r, r[0]], {}, "read case 0 twice"),
        (
            lambda r: [{**x, "truth": None if x["case"] == 3 else x["truth"]} for x in r],
            {},
            "1 of 40 cases have no truth",
        ),
        (lambda r: r, {"metric": "f1"}, "choose auc"),
        (lambda r: r, {"metric": "accuracy"}, "needs a threshold"),
        (lambda r: r, {"threshold": 3}, "needs no threshold"),
        (lambda r: [x for x in r if x["reader"] == "r0"], {}, "one reader says nothing"),
        (lambda r: r, {"positive": "x"}, "no class is called 'x'"),
        (lambda r: r, {"score_column": "scor"}, "Did you mean 'score'"),
    ],
)
def test_what_cannot_be_analysed_is_refused(change: Any, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(tr.InputError, match=words):
        tr.readers(change(as_rows(*data(5, False))), **asked)


def test_the_command(tmp_path: Path) -> None:
    rows = as_rows(*data(6, False))
    pl.DataFrame(rows).write_csv(tmp_path / "reads.csv")
    done = CliRunner().invoke(app, ["readers", str(tmp_path / "reads.csv")], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "m1 minus m0: AUC" in done.stdout
    alone = [{k: v for k, v in r.items() if k != "modality"} for r in rows if r["modality"] == "m0"]
    gold = {r["case"]: r["truth"] for r in alone}
    bare = [{k: v for k, v in r.items() if k != "truth"} for r in alone]
    study = tr.readers(bare, gold=gold)
    assert study.average() == tr.readers(alone).average()
    with pytest.raises(tr.InputError, match="two modalities"):
        study.difference()
