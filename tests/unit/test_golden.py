"""Answers that stay put: a dozen simulated data sets, their answers kept in tests/golden.json.

``python tests/unit/test_golden.py`` writes that file anew; say in CHANGELOG.md why answers moved.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import polars as pl
import pytest

import truthing as tr

KEPT = Path(__file__).resolve().parents[1] / "golden.json"
SETS: dict[str, dict[str, Any]] = {
    "two classes": {"prior": [0.6, 0.4]},
    "rare class": {"prior": [0.9, 0.1]},
    "three classes": {"prior": [0.5, 0.3, 0.2]},
    "five classes": {"prior": [0.2] * 5},
    "two labelers": {"prior": [0.6, 0.4], "n_labelers": 2},
    "many labelers": {"prior": [0.6, 0.4], "n_labelers": 9, "availability": 0.4},
    "holes": {"prior": [0.5, 0.5], "availability": 0.6},
    "good labelers": {"prior": [0.6, 0.4], "fallibility": 0.05},
    "bad labelers": {"prior": [0.6, 0.4], "fallibility": 0.6},
    "gold": {"prior": [0.6, 0.4], "gold": 12},
    "gold and three classes": {"prior": [0.5, 0.3, 0.2], "gold": 12},
    "all gold": {"prior": [0.6, 0.4], "gold": 60},
}
FEW = {"draws": 200, "seed": 4}
INVARIANT = ("two classes", "gold and three classes")


def data(name: str, letters: str = "abcde", shuffle: int = 0) -> dict[str, Any]:
    """A data set by name, its rows shuffled and its classes called by these letters."""
    how = {"n_labelers": 4, "fallibility": 0.25, **SETS[name]}
    gold = how.pop("gold", 0)
    n = len(how["prior"])
    right = np.full((n, n), 0.2 / (n - 1)) + np.eye(n) * (0.8 - 0.2 / (n - 1))
    drawn = tr.simulate(60, operating_point=right, seed=sorted(SETS).index(name), **how)
    labels = drawn.labels
    order = np.random.default_rng(shuffle).permutation(labels.n_labels)
    rows = {
        "item": [f"i{k:02d}" for k in labels.item[order]],
        "labeler": [f"w{t}" for t in labels.labeler[order]],
        "label": [letters[c] for c in labels.label[order]],
    }
    truth = np.asarray(drawn.truth)
    said = {f"i{k:02d}": letters[int(c)] for k, c in enumerate(drawn.predictions)}
    other = {f"i{k:02d}": letters[int(truth[(k // 9) * 9])] for k in range(60)}
    known = {f"i{k:02d}": letters[int(truth[k])] for k in range(gold)}
    return {"labels": pl.DataFrame(rows), "said": said, "other": other, "gold": known or None}


def grade(given: dict[str, Any]) -> list[float]:
    found = tr.grade(given["said"], given["labels"], gold=given["gold"], **FEW)
    return [n for m in ("accuracy", "macro_f1") for n in (found[m].mean, *found[m].interval(0.9))]


def rate(given: dict[str, Any]) -> list[float]:
    found = tr.prevalence(given["labels"], gold=given["gold"], **FEW)
    return [n for c in found.classes for n in (found[c].mean, *found[c].interval(0.9))]


def compare(given: dict[str, Any]) -> list[float]:
    models = {"new": given["said"], "old": given["other"]}
    found = tr.compare(models, given["labels"], gold=given["gold"], **FEW)
    gap = found.difference("accuracy")
    return [gap.mean, *gap.interval(0.9)]


def labelers(given: dict[str, Any]) -> list[float]:
    found = tr.labelers(given["labels"], gold=given["gold"], **FEW)
    return [float(n) for n in np.sort(found.error.mean(axis=0))]


ASKED: dict[str, Callable[[dict[str, Any]], list[float]]] = {
    "grade": grade,
    "rate": rate,
    "compare": compare,
    "labelers": labelers,
}


@pytest.mark.parametrize("name", SETS)
def test_answers_stay_where_they_were(name: str) -> None:
    kept = json.loads(KEPT.read_text())[name]
    for asked, function in ASKED.items():
        # sums differ in their last digits between processors
        assert function(data(name)) == pytest.approx(kept[asked], rel=1e-6, abs=1e-6), asked


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", INVARIANT)
def test_rows_names_and_threads_change_no_digit(name: str, asked: str) -> None:
    function, before = ASKED[asked], numba.get_num_threads()
    answer = function(data(name))
    assert function(data(name, "lmnop", shuffle=1)) == answer
    try:
        for threads in {1, min(2, numba.config.NUMBA_NUM_THREADS)}:
            numba.set_num_threads(threads)
            assert function(data(name)) == answer
    finally:
        numba.set_num_threads(before)


if __name__ == "__main__":
    found = {n: {asked: f(data(n)) for asked, f in ASKED.items()} for n in SETS}
    KEPT.write_text(json.dumps(found, indent=1) + "\n")
